// Package lambdafetch is the Lambda entry of phase 1: it reads the body that
// an envelope names, builds the run's prompt, and stores it for extract. Its
// answer is a bare verdict.
package lambdafetch

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"decant.dev/act/plan"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/bucket"
	"decant.dev/pipeline/aws/environment"
	"decant.dev/pipeline/aws/function"
	"decant.dev/pipeline/aws/grants"
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

// Raw holds a recipe's bodies as received.
type Raw interface {
	Get(ctx context.Context, run string) ([]byte, bool, error)
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
	Authorizer pipeline.Authorizer
	Own        []string // identities that our sinks use
	Random     io.Reader
	Bundles    Bundles
	Tokens     func(recipe string) Prompts // the runs' tokens, for extract alone
}

// Handler answers envelopes.
type Handler struct {
	config Config
	fetch  fetch.Handler
}

// New checks what fetch is made of.
func New(c Config) (*Handler, error) {
	if len(c.Pipelines) == 0 || c.Raw == nil || c.Prompts == nil || c.Authorizer == nil || c.Random == nil {
		return nil, errors.New("fetch: want pipelines, a raw store, a prompt store, an authorizer and a source of randomness")
	}
	if (c.Bundles == nil) != (c.Tokens == nil) {
		return nil, errors.New("fetch: want a store of bundles and one of tokens, or neither")
	}
	h := &Handler{c, fetch.Handler{Intakes: map[string]fetch.Intake{}, Authorizer: c.Authorizer, Own: c.Own, Random: c.Random}}
	for _, p := range c.Pipelines {
		if _, twice := h.fetch.Intakes[p.Name]; twice || !pipeline.IsRecipeName(p.Name) {
			return nil, fmt.Errorf("fetch: pipeline %.64q: want a recipe's name, and each once", p.Name)
		}
		h.fetch.Intakes[p.Name] = p.Intake
	}
	return h, nil
}

// fetched is the good answer: the prompt object is stored, and lowest is the
// lowest label of what was read.
type fetched struct {
	function.Verdict
	Lowest plan.Label `json:"lowest"`
}

// Handle answers one envelope. Its codes are those that a fetch phase may
// choose.
func (h *Handler) Handle(ctx context.Context, payload []byte) (function.Reply, error) {
	in, err := function.Decode[function.Envelope](payload)
	if err != nil {
		return function.Reply{}, err
	}
	env, err := in.Checked()
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
