package local

import (
	"context"
	"fmt"
	"path/filepath"

	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/local/store"
)

// Question returns what a run asks a person, with its answers, and false
// where it asks nothing.
func (e *Engine) Question(ctx context.Context, run string) (approval.Record, bool, error) {
	return e.asked.Get(ctx, run)
}

// Give records a person's answer to what they were shown. The run goes on in
// a live engine: at its next start, or when it is told to look.
func (e *Engine) Give(ctx context.Context, run, binding, person string, a approval.Answer) (approval.Record, error) {
	book := approval.Book{Store: e.asked, Authorizer: NewGrants(e.held), Own: e.config.Own, Clock: e.config.Clock}
	return book.Give(ctx, run, binding, person, a)
}

// Pauses gives the recipes of a state directory that a person has stopped.
func (e *Engine) Pauses() Pauses { return NewPauses(filepath.Join(e.dir, grantsDir, pausedDir)) }

// Answered carries on every live run that waited for a person and waits no
// longer: it was answered, or nobody did in time.
func (e *Engine) Answered(ctx context.Context) ([]Result, error) {
	if e.mode != store.LiveMode {
		return nil, nil
	}
	entries, err := e.journal.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	var results []Result
	for _, entry := range entries {
		record, found, err := e.asked.Get(ctx, entry.Run)
		if err != nil {
			return results, fmt.Errorf("run %s: %w", entry.Run, err)
		}
		if found && record.Standing(e.config.Clock()) == approval.Waiting {
			continue
		}
		r, err := e.resume(ctx, entry)
		if err != nil {
			return results, fmt.Errorf("run %s: %w", entry.Run, err)
		}
		results = append(results, r)
	}
	return results, ctx.Err()
}

// Again tries a run that has ended once more, from its stored body. One that
// was performed is answered from the journal.
func (e *Engine) Again(ctx context.Context, run string) (Result, error) {
	entry, found, err := e.journal.Get(ctx, run, e.mode)
	if err != nil {
		return Result{}, err
	}
	if !found {
		return Result{}, pipeline.StoreFailed.Error("run %.32s: no %s run of that id", run, e.mode)
	}
	return e.resume(ctx, entry)
}
