// Package lambdaact is the Lambda entry of phase 3. It is asked twice about a
// run: with the envelope alone, whether the run may begin and for which class
// of extract; and with exactly envelope and structure, to act.
//
// It links nothing that has ever held a stranger's text: no fence, fetch,
// extractor, event or S3 client.
package lambdaact

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/aws/approvals"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/environment"
	"decant.dev/pipeline/aws/function"
	"decant.dev/pipeline/aws/grants"
	"decant.dev/pipeline/aws/tables"
)

// Main serves the recipes. It does not return.
func Main(recipes ...*pipeline.Recipe) {
	env, err := environment.Read(os.LookupEnv, environment.ActTable, environment.GrantsTable, environment.RunsTable,
		environment.ApprovalsTable, environment.OwnIdentities, environment.Live, environment.Kinds)
	if err != nil {
		function.Exit(err)
	}
	kinds, err := plan.ParseKinds(env.Get(environment.Kinds))
	if err != nil {
		function.Exit(err)
	}
	region, endpoint := env.Get(environment.Region), env.Get(environment.Endpoint)
	db := tables.Open(region, endpoint)
	held := grants.Open(region, endpoint, env.Get(environment.GrantsTable))
	h, err := New(Config{
		Recipes:    recipes,
		Authorizer: held,
		Admissions: db.Admissions(env.Get(environment.ActTable)),
		Ledger:     db.Ledger(env.Get(environment.ActTable)),
		Runs:       db.Runs(env.Get(environment.RunsTable), time.Now),
		Paused:     held,
		Budgets:    db.Budgets(env.Get(environment.ActTable)),
		Approvals:  approvals.Open(region, endpoint, env.Get(environment.ApprovalsTable)),
		Own:        env.Own(),
		Live:       env.Live(),
		Kinds:      kinds,
		Clock:      time.Now,
	})
	if err != nil {
		function.Exit(err)
	}
	function.New(env, h.Handle).Start()
}

// Runs records how runs stand.
type Runs interface {
	Admitted(ctx context.Context, env pipeline.Envelope, a act.Admission) error
	Acted(ctx context.Context, run string, structure jsontext.Value, out act.Output) error
}

// Config is what act is made of.
type Config struct {
	Recipes    []*pipeline.Recipe
	Authorizer pipeline.Authorizer
	Admissions act.Admissions
	Ledger     act.Ledger
	Runs       Runs
	Paused     act.Paused
	Budgets    act.Budgets
	Approvals  approval.Store
	Own        []string    // identities that our sinks use
	Live       bool        // outcomes are written and not only staged
	Kinds      []plan.Kind // the only ones that are performed; empty means all that have a sink
	Clock      func() time.Time
}

// Handler answers both of act's questions.
type Handler struct {
	runs Runs
	act  act.Handler
}

// New checks what act is made of.
func New(c Config) (*Handler, error) {
	recipes, err := function.Recipes(c.Recipes)
	if err != nil {
		return nil, err
	}
	if c.Runs == nil {
		return nil, errors.New("act: want a table of runs")
	}
	h := &Handler{c.Runs, act.Handler{
		Recipes: recipes, Digests: map[string]string{}, Authorizer: c.Authorizer, Admissions: c.Admissions, Paused: c.Paused, Budgets: c.Budgets,
		Approvals: c.Approvals, Own: c.Own, Live: c.Live, Kinds: c.Kinds, Ledger: c.Ledger, Clock: c.Clock,
	}}
	for name, r := range recipes {
		h.act.Digests[name] = r.Digest()
	}
	return h, h.act.Check()
}

// question is an envelope alone, one with the ceiling that fetch found, or an
// envelope with a structure.
type question struct {
	Envelope  pipeline.Envelope `json:"envelope"`
	Ceiling   plan.Label        `json:"ceiling,omitzero"`
	Structure jsontext.Value    `json:"structure,omitzero"`
}

// The classes of extract, by what its process may have read before.
const (
	classUnverified = "unverified"
	classRest       = "rest"
)

type admitted struct {
	function.Verdict
	Class string     `json:"class"`
	Label plan.Label `json:"label"`
}

type acted struct {
	function.Verdict
	Status pipeline.Status `json:"status"` // staged, done or waiting
}

// Handle answers one question.
func (h *Handler) Handle(ctx context.Context, payload []byte) (function.Reply, error) {
	q, err := function.Decode[question](payload)
	if err != nil {
		return function.Reply{}, err
	}
	if _, err := (function.Envelope{Envelope: q.Envelope}).Checked(); err != nil {
		return function.Reply{}, err
	}
	if q.Structure == nil {
		return h.admit(ctx, act.AdmitInput{Envelope: q.Envelope, Ceiling: q.Ceiling})
	}
	if q.Ceiling.Valid() {
		return function.Reply{Run: q.Envelope.Run}, pipeline.MalformedEvent.Error("want a ceiling or a structure, got both")
	}
	return h.perform(ctx, q)
}

func (h *Handler) admit(ctx context.Context, in act.AdmitInput) (function.Reply, error) {
	env := in.Envelope
	asked, ports := h.remembering()
	a := asked.Admit(ctx, in)
	if ports.transient {
		return function.Reply{Run: env.Run}, client.RetryableError{}
	}
	reply := function.Reply{Run: env.Run, Code: a.Code}
	class := classRest
	if a.Label <= plan.Unverified {
		class = classUnverified
	}
	reply.Answer = admitted{function.Good, class, a.Label}
	return reply, h.runs.Admitted(ctx, env, a)
}

func (h *Handler) perform(ctx context.Context, q question) (function.Reply, error) {
	reply := function.Reply{Run: q.Envelope.Run}
	// The orchestrator reads JSON and writes it anew, so that the bytes that
	// extract sent do not arrive. Duplicate keys are refused before; spelling
	// and order are set here, which closes them as channels; the decoder then
	// asks for the canonical form of the shape.
	if err := q.Structure.Canonicalize(); err != nil {
		return reply, pipeline.NotCanonical.Error("structure could not be made canonical")
	}
	asked, ports := h.remembering()
	out := asked.Act(ctx, act.Input{Envelope: q.Envelope, Structure: q.Structure})
	if ports.transient {
		return reply, client.RetryableError{}
	}
	if err := h.runs.Acted(ctx, q.Envelope.Run, q.Structure, out); err != nil {
		return reply, err
	}
	switch out.Status {
	case pipeline.Staged, pipeline.Done, pipeline.Waiting:
		reply.Answer = acted{function.Good, out.Status}
	default:
		reply.Code = out.Code
	}
	return reply, nil
}
