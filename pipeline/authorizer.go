package pipeline

import "context"

// Authorizer answers whether a person holds trigger on a channel at the time
// of asking. An error means that nobody does.
type Authorizer interface {
	HoldsTrigger(ctx context.Context, person, channel string) (bool, error)
}
