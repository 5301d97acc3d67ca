package lambdafetch

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"decant.dev/act/plan"
	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/function"
)

type world struct {
	mu       sync.Mutex
	bodies   map[string][]byte
	prompts  map[string][]byte
	get, put error
	item     error // of storing an item
	lost     error // of reading a cursor
	kept     error // of storing one
	stored   []string
	items    [][]byte // that the intake lists
	hosts    []string // that a client was made for
}

func (w *world) PutOnce(_ context.Context, run string, b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.stored = append(w.stored, "raw "+run)
	w.bodies[run] = b
	return w.item
}

// manifests are kept beside the prompts, in the order of all that is stored.
type manifests struct{ *world }

func (m manifests) Put(_ context.Context, run string, b []byte) error {
	m.stored = append(m.stored, "manifest "+run)
	m.prompts["manifest "+run] = b
	return m.put
}

// cursors are kept beside the prompts too.
type cursors struct{ *world }

func (c cursors) Get(_ context.Context, feed string) ([]byte, bool, error) {
	b, ok := c.prompts["cursor "+feed]
	return b, ok, c.lost
}

func (c cursors) Put(_ context.Context, feed string, b []byte) error {
	c.stored = append(c.stored, "cursor "+feed)
	c.prompts["cursor "+feed] = b
	return c.kept
}

func (w *world) HoldsTrigger(context.Context, string, string) (bool, error) { return false, nil }
func (w *world) Get(_ context.Context, run string) ([]byte, bool, error) {
	b, ok := w.bodies[run]
	return b, ok && w.get == nil, w.get
}
func (w *world) Put(_ context.Context, run string, b []byte) error {
	w.prompts[run] = b
	return w.put
}

const body = `{"action":"opened","issue":{"number":7,"title":"zz9 title","body":"zz9 body","user":{"id":12,"type":"User","login":"reporter"}},` +
	`"repository":{"full_name":"octo-org/sample"},"sender":{"id":12,"type":"User","login":"reporter"}}`

