// Package act is phase 3: it has write authority and has never seen a byte
// of the text, only the bounded structure.
//
// Act is asked twice for a run: first Admit, with the envelope alone, before
// anything is fetched; then Act, with exactly the envelope and the
// structure. The label is the lower of the two answers. It decodes the structure strictly, runs the plan with tokens
// and texts lifted, refuses an outcome that is not on the recipe's list,
// applies policy under a label that it computes itself, and either stages
// the outcome or writes it with receipts, once.
//
// Not promised: that the structure is true.
package act

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act/plan"
	"decant.dev/act/render"
	"decant.dev/act/table"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
)

// Handler answers for a set of recipes. It is safe for concurrent use if the
// recipes' plans are.
type Handler struct {
	Recipes    map[string]*pipeline.Recipe
	Digests    map[string]string   // recipe name → recipe digest that an envelope must bear
	Authorizer pipeline.Authorizer // who holds trigger, asked at act time
	Admissions Admissions          // what the first answer was
	Paused     Paused              // which recipes a person has stopped
	Budgets    Budgets             // needed where a recipe has any: how much of them is used
	Approvals  approval.Store      // needed where Live: what persons answered
	Own        []string            // identities that our sinks use: they never start a run
	Live       bool                // false: outcomes are staged, whatever sinks say
	Kinds      []plan.Kind         // where Live: the only kinds that are performed; empty means all that have a sink
	Sinks      map[plan.Kind]Sink  // of the kinds that are performed over a network
	Ledger     Ledger              // needed where Live
	Clock      func() time.Time
	// Sleep waits before a job is sent once more; needed where there are Sinks.
	Sleep func(context.Context, time.Duration) error
}

// Paused answers which recipes a person has stopped.
type Paused interface {
	Paused(ctx context.Context, recipe string) (bool, error)
}

// AdmitInput is an envelope, and the highest label that the run may still
// have: what the orchestrator knows of an earlier attempt, or of what fetch
// found. It can lower the label and never raise it.
type AdmitInput struct {
	Envelope pipeline.Envelope `json:"envelope"`
	Ceiling  plan.Label        `json:"ceiling,omitzero"`
}

// Admission is the answer to an envelope alone.
type Admission struct {
	Label plan.Label    `json:"label,omitzero"`
	Code  pipeline.Code `json:"code,omitzero"`
}

// Input is exactly what crosses into act.
type Input struct {
	Envelope  pipeline.Envelope `json:"envelope"`
	Structure jsontext.Value    `json:"structure"`
}

// Output is what act did, for the journal and for people. Params hold the
// texts that the structure carries, and no other foreign text.
type Output struct {
	Status  pipeline.Status `json:"status"`
	Code    pipeline.Code   `json:"code,omitzero"`
	Label   plan.Label      `json:"label,omitzero"`
	Actions []Action        `json:"actions"`
}

// Action is one action of the outcome as it was, or would be, performed.
type Action struct {
	Kind     plan.Kind      `json:"kind"`
	Target   string         `json:"target"`
	Params   map[string]any `json:"params"`
	Decision plan.Decision  `json:"decision"`
	Outcome  string         `json:"outcome"` // staged, done, claimed, sent, unknown, waiting, refused, failed or not repeated
	Reasons  []plan.Reason  `json:"reasons,omitempty"`
}

// Admit decides from the envelope alone whether a run may begin, and under
// which label at most, and remembers that label.
func (h *Handler) Admit(ctx context.Context, in AdmitInput) Admission {
	admission := h.admit(ctx, in.Envelope)
	if admission.Code != pipeline.OK {
		return admission
	}
	if in.Ceiling.Valid() {
		admission.Label = plan.Lower(admission.Label, in.Ceiling)
	}
	recipe := h.Recipes[in.Envelope.Recipe]
	if code := h.charge(ctx, recipe, in.Envelope, admission.Label, h.beginning(recipe)); code != pipeline.OK {
		return Admission{Code: code}
	}
	if err := h.Admissions.Admit(ctx, in.Envelope.Run, admission.Label); err != nil {
		return Admission{Code: pipeline.StoreFailed}
	}
	return admission
}

