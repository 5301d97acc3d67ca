package pipeline

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// Grant says that a person holds trigger on a channel.
type Grant struct {
	Person  string `json:"person"`  // an actor's id, as "github:583231"
	Channel string `json:"channel"` // as an envelope's, "github:owner/name"
}

// Check reports a person or a channel that no envelope could have, without
// repeating it.
func (g Grant) Check() error {
	switch {
	case !IsActorID(g.Person):
		return errors.New("person: want the source and the id that it gives, as github:583231")
	case !IsChannel(g.Channel):
		return errors.New("channel: want the source and its name there, as github:octo-org/sample")
	}
	return nil
}

// Grants are grants that can be changed. What Add and Remove change counts
// from the next question on. Both refuse a grant that Check refuses, and
// report whether anything changed: to add what is there, or to remove what is
// not, is no error.
type Grants interface {
	Add(ctx context.Context, g Grant) (changed bool, err error)
	Remove(ctx context.Context, g Grant) (changed bool, err error)
	// List returns all grants, sorted by channel and then by person.
	List(ctx context.Context) ([]Grant, error)
}

// SortGrants puts grants in the order of List, and each once.
func SortGrants(all []Grant) []Grant {
	slices.SortFunc(all, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Channel, b.Channel), cmp.Compare(a.Person, b.Person))
	})
	return slices.Compact(all)
}
