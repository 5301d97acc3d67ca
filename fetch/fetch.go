// Package fetch is phase 1: it turns an envelope and the stored body into
// elements, marks each with author, origin, role and trust, and fences them
// as data.
//
// The hostile network and hostile formats live here. Fetch can write raw
// text and nothing else; whatever it reports cannot raise a run's label,
// which act computes for itself.
package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act/plan"
	"decant.dev/fence"
	"decant.dev/pipeline"
	"decant.dev/pipeline/runcontext"
)

// Bundle is what an intake makes of one item, oldest element first: the part
// of a fence.Bundle that differs from item to item.
type Bundle struct {
	Elements []fence.Element
	Message  string // id of the element that the event is about, or empty
	Created  bool   // the event is the creation of that message, not an edit
	Voice    bool   // the message may be the voice, if its author is the actor and holds trigger
}

// Intake is what fetch knows of a recipe: where its text comes from and how
// the turn is put.
type Intake struct {
	Source   string // the source's name, as "github"
	Elements func(pipeline.Envelope, []byte) (Bundle, error)
	List     Lister // the items of a tick, for a recipe with schedules
	// Items are those of a document that a person gives as a file; nil where the
	// document is the item.
	Items       func(document []byte) ([][]byte, error)
	Profile     fence.Profile
	Instruction string // the recipe author's own words: the voice, unless a person's message is
	Scaffold    string // plain text by the recipe's author
	Limits      fence.Limits
	Hosts       []string // "host:port" that fetch may reach; empty means none
}

// Digest identifies the intake's part of a recipe's digest.
func (i Intake) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "decant intake digest v1\n%q %q %q %q %+v %q", i.Source, i.Profile, i.Instruction, i.Scaffold, i.Limits, i.Hosts)
	return hex.EncodeToString(h.Sum(nil))
}

// Input is one stored body with its envelope: the item's own bytes where the
// envelope is of an item. Keep asks for the bundle too, from which the run's
// context can be built again.
type Input struct {
	Envelope pipeline.Envelope `json:"envelope"`
	Body     []byte            `json:"body"`
	Keep     bool              `json:"keep,omitzero"`
}

// Output is the run's prompt object with the lowest label that an element of
// it bears, and its bundle where that was asked for, or the code that ended
// the run. The label can lower the run's and never raise it.
type Output struct {
	Object jsontext.Value `json:"object,omitzero"`
	Bundle jsontext.Value `json:"bundle,omitzero"`
	Lowest plan.Label     `json:"lowest,omitzero"`
	Code   pipeline.Code  `json:"code,omitzero"`
}

// Handler answers for a set of recipes.
type Handler struct {
	Intakes    map[string]Intake // recipe name → intake
	Authorizer pipeline.Authorizer
	Own        []string // identities that our sinks use: their texts are "self"
	Random     io.Reader
}

// Fetch builds the run's context and renders its prompt. Its only failures
// are codes.
func (h *Handler) Fetch(ctx context.Context, in Input) Output {
	out, err := h.fetch(ctx, in)
	if err == nil {
		return out
	}
	if errors.Is(err, fence.ErrTriggerTooLarge) {
		return Output{Code: pipeline.TriggerTooLarge}
	}
	return Output{Code: faultCode(err)}
}

func (h *Handler) fetch(ctx context.Context, in Input) (out Output, err error) {
	gathered, err := h.gather(in)
	if err != nil {
		return Output{}, err
	}
	built, err := runcontext.Builder{Authorizer: h.Authorizer, Own: h.Own}.Build(ctx, in.Envelope, gathered)
	if err != nil {
		return Output{}, err
	}
	prompt, err := fence.Render(built, h.Random)
	if err != nil {
		return Output{}, err
	}
	out.Lowest = lowest(prompt.Context().Elements, in.Envelope.Actor)
	if out.Object, err = fence.EncodeObject(prompt); err == nil && in.Keep {
		out.Bundle, err = gathered.Encode()
	}
	if err != nil {
		return Output{}, err
	}
	return out, nil
}

// gather reads the body as the recipe's intake does.
func (h *Handler) gather(in Input) (fence.Bundle, error) {
	intake, ok := h.Intakes[in.Envelope.Recipe]
	if !ok {
		return fence.Bundle{}, pipeline.UnknownRecipe.Error("recipe is not built in")
	}
	sum := sha256.Sum256(in.Body)
	if hex.EncodeToString(sum[:]) != in.Envelope.Content() {
		return fence.Bundle{}, pipeline.Unreadable.Error("body does not have the envelope's digest")
	}
	b, err := intake.Elements(in.Envelope, in.Body)
	if err != nil {
		return fence.Bundle{}, err
	}
	return fence.Bundle{
		Run: in.Envelope.Run, Recipe: in.Envelope.Recipe, Profile: intake.Profile,
		Instruction: intake.Instruction, Scaffold: intake.Scaffold, Limits: intake.Limits,
		Message: b.Message, Created: b.Created, Voice: b.Voice, Elements: b.Elements,
	}, nil
}

// lowest is the label of the least trusted element: whose words the run reads
// at worst. The actor's own words are as trusted as the actor, whichever of
// their elements is the message.
func lowest(elements []fence.Element, actor pipeline.Actor) plan.Label {
	l := plan.System
	for _, e := range elements {
		switch e.Trust {
		case fence.TrustSystem:
		case fence.TrustTrigger:
			l = plan.Lower(l, plan.Trigger)
		case fence.TrustAuthorized:
			if e.Author.ID == actor.ID {
				l = plan.Lower(l, plan.Trigger)
			} else {
				l = plan.Lower(l, plan.Authorized)
			}
		default:
			return plan.Unverified
		}
	}
	return l
}
