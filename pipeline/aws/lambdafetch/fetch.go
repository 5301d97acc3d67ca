// Package lambdafetch is the Lambda entry of phase 1. Asked about an envelope
// it reads the body that this names, builds the run's prompt, and stores it
// for extract. Asked about a tick it lists the batch's items, stores each as a
// body of its own run, and writes their manifest. Its answers are verdicts,
// numbers and labels.
package lambdafetch

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"decant.dev/act/plan"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/bucket"
	"decant.dev/pipeline/aws/environment"
	"decant.dev/pipeline/aws/function"
	"decant.dev/pipeline/aws/grants"
	"decant.dev/pipeline/aws/reach"
	"decant.dev/pipeline/contextapi"
)

// Pipeline is what fetch knows of a recipe.
type Pipeline struct {
	Name   string // the recipe's
	Intake fetch.Intake
}

// Main serves the pipelines. It does not return.
func Main(pipelines ...Pipeline) {
	env, err := environment.Read(os.LookupEnv, environment.RawBucket, environment.ExpectedOwner, environment.GrantsTable, environment.OwnIdentities, environment.ContextURL)
	if err != nil {
		function.Exit(err)
	}
	region, endpoint := env.Get(environment.Region), env.Get(environment.Endpoint)
	store := bucket.Open(region, endpoint, env.Get(environment.RawBucket), env.Get(environment.ExpectedOwner))
	c := Config{
		Pipelines:  pipelines,
		Raw:        func(recipe string) Raw { return store.Raw(recipe) },
		Prompts:    func(recipe string) Prompts { return store.Prompts(recipe) },
		Manifests:  func(recipe string) Manifests { return store.Manifests(recipe) },
		Cursors:    func(recipe string) Cursors { return store.Cursors(recipe) },
		Client:     reach.Client,
		Authorizer: grants.Open(region, endpoint, env.Get(environment.GrantsTable)),
		Own:        env.Own(),
		Random:     rand.Reader,
	}
	if env.Get(environment.ContextURL) != "" {
		c.Bundles, c.Tokens = store, func(recipe string) Prompts { return store.Tokens(recipe) }
	}
	h, err := New(c)
	if err != nil {
		function.Exit(err)
	}
	function.New(env, h.Handle).Start()
}

// Raw holds a recipe's bodies as received, and the items of its batches.
type Raw interface {
	Get(ctx context.Context, run string) ([]byte, bool, error)
	PutOnce(ctx context.Context, run string, item []byte) error
}

// Manifests keeps the lists of a recipe's batches.
type Manifests interface {
	Put(ctx context.Context, run string, manifest []byte) error
}

// Cursors keeps for each of a recipe's feeds where its lister stands.
type Cursors interface {
	Get(ctx context.Context, feed string) ([]byte, bool, error)
	Put(ctx context.Context, feed string, cursor []byte) error
}

// Prompts keeps a recipe's prompt objects.
type Prompts interface {
	Put(ctx context.Context, run string, object []byte) error
}

// Bundles keeps what was gathered for a run, under the digest of its token.
type Bundles interface {
	PutBundle(ctx context.Context, run string, token [sha256.Size]byte, bundle []byte) error
}

// Config is what fetch is made of. Bundles and Tokens are there where the
// deployment has a context API, and otherwise nil.
type Config struct {
	Pipelines  []Pipeline
	Raw        func(recipe string) Raw
	Prompts    func(recipe string) Prompts
	Manifests  func(recipe string) Manifests
	Cursors    func(recipe string) Cursors
	Client     func(hosts []string) *http.Client // for what lists a recipe's items
	Authorizer pipeline.Authorizer
	Own        []string // identities that our sinks use
	Random     io.Reader
	Bundles    Bundles
	Tokens     func(recipe string) Prompts // the runs' tokens, for extract alone
}

// Handler answers envelopes.
type Handler struct {
	config  Config
	fetch   fetch.Handler
	clients map[string]*http.Client // recipe name → what reaches its intake's hosts
}

