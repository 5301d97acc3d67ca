// Package lambdaingress is the Lambda entry of the ingress. It is given webhooks
// of GitHub's and of other senders, each as API Gateway delivers it, one at a time or as the messages
// of a queue, and ticks of schedules. It verifies them, stores the body as
// received, and starts the run of each recipe that handles the event.
//
// Nothing is stored before a signature is proved. A marker with the run's
// envelope comes first, then the body, then the start: so that a sweep finds
// what was stored and not started, and never starts a run without a body. A
// delivery that comes again finds all three.
package lambdaingress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/events"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/bucket"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/environment"
	"decant.dev/pipeline/aws/execution"
	"decant.dev/pipeline/aws/function"
	"decant.dev/pipeline/aws/secret"
)

// Sources are what an ingress serves.
type Sources struct {
	Recipes []*pipeline.Recipe // that GitHub's deliveries and ticks start
	Hooks   []Hooked           // other webhooks
}

// Hooked is a webhook with the recipes that its deliveries start, and no others
// do.
type Hooked struct {
	Hook    events.Hook
	Recipes []*pipeline.Recipe
}

// Main serves deliveries for the recipes that GitHub's events start. It does
// not return.
func Main(recipes ...*pipeline.Recipe) { Serve(Sources{Recipes: recipes}) }