// admit is what both of act's answers rest on: the envelope and the grants as
// they are now.
func (h *Handler) admit(ctx context.Context, env pipeline.Envelope) Admission {
	recipe, code := h.recipe(env)
	if code != pipeline.OK {
		return Admission{Code: code}
	}
	if code := h.mayTrigger(env.Actor); code != pipeline.OK {
		return Admission{Code: code}
	}
	switch paused, err := h.Paused.Paused(ctx, env.Recipe); {
	case err != nil:
		return Admission{Code: pipeline.StoreFailed}
	case paused:
		return Admission{Code: pipeline.Paused}
	}
	return Admission{Label: h.label(ctx, recipe, env)}
}

func (h *Handler) recipe(env pipeline.Envelope) (*pipeline.Recipe, pipeline.Code) {
	if err := env.Check(); err != nil {
		return nil, pipeline.MalformedEvent
	}
	r := h.Recipes[env.Recipe]
	switch {
	case r == nil:
		return nil, pipeline.UnknownRecipe
	case h.Digests[env.Recipe] != env.RecipeDigest:
		return nil, pipeline.RecipeChanged
	}
	_, code := r.List()
	return r, code
}

// mayTrigger holds the rule that agents never trigger, nor apps, imports or
// any identity that one of our sinks writes with.
func (h *Handler) mayTrigger(a pipeline.Actor) pipeline.Code {
	for _, own := range h.Own {
		if a.ID == own {
			return pipeline.AgentsNeverTrigger
		}
	}
	switch a.Kind {
	case pipeline.Person, pipeline.System:
		return pipeline.OK
	default:
		return pipeline.AgentsNeverTrigger
	}
}

// label is the lower of the actor's trust now and the lowest trust of any
// origin that the recipe reads for the event. Nothing that fetch or extract
// reports enters it.
func (h *Handler) label(ctx context.Context, r *pipeline.Recipe, env pipeline.Envelope) plan.Label {
	actor := plan.Unverified
	switch env.Actor.Kind {
	case pipeline.System:
		if env.Source == pipeline.TickSource { // a sender that is not known stands for no one
			actor = plan.System
		}
	case pipeline.Person:
		if holds, err := h.Authorizer.HoldsTrigger(ctx, env.Actor.ID, env.Channel); err == nil && holds {
			actor = plan.Trigger
		}
	}
	return r.LabelFor(env.Target.Event, actor)
}

// Act turns one structure into an outcome and stages it, or writes it where
// the handler is live and every wall agrees. Its label is the lower of what
// Admit answered and what it would answer now; a run that was not admitted is
// refused.
func (h *Handler) Act(ctx context.Context, in Input) Output {
	admission := h.admit(ctx, in.Envelope)
	if admission.Code != pipeline.OK {
		return ended(admission.Code, 0)
	}
	admitted, ok, err := h.Admissions.Admitted(ctx, in.Envelope.Run)
	switch {
	case err != nil:
		return ended(pipeline.StoreFailed, 0)
	case !ok:
		return ended(pipeline.NotAdmitted, 0)
	}
	admission.Label = plan.Lower(admission.Label, admitted)
	r := h.Recipes[in.Envelope.Recipe]
	value, err := r.Shape().DecodeCanonical(in.Structure)
	if err != nil {
		return ended(pipeline.NotCanonical, admission.Label)
	}
	outcome, handles, err := r.Decide(value, in.Envelope.Target.Event)
	if err != nil {
		return ended(pipeline.PlanFailed, admission.Label)
	}
	if list, _ := r.List(); !list.Admits(outcome) {
		return ended(pipeline.UnlistedOutcome, admission.Label)
	}
	return h.perform(ctx, in, admission.Label, r, outcome, handles)
}

func ended(code pipeline.Code, l plan.Label) Output {
	return Output{Status: code.Status(), Code: code, Label: l, Actions: []Action{}}
}

// deed is an outcome that is to be performed, with what it takes to do so.
type deed struct {
	in       Input
	recipe   *pipeline.Recipe
	outcome  plan.Outcome
	out      Output
	receipts []Receipt
	writes   []table.Write
	jobs     map[int]Job // by index: of what is performed over a network
}