// New checks what fetch is made of.
func New(c Config) (*Handler, error) {
	if len(c.Pipelines) == 0 || c.Raw == nil || c.Prompts == nil || c.Manifests == nil || c.Cursors == nil || c.Client == nil || c.Authorizer == nil || c.Random == nil {
		return nil, errors.New("fetch: want pipelines, stores of bodies, prompts, manifests and cursors, a client, an authorizer and a source of randomness")
	}
	h := &Handler{
		c, fetch.Handler{Intakes: map[string]fetch.Intake{}, Authorizer: c.Authorizer, Own: c.Own, Random: c.Random}, map[string]*http.Client{},
	}
	if (c.Bundles == nil) != (c.Tokens == nil) {
		return nil, errors.New("fetch: want a store of bundles and one of tokens, or neither")
	}
	for _, p := range c.Pipelines {
		if _, twice := h.fetch.Intakes[p.Name]; twice || !pipeline.IsRecipeName(p.Name) {
			return nil, fmt.Errorf("fetch: pipeline %.64q: want a recipe's name, and each once", p.Name)
		}
		h.fetch.Intakes[p.Name] = p.Intake
		if p.Intake.List != nil {
			h.clients[p.Name] = c.Client(p.Intake.Hosts)
		}
	}
	return h, nil
}

// fetched is the good answer: the prompt object is stored, and lowest is the
// lowest label of what was read.
type fetched struct {
	function.Verdict
	Lowest plan.Label `json:"lowest"`
}

// question is an envelope whose prompt is wanted, or a tick whose items are.
type question struct {
	Envelope *pipeline.Envelope `json:"envelope,omitzero"`
	Tick     *pipeline.Envelope `json:"tick,omitzero"`
}

// Handle answers one question. Its codes are those that a fetch phase may
// choose.
func (h *Handler) Handle(ctx context.Context, payload []byte) (function.Reply, error) {
	q, err := function.Decode[question](payload)
	switch {
	case err != nil:
		return function.Reply{}, err
	case (q.Envelope == nil) == (q.Tick == nil):
		return function.Reply{}, pipeline.PhaseMisbehave.Error("want an envelope or a tick")
	case q.Tick != nil:
		return h.list(ctx, *q.Tick)
	}
	env, err := function.Envelope{Envelope: *q.Envelope}.Checked()
	if err != nil {
		return function.Reply{}, err
	}
	reply := function.Reply{Run: env.Run, Answer: function.Good}
	if _, ok := h.fetch.Intakes[env.Recipe]; !ok {
		return reply, pipeline.PhaseMisbehave.Error("recipe is not built in")
	}
	body, found, err := h.config.Raw(env.Recipe).Get(ctx, env.Run)
	if err != nil {
		return reply, phaseError(err)
	}
	if !found {
		return reply, pipeline.Unreadable.Error("no body is stored for the run")
	}
	out := h.fetch.Fetch(ctx, fetch.Input{Envelope: env, Body: body, Keep: h.config.Bundles != nil})
	if reply.Code = pipeline.FromPhase(out.Code); reply.Code != pipeline.OK {
		return reply, nil
	}
	if err := h.open(ctx, env, out.Bundle); err != nil {
		return reply, phaseError(err)
	}
	reply.Answer = fetched{function.Good, out.Lowest}
	return reply, phaseError(h.config.Prompts(env.Recipe).Put(ctx, env.Run, out.Object))
}

// open keeps the run's bundle where there is a context API, and then the one
// token that opens it. The prompt comes last: a run that extract is asked about
// has all three.
func (h *Handler) open(ctx context.Context, env pipeline.Envelope, bundle []byte) error {
	if h.config.Bundles == nil {
		return nil
	}
	token, err := contextapi.Mint(env.Run, h.config.Random)
	if err != nil {
		return pipeline.PhaseMisbehave.Error("no token could be made")
	}
	if err := h.config.Bundles.PutBundle(ctx, env.Run, token.Digest(), bundle); err != nil {
		return err
	}
	return h.config.Tokens(env.Recipe).Put(ctx, env.Run, []byte(token.Reveal()))
}

// phaseError keeps a store's refusal within the codes of a phase.
func phaseError(err error) error {
	var fault *pipeline.Fault
	if errors.As(err, &fault) {
		return pipeline.FromPhase(fault.Code).Error("%s", fault.Detail)
	}
	return err
}
