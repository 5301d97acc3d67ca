// Package runcontext builds run_context.v1 from what fetch gathered: the one
// way from a bundle to a context, for the prompt of a run and for each read
// of the context API.
//
// Trust is set as of now. Who acted, on which channel, comes from the
// envelope, which fetch cannot write; who holds trigger there comes from the
// Authorizer; what is ours comes from the configuration. A bundle says none
// of it, so that one that is stored grants nothing later.
//
// Not promised: that a bundle's authors are its authors. Whoever can write a
// bundle can name any author in it; a run's label does not depend on it.
package runcontext

import (
	"context"
	"time"

	"decant.dev/fence"
	"decant.dev/pipeline"
)

// AuthorizerTimeout bounds how long a context waits for all answers of the
// Authorizer together. Persons without an answer by then are unverified.
const AuthorizerTimeout = 3 * time.Second

// Builder builds contexts. It is safe for concurrent use if its Authorizer
// is. Without an Authorizer all persons are unverified.
type Builder struct {
	Authorizer pipeline.Authorizer
	Own        []string // identities that our sinks use: their texts are "self"
}

// Build gives the run's context as of now. The bundle must be of the
// envelope's run and recipe; anything else is pipeline.Unreadable. The context
// is not validated: its users do so as they encode or render it.
func (b Builder) Build(ctx context.Context, env pipeline.Envelope, gathered fence.Bundle) (fence.RunContext, error) {
	if gathered.Run != env.Run || gathered.Recipe != env.Recipe {
		return fence.RunContext{}, pipeline.Unreadable.Error("want a bundle of the envelope's run and recipe, got another")
	}
	kind, err := fence.ParseAuthorKind(string(env.Actor.Kind))
	if err != nil {
		kind = fence.KindImport
	}
	ctx, cancel := context.WithTimeout(ctx, AuthorizerTimeout)
	defer cancel()
	elements, trigger := fence.Mark(ctx, b.Authorizer, fence.Turn{
		Channel: env.Channel, Actor: fence.Author{ID: env.Actor.ID, Kind: kind},
		Message: gathered.Message, Created: gathered.Created, WantVoice: gathered.Voice, Self: b.Own,
	}, gathered.Elements)
	return fence.RunContext{
		Run: gathered.Run, Recipe: gathered.Recipe, Profile: gathered.Profile, Placement: gathered.Placement, Trigger: trigger,
		Instruction: gathered.Instruction, Scaffold: gathered.Scaffold, Limits: gathered.Limits, Elements: elements,
	}, nil
}

// Encoded is Build from a bundle's document to a context's, both in canonical
// JSON. Its errors are those of Build, and pipeline.Unreadable for a bundle
// that is malformed or gives no valid context.
func (b Builder) Encoded(ctx context.Context, env pipeline.Envelope, bundle []byte) ([]byte, error) {
	gathered, err := fence.DecodeBundle(bundle)
	if err != nil {
		return nil, pipeline.Unreadable.Error("bundle of %d bytes: %v", len(bundle), err)
	}
	built, err := b.Build(ctx, env, gathered)
	if err != nil {
		return nil, err
	}
	doc, err := built.Encode()
	if err != nil {
		return nil, pipeline.Unreadable.Error("context: %v", err)
	}
	return doc, nil
}
