package local

import (
	"context"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/events"
	"decant.dev/extract"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// Deliver runs a delivery through each recipe that handles its event. The
// body and the run are durable before the first phase begins.
func (e *Engine) Deliver(ctx context.Context, d events.Delivery) []Result {
	var results []Result
	for _, name := range e.order {
		p := e.pipelines[name]
		if p.Intake.Source != d.Source || !p.Recipe.Handles(d.Event) {
			continue
		}
		results = append(results, e.run(ctx, p, e.envelope(p, d), d.Body))
	}
	if len(results) == 0 {
		return []Result{Rejected(pipeline.UnhandledEvent)}
	}
	return results
}

// run takes one item through the phases, or waits for the attempt at the same
// run that is under way and answers as that did.
func (e *Engine) run(ctx context.Context, p Pipeline, env pipeline.Envelope, body []byte) Result {
	mine := &attempt{over: make(chan struct{})}
	if other, busy := e.running.LoadOrStore(env.Run, mine); busy {
		other := other.(*attempt)
		select {
		case <-other.over:
			return other.result
		case <-ctx.Done():
			return Result{Run: env.Run, Recipe: env.Recipe}.end(pipeline.Stopped)
		}
	}
	mine.result = e.attempt(ctx, p, env, body)
	e.running.Delete(env.Run)
	close(mine.over)
	return mine.result
}

// attempt is one pass of a run through the phases.
type attempt struct {
	over   chan struct{}
	result Result
}

// ask calls a phase about a run.
func (e *Engine) ask(ctx context.Context, p *phase, what string, q request) (reply, pipeline.Code) {
	e.at("before " + what)
	r, code := p.call(ctx, q)
	e.at("after " + what)
	return r, code
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
	if err := write(); err != nil {
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
func (e *Engine) attempt(ctx context.Context, p Pipeline, env pipeline.Envelope, body []byte) Result {
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
	r = e.advance(ctx, p, env, body, entry, r)
	if ctx.Err() != nil {
		return r.end(pipeline.Stopped) // not ended: the next start goes on
	}
	code := e.keep("end", func() error {
		actions, err := encodeActions(r.Actions)
		if err != nil {
			return err
		}
		return e.journal.Ended(ctx, env.Run, e.mode, r.Status, r.Reason, labelWord(r.Label), actions)
	})
	if code != pipeline.OK {
		return r.end(code)
	}
	return r
}

// advance carries a run from its last durable state to its end.
func (e *Engine) advance(ctx context.Context, p Pipeline, env pipeline.Envelope, body []byte, entry store.Entry, r Result) Result {
	answer := e.askAct(ctx, "admit", question{Run: env.Run, Admit: &env})
	if answer.Code != pipeline.OK {
		return r.end(answer.Code)
	}
	admission := *answer.Admit
	if admission.Code != pipeline.OK {
		return r.end(admission.Code)
	}
	r.Label = admission.Label
	structure := jsontext.Value(entry.Structure)
	if entry.State != store.Extracted {
		object, code := e.fetched(ctx, env, body)
		if code != pipeline.OK {
			return r.end(code)
		}
		if structure, code = e.extracted(ctx, p, env, admission.Label, object, &r); code != pipeline.OK {
			return r.end(code)
		}
	}
	r.Structure = structure
	asked := question{Run: env.Run, Act: &act.Input{Envelope: env, Structure: structure}}
	answer = e.askAct(ctx, "act", asked)
	if answer.Code == pipeline.PhaseDied && ctx.Err() == nil {
		answer = e.askAct(ctx, "act", asked) // receipts keep a second try from writing twice
	}
	if answer.Code != pipeline.OK {
		return r.end(answer.Code)
	}
	out := *answer.Act
	r.Status, r.Reason, r.Actions = out.Status, out.Code, out.Actions
	if out.Label.Valid() {
		r.Label = plan.Lower(admission.Label, out.Label)
	}
	return r
}

// fetched returns the run's prompt object, made by the fetch child, once it is
// durable. A run that was stopped before extract is fetched again from its
// stored body, so that trust is set from the grants of now.
func (e *Engine) fetched(ctx context.Context, env pipeline.Envelope, body []byte) ([]byte, pipeline.Code) {
	answer, code := e.ask(ctx, e.fetch, "fetch", request{Run: env.Run, Fetch: &fetch.Input{Envelope: env, Body: body}})
	if code != pipeline.OK {
		return nil, code
	}
	out := answer.Fetch
	if code := pipeline.FromPhase(out.Code); code != pipeline.OK {
		return nil, code
	}
	return out.Object, e.keep("prompt", func() error { return e.prompts.Put(ctx, env.Run, out.Object) })
}

// extracted returns the run's structure from the extract child of its label
// class. What the child says is checked before it is kept: the structure
// must be canonical, the trace of the extractor's own vocabulary.
func (e *Engine) extracted(ctx context.Context, p Pipeline, env pipeline.Envelope, label plan.Label, object []byte, r *Result) (jsontext.Value, pipeline.Code) {
	child := e.extracts[label == plan.Unverified]
	answer, code := e.ask(ctx, child, "extract", request{Run: env.Run, Extract: &extract.Input{Recipe: env.Recipe, Run: env.Run, Object: object}})
	if code != pipeline.OK {
		return nil, code
	}
	out := answer.Extract
	if code := pipeline.FromPhase(out.Code); code != pipeline.OK {
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
		return e.journal.Extracted(ctx, env.Run, e.mode, out.Structure, trace)
	})
}

// Resume carries every live run that an earlier process left unfinished to
// its end.
func (e *Engine) Resume(ctx context.Context) ([]Result, error) {
	if e.mode != store.LiveMode {
		return nil, nil
	}
	entries, err := e.journal.Unfinished(ctx)
	if err != nil {
		return nil, err
	}
	var results []Result
	for _, entry := range entries {
		p, ok := e.pipelines[entry.Recipe]
		if !ok {
			continue
		}
		env, err := pipeline.DecodeEnvelope(entry.Envelope)
		if err != nil {
			return results, fmt.Errorf("journal: run %s: %w", entry.Run, err)
		}
		body, found, err := e.raw.Get(ctx, entry.Run)
		if err != nil {
			return results, err
		}
		if !found {
			continue
		}
		env.RecipeDigest = e.digests[entry.Recipe]
		results = append(results, e.run(ctx, p, env, body))
	}
	return results, ctx.Err()
}
