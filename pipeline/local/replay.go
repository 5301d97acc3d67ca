package local

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// ReplaySchema is the schema field of a Replay.
const ReplaySchema = "replay.v1"

// Replay is what running a recorded run again came to: replay.v1. Nothing of
// it was written, and no model was asked.
type Replay struct {
	Schema      string       `json:"schema"`
	Run         string       `json:"run"`
	Recipe      string       `json:"recipe"`
	Same        bool         `json:"same"`
	Replayed    []string     `json:"replayed"` // of Parts, in their order
	Differences []Difference `json:"differences"`
}

// The parts of a run that can be replayed.
const (
	ReplayedDecode  = "decode"  // the recorded structure, decoded and grounded in the recorded prompt
	ReplayedExtract = "extract" // the extractor, asked again about the recorded prompt
	ReplayedAct     = "act"     // plan and policy, on the recorded structure
)

// Difference is one thing that would now be otherwise. Was and Is are words of
// the recipe or JSON of what an action carries, never other foreign text.
type Difference struct {
	What string `json:"what"` // prompt, recipe, decode, extract, label, reason, actions, "field NAME", "action INDEX" or "action INDEX KIND PARAMETER"
	Was  string `json:"was"`
	Is   string `json:"is"`
}

func (r *Replay) differ(what, was, is string) {
	r.Differences = append(r.Differences, Difference{what, was, is})
}

// ErrNothingRecorded is returned for a run that ended before its structure was
// recorded and of which there is no prompt either.
var ErrNothingRecorded = fmt.Errorf("nothing is recorded to replay")

// Replay runs a recorded run again: its structure is decoded and grounded as
// the first time; an extractor that needs no model is asked again; and act
// decides anew, staged, under no higher a label than the recorded one. object
// is the run's prompt object, nil where it is not to be had: then only act is
// asked.
func (e *Engine) Replay(ctx context.Context, entry store.Entry, object []byte) (Replay, error) {
	r := Replay{Schema: ReplaySchema, Run: entry.Run, Recipe: entry.Recipe, Replayed: []string{}, Differences: []Difference{}}
	if len(object) == 0 && len(entry.Structure) == 0 {
		return r, ErrNothingRecorded
	}
	env, err := pipeline.DecodeEnvelope(entry.Envelope)
	if err != nil {
		return r, err
	}
	p, ok := e.pipelines[entry.Recipe]
	if !ok {
		r.differ("recipe", "built in", "not built in")
		return r, nil
	}
	var label plan.Label
	if entry.Label != "" {
		if err := label.UnmarshalText([]byte(entry.Label)); err != nil {
			return r, err
		}
	}
	if len(object) > 0 {
		if err := e.replayExtract(ctx, &r, p, entry, label, object); err != nil {
			return r, err
		}
	}
	if len(entry.Structure) > 0 {
		env.RecipeDigest = e.digests[entry.Recipe]
		if err := e.replayAct(ctx, &r, env, entry, label); err != nil {
			return r, err
		}
	}
	r.Same = len(r.Differences) == 0
	return r, nil
}

// replayExtract decodes what was recorded, and asks the extractor again where
// it answers alike each time and reaches nothing.
func (e *Engine) replayExtract(ctx context.Context, r *Replay, p Pipeline, entry store.Entry, label plan.Label, object []byte) error {
	var trace extract.Trace
	if err := decodeTrace(entry.Trace, &trace); err != nil {
		return err
	}
	if was, is := trace.Prompt.SHA256, extract.DigestOfBytes(object); was != "" && was != is {
		r.differ("prompt", was, is) // another attempt's: what follows would be of another text
		return nil
	}
	again := func(recorded jsontext.Value) (extract.Output, error) {
		in := &extract.Input{Recipe: entry.Recipe, Run: entry.Run, Object: object, Recorded: recorded}
		a, code := e.ask(ctx, e.extracts[class(label)], "extract", request{Run: entry.Run, Extract: in})
		if code == pipeline.Stopped || code == pipeline.PhaseUnready {
			return extract.Output{}, code.Error("replay")
		}
		out := a.extract
		if code == pipeline.OK {
			code = pipeline.FromPhase(out.Code)
		}
		if code != pipeline.OK {
			return extract.Output{Code: code}, nil
		}
		if _, err := p.Recipe.Shape().DecodeCanonical(out.Structure); err != nil {
			return extract.Output{Code: pipeline.PhaseMisbehave}, nil
		}
		return out, nil
	}
	if len(entry.Structure) > 0 {
		out, err := again(entry.Structure)
		if err != nil {
			return err
		}
		r.Replayed = append(r.Replayed, ReplayedDecode)
		switch {
		case out.Code == pipeline.Undecodable: // what was recorded is all that there is to answer
			r.differ("decode", "a value of the shape", "none of it")
		case out.Code != pipeline.OK:
			r.differ("decode", "a value of the shape", string(out.Code))
		case !bytes.Equal(out.Structure, entry.Structure):
			r.differ("decode", "canonical", "spelt otherwise")
		}
	}
	if !extract.Repeatable(p.Extractor(nil)) {
		return nil
	}
	out, err := again(nil)
	if err != nil {
		return err
	}
	r.Replayed = append(r.Replayed, ReplayedExtract)
	was := entry.Code
	if len(entry.Structure) > 0 {
		was = pipeline.OK
	}
	if out.Code != was {
		r.differ("extract", orOK(was), orOK(out.Code))
		return nil
	}
	return r.fields(p.Recipe.Shape(), entry.Structure, out.Structure)
}

