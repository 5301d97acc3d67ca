// Package lambdafetch is the Lambda entry of phase 1: it reads the body that
// an envelope names, builds the run's prompt, and stores it for extract. Its
// answer is a bare verdict.
package lambdafetch

import (
	"context"
	"crypto/rand"
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
)

// Pipeline is what fetch knows of a recipe.
type Pipeline struct {
	Name   string // the recipe's
	Intake fetch.Intake
}

// Main serves the pipelines. It does not return.
func Main(pipelines ...Pipeline) {
	env, err := environment.Read(os.LookupEnv, environment.RawBucket, environment.ExpectedOwner, environment.GrantsTable, environment.OwnIdentities)
	if err != nil {
		function.Exit(err)
	}
	region, endpoint := env.Get(environment.Region), env.Get(environment.Endpoint)
	store := bucket.Open(region, endpoint, env.Get(environment.RawBucket), env.Get(environment.ExpectedOwner))
	h, err := New(Config{
		Pipelines:  pipelines,
		Raw:        func(recipe string) Raw { return store.Raw(recipe) },
		Prompts:    func(recipe string) Prompts { return store.Prompts(recipe) },
		Authorizer: grants.Open(region, endpoint, env.Get(environment.GrantsTable)),
		Own:        env.Own(),
		Random:     rand.Reader,
	})
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

// Config is what fetch is made of.
type Config struct {
	Pipelines  []Pipeline
	Raw        func(recipe string) Raw
	Prompts    func(recipe string) Prompts
	Authorizer pipeline.Authorizer
	Own        []string // identities that our sinks use
	Random     io.Reader
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
	out := h.fetch.Fetch(ctx, fetch.Input{Envelope: env, Body: body})
	if reply.Code = pipeline.FromPhase(out.Code); reply.Code != pipeline.OK {
		return reply, nil
	}
	reply.Answer = fetched{function.Good, out.Lowest}
	return reply, phaseError(h.config.Prompts(env.Recipe).Put(ctx, env.Run, out.Object))
}

// phaseError keeps a store's refusal within the codes of a phase.
func phaseError(err error) error {
	var fault *pipeline.Fault
	if errors.As(err, &fault) {
		return pipeline.FromPhase(fault.Code).Error("%s", fault.Detail)
	}
	return err
}