// Serve serves the deliveries of all sources. It does not return. The hooks and
// the deployment's secrets have to be of the same names: one without its secret
// would refuse everything, and that is told at once.
func Serve(s Sources) {
	env, err := environment.Read(os.LookupEnv, environment.RawBucket, environment.ExpectedOwner, environment.StateMachine, environment.BatchMachine,
		environment.GitHubSecret, environment.HookSecrets)
	if err != nil {
		function.Exit(err)
	}
	region, endpoint := env.Get(environment.Region), env.Get(environment.Endpoint)
	store := bucket.Open(region, endpoint, env.Get(environment.RawBucket), env.Get(environment.ExpectedOwner))
	machines := execution.Open(region, endpoint)
	hooks := map[string]Secrets{}
	for name, arn := range env.Hooks() {
		hooks[name] = secret.Open(region, endpoint, arn, time.Now)
	}
	h, err := New(Config{
		Sources:     s,
		Secrets:     secret.Open(region, endpoint, env.Get(environment.GitHubSecret), time.Now),
		HookSecrets: hooks,
		Raw:         func(recipe string) Store { return store.Raw(recipe) },
		Starts:      func(recipe string) Store { return store.Starts(recipe) },
		Runs:        machines.Machine(env.Get(environment.StateMachine)),
		Batches:     machines.Machine(env.Get(environment.BatchMachine)),
		Clock:       time.Now,
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

// Store keeps one value for each of a recipe's runs, and never another.
type Store interface {
	PutOnce(ctx context.Context, run string, value []byte) error
}

// Starter starts runs; a run that exists is success.
type Starter interface {
	Start(ctx context.Context, env pipeline.Envelope) error
}

// Config is what the ingress is made of.
type Config struct {
	Sources
	Secrets     Secrets                   // of GitHub's webhook
	HookSecrets map[string]Secrets        // of each other that is signed, by its name
	Raw         func(recipe string) Store // bodies as received
	Starts      func(recipe string) Store // envelopes of runs that are to start
	Runs        Starter
	Batches     Starter
	Clock       func() time.Time
}

// Handler answers deliveries and ticks.
type Handler struct {
	Config
	byName map[string]*pipeline.Recipe
}

// New checks what the ingress is made of.
func New(c Config) (*Handler, error) {
	all := slices.Clone(c.Recipes)
	for _, k := range c.Hooks {
		all = append(all, k.Recipes...)
	}
	byName, err := function.Recipes(all)
	if err != nil {
		return nil, err
	}
	if err := c.checkHooks(); err != nil {
		return nil, fmt.Errorf("ingress: %w", err)
	}
	if c.Secrets == nil || c.Raw == nil || c.Starts == nil || c.Runs == nil || c.Batches == nil || c.Clock == nil {
		return nil, errors.New("ingress: want secrets, stores of bodies and starts, starters of runs and batches, and a clock")
	}
	return &Handler{c, byName}, nil
}

// checkHooks reports a hook that could take nothing, and a secret of none.
func (c Config) checkHooks() error {
	signed := map[string]bool{}
	for _, k := range c.Hooks {
		name := k.Hook.Name
		if err := k.Hook.Check(); err != nil {
			return err
		}
		_, twice := signed[name]
		switch {
		case twice:
			return fmt.Errorf("hook %s: want it once", name)
		case k.Hook.Unsigned() == (c.HookSecrets[name] != nil):
			return fmt.Errorf("hook %s: want a secret, and none where nothing is signed", name)
		case !slices.ContainsFunc(k.Recipes, func(r *pipeline.Recipe) bool { return slices.ContainsFunc(k.Hook.Events(), r.Handles) }):
			return fmt.Errorf("hook %s: want a recipe that names an event of it", name)
		}
		signed[name] = !k.Hook.Unsigned()
	}
	for name := range c.HookSecrets {
		if !signed[name] {
			return fmt.Errorf("hook %s: want it among the hooks, since it has a secret", name)
		}
	}
	return nil
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

// Handle answers one payload: {"tick":…} of a schedule, {"Records":…} of a
// queue, and any other as an HTTP event. Who invokes says which by the first
// member, which no sender of a delivery can set.
func (h *Handler) Handle(ctx context.Context, payload []byte) (function.Reply, error) {
	switch firstMember(payload) {
	case "tick":
		return h.tick(ctx, payload)
	case "Records":
		return h.queue(ctx, payload)
	default:
		return h.request(ctx, payload)
	}
}

// firstMember returns the name of the first member of an object, or nothing.
func firstMember(payload []byte) string {
	d := jsontext.NewDecoder(bytes.NewReader(payload[:min(len(payload), 64)]))
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return ""
	}
	t, err := d.ReadToken()
	if err != nil || t.Kind() != '"' {
		return ""
	}
	return t.String()
}

// request answers one HTTP event. Where a service did not answer it is 503, so
// that whoever delivers may do so again.
func (h *Handler) request(ctx context.Context, payload []byte) (function.Reply, error) {
	reply, runs, err := h.deliver(ctx, payload, h.Clock())
	var again client.RetryableError
	if errors.As(err, &again) {
		reply.Answer = answer(503, `{"code":"`+string(pipeline.StoreFailed)+`"}`)
		return reply, nil
	}
	reply.Answer = answer(202, `{"runs":["`+strings.Join(runs, `","`)+`"]}`)
	return reply, err
}

// deliver verifies one HTTP event, which came at that time, and begins its
// runs. Its path says of which source it claims to be, and that source's secret
// whether it is.
func (h *Handler) deliver(ctx context.Context, payload []byte, came time.Time) (reply function.Reply, runs []string, err error) {
	request, err := events.ParseHTTP(payload)
	if err != nil {
		return reply, nil, err
	}
	for _, k := range h.Hooks {
		if request.Path() == k.Hook.Path() {
			return h.hooked(ctx, request, k, came)
		}
	}
	secrets, err := h.Secrets.Secrets(ctx)
	if err != nil {
		return reply, nil, err
	}
	d, matched, err := events.ReceiveGitHub(request, secrets)
	reply.Counts = []function.Count{{Name: "SignatureMatched", Dimension: "secret", Value: matched.String()}}
	if err == nil {
		runs, err = h.start(ctx, &reply, d, h.Recipes)
	}
	ignored(&reply, "github "+events.GitHubClass(request), err)
	return reply, runs, err
}

// hooked verifies one delivery of a hook.
func (h *Handler) hooked(ctx context.Context, request events.HTTP, k Hooked, came time.Time) (reply function.Reply, runs []string, err error) {
	var secrets events.Secrets
	if from := h.HookSecrets[k.Hook.Name]; from != nil {
		if secrets, err = from.Secrets(ctx); err != nil {
			return reply, nil, err
		}
	}
	d, matched, err := events.ReceiveHook(request, k.Hook, secrets, came)
	reply.Counts = []function.Count{{Name: "HookMatched", Dimension: "hook_secret", Value: k.Hook.Name + " " + matched.String()}}
	if err == nil {
		runs, err = h.start(ctx, &reply, d, k.Recipes)
	}
	ignored(&reply, k.Hook.Name+" "+d.Class(), err)
	return reply, runs, err
}

// ignored counts what was proved and nothing handles, by a class of a closed
// list.
func ignored(reply *function.Reply, class string, err error) {
	var fault *pipeline.Fault
	if errors.As(err, &fault) && (fault.Code == pipeline.UnhandledEvent || fault.Code == pipeline.Ping) {
		reply.Counts = append(reply.Counts, function.Count{Name: "Ignored", Dimension: "event", Value: class})
	}
}

// start begins the run of each of the recipes that handles a delivery.
func (h *Handler) start(ctx context.Context, reply *function.Reply, d events.Delivery, recipes []*pipeline.Recipe) (runs []string, err error) {
	for _, r := range recipes {
		if !r.Handles(d.Event) {
			continue
		}
		env := pipeline.NewEnvelope(r.Name(), r.Digest(), d.Source, d.Body, d.Actor, d.Channel, d.Target, h.Clock())
		if err := h.begin(ctx, env, d.Body, h.Runs); err != nil {
			return nil, err
		}
		reply.Run = env.Run
		runs = append(runs, env.Run)
	}
	if len(runs) == 0 {
		return nil, pipeline.UnhandledEvent.Error("no recipe handles the event")
	}
	return runs, nil
}

// begin makes a run durable and starts it.
func (h *Handler) begin(ctx context.Context, env pipeline.Envelope, body []byte, on Starter) error {
	marker, err := env.Encode()
	if err != nil {
		return pipeline.MalformedEvent.Error("%v", err)
	}
	if err := h.Starts(env.Recipe).PutOnce(ctx, env.Run, marker); err != nil {
		return err
	}
	if err := h.Raw(env.Recipe).PutOnce(ctx, env.Run, body); err != nil {
		return err
	}
	return on.Start(ctx, env)
}
