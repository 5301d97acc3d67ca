package approval

import (
	"context"
	"errors"
	"slices"
	"time"

	"decant.dev/pipeline"
)

// Store keeps one record for each run.
type Store interface {
	// Get returns a run's record with its version, and false where there is
	// none.
	Get(ctx context.Context, run string) (Record, bool, error)
	// Put stores a record in place of the one whose version it bears, or
	// where its version is 0 and there is none, and reports false otherwise.
	// What is stored has the next version.
	Put(ctx context.Context, r Record) (bool, error)
}

// tries is how often a write that another one overtook is made anew. Few
// people answer one question.
const tries = 8

var errBusy = errors.New("approval: others wrote at each try")

// Book applies the rules to the records of a store.
type Book struct {
	Store      Store
	Authorizer pipeline.Authorizer // who may answer; act and whoever records answers ask it
	Own        []string            // identities that our sinks use: they never answer
	Clock      func() time.Time
}

func (b Book) may(ctx context.Context, r Record, person string) (bool, error) {
	if slices.Contains(b.Own, person) {
		return false, nil
	}
	return r.MayAnswer(person, func(p, c string) (bool, error) { return b.Authorizer.HoldsTrigger(ctx, p, c) })
}

// change reads a record, changes it and stores it, until no other write came
// in between.
func (b Book) change(ctx context.Context, run string, f func(Record, bool) (Record, error)) (Record, error) {
	for range tries {
		before, found, err := b.Store.Get(ctx, run)
		if err != nil {
			return Record{}, err
		}
		after, err := f(before, found)
		if err != nil {
			return before, err
		}
		if found && same(before, after) {
			return before, nil
		}
		after.Version = before.Version
		if err := after.Check(); err != nil {
			return before, err
		}
		ok, err := b.Store.Put(ctx, after)
		if err != nil {
			return before, err
		}
		if ok {
			after.Version++
			return after, nil
		}
	}
	return Record{}, errBusy
}

func same(a, b Record) bool {
	x, _ := a.Encode()
	y, _ := b.Encode()
	return string(x) == string(y)
}

// Ask returns the record of a question, and makes it where there is none or
// where something else was asked before. Answers to something else are void.
func (b Book) Ask(ctx context.Context, q Question) (Record, error) {
	return b.change(ctx, q.Run, func(r Record, found bool) (Record, error) {
		if found && r.Binding == q.Binding {
			return r, nil
		}
		fresh := asked(q, b.Clock())
		fresh.Token = r.Token
		return fresh, nil
	})
}

// Wait keeps what wakes the run, in place of an earlier token, and reports
// whether the run still waits. If it does not, wake it at once.
func (b Book) Wait(ctx context.Context, run, token string) (bool, error) {
	r, err := b.change(ctx, run, func(r Record, found bool) (Record, error) {
		if !found {
			return r, NotAsked
		}
		r.Token = token
		return r, nil
	})
	return r.Standing(b.Clock()) == Waiting, err
}

// Give records a person's answer to what they were shown, which binding says.
// A Refusal is why it was not taken. The same answer of the same person again
// changes nothing and is no error, so that an answer whose reply was lost can
// be repeated.
func (b Book) Give(ctx context.Context, run, binding, person string, a Answer) (Record, error) {
	if a != Approve && a != Deny {
		return Record{}, errors.New("approval: answer: want approve or deny")
	}
	return b.change(ctx, run, func(r Record, found bool) (Record, error) {
		if !found {
			return r, NotAsked
		}
		may, err := b.may(ctx, r, person)
		switch {
		case err != nil:
			return r, err
		case !may:
			return r, WrongPerson
		}
		for _, g := range r.Answers {
			if g.Person == person && g.Answer == a && r.Binding == binding && r.State != Used {
				return r, nil
			}
		}
		return r.give(binding, person, a, b.Clock())
	})
}

// StillMay reports whether everybody who approved may do so now.
func (b Book) StillMay(ctx context.Context, r Record) (bool, error) {
	for _, g := range r.Answers {
		may, err := b.may(ctx, r, g.Person)
		if err != nil || !may {
			return false, err
		}
	}
	return true, nil
}

// Use marks an approved record as performed.
func (b Book) Use(ctx context.Context, run, binding string) error {
	_, err := b.change(ctx, run, func(r Record, found bool) (Record, error) {
		switch {
		case !found || r.Binding != binding:
			return r, NotAsked
		case r.State == Approved:
			r.State = Used
		case r.State != Used:
			return r, NotAsked
		}
		return r, nil
	})
	return err
}