// perform applies policy to a listed outcome. The outcome goes as a whole:
// one action that policy forbids or wants asked holds all of them back.
func (h *Handler) perform(ctx context.Context, in Input, label plan.Label, recipe *pipeline.Recipe, o plan.Outcome, handles shape.Handles) Output {
	env, policy := in.Envelope, recipe.Policy()
	out := Output{Status: pipeline.Staged, Label: label, Actions: make([]Action, 0, len(o.Actions))}
	resolver := plan.Resolver{Content: handles.Content, Target: env.Place()}
	strictest := plan.Auto
	d := deed{in: in, recipe: recipe, outcome: o, jobs: map[int]Job{}}
	for i, a := range o.Actions {
		verdict := policy.Decide(o.Action(i), label)
		strictest = min(strictest, verdict.Decision)
		params, digest, ok := resolve(a.Kind, a.Params, resolver)
		if !ok {
			return ended(pipeline.PlanFailed, label)
		}
		out.Actions = append(out.Actions, Action{
			Kind: a.Kind, Target: resolver.Target, Params: params,
			Decision: verdict.Decision, Outcome: "staged", Reasons: verdict.Reasons,
		})
		if !h.performs(a.Kind) {
			continue
		}
		receipt := h.receipt(env, label, i, a.Kind, digest)
		if h.networked(a.Kind) {
			receipt.State, receipt.Outcome = Claimed, ""
			d.jobs[i] = Job{
				Kind: a.Kind, Key: IdempotencyKey(env.Run, i), Run: env.Run, Source: env.Source, Label: label,
				Params: params, Target: env.Target, Place: resolver.Target,
			}
			d.receipts = append(d.receipts, receipt)
			continue
		}
		w, err := table.NewWrite(a.Params, resolver)
		if err != nil {
			return ended(pipeline.PlanFailed, label)
		}
		w.Source, w.Label, w.Run = env.Source, label, env.Run
		d.writes = append(d.writes, w)
		d.receipts = append(d.receipts, receipt)
	}
	if len(o.Actions) == 0 {
		out.Code = pipeline.NothingToDo
	}
	d.out = out
	if !h.Live {
		return out
	}
	switch strictest {
	case plan.Auto:
		return h.once(ctx, d)
	case plan.Ask:
		return h.asked(ctx, d)
	default:
		return held(out, pipeline.PolicyNever, "refused")
	}
}

// performs reports whether a kind is performed here, and not only staged.
func (h *Handler) performs(k plan.Kind) bool {
	return h.Live && (k == plan.KindTableRow || h.networked(k)) && (len(h.Kinds) == 0 || slices.Contains(h.Kinds, k))
}

func held(out Output, code pipeline.Code, outcome string) Output {
	out.Status, out.Code = code.Status(), code
	for i := range out.Actions {
		out.Actions[i].Outcome = outcome
	}
	return out
}

func (h *Handler) receipt(env pipeline.Envelope, label plan.Label, i int, k plan.Kind, digest string) Receipt {
	r := Receipt{
		Schema: ReceiptSchema, Run: env.Run, Index: i, Kind: k, ParamsSHA256: digest,
		State: Done, Outcome: "stored", Label: label, At: h.Clock().UTC(),
	}
	if env.Actor.Kind == pipeline.Person {
		r.ActingFor = env.Actor.ID
	}
	return r
}

// once performs a deed within its budgets. A run that has its receipts uses
// nothing more.
func (h *Handler) once(ctx context.Context, d deed) Output {
	if len(d.recipe.Budgets()) > 0 {
		before, err := h.Ledger.Receipts(ctx, d.in.Envelope.Run)
		if err != nil {
			return held(d.out, pipeline.StoreFailed, "failed")
		}
		if len(before) > 0 {
			return h.write(ctx, d)
		}
	}
	switch code := h.charge(ctx, d.recipe, d.in.Envelope, d.out.Label, performing(d.recipe.Shape(), d.outcome)); code {
	case pipeline.OK:
		return h.write(ctx, d)
	case pipeline.OverBudget:
		return held(d.out, code, "refused")
	default:
		return held(d.out, code, "failed")
	}
}

