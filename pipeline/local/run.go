package local

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/events"
	"decant.dev/extract"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/contextapi"
	"decant.dev/pipeline/local/store"
)

// Deliver runs a delivery through each recipe that handles its event. The
// body and the run are durable before the first phase begins.
func (e *Engine) Deliver(ctx context.Context, d events.Delivery) []Result {
	var results []Result
	for _, p := range e.handling(d) {
		results = append(results, e.run(ctx, p, e.envelope(p, d), d.Body))
	}
	if len(results) == 0 {
		return []Result{Rejected(pipeline.UnhandledEvent)}
	}
	return results
}

// handling returns the pipelines that handle a delivery, in their order.
func (e *Engine) handling(d events.Delivery) []Pipeline {
	var all []Pipeline
	for _, name := range e.order {
		if p := e.pipelines[name]; p.Intake.Source == d.Source && p.Recipe.Handles(d.Event) {
			all = append(all, p)
		}
	}
	return all
}

// run takes one item through the phases.
func (e *Engine) run(ctx context.Context, p Pipeline, env pipeline.Envelope, body []byte) Result {
	return e.alone(ctx, env, func(mine *attempt) Result { return e.attempt(ctx, mine, p, env, body) })
}

// alone makes an attempt at a run, or waits for the one that is under way and
// answers as that did.
func (e *Engine) alone(ctx context.Context, env pipeline.Envelope, try func(*attempt) Result) Result {
	mine := newAttempt()
	if other, busy := e.running.LoadOrStore(env.Run, mine); busy {
		other := other.(*attempt)
		select {
		case <-other.over:
			return other.result
		case <-ctx.Done():
			return Result{Run: env.Run, Recipe: env.Recipe, Actions: []act.Action{}}.end(pipeline.Stopped)
		}
	}
	return e.carry(env.Run, mine, try)
}

// carry takes an attempt that is on record as under way to its end.
func (e *Engine) carry(run string, mine *attempt, try func(*attempt) Result) Result {
	mine.result = try(mine)
	e.running.Delete(run)
	close(mine.over)
	return mine.result
}

// attempt is one pass of a run through the phases.
type attempt struct {
	begun  chan struct{} // closed once the run is durable
	label  atomic.Uint32 // a plan.Label: whose words the extractor reads at worst
	over   chan struct{}
	result Result // as it is over
}

func newAttempt() *attempt { return &attempt{begun: make(chan struct{}), over: make(chan struct{})} }

// ask calls a phase about a run.
func (e *Engine) ask(ctx context.Context, p *phase, what string, q request) (answers, pipeline.Code) {
	e.at("before " + what)
	a, code := p.call(ctx, q)
	e.at("after " + what)
	return a, code
}

// askAct asks act one of its two questions about a run.
func (e *Engine) askAct(ctx context.Context, what string, q question) answer {
	e.at("before " + what)
	a := e.act.ask(ctx, q)
	e.at("after " + what)
	return a
}

// keep makes one write durable.
func (e *Engine) keep(what string, write func() error) pipeline.Code {
	e.at("before " + what)
	if err := write(); errors.Is(err, context.Canceled) {
		return pipeline.Stopped
	} else if err != nil {
		return pipeline.StoreFailed
	}
	e.at("after " + what)
	return pipeline.OK
}

func (e *Engine) at(point string) {
	if e.step != nil {
		e.step(point)
	}
}

// attempt takes one item through the phases, from where an earlier attempt
// stopped.
func (e *Engine) attempt(ctx context.Context, mine *attempt, p Pipeline, env pipeline.Envelope, body []byte) Result {
	r := Result{Run: env.Run, Recipe: env.Recipe, Bits: bitsOf(p.Recipe), Actions: []act.Action{}}
	entry := store.Entry{State: store.Received}
	resumed := false
	if e.mode == store.LiveMode { // a staged run is computed anew each time
		before, known, err := e.journal.Get(ctx, env.Run, e.mode)
		if err != nil {
			return r.end(pipeline.StoreFailed)
		}
		if recorded, ok := e.recordedResult(before); known && ok {
			return recorded
		}
		if begun, ok := unfinished(before, env); known && ok {
			entry, env, resumed = before, begun, true
			if before.State == store.Ended { // it waits for something, with its structure in the journal
				entry.State = store.Extracted
			}
		}
	}
	if !resumed {
		if code := e.keep("raw", func() error { return e.raw.PutOnce(ctx, env.Run, body) }); code != pipeline.OK {
			return r.end(code)
		}
		if code := e.keep("begin", func() error { return e.journal.Begin(ctx, e.mode, env) }); code != pipeline.OK {
			return r.end(code)
		}
	}
	close(mine.begun)
	r = e.advance(ctx, mine, p, env, body, entry, r)
	if ctx.Err() != nil {
		return r.end(pipeline.Stopped) // not ended: the next start goes on
	}
	code := e.keep("end", func() error {
		actions, err := encodeActions(r.Actions)
		if err != nil {
			return err
		}
		var trace []byte
		if r.Trace.Extractor != "" {
			if trace, err = encodeTrace(r.Trace); err != nil {
				return err
			}
		}
		return e.journal.Ended(ctx, env.Run, e.mode, store.End{Status: r.Status, Code: r.Reason, Label: labelWord(r.Label), Actions: actions, Trace: trace})
	})
	if code != pipeline.OK {
		return r.end(code)
	}
	return r
}

