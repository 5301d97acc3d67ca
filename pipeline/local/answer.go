package local

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/local/store"
)

// asked does something with the approvals. They are opened for it: most
// commands, and most runs, ask nobody.
func (e *Engine) asked(do func(*store.Approvals) error) error {
	approvals, err := store.OpenApprovals(filepath.Join(e.dir, approvalsDir))
	if err != nil {
		return err
	}
	return errors.Join(do(approvals), approvals.Close())
}

// Question returns what a run asks a person, with its answers, and false
// where it asks nothing.
func (e *Engine) Question(ctx context.Context, run string) (r approval.Record, found bool, err error) {
	err = e.asked(func(s *store.Approvals) (err error) {
		r, found, err = s.Get(ctx, run)
		return err
	})
	return r, found, err
}

// Give records a person's answer to what they were shown. The run goes on in
// a live engine: at its next start, or when it is told to look.
func (e *Engine) Give(ctx context.Context, run, binding, person string, a approval.Answer) (r approval.Record, err error) {
	err = e.asked(func(s *store.Approvals) (err error) {
		book := approval.Book{Store: s, Authorizer: NewGrants(e.held), Own: e.config.Own, Clock: e.config.Clock}
		r, err = book.Give(ctx, run, binding, person, a)
		return err
	})
	return r, err
}

// Asked lists who may answer a question now: the person whose message started
// the run, and otherwise the recipe's approvers.
func (e *Engine) Asked(ctx context.Context, r approval.Record) ([]string, error) {
	if r.Requester != "" {
		return []string{r.Requester}, nil
	}
	all, err := NewGrants(e.held).List(ctx)
	var persons []string
	for _, g := range all {
		if g.Channel == approval.Channel(r.Recipe) && !slices.Contains(e.config.Own, g.Person) {
			persons = append(persons, g.Person)
		}
	}
	return persons, err
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
	if len(entries) == 0 {
		return nil, ctx.Err()
	}
	var results []Result
	err = e.asked(func(s *store.Approvals) error {
		for _, entry := range entries {
			record, found, err := s.Get(ctx, entry.Run)
			if err != nil {
				return fmt.Errorf("run %s: %w", entry.Run, err)
			}
			if found && record.Standing(e.config.Clock()) == approval.Waiting {
				continue
			}
			r, err := e.resume(ctx, entry)
			if err != nil {
				return fmt.Errorf("run %s: %w", entry.Run, err)
			}
			results = append(results, r)
		}
		return ctx.Err()
	})
	return results, err
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
