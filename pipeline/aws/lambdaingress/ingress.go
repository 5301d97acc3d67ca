// Package lambdaingress is the Lambda entry of the ingress: it verifies a
// GitHub webhook as API Gateway delivers it, stores the body as received, and
// starts the run of each recipe that handles the event.
//
// Nothing is stored before the signature is proved. The body is durable
// before the run is started, so that a body without a run is found and never
// a run without a body. A delivery that comes again finds both.
package lambdaingress

import (
	"context"
	"errors"
	"math"
	"os"
	"time"

	"decant.dev/events"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/bucket"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/environment"
	"decant.dev/pipeline/aws/execution"
	"decant.dev/pipeline/aws/function"
	"decant.dev/pipeline/aws/secret"
)

// Main serves deliveries for the recipes that GitHub's events start. It does
// not return.
func Main(recipes ...*pipeline.Recipe) {
	env, err := environment.Read(os.LookupEnv, environment.RawBucket, environment.ExpectedOwner, environment.StateMachine, environment.GitHubSecret)
	if err != nil {
		function.Exit(err)
	}
	region, endpoint := env.Get(environment.Region), env.Get(environment.Endpoint)
	store := bucket.Open(region, endpoint, env.Get(environment.RawBucket), env.Get(environment.ExpectedOwner))
	h, err := New(Config{
		Recipes: recipes,
		Secrets: secret.Open(region, endpoint, env.Get(environment.GitHubSecret), time.Now),
		Raw:     func(recipe string) Raw { return store.Raw(recipe) },
		Starter: execution.Open(region, endpoint).Machine(env.Get(environment.StateMachine)),
		Clock:   time.Now,
	})
	if err != nil {
		function.Exit(err)
	}
	f := function.New(env, h.Handle)
	f.MaxPayload, f.Refuse = math.MaxInt, refuse // events has its own limit, with a code of its own
	f.Start()
}

// Secrets answers with the webhook's secrets.
type Secrets interface {
	Secrets(ctx context.Context) (events.Secrets, error)
}

// Raw keeps a recipe's bodies as received.
type Raw interface {
	PutOnce(ctx context.Context, run string, body []byte) error
}

// Starter starts runs; a run that exists is success.
type Starter interface {
	Start(ctx context.Context, env pipeline.Envelope) error
}

// Config is what the ingress is made of.
type Config struct {
	Recipes []*pipeline.Recipe
	Secrets Secrets
	Raw     func(recipe string) Raw
	Starter Starter
	Clock   func() time.Time
}

// Handler answers deliveries.
type Handler struct{ Config }

// New checks what the ingress is made of.
func New(c Config) (*Handler, error) {
	if _, err := function.Recipes(c.Recipes); err != nil {
		return nil, err
	}
	if c.Secrets == nil || c.Raw == nil || c.Starter == nil || c.Clock == nil {
		return nil, errors.New("ingress: want secrets, a raw store, a starter and a clock")
	}
	return &Handler{c}, nil
}

// response is API Gateway's payload format 2.0.
type response struct {
	StatusCode int               `json:"statusCode"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
}

// answer makes a response of our own words: a code, and the ids of runs.
func answer(status int, body string) response {
	return response{status, map[string]string{"content-type": "application/json", "cache-control": "no-store"}, body}
}

func refuse(c pipeline.Code) any {
	return answer(c.HTTP(), `{"code":"`+string(c)+`"}`)
}

// Handle answers one HTTP event. Where a service did not answer it is 503, so
// that whoever delivers may do so again.
func (h *Handler) Handle(ctx context.Context, payload []byte) (function.Reply, error) {
	reply, err := h.deliver(ctx, payload)
	var again client.RetryableError
	if errors.As(err, &again) {
		reply.Answer, err = answer(503, `{"code":"`+string(pipeline.StoreFailed)+`"}`), nil
	}
	return reply, err
}

func (h *Handler) deliver(ctx context.Context, payload []byte) (function.Reply, error) {
	var reply function.Reply
	request, err := events.ParseHTTP(payload)
	if err != nil {
		return reply, err
	}
	secrets, err := h.Secrets.Secrets(ctx)
	if err != nil {
		return reply, err
	}
	d, matched, err := events.ReceiveGitHub(request, secrets)
	reply.Counts = []function.Count{{Name: "SignatureMatched", Dimension: "secret", Value: matched.String()}}
	if err != nil {
		return reply, err
	}
	runs := `{"runs":[`
	for _, r := range h.Recipes {
		if !r.Handles(d.Event) {
			continue
		}
		env := pipeline.NewEnvelope(r.Name(), r.Digest(), d.Source, d.Body, d.Actor, d.Channel, d.Target, h.Clock())
		if err := h.Raw(r.Name()).PutOnce(ctx, env.Run, d.Body); err != nil {
			return reply, err
		}
		if err := h.Starter.Start(ctx, env); err != nil {
			return reply, err
		}
		if reply.Run != "" {
			runs += ","
		}
		runs += `"` + env.Run + `"`
		reply.Run = env.Run
	}
	if reply.Run == "" {
		return reply, pipeline.UnhandledEvent.Error("no recipe handles the event")
	}
	reply.Answer = answer(202, runs+`]}`)
	return reply, nil
}
