package act

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/go-json-experiment/json"

	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
)

// asked performs an outcome that policy asks a person about once they have
// approved just this, and otherwise says how the question stands. A run that
// has its receipts is not asked about again.
func (h *Handler) asked(ctx context.Context, d deed) Output {
	out := d.out
	if before, err := h.Ledger.Receipts(ctx, d.in.Envelope.Run); err != nil {
		return held(out, pipeline.StoreFailed, "failed")
	} else if len(before) > 0 {
		return h.write(ctx, d)
	}
	book := approval.Book{Store: h.Approvals, Authorizer: h.Authorizer, Own: h.Own, Clock: h.Clock}
	question, err := h.question(ctx, d.in, d.recipe, out)
	if err != nil {
		return held(out, pipeline.StoreFailed, "failed")
	}
	record, err := book.Ask(ctx, question)
	if err != nil {
		return held(out, pipeline.StoreFailed, "failed")
	}
	switch record.Standing(h.Clock()) {
	case approval.Waiting:
		return held(out, pipeline.ApprovalNeeded, "waiting")
	case approval.Denied:
		return held(out, pipeline.ApprovalDenied, "refused")
	case approval.Approved:
		switch still, err := book.StillMay(ctx, record); {
		case err != nil:
			return held(out, pipeline.StoreFailed, "failed")
		case !still:
			return held(out, pipeline.ApproverLost, "refused")
		}
		// The receipts make this the only time, also where the mark is lost.
		done := h.once(ctx, d)
		if done.Status == pipeline.Done && book.Use(ctx, question.Run, question.Binding) != nil {
			return held(out, pipeline.StoreFailed, "failed")
		}
		return done
	case approval.Used:
		return h.once(ctx, d)
	default:
		return held(out, pipeline.ApprovalExpired, "refused")
	}
}

// question is bound to everything that the person is shown, and to what it
// means: the same record never answers for anything else.
func (h *Handler) question(ctx context.Context, in Input, recipe *pipeline.Recipe, out Output) (approval.Question, error) {
	env := in.Envelope
	q := approval.Question{Run: env.Run, Recipe: env.Recipe, Channel: env.Channel, Wanted: recipe.Approvals()}
	if env.Actor.Kind == pipeline.Person {
		holds, err := h.Authorizer.HoldsTrigger(ctx, env.Actor.ID, env.Channel)
		if err != nil {
			return q, err
		}
		if holds {
			q.Requester = env.Actor.ID
		}
	}
	actions, err := json.Marshal(out.Actions, json.Deterministic(true))
	if err != nil {
		return q, err
	}
	b := sha256.New()
	fmt.Fprintf(b, "decant approval binding v1\n%s\n%s\n%s\n%s\n%q\n%s\n%d:%s\n%d:%s\n",
		env.Run, env.Recipe, env.RecipeDigest, env.Channel, env.Target.Event+" "+env.Target.String(), out.Label, len(in.Structure), in.Structure, len(actions), actions)
	q.Binding = hex.EncodeToString(b.Sum(nil))
	return q, nil
}
