package cli

import (
	"context"
	"fmt"
	"time"

	"decant.dev/events"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local"
	"decant.dev/pipeline/local/clock"
)

// schedules reads the file that says when schedules tick; none where there is
// no file.
func (a *App) schedules(file string) ([]clock.Entry, error) {
	if file == "" {
		return nil, nil
	}
	f, err := a.open(file)
	if err != nil {
		return nil, usagef("serve: --schedules: %v", err)
	}
	defer f.Close()
	b, err := events.ReadBody(f)
	if err != nil {
		return nil, usagef("serve: --schedules: %v", err)
	}
	entries, err := clock.Read(b, func(name string) (*pipeline.Recipe, bool) {
		p, err := a.pipeline("serve", name)
		return p.Recipe, err == nil
	})
	if err != nil {
		return nil, usagef("serve: --schedules: %v", err)
	}
	return entries, nil
}

// ticks fires schedules in an engine until ctx ends.
func (x *acceptor) ticks(ctx context.Context, entries []clock.Entry) {
	journal, mode := x.engine.Journal(), x.engine.Mode()
	clock.Runner{
		Last: func(ctx context.Context, e clock.Entry) (time.Time, bool, error) {
			return journal.LastTick(ctx, mode, e.Recipe, e.Schedule)
		},
		Keep: func(ctx context.Context, e clock.Entry, at time.Time) error {
			return journal.KeepTick(ctx, mode, e.Recipe, e.Schedule, at)
		},
		Tick: func(ctx context.Context, t events.Tick) { x.batch(ctx, x.engine.Tick(ctx, t)) },
		Say: func(e clock.Entry, what string) {
			fmt.Fprintf(x.app.Stderr, "decant: schedule %s of %s: %s\n", e.Schedule, e.Recipe, what)
		},
		Now: x.app.Clock, Sleep: clock.Sleep,
	}.Run(ctx, entries)
}

// batch prints how a tick ended, and each of its items.
func (x *acceptor) batch(ctx context.Context, b local.Batch) {
	for _, items := range [][]local.Result{b.Again, b.Items, {b.Result}} {
		for _, r := range items {
			x.print(r)
			x.tell(ctx, r.Run, r.Status)
		}
	}
	if b.Run != "" {
		fmt.Fprintf(x.app.Stderr, "decant: tick %s: %d new or changed, %d unchanged, %d gone, %d left for the next, %d tried again\n",
			b.Run, len(b.Items), b.Unchanged, b.Gone, b.Left, len(b.Again))
	}
}
