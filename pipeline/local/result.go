package local

import (
	"math"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/events"
	"decant.dev/extract"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// RunSchema is the schema field of a result.
const RunSchema = "run.v1"

// Action is one action of an outcome as it was, or would be, performed.
type Action = act.Action

// Bits is what one structure of a recipe can say.
type Bits struct {
	Decide float64 `json:"decide"`
	Carry  float64 `json:"carry"`
}

// Result is how a run ended: run.v1. Reason is a code of the closed list, or
// empty. Structure and Actions hold the texts that the structure carries by
// its shape, and no other foreign text.
type Result struct {
	Run       string
	Recipe    string
	Status    pipeline.Status
	Reason    pipeline.Code
	Label     plan.Label
	Structure jsontext.Value
	Actions   []act.Action
	Bits      Bits
	Trace     extract.Trace
	Recorded  bool // the result of an earlier live run, which was not repeated
}

// Rejected is the result of an event that never became a run.
func Rejected(code pipeline.Code) Result {
	return Result{Status: code.Status(), Reason: code, Actions: []act.Action{}}
}

func (r Result) end(code pipeline.Code) Result {
	r.Status, r.Reason = code.Status(), code
	return r
}

// MarshalJSON writes run.v1.
func (r Result) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Schema    string          `json:"schema"`
		Run       string          `json:"run"`
		Recipe    string          `json:"recipe"`
		Status    pipeline.Status `json:"status"`
		Label     string          `json:"label"`
		Structure jsontext.Value  `json:"structure"`
		Actions   []act.Action    `json:"actions"`
		Bits      Bits            `json:"bits"`
		Reason    pipeline.Code   `json:"reason"`
	}{RunSchema, r.Run, r.Recipe, r.Status, labelWord(r.Label), r.Structure, r.Actions, r.Bits, r.Reason}, json.Deterministic(true))
}

func labelWord(l plan.Label) string {
	if !l.Valid() {
		return ""
	}
	return l.String()
}

// bitsOf rounds up to hundredths of a bit, so that a printed capacity is
// never less than the true one.
func bitsOf(r *pipeline.Recipe) Bits {
	b := r.Bits()
	up := func(x float64) float64 { return math.Ceil(x*100) / 100 }
	return Bits{up(b.Decide), up(b.Carry)}
}

func encodeActions(actions []act.Action) ([]byte, error) {
	return json.Marshal(actions, json.Deterministic(true))
}

func encodeTrace(t extract.Trace) ([]byte, error) { return json.Marshal(t) }

// decodeTrace reads what the journal kept, which may be nothing.
func decodeTrace(b []byte, t *extract.Trace) error {
	if len(b) == 0 {
		return nil
	}
	return json.Unmarshal(b, t)
}

// FromEntry is the result as the journal recorded it. A run that has not ended
// is one that was stopped.
func (e *Engine) FromEntry(entry store.Entry) (Result, error) {
	return ResultOf(entry, e.pipelines[entry.Recipe].Recipe)
}

// ResultOf is FromEntry without an engine. The recipe is nil where it is not
// built in.
func ResultOf(entry store.Entry, recipe *pipeline.Recipe) (Result, error) {
	r := Result{
		Run: entry.Run, Recipe: entry.Recipe, Status: entry.Status, Reason: entry.Code,
		Structure: entry.Structure, Actions: []act.Action{},
	}
	if recipe != nil {
		r.Bits = bitsOf(recipe)
	}
	if entry.State != store.Ended {
		r = r.end(pipeline.Stopped)
	}
	if entry.Label != "" {
		if err := r.Label.UnmarshalText([]byte(entry.Label)); err != nil {
			return Result{}, err
		}
	}
	if len(entry.Actions) > 0 {
		if err := json.Unmarshal(entry.Actions, &r.Actions); err != nil {
			return Result{}, err
		}
	}
	return r, decodeTrace(entry.Trace, &r.Trace)
}

// recordedResult answers a repeated live run from the journal, where the
// earlier one was performed. Anything else is tried again.
func (e *Engine) recordedResult(entry store.Entry) (Result, bool) {
	if entry.State != store.Ended || entry.Status != pipeline.Done {
		return Result{}, false
	}
	recorded, err := e.FromEntry(entry)
	recorded.Recorded = true
	return recorded, err == nil
}

// unfinished returns the envelope of a run that was begun with the recipe as
// it is now and has not ended, or that waits for a person, a budget or a sink:
// act is asked again how that stands. A run of another version starts over.
func unfinished(entry store.Entry, env pipeline.Envelope) (pipeline.Envelope, bool) {
	if entry.State == store.Ended && (!entry.Code.CarriesOn() || len(entry.Structure) == 0) {
		return env, false
	}
	begun, err := pipeline.DecodeEnvelope(entry.Envelope)
	return begun, err == nil && begun.RecipeDigest == env.RecipeDigest
}

// envelope derives a run's envelope from a verified delivery.
func (e *Engine) envelope(p Pipeline, d events.Delivery) pipeline.Envelope {
	return pipeline.NewEnvelope(p.Recipe.Name(), e.digests[p.Recipe.Name()], d.Source, d.Body, d.Actor, d.Channel, d.Target, e.config.Clock())
}
