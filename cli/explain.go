package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/extract"
	"decant.dev/fence"
	"decant.dev/internal/terminal"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local"
	"decant.dev/pipeline/local/store"
)

// explain prints for a person what each phase of a run saw and did.
func (a *App) explain(ctx context.Context, engine *local.Engine, r local.Result) error {
	if r.Run == "" {
		fmt.Fprintf(a.Stdout, "%s: %s\n", r.Status, r.Reason)
		return nil
	}
	entry, ok, err := engine.Journal().Get(ctx, r.Run, engine.Mode())
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("run %s: want an entry in the journal, found none", r.Run)
	}
	return a.explainEntry(ctx, engine, entry, r)
}

// prompts gives the prompt objects that are to be had.
type prompts interface {
	Prompt(ctx context.Context, run string, mode store.Mode) ([]byte, bool, error)
}

func (a *App) explainEntry(ctx context.Context, from prompts, entry store.Entry, r local.Result) error {
	env, err := pipeline.DecodeEnvelope(entry.Envelope)
	if err != nil {
		return err
	}
	out, what := &strings.Builder{}, "body"
	if env.Item != "" {
		what = "item"
	}
	fmt.Fprintf(out, "run %s  %s  %s\n", r.Run, r.Recipe, env.Place())
	fmt.Fprintf(out, "  event    %s %s by %s (%s), %s sha256 %s…\n", env.Source, env.Target.Event, env.Actor.ID, env.Actor.Kind, what, env.Content()[:12])
	object, found, err := from.Prompt(ctx, r.Run, entry.Mode)
	if err != nil {
		return err
	}
	if found {
		explainFetch(out, object)
	}
	explainExtract(out, r)
	a.explainAct(out, r)
	_, err = fmt.Fprint(a.Stdout, out)
	return err
}

// explainFetch lists the elements by their marks and sizes, never their text.
// The object is what a fetch child made, which may be anything.
func explainFetch(out *strings.Builder, object []byte) {
	p, err := fence.DecodeObject(object)
	if err != nil {
		fmt.Fprintf(out, "  fetch    a prompt object that cannot be read, %d bytes\n", len(object))
		return
	}
	c := p.Context()
	total := 0
	for _, e := range c.Elements {
		total += len(e.Text)
	}
	fmt.Fprintf(out, "  fetch    %d elements, %d bytes, fenced under boundary sha256 %s…\n", len(c.Elements), total, p.Boundary().Digest()[:12])
	for _, e := range c.Elements {
		what := e.Origin.String()
		if e.Field != "" {
			what += " " + e.Field
		}
		note := ""
		switch {
		case e.ID == c.Trigger:
			note = "  the voice"
		case slices.Contains(p.Dropped(), e.ID):
			note = "  dropped: over the limit"
		}
		fmt.Fprintf(out, "             %-4s %-22s %-10s %s:%s  %d bytes%s\n", e.ID, what, e.Trust, e.Author.Kind, terminal.Cut(e.Author.ID, 40), len(e.Text), note)
	}
	if c.Trigger == "" {
		fmt.Fprintf(out, "             the voice is the recipe's instruction\n")
	}
}

func explainExtract(out *strings.Builder, r local.Result) {
	for _, answer := range r.Trace.Refused {
		fmt.Fprintf(out, "  extract  %s: an answer of %d bytes did not decode, sha256 %s…\n", r.Trace.Extractor, answer.Bytes, answer.SHA256[:12])
	}
	if len(r.Structure) == 0 {
		return
	}
	by := r.Trace.Extractor
	if r.Trace.Stage != "" {
		by += ", answered by " + r.Trace.Stage
	}
	fmt.Fprintf(out, "  extract  %s: %d bytes, of at most %.2f bits that decide and %.2f that are carried\n", by, len(r.Structure), r.Bits.Decide, r.Bits.Carry)
	if u := r.Trace.Usage; u != (extract.Usage{}) {
		fmt.Fprintf(out, "             used %s\n", used(u))
	}
	var fields map[string]jsontext.Value
	if json.Unmarshal(r.Structure, &fields) != nil {
		return
	}
	for _, name := range sortedKeys(fields) {
		fmt.Fprintf(out, "             %-13s %s%s\n", name, terminal.Cut(string(fields[name]), 60), because(r, name))
	}
}

// used is what a model reported of a run, and its cost where prices are known.
func used(u extract.Usage) string {
	s := fmt.Sprintf("%d tokens read", u.InputTokens)
	if u.CacheReadTokens+u.CacheWriteTokens > 0 {
		s += fmt.Sprintf(", %d from a cache, %d into it", u.CacheReadTokens, u.CacheWriteTokens)
	}
	s += fmt.Sprintf(", %d written", u.OutputTokens)
	if u.Microdollars > 0 {
		s += fmt.Sprintf(": $%d.%06d", u.Microdollars/1_000_000, u.Microdollars%1_000_000)
	}
	return s
}

// because names the rules that decided a field.
func because(r local.Result, field string) string {
	var rules []string
	for _, s := range r.Trace.Steps {
		if s.Field == field {
			rules = append(rules, fmt.Sprintf("%s %d%%", s.Rule, s.Confidence))
		}
	}
	if len(rules) == 0 {
		return ""
	}
	return "  (" + strings.Join(rules, ", ") + ")"
}

func (a *App) explainAct(out *strings.Builder, r local.Result) {
	if r.Label.Valid() {
		fmt.Fprintf(out, "  act      label %s", r.Label)
		if len(r.Actions) > 0 {
			fmt.Fprintf(out, ", %d actions, on the recipe's list", len(r.Actions))
		}
		fmt.Fprintln(out)
	}
	for i, act := range r.Actions {
		fmt.Fprintf(out, "             %d %-15s %-5s %-8s", i, act.Kind, act.Decision, act.Outcome)
		for _, name := range sortedKeys(act.Params) {
			fmt.Fprintf(out, " %s=%s", name, shown(act.Params[name]))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "  %s%s\n", r.Status, closing(r))
}

// shown is a parameter as it is printed. What is text stands in quotes, so that
// no content can look like another parameter; what is absent is a dash.
func shown(v any) string {
	switch v := v.(type) {
	case nil:
		return "-"
	case string:
		return `"` + strings.ReplaceAll(terminal.Cut(v, 60), `"`, `\"`) + `"`
	default:
		return terminal.Cut(fmt.Sprint(v), 60)
	}
}

func closing(r local.Result) string {
	switch {
	case r.Recorded && r.Status == pipeline.Done:
		return ": by an earlier live run of the same event; nothing was repeated"
	case r.Reason != pipeline.OK:
		return ": " + string(r.Reason)
	case r.Status == pipeline.Staged:
		return ": nothing was written; --live writes"
	case r.Status == pipeline.Done && slices.ContainsFunc(r.Actions, func(x local.Action) bool { return x.Outcome == "staged" }):
		return ": what stays staged has no sink here"
	default:
		return ""
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