// advance carries a run from its last durable state to its end.
func (e *Engine) advance(ctx context.Context, mine *attempt, p Pipeline, env pipeline.Envelope, body []byte, entry store.Entry, r Result) Result {
	if err := e.grants.sync(); err != nil && e.config.Warn != nil {
		e.config.Warn(err)
	}
	var ceiling plan.Label
	if entry.State == store.Extracted && ceiling.UnmarshalText([]byte(entry.Label)) != nil {
		return r.end(pipeline.StoreFailed)
	}
	label, code := e.admitted(ctx, env, ceiling)
	if code != pipeline.OK {
		return r.end(code)
	}
	r.Label = label
	structure := jsontext.Value(entry.Structure)
	if entry.State == store.Extracted {
		if err := decodeTrace(entry.Trace, &r.Trace); err != nil {
			return r.end(pipeline.StoreFailed)
		}
	} else {
		access, token, code := e.accessTo(env)
		if code != pipeline.OK {
			return r.end(code)
		}
		object, lowest, code := e.fetched(ctx, env, body, label, token)
		if code != pipeline.OK {
			return r.end(code)
		}
		if lowest < label {
			if label, code = e.admitted(ctx, env, lowest); code != pipeline.OK {
				return r.end(code)
			}
			r.Label = label
		}
		mine.label.Store(uint32(label))
		if structure, code = e.extracted(ctx, p, env, label, object, access, &r); code != pipeline.OK {
			return r.end(code)
		}
	}
	r.Structure = structure
	out, code := e.decided(ctx, env, label, structure)
	if code != pipeline.OK {
		return r.end(code)
	}
	r.Status, r.Reason, r.Actions = out.Status, out.Code, out.Actions
	if out.Label.Valid() {
		r.Label = out.Label
	}
	return r
}

// admitted asks act whether the run may begin, and under which label. A
// ceiling lowers it: to what an earlier attempt had, or to what fetch found.
func (e *Engine) admitted(ctx context.Context, env pipeline.Envelope, ceiling plan.Label) (plan.Label, pipeline.Code) {
	a := e.askAct(ctx, "admit", question{Run: env.Run, Admit: &act.AdmitInput{Envelope: env, Ceiling: ceiling}})
	if a.Code != pipeline.OK {
		return 0, a.Code
	}
	return a.Admit.Label, a.Admit.Code
}

// decided asks act for the outcome. An act that ended in between has
// forgotten that it admitted the run, and is asked to again under no higher a
// label; receipts keep it from writing twice.
func (e *Engine) decided(ctx context.Context, env pipeline.Envelope, label plan.Label, structure jsontext.Value) (act.Output, pipeline.Code) {
	const tries = 3
	code := pipeline.PhaseDied
	for range tries {
		a := e.askAct(ctx, "act", question{Run: env.Run, Act: &act.Input{Envelope: env, Structure: structure}})
		switch {
		case a.Code == pipeline.OK && a.Act.Code != pipeline.NotAdmitted:
			return *a.Act, pipeline.OK
		case a.Code == pipeline.OK, a.Code == pipeline.PhaseDied:
			if _, code = e.admitted(ctx, env, label); code != pipeline.OK {
				return act.Output{}, code
			}
			code = pipeline.PhaseDied
		default:
			return act.Output{}, a.Code
		}
	}
	return act.Output{}, code
}

// class says which of two children serves a label: those for unverified text
// serve nothing else.
func class(l plan.Label) bool { return l <= plan.Unverified }