// write commits receipts and rows at once, and then carries each receipt of a
// networked action as far as it comes. Where the run has its receipts already,
// nothing is committed and they are carried on; if they are of another outcome
// than this one, that the run was performed before.
//
// A sink's refusal leaves the actions after it to be performed. Anything else
// that is not done holds them back, so that they happen in order.
func (h *Handler) write(ctx context.Context, d deed) Output {
	out, receipts := d.out, d.receipts
	if len(receipts) > 0 {
		existing, stored, err := h.Ledger.Commit(ctx, receipts, d.writes)
		if err != nil {
			return held(out, pipeline.StoreFailed, "failed")
		}
		if !stored {
			receipts = existing
		}
	}
	for _, r := range receipts {
		if !slices.ContainsFunc(d.receipts, func(m Receipt) bool {
			return m.Index == r.Index && m.Kind == r.Kind && m.ParamsSHA256 == r.ParamsSHA256
		}) {
			return held(out, pipeline.AlreadyPerformed, "not repeated")
		}
	}
	var failed error
	halted := false
	for i, r := range receipts {
		if j, networked := d.jobs[r.Index]; networked && !halted && failed == nil {
			if receipts[i], failed = h.settle(ctx, j, r); receipts[i].State != Done && receipts[i].State != Refused {
				halted = true
			}
		}
		out.Actions[r.Index].Outcome = string(receipts[i].State)
	}
	out.Status = pipeline.Done
	if code := codeOf(receipts); code != pipeline.OK {
		out.Status, out.Code = code.Status(), code
	}
	if failed != nil {
		out.Status, out.Code = pipeline.StoreFailed.Status(), pipeline.StoreFailed
	}
	return out
}

// resolve gives the parameters as a sink writes them, each rendered for its
// place, and their digest. A parameter without a place is not written.
func resolve(k plan.Kind, params []plan.Param, r plan.Resolver) (map[string]any, string, bool) {
	m := make(map[string]any, len(params))
	for _, p := range params {
		place, ok := render.For(k, p.Name)
		if !ok {
			return nil, "", false
		}
		r.Render = place.Pieces
		v, ok := p.Value.Resolve(r)
		if !ok {
			return nil, "", false
		}
		m[p.Name] = v
	}
	b, err := json.Marshal(m, json.Deterministic(true))
	if err != nil {
		return nil, "", false
	}
	sum := sha256.Sum256(b)
	return m, hex.EncodeToString(sum[:]), true
}

// Check reports what the handler lacks, before it serves anything.
func (h *Handler) Check() error {
	switch {
	case len(h.Recipes) == 0:
		return fmt.Errorf("act: want at least one recipe")
	case h.Authorizer == nil:
		return fmt.Errorf("act: want an authorizer")
	case h.Admissions == nil:
		return fmt.Errorf("act: want admissions")
	case h.Paused == nil:
		return fmt.Errorf("act: want to know which recipes are paused")
	case h.Live && h.Approvals == nil:
		return fmt.Errorf("act: live: want approvals")
	case h.Clock == nil:
		return fmt.Errorf("act: want a clock")
	case h.Live && h.Ledger == nil:
		return fmt.Errorf("act: live: want a ledger")
	}
	if len(h.Sinks) > 0 && h.Sleep == nil {
		return fmt.Errorf("act: sinks: want a way to wait")
	}
	for kind, s := range h.Sinks {
		switch {
		case kind == plan.KindTableRow || !kind.Known():
			return fmt.Errorf("act: a sink for %.64q: want a kind that is performed over a network", kind)
		case s == nil || s.Limit() <= 0 || s.Limit() > MaxSinkTime:
			return fmt.Errorf("act: sink of %s: want a limit above 0 and of at most %s", kind, MaxSinkTime)
		}
	}
	for name, r := range h.Recipes {
		for _, b := range r.Budgets() {
			if h.Budgets == nil && (h.Live || b.Measure == plan.ModelCost) {
				return fmt.Errorf("act: recipe %s has budgets: want a store of them", name)
			}
		}
	}
	return nil
}
