package local

import (
	"context"
	"errors"
	"sync"
	"time"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/events"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// itemsTogether is how many items of a batch are under way at a time.
const itemsTogether = 8

// Batch is how a tick ended, and each of its items.
type Batch struct {
	Result             // of the tick itself, which performs no action
	Items     []Result // in the order in which they were listed; empty where the tick was recorded before
	Left      int      // items beyond the bounds of a batch
	Again     []Result // items of earlier ticks that had been missed, and were tried once more
	Unchanged int      // items that an earlier tick listed, and that are the same
	Gone      int      // items that an earlier tick listed, and that are there no more
}

// Tick lists the items of one tick of a recipe's schedule and runs each on its
// own: what becomes of one changes nothing for another. The tick and each
// item's run are durable before the first phase sees them; a live tick that
// is stopped is listed again on the next start, and its items that ended are
// not repeated.
func (e *Engine) Tick(ctx context.Context, t events.Tick) Batch {
	p, ok := e.pipelines[t.Recipe]
	if !ok {
		return Batch{Result: Rejected(pipeline.UnknownRecipe)}
	}
	env, err := t.Envelope(p.Recipe, e.digests[t.Recipe], e.config.Clock())
	if err != nil {
		var fault *pipeline.Fault
		if !errors.As(err, &fault) {
			fault = &pipeline.Fault{Code: pipeline.MalformedEvent}
		}
		return Batch{Result: Rejected(fault.Code)}
	}
	return e.batch(ctx, p, env, t.Bytes())
}

// batch carries a tick, or waits for the attempt at the same tick that is
// under way.
func (e *Engine) batch(ctx context.Context, p Pipeline, env pipeline.Envelope, body []byte) Batch {
	var b Batch
	b.Result = e.alone(ctx, env, func(*attempt) Result {
		b = e.carryTick(ctx, p, env, body)
		return b.Result
	})
	return b
}

// carryTick lists and runs a tick's items, unless it was recorded before.
func (e *Engine) carryTick(ctx context.Context, p Pipeline, env pipeline.Envelope, body []byte) Batch {
	b := Batch{Result: Result{Run: env.Run, Recipe: env.Recipe, Bits: bitsOf(p.Recipe), Actions: []act.Action{}}}
	ended := func(code pipeline.Code) Batch {
		b.Result = b.end(code)
		return b
	}
	if e.mode == store.LiveMode {
		before, known, err := e.journal.Get(ctx, env.Run, e.mode)
		if err != nil {
			return ended(pipeline.StoreFailed)
		}
		if recorded, ok := e.recordedResult(before); known && ok {
			return Batch{Result: recorded}
		}
	}
	if code := e.keep("raw", func() error { return e.raw.PutOnce(ctx, env.Run, body) }); code != pipeline.OK {
		return ended(code)
	}
	if code := e.keep("begin", func() error { return e.journal.Begin(ctx, e.mode, env) }); code != pipeline.OK {
		return ended(code)
	}
	b.Status = pipeline.Staged
	if e.mode == store.LiveMode {
		b.Status = pipeline.Done
	}
	if code := e.items(ctx, p, env, &b); code != pipeline.OK {
		b.Result = b.end(code)
	}
	if ctx.Err() != nil {
		return ended(pipeline.Stopped) // not ended: the next start goes on
	}
	if code := e.keep("end", func() error {
		return e.journal.Ended(ctx, env.Run, e.mode, store.End{Status: b.Status, Code: b.Reason, Label: labelWord(b.Label), Actions: []byte("[]")})
	}); code != pipeline.OK {
		return ended(code)
	}
	return b
}

// items asks act whether the tick may begin, fetch for its items, and runs
// them. What the fetch child lists is bounded once more. Its cursor is kept
// once each item is durable: what was lost before is listed again.
func (e *Engine) items(ctx context.Context, p Pipeline, env pipeline.Envelope, b *Batch) pipeline.Code {
	label, code := e.admitted(ctx, env, plan.Label(0))
	if code != pipeline.OK {
		return code
	}
	b.Label = label
	if code := e.missed(ctx, env, b); code != pipeline.OK {
		return code
	}
	cursor, _, err := e.cursors.Get(ctx, env.Feed())
	if err != nil {
		return pipeline.StoreFailed
	}
	a, code := e.ask(ctx, e.fetches[class(label)], "list", request{Run: env.Run, List: &listInput{env, cursor}})
	if code != pipeline.OK {
		return code
	}
	if code := pipeline.FromList(a.list.Code); code != pipeline.OK {
		return code
	}
	if len(a.list.Cursor) > fetch.MaxCursorBytes {
		return pipeline.PhaseMisbehave
	}
	b.Unchanged, b.Gone = max(a.list.Unchanged, 0), max(a.list.Gone, 0)
	e.runItems(ctx, p, a.list, b, env.OfItem)
	for _, r := range b.Items {
		if r.Reason == pipeline.Stopped || r.Reason == pipeline.StoreFailed {
			return r.Reason // it may not be durable
		}
	}
	return e.keep("cursor", func() error { return e.cursors.Put(ctx, env.Feed(), a.list.Cursor) })
}

// Bounds of what a tick tries again.
const (
	missedFor  = 7 * 24 * time.Hour // since an item's run was begun first
	missedMost = 100                // items at one tick
)

// missed tries the items of earlier ticks again that ended with what may have
// passed, from their stored bytes: whatever the source lists now.
func (e *Engine) missed(ctx context.Context, tick pipeline.Envelope, b *Batch) pipeline.Code {
	entries, err := e.journal.Missed(ctx, tick.Recipe, e.mode, e.config.Clock().Add(-missedFor), missedMost)
	if err != nil {
		return pipeline.StoreFailed
	}
	for _, entry := range entries {
		env, err := pipeline.DecodeEnvelope(entry.Envelope)
		if err != nil || env.Item == "" || env.Feed() != tick.Feed() {
			continue
		}
		r, err := e.resume(ctx, entry)
		if err != nil {
			return pipeline.StoreFailed
		}
		b.Again = append(b.Again, r)
	}
	return pipeline.OK
}

// runItems runs what a fetch child listed, which is bounded once more.
func (e *Engine) runItems(ctx context.Context, p Pipeline, l fetch.Listing, b *Batch, envelope func(item []byte) pipeline.Envelope) {
	listing := fetch.Bounded(l.Items)
	b.Left = max(l.Left, 0) + listing.Left
	b.Items = make([]Result, len(listing.Items))
	limit := make(chan struct{}, itemsTogether)
	var running sync.WaitGroup
	for i, item := range listing.Items {
		limit <- struct{}{}
		running.Go(func() {
			b.Items[i] = e.run(ctx, p, envelope(item), item)
			<-limit
		})
	}
	running.Wait()
}

// Given runs each item of a document that a person gave as a file. Which items
// it has is for a fetch child of the unverified to say: nobody vouches for
// what stands in it. A document that gives none is rejected with its code.
func (e *Engine) Given(ctx context.Context, recipe string, document []byte) Batch {
	p, ok := e.pipelines[recipe]
	if !ok {
		return Batch{Result: Rejected(pipeline.UnknownRecipe)}
	}
	env, err := p.Recipe.Given(e.digests[recipe], document, e.config.Clock())
	if err != nil {
		return Batch{Result: Rejected(pipeline.UnhandledEvent)}
	}
	l := fetch.Listing{Items: [][]byte{document}}
	if p.Intake.Items != nil {
		a, code := e.ask(ctx, e.fetches[true], "items", request{Run: env.Run, Items: &itemsInput{recipe, document}})
		if code == pipeline.OK {
			code = pipeline.FromList(a.list.Code)
		}
		if code != pipeline.OK {
			return Batch{Result: Rejected(code)}
		}
		l = a.list
	}
	var b Batch
	e.runItems(ctx, p, l, &b, func(item []byte) pipeline.Envelope {
		one, _ := p.Recipe.Given(e.digests[recipe], item, env.Received) // as it gave one for the document
		return one
	})
	if len(b.Items) == 0 && b.Left > 0 {
		b.Result = Rejected(pipeline.BodyTooLarge)
	}
	return b
}