// fetched returns the run's prompt object, made by the fetch child of its
// label class, once it is durable, and the lowest label of what was read. A run
// that was stopped before extract is fetched again from its stored body, so
// that trust is set from the grants of now.
func (e *Engine) fetched(ctx context.Context, env pipeline.Envelope, body []byte, label plan.Label, token contextapi.Token) ([]byte, plan.Label, pipeline.Code) {
	a, code := e.ask(ctx, e.fetches[class(label)], "fetch", request{Run: env.Run, Fetch: &fetch.Input{Envelope: env, Body: body, Keep: e.adapters[env.Recipe]}})
	if code != pipeline.OK {
		return nil, 0, code
	}
	out := a.fetch
	switch code := pipeline.FromPhase(out.Code); {
	case code != pipeline.OK:
		return nil, 0, code
	case len(out.Object) == 0, len(out.Object) > maxFetched, len(out.Bundle) > maxFetched, !out.Lowest.Valid():
		return nil, 0, pipeline.PhaseMisbehave
	case (len(out.Bundle) > 0) != e.adapters[env.Recipe]:
		return nil, 0, pipeline.PhaseMisbehave
	}
	if len(out.Bundle) > 0 {
		if code := e.keep("bundle", func() error { return e.bundles.Put(ctx, env.Run, token.Digest(), out.Bundle) }); code != pipeline.OK {
			return nil, 0, code
		}
	}
	return out.Object, out.Lowest, e.keep("prompt", func() error { return e.prompts[e.mode].Put(ctx, env.Run, out.Object) })
}

// extracted returns the run's structure from the extract child of its label
// class. What the child says is checked before it is kept: the structure
// must be canonical, the trace of the extractor's own vocabulary.
func (e *Engine) extracted(ctx context.Context, p Pipeline, env pipeline.Envelope, label plan.Label, object []byte, access extract.Access, r *Result) (jsontext.Value, pipeline.Code) {
	a, code := e.ask(ctx, e.extracts[class(label)], "extract", request{Run: env.Run, Extract: &extract.Input{Recipe: env.Recipe, Run: env.Run, Object: object, Access: access}})
	if code != pipeline.OK {
		return nil, code
	}
	out := a.extract
	out.Trace.Prompt.SHA256 = extract.DigestOfBytes(object)
	if code := pipeline.FromPhase(out.Code); code != pipeline.OK {
		if code == pipeline.Undecodable {
			r.Trace = e.traces[env.Recipe].Filter(out.Trace)
		}
		return nil, code
	}
	if _, err := p.Recipe.Shape().DecodeCanonical(out.Structure); err != nil {
		return nil, pipeline.PhaseMisbehave
	}
	r.Trace = e.traces[env.Recipe].Filter(out.Trace)
	return out.Structure, e.keep("structure", func() error {
		trace, err := encodeTrace(r.Trace)
		if err != nil {
			return err
		}
		return e.journal.Extracted(ctx, env.Run, e.mode, label.String(), out.Structure, trace)
	})
}

// Resume carries every live run that an earlier process left unfinished to
// its end, and on every run that was answered meanwhile. A run whose recipe or body is no longer here ends as failed.
func (e *Engine) Resume(ctx context.Context) ([]Result, error) {
	if e.mode != store.LiveMode {
		return nil, nil
	}
	entries, err := e.journal.Unfinished(ctx)
	if err != nil {
		return nil, err
	}
	results := make([]Result, 0, len(entries))
	for _, entry := range entries {
		r, err := e.resume(ctx, entry)
		if err != nil {
			return results, fmt.Errorf("run %s: %w", entry.Run, err)
		}
		results = append(results, r)
	}
	answered, err := e.Answered(ctx)
	results = append(results, answered...)
	if err != nil {
		return results, err
	}
	settled, err := e.Settle(ctx)
	return append(results, settled...), err
}

func (e *Engine) resume(ctx context.Context, entry store.Entry) (Result, error) {
	r := Result{Run: entry.Run, Recipe: entry.Recipe, Actions: []act.Action{}}
	env, err := pipeline.DecodeEnvelope(entry.Envelope)
	if err != nil {
		return r, err
	}
	body, found, err := e.raw.Get(ctx, entry.Run)
	if err != nil {
		return r, err
	}
	p, ok := e.pipelines[entry.Recipe]
	if !ok || !found {
		r = r.end(pipeline.UnknownRecipe)
		if ok {
			r = r.end(pipeline.Unreadable)
		}
		return r, e.journal.Ended(ctx, entry.Run, entry.Mode, store.End{Status: r.Status, Code: r.Reason})
	}
	env.RecipeDigest = e.digests[entry.Recipe]
	if env.Source == pipeline.TickSource && env.Item == "" {
		return e.batch(ctx, p, env, body).Result, nil
	}
	return e.run(ctx, p, env, body), nil
}