func orOK(c pipeline.Code) string {
	if c == pipeline.OK {
		return "a structure"
	}
	return string(c)
}

// fields compares two structures field by field. Of what carries text it is
// said that it differs, and not how.
func (r *Replay) fields(s *shape.Shape, was, is jsontext.Value) error {
	if bytes.Equal(was, is) {
		return nil
	}
	var before, after map[string]jsontext.Value
	if err := json.Unmarshal(was, &before); err != nil {
		return err
	}
	if err := json.Unmarshal(is, &after); err != nil {
		return err
	}
	var names []string
	for _, f := range s.Fields() {
		if _, inner := before[f.Name]; !inner && after[f.Name] == nil {
			continue
		}
		names = append(names, f.Name)
		if bytes.Equal(before[f.Name], after[f.Name]) {
			continue
		}
		if f.Kind == shape.KindChoice {
			r.differ("field "+f.Name, orAbsent(before[f.Name]), orAbsent(after[f.Name]))
			continue
		}
		words := [...]string{"absent", "present", "another"}
		a, b := 1, 1
		if before[f.Name] == nil {
			a = 0
		}
		if after[f.Name] == nil {
			b = 0
		}
		if a == b {
			b = 2
		}
		r.differ("field "+f.Name, words[a], words[b])
	}
	for name := range before {
		if !slices.Contains(names, name) { // of a shape that is no more
			r.differ("field "+name, "present", "no field of the shape")
		}
	}
	return nil
}

func orAbsent(v jsontext.Value) string {
	if v == nil {
		return "absent"
	}
	return string(v)
}

// replayAct asks act for the outcome that the structure has now.
func (e *Engine) replayAct(ctx context.Context, r *Replay, env pipeline.Envelope, entry store.Entry, label plan.Label) error {
	var before []act.Action
	if len(entry.Actions) > 0 {
		if err := json.Unmarshal(entry.Actions, &before); err != nil {
			return err
		}
	}
	now, code := e.admitted(ctx, env, label)
	out := act.Output{Code: code}
	if code == pipeline.OK {
		if out, code = e.decided(ctx, env, now, entry.Structure); code != pipeline.OK {
			out.Code = code
		}
	}
	if out.Code == pipeline.Stopped || out.Code == pipeline.PhaseUnready {
		return out.Code.Error("replay")
	}
	r.Replayed = append(r.Replayed, ReplayedAct)
	if out.Code != pipeline.OK {
		if out.Code != entry.Code {
			r.differ("reason", orPerformed(entry.Code), string(out.Code))
		}
		return nil
	}
	if out.Label != label {
		r.differ("label", labelWord(label), labelWord(out.Label))
	}
	if len(before) != len(out.Actions) {
		r.differ("actions", fmt.Sprint(len(before)), fmt.Sprint(len(out.Actions)))
	}
	for i := range max(len(before), len(out.Actions)) {
		where := fmt.Sprintf("action %d", i)
		switch {
		case i >= len(before):
			r.differ(where, "none", named(out.Actions[i]))
		case i >= len(out.Actions):
			r.differ(where, named(before[i]), "none")
		default:
			if err := r.action(where, before[i], out.Actions[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// action compares what two actions would do. How the first one went is no
// matter.
func (r *Replay) action(where string, was, is act.Action) error {
	if was.Kind != is.Kind || was.Target != is.Target {
		r.differ(where, named(was), named(is))
		return nil
	}
	where += " " + string(is.Kind)
	if was.Decision != is.Decision {
		r.differ(where+" decision", was.Decision.String(), is.Decision.String())
	}
	names := slices.Concat(slices.Collect(maps.Keys(was.Params)), slices.Collect(maps.Keys(is.Params)))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		a, err := spelt(was.Params, name)
		if err != nil {
			return err
		}
		b, err := spelt(is.Params, name)
		if err != nil {
			return err
		}
		if a != b {
			r.differ(where+" "+name, a, b)
		}
	}
	return nil
}

func named(a act.Action) string { return fmt.Sprintf("%s %s", a.Kind, a.Target) }

// spelt is a parameter in JSON.
func spelt(params map[string]any, name string) (string, error) {
	v, ok := params[name]
	if !ok {
		return "absent", nil
	}
	b, err := json.Marshal(v, json.Deterministic(true))
	return string(b), err
}

func orPerformed(c pipeline.Code) string {
	if c == pipeline.OK {
		return "an outcome"
	}
	return string(c)
}