func begin(t *testing.T) (*world, *Handler, pipeline.Envelope) {
	t.Helper()
	w := &world{bodies: map[string][]byte{}, prompts: map[string][]byte{}}
	h, err := New(Config{
		Pipelines: []Pipeline{{"notes", fetch.Intake{
			Source: "github", Elements: fetch.GitHubIssues, Profile: fence.ProfileIntake, Instruction: "Read this.",
			Limits: fence.Limits{MessageMaxBytes: 16 << 10, ContextMaxBytes: 64 << 10}, Hosts: []string{"feed.example.com:443"},
			List: func(_ context.Context, a fetch.Asked) (fetch.Listed, error) {
				return fetch.Listed{Items: w.items, Unchanged: len(a.Cursor), Cursor: append(a.Cursor, '+')}, nil
			},
		}}},
		Raw: func(string) Raw { return w }, Prompts: func(string) Prompts { return w }, Authorizer: w,
		Manifests: func(string) Manifests { return manifests{w} },
		Cursors:   func(string) Cursors { return cursors{w} },
		Client:    func(hosts []string) *http.Client { w.hosts = hosts; return http.DefaultClient },
		Random:    bytes.NewReader(bytes.Repeat([]byte{7, 1, 2, 3, 4}, 100)),
	})
	if err != nil {
		t.Fatal(err)
	}
	env := pipeline.NewEnvelope("notes", strings.Repeat("ab", 32), "github", []byte(body), pipeline.Actor{ID: "github:12", Kind: pipeline.Person},
		"github:octo-org/sample", pipeline.Target{Event: "issues.opened", Repository: "octo-org/sample", Number: 7}, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
	w.bodies[env.Run] = []byte(body)
	return w, h, env
}

func ask(t *testing.T, h *Handler, env pipeline.Envelope) (function.Reply, pipeline.Code, error) {
	t.Helper()
	b, err := env.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Handle(t.Context(), []byte(`{"envelope":`+string(b)+`}`))
	var fault *pipeline.Fault
	if errors.As(err, &fault) {
		return r, fault.Code, nil
	}
	return r, r.Code, err
}

func TestThePromptIsStoredAndTheAnswerIsTheLowestLabel(t *testing.T) {
	t.Parallel()
	w, h, env := begin(t)
	r, code, err := ask(t, h, env)
	if err != nil || code != "" || r.Answer != (fetched{function.Good, plan.Unverified}) || r.Run != env.Run {
		t.Fatalf("got %+v, %s, %v", r, code, err)
	}
	p, err := fence.DecodeObject(w.prompts[env.Run])
	if err != nil || p.Context().Run != env.Run {
		t.Errorf("got a prompt object of %d bytes, %v", len(w.prompts[env.Run]), err)
	}
}

// Fetch ends with a code that a fetch phase may choose, or asks to be asked
// again; and without a prompt of another body.
func TestFaultsAreCodesOfThePhase(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(*world, *pipeline.Envelope)
		code  pipeline.Code
		again bool
	}{
		"no body":        {func(w *world, e *pipeline.Envelope) { delete(w.bodies, e.Run) }, pipeline.Unreadable, false},
		"another body":   {func(w *world, e *pipeline.Envelope) { w.bodies[e.Run] = []byte("zz9") }, pipeline.Unreadable, false},
		"denied read":    {func(w *world, _ *pipeline.Envelope) { w.get = pipeline.StoreFailed.Error("zz9") }, pipeline.PhaseMisbehave, false},
		"throttled read": {func(w *world, _ *pipeline.Envelope) { w.get = client.RetryableError{} }, "", true},
		"throttled put":  {func(w *world, _ *pipeline.Envelope) { w.put = client.RetryableError{} }, "", true},
		"denied put":     {func(w *world, _ *pipeline.Envelope) { w.put = pipeline.StoreFailed.Error("zz9") }, pipeline.PhaseMisbehave, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, h, env := begin(t)
			tc.spoil(w, &env)
			_, code, err := ask(t, h, env)
			if (err == client.RetryableError{}) != tc.again || code != tc.code || code != "" && pipeline.FromPhase(code) != code {
				t.Errorf("got %q, %v; want %q, to be asked again: %t", code, err, tc.code, tc.again)
			}
		})
	}
}

func TestAnotherRecipesEnvelopeIsRefused(t *testing.T) {
	t.Parallel()
	w, h, env := begin(t)
	env = pipeline.NewEnvelope("other", env.RecipeDigest, "github", []byte(body), env.Actor, env.Channel, env.Target, env.Received)
	w.bodies[env.Run] = []byte(body)
	if _, code, err := ask(t, h, env); code != pipeline.PhaseMisbehave || err != nil || len(w.prompts) != 0 {
		t.Errorf("got %s, %v, %d prompts", code, err, len(w.prompts))
	}
	for _, bad := range []string{"", "{}", `{"envelope":{"run":"zz9"}}`, `{"envelope":null}`, `{"tick":null}`, `{"tick":{"run":"zz9"}}`, `{"envelope":{},"tick":{}}`, `{"tick":{},"zz9":1}`} {
		r, err := h.Handle(t.Context(), []byte(bad))
		var fault *pipeline.Fault
		if !errors.As(err, &fault) || fault.Code != pipeline.PhaseMisbehave || r.Run != "" || strings.Contains(err.Error(), "zz9") {
			t.Errorf("%q: got %+v, %v", bad, r, err)
		}
	}
}

func TestPipelinesAreNamedOnce(t *testing.T) {
	t.Parallel()
	w := &world{}
	for _, names := range [][]string{nil, {"a", "a"}, {"Not a name"}} {
		c := Config{Raw: func(string) Raw { return w }, Prompts: func(string) Prompts { return w }, Authorizer: w, Random: &bytes.Buffer{},
			Manifests: func(string) Manifests { return manifests{w} }, Client: func([]string) *http.Client { return nil }}
		for _, n := range names {
			c.Pipelines = append(c.Pipelines, Pipeline{Name: n})
		}
		if _, err := New(c); err == nil {
			t.Errorf("%q was taken", names)
		}
	}
}
