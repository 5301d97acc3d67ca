package lambdaingress

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"decant.dev/events"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/recipes/issues"
)

// world records what the ingress did, in order, and fails where it is told.
type world struct {
	did     []string
	bodies  map[string]string
	started map[string]pipeline.Envelope
	markers map[string]string
	batches map[string]pipeline.Envelope
	secret  string
	fail    map[string]error
}

func (w *world) step(what string) error {
	w.did = append(w.did, what)
	return w.fail[what]
}

func (w *world) Secrets(context.Context) (events.Secrets, error) {
	return events.Secrets{Current: events.NewSecret(w.secret)}, w.step("secrets")
}

func (w *world) PutOnce(_ context.Context, run string, body []byte) error {
	w.bodies[run] = string(body)
	return w.step("put")
}

func (w *world) Start(_ context.Context, env pipeline.Envelope) error {
	w.started[env.Run] = env
	return w.step("start")
}

// starts keeps markers, and batches starts batches, of a world.
type (
	starts  struct{ *world }
	batches struct{ *world }
)

func (s starts) PutOnce(_ context.Context, run string, marker []byte) error {
	s.markers[run] = string(marker)
	return s.step("mark")
}

func (b batches) Start(_ context.Context, env pipeline.Envelope) error {
	b.batches[env.Run] = env
	return b.step("start batch")
}

const key = "key"

// feeds is a recipe with a schedule.
var feeds = pipeline.Build(pipeline.Spec[struct{}]{
	Name: "feeds", Events: []pipeline.Event{{Name: pipeline.Tick}}, Schedules: []pipeline.Schedule{{Name: "nightly", Target: pipeline.Target{Repository: "o/r"}}},
})

func build(t *testing.T, fail map[string]error) (*world, *Handler) {
	t.Helper()
	w := &world{
		bodies: map[string]string{}, started: map[string]pipeline.Envelope{}, markers: map[string]string{}, batches: map[string]pipeline.Envelope{}, secret: key, fail: fail,
	}
	h, err := New(Config{
		Sources: Sources{Recipes: []*pipeline.Recipe{issues.Recipe, feeds}}, Secrets: w, Raw: func(string) Store { return w }, Starts: func(string) Store { return starts{w} },
		Runs: w, Batches: batches{w}, Clock: func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, h
}

func serve(t *testing.T, payload []byte, fail map[string]error) (*world, response, pipeline.Code, error) {
	t.Helper()
	w, h := build(t, fail)
	r, err := h.Handle(t.Context(), payload)
	var fault *pipeline.Fault
	if errors.As(err, &fault) {
		r.Code, err = fault.Code, nil
	}
	a, _ := r.Answer.(response)
	return w, a, r.Code, err
}

func delivery(t *testing.T, event, body string, with string) []byte {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(with))
	mac.Write([]byte(body))
	b, err := json.Marshal(map[string]any{
		"version": "2.0", "body": body, "isBase64Encoded": false,
		"headers": map[string]string{"x-github-event": event, "x-hub-signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func opened(title string) string {
	return fmt.Sprintf(`{"action":"opened","issue":{"number":7,"title":%q,"body":"b","user":{"id":12,"type":"User"}},`+
		`"repository":{"full_name":"octo-org/sample"},"sender":{"id":12,"type":"User"}}`, title)
}

func TestABodyIsStoredBeforeItsRunIsStarted(t *testing.T) {
	t.Parallel()
	body := opened("zz9 title")
	w, a, code, err := serve(t, delivery(t, "issues", body, key), nil)
	if err != nil || code != "" || a.StatusCode != 202 {
		t.Fatalf("got %+v, %s, %v", a, code, err)
	}
	if !slices.Equal(w.did, []string{"secrets", "mark", "put", "start"}) {
		t.Errorf("did %v", w.did)
	}
	for run, env := range w.started {
		marker, err := pipeline.DecodeEnvelope([]byte(w.markers[run]))
		if err != nil || marker != env {
			t.Errorf("got marker %+v, %v, want the envelope that was started", marker, err)
		}
		if w.bodies[run] != body || env.Check() != nil || env.RecipeDigest != issues.Recipe.Digest() || a.Body != `{"runs":["`+run+`"]}` {
			t.Errorf("got %+v, answer %s", env, a.Body)
		}
	}
}

func TestNothingIsStoredOfWhatIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		payload []byte
		code    pipeline.Code
	}{
		"another key":      {delivery(t, "issues", opened("zz9"), "other"), pipeline.BadSignature},
		"no event":         {[]byte("zz9"), pipeline.MalformedEvent},
		"too large":        {[]byte(strings.Repeat(" ", events.MaxEventBytes+1)), pipeline.BodyTooLarge},
		"ping":             {delivery(t, "ping", `{"zen":"zz9","hook_id":1,"hook":{}}`, key), pipeline.Ping},
		"unhandled action": {delivery(t, "issues", strings.Replace(opened("zz9"), "opened", "locked", 1), key), pipeline.UnhandledEvent},
		"misfit":           {delivery(t, "issues", `{"zz9":1}`, key), pipeline.BodyMisfit},
		"not JSON":         {delivery(t, "issues", `zz9`, key), pipeline.MalformedBody},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, _, code, err := serve(t, tc.payload, nil)
			if err != nil || code != tc.code || len(w.bodies)+len(w.started)+len(w.markers) != 0 {
				t.Errorf("got %s, %v, did %v; want %s and nothing stored", code, err, w.did, tc.code)
			}
			a := refuse(code).(response)
			if a.StatusCode != code.HTTP() || strings.Contains(a.Body, "zz9") {
				t.Errorf("got %+v", a)
			}
		})
	}
}

// A service that is throttled is a 503; one that refuses is a code. A run is
// never started without its body.
func TestAFailedStepIsTheLast(t *testing.T) {
	t.Parallel()
	for i, step := range []string{"secrets", "mark", "put", "start"} {
		w, a, _, err := serve(t, delivery(t, "issues", opened("t"), key), map[string]error{step: client.RetryableError{}})
		if err != nil || a.StatusCode != 503 || len(w.did) != i+1 {
			t.Errorf("%s throttled: got %+v, %v, did %v", step, a, err, w.did)
		}
		w, _, code, err := serve(t, delivery(t, "issues", opened("t"), key), map[string]error{step: pipeline.StoreFailed.Error("refused")})
		if err != nil || code != pipeline.StoreFailed || len(w.did) != i+1 {
			t.Errorf("%s refused: got %s, %v, did %v", step, code, err, w.did)
		}
	}
}

func FuzzHandle(f *testing.F) {
	f.Add([]byte(`{"version":"2.0","headers":{"x-github-event":"issues","x-hub-signature-256":"sha256=00"},"body":"{}"}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"Records":[{"messageId":"m","body":"{}"}]}`))
	f.Add([]byte(`{"tick":{"recipe":"feeds","schedule":"hourly","instant":"2026-12-01T00:00:00Z"}}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		switch firstMember(payload) {
		case "tick", "Records": // a clock's word is not signed; a queue answers for each message
			_, h := build(t, nil)
			r, err := h.Handle(t.Context(), payload)
			if f, ok := r.Answer.(failures); err == nil && ok && f.Items == nil {
				t.Errorf("got %+v: want failures named", r)
			}
			return
		}
		if w, _, code, err := serve(t, payload, nil); code == "" && err == nil || len(w.bodies)+len(w.markers) != 0 {
			t.Errorf("got %s, %v, did %v: want nothing stored of what is not signed", code, err, w.did)
		}
	})
}
