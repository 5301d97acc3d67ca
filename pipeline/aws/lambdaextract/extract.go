// Package lambdaextract is the Lambda entry of phase 2: it reads one run's
// prompt object and answers with a structure and a closed trace, or with a
// code.
//
// It is deployed twice: a process that has read unverified text serves no
// higher label, and the state machine asks the one or the other.
package lambdaextract

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/bucket"
	"decant.dev/pipeline/aws/environment"
	"decant.dev/pipeline/aws/function"
	"decant.dev/pipeline/contextapi"
)

// Pipeline is what extract knows of a recipe.
type Pipeline struct {
	Recipe    *pipeline.Recipe
	Extractor extract.Extractor
}

// Main serves the pipelines. It does not return.
func Main(pipelines ...Pipeline) {
	env, err := environment.Read(os.LookupEnv, environment.RawBucket, environment.ExpectedOwner, environment.ContextURL, environment.Model)
	if err != nil {
		function.Exit(err)
	}
	store := bucket.Open(env.Get(environment.Region), env.Get(environment.Endpoint), env.Get(environment.RawBucket), env.Get(environment.ExpectedOwner))
	h, err := New(Config{
		Pipelines: pipelines, Prompts: func(recipe string) Prompts { return store.Prompts(recipe) },
		ContextURL: env.Get(environment.ContextURL), Tokens: func(recipe string) Prompts { return store.Tokens(recipe) },
	})
	if err != nil {
		function.Exit(err)
	}
	function.New(env, h.Handle).Start()
}

// Prompts holds a recipe's prompt objects.
type Prompts interface {
	Get(ctx context.Context, run string) ([]byte, bool, error)
}

// Config is what extract is made of.
type Config struct {
	Pipelines  []Pipeline
	Prompts    func(recipe string) Prompts
	ContextURL string                      // of the context API, without its path; empty where there is none
	Tokens     func(recipe string) Prompts // the runs' tokens, read for an adapter alone
}

// Handler answers for runs.
type Handler struct {
	config  Config
	extract extract.Handler
	words   map[string]extract.Vocabulary
}

// New checks what extract is made of.
func New(c Config) (*Handler, error) {
	if len(c.Pipelines) == 0 || c.Prompts == nil || c.ContextURL != "" && c.Tokens == nil {
		return nil, errors.New("extract: want pipelines and a prompt store, and one of tokens beside a context API")
	}
	h := &Handler{config: c, words: map[string]extract.Vocabulary{}}
	h.extract.Shapes, h.extract.Extractors = map[string]*shape.Shape{}, map[string]extract.Extractor{}
	for _, p := range c.Pipelines {
		if p.Recipe == nil || p.Recipe.Shape() == nil || p.Extractor == nil {
			return nil, errors.New("extract: want each pipeline to have a recipe with a bounded shape, and an extractor")
		}
		name := p.Recipe.Name()
		if h.extract.Shapes[name] != nil {
			return nil, fmt.Errorf("extract: pipeline %.64q: want each once", name)
		}
		h.extract.Shapes[name], h.extract.Extractors[name] = p.Recipe.Shape(), p.Extractor
		h.words[name] = extract.VocabularyOf(p.Extractor, p.Recipe.Shape())
	}
	return h, nil
}

// question names one run.
type question struct {
	Recipe string `json:"recipe"`
	Run    string `json:"run"`
}

// answer is a structure, in canonical JSON, with its trace.
type answer struct {
	function.Verdict
	Structure jsontext.Value `json:"structure"`
	Trace     extract.Trace  `json:"trace"`
}

// Handle answers for one run. Its codes are those that an extract phase may
// choose.
func (h *Handler) Handle(ctx context.Context, payload []byte) (function.Reply, error) {
	q, err := function.Decode[question](payload)
	if err != nil {
		return function.Reply{}, err
	}
	if !pipeline.IsRunID(q.Run) || h.extract.Shapes[q.Recipe] == nil {
		return function.Reply{}, pipeline.PhaseMisbehave.Error("want a recipe that is built in and a run's id")
	}
	reply := function.Reply{Run: q.Run}
	object, found, err := h.config.Prompts(q.Recipe).Get(ctx, q.Run)
	if err != nil {
		var fault *pipeline.Fault
		if errors.As(err, &fault) {
			reply.Code, err = pipeline.FromPhase(fault.Code), nil
		}
		return reply, err
	}
	if !found {
		return reply, pipeline.Unreadable.Error("no prompt object is stored for the run")
	}
	access, err := h.access(ctx, q)
	if err != nil {
		return reply, err
	}
	out := h.extract.Extract(ctx, extract.Input{Recipe: q.Recipe, Run: q.Run, Object: object, Access: access})
	reply.Code = pipeline.FromPhase(out.Code)
	reply.Answer = answer{function.Good, out.Structure, h.words[q.Recipe].Filter(out.Trace)}
	return reply, nil
}

// access is what an adapter reads its run's context with: none for any other
// extractor, and none where there is no context API.
func (h *Handler) access(ctx context.Context, q question) (extract.Access, error) {
	if h.config.ContextURL == "" || !extract.WantsContext(h.extract.Extractors[q.Recipe]) {
		return extract.Access{}, nil
	}
	b, found, err := h.config.Tokens(q.Recipe).Get(ctx, q.Run)
	var fault *pipeline.Fault
	switch {
	case errors.As(err, &fault):
		return extract.Access{}, pipeline.FromPhase(fault.Code).Error("%s", fault.Detail)
	case err != nil:
		return extract.Access{}, err
	case !found:
		return extract.Access{}, pipeline.Unreadable.Error("no token is stored for the run")
	}
	token, err := contextapi.ParseToken(string(b))
	if err != nil || token.Run() != q.Run {
		return extract.Access{}, pipeline.Unreadable.Error("want the run's token, got another or none")
	}
	return extract.Access{URL: h.config.ContextURL + contextapi.Path(q.Run), Token: token.Reveal()}, nil
}
