package lambdacontext

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"decant.dev/fence"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/function"
	"decant.dev/pipeline/contextapi"
)

// world has one run, with one token, by a person who holds trigger or not.
type world struct {
	env    pipeline.Envelope
	token  contextapi.Token
	bundle []byte
	over   bool
	holds  bool
	fail   error
}

func (w *world) Bundle(_ context.Context, run string, d contextapi.Digest) ([]byte, bool, error) {
	return w.bundle, run == w.env.Run && d == w.token.Digest(), w.fail
}
func (w *world) Active(_ context.Context, run string) (pipeline.Envelope, bool, error) {
	return w.env, run == w.env.Run && !w.over, w.fail
}
func (w *world) HoldsTrigger(_ context.Context, person, channel string) (bool, error) {
	return w.holds && person == w.env.Actor.ID && channel == w.env.Channel, w.fail
}

func begin(t testing.TB, text string) (*world, *Handler) {
	t.Helper()
	env := pipeline.NewEnvelope("notes", strings.Repeat("0", 64), "github", []byte("{}"), pipeline.Actor{ID: "github:12", Kind: pipeline.Person},
		"github:octo-org/sample", pipeline.Target{Event: "issue_comment.created", Repository: "octo-org/sample", Number: 7}, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
	token, err := contextapi.Mint(env.Run, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := fence.Bundle{
		Run: env.Run, Recipe: env.Recipe, Profile: fence.ProfileIntake, Instruction: "Read this.", Limits: fence.Limits{MessageMaxBytes: 100, ContextMaxBytes: 1000},
		Message: "e1", Created: true, Voice: true,
		Elements: []fence.Element{{ID: "e1", Author: fence.Author{ID: "github:12", Kind: fence.KindPerson, Name: "zz9"}, Origin: fence.OriginMessage, Role: fence.RoleUser, Text: text}},
	}.Encode()
	if err != nil {
		t.Fatal(err)
	}
	w := &world{env: env, token: token, bundle: bundle, holds: true}
	h, err := New(Config{Bundles: w, Runs: w, Authorizer: w})
	if err != nil {
		t.Fatal(err)
	}
	return w, h
}

// event is what API Gateway delivers.
func event(method, path, query string, headers map[string]string, body any) map[string]any {
	e := map[string]any{
		"version": "2.0", "routeKey": "GET /api/v1/runs/{id}/context", "rawPath": path, "rawQueryString": query, "headers": headers, "isBase64Encoded": false,
		"requestContext": map[string]any{"accountId": "111122223333", "http": map[string]any{"method": method, "path": path, "sourceIp": "192.0.2.1"}},
		"pathParameters": map[string]any{"id": "zz9"},
	}
	if body != nil {
		e["body"] = body
	}
	return e
}

// invoke asks the function as Lambda does, and returns its answer with all
// that it logged.
func invoke(t *testing.T, h *Handler, payload any) (response, string) {
	t.Helper()
	b, ok := payload.([]byte)
	if !ok {
		var err error
		if b, err = json.Marshal(payload); err != nil {
			t.Fatal(err)
		}
	}
	var log bytes.Buffer
	f := &function.Function{Service: "context", Namespace: "decant", Handle: h.Handle, Refuse: refuse, Out: &log}
	out, err := f.Invoke(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	var r response
	if err := json.Unmarshal(out, &r); err != nil {
		t.Fatal(err)
	}
	return r, log.String()
}

func TestAContextIsAnswered(t *testing.T) {
	t.Parallel()
	w, h := begin(t, "Take this down. zz9")
	for _, name := range []string{"authorization", "Authorization"} {
		for _, holds := range []bool{true, false} {
			w.holds = holds
			r, log := invoke(t, h, event("GET", contextapi.Path(w.env.Run), "", map[string]string{name: "Bearer " + w.token.Reveal(), "host": "x"}, nil))
			doc, err := base64.StdEncoding.DecodeString(r.Body)
			if err != nil || r.StatusCode != 200 || !r.Base64 || r.Headers["Cache-Control"] != "no-store" || r.Headers["Content-Type"] != "application/json" {
				t.Fatalf("got %d %v, %v", r.StatusCode, r.Headers, err)
			}
			c, err := fence.DecodeRunContext(doc)
			if err != nil || (c.Trigger == "e1") != holds || (c.Elements[0].Trust == fence.TrustTrigger) != holds {
				t.Errorf("holds %t: got the voice %q, %v", holds, c.Trigger, err)
			}
			_, secret, _ := strings.Cut(w.token.Reveal(), ".")
			if strings.Contains(log, "zz9") || strings.Contains(log, secret) || !strings.Contains(log, w.env.Run) {
				t.Errorf("got the log %s", log)
			}
		}
	}
}

// Whatever comes, the answer is one of the context API's; nothing of it is
// logged, and a run that is not there is as one whose token is another.
func TestBadRequestsAreAnsweredWithCodes(t *testing.T) {
	t.Parallel()
	w, h := begin(t, "zz9")
	other, err := contextapi.Mint(w.env.Run, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	absent, err := contextapi.Mint(strings.Repeat("0", 32), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]string{"authorization": "Bearer " + w.token.Reveal()}
	path := contextapi.Path(w.env.Run)
	for name, tc := range map[string]struct {
		payload any
		want    contextapi.Code
	}{
		"no token":         {event("GET", path, "", nil, nil), contextapi.NoToken},
		"two headers":      {event("GET", path, "", map[string]string{"authorization": own["authorization"], "Authorization": own["authorization"]}, nil), contextapi.NoToken},
		"two in one":       {event("GET", path, "", map[string]string{"authorization": own["authorization"] + "," + own["authorization"]}, nil), contextapi.NoToken},
		"another token":    {event("GET", path, "", map[string]string{"authorization": "Bearer " + other.Reveal()}, nil), contextapi.NotFound},
		"no such run":      {event("GET", contextapi.Path(absent.Run()), "", map[string]string{"authorization": "Bearer " + absent.Reveal()}, nil), contextapi.NotFound},
		"another run":      {event("GET", contextapi.Path(absent.Run()), "", own, nil), contextapi.OtherRun},
		"another method":   {event("HEAD", path, "", own, nil), contextapi.NotAllowed},
		"another path":     {event("GET", "/zz9", "", own, nil), contextapi.NotFound},
		"a stage":          {event("GET", "/prod"+path, "", own, nil), contextapi.NotFound},
		"no run's id":      {event("GET", contextapi.Path("zz9"), "", own, nil), contextapi.Malformed},
		"a query":          {event("GET", path, "zz9", own, nil), contextapi.Malformed},
		"a body":           {event("GET", path, "", own, "zz9"), contextapi.Malformed},
		"an empty body":    {event("GET", path, "", nil, ""), contextapi.NoToken},
		"another version":  {[]byte(`{"version":"1.0","path":"zz9"}`), contextapi.Malformed},
		"nothing":          {[]byte(`{}`), contextapi.Malformed},
		"no JSON":          {[]byte(`zz9`), contextapi.Malformed},
		"duplicate keys":   {[]byte(`{"version":"2.0","rawPath":"zz9","rawPath":"` + path + `"}`), contextapi.Malformed},
		"headers of lists": {[]byte(`{"version":"2.0","headers":{"authorization":["zz9"]}}`), contextapi.Malformed},
		"too large":        {event("GET", path, "", map[string]string{"zz9": strings.Repeat("zz9", function.MaxPayloadBytes)}, nil), contextapi.Malformed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, log := invoke(t, h, tc.payload)
			want := contextapi.Refuse(tc.want)
			if r.StatusCode != want.Status || r.Body != string(want.Body) || r.Base64 || fmt.Sprint(r.Headers) != fmt.Sprint(want.Header) {
				t.Errorf("got %+v, want %d %s", r, want.Status, want.Body)
			}
			if strings.Contains(log, "zz9") || strings.Contains(log, w.env.Run) {
				t.Errorf("got the log %s", log)
			}
		})
	}
}

func TestFaultsAreAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(*world)
		want  contextapi.Code
	}{
		"over":         {func(w *world) { w.over = true }, contextapi.Ended},
		"stores down":  {func(w *world) { w.fail = errors.New("zz9") }, contextapi.Unavailable},
		"a bad bundle": {func(w *world) { w.bundle = []byte(`{"zz9":1}`) }, contextapi.Broken},
		"another's": {func(w *world) {
			w.bundle = bytes.Replace(w.bundle, []byte(w.env.Run), []byte(strings.Repeat("0", 32)), 1)
		}, contextapi.Broken},
		"another world": {func(w *world) { w.bundle = nil }, contextapi.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, h := begin(t, "zz9")
			tc.spoil(w)
			r, log := invoke(t, h, event("GET", contextapi.Path(w.env.Run), "", map[string]string{"authorization": "Bearer " + w.token.Reveal()}, nil))
			if r.StatusCode != tc.want.Status() || strings.Contains(r.Body+log, "zz9") {
				t.Errorf("got %+v, want %d; log %s", r, tc.want.Status(), log)
			}
		})
	}
}

// What Lambda takes of an answer is never exceeded: the largest context that
// is given fits, one byte more is refused.
func TestTheLargestContextFitsAnAnswer(t *testing.T) {
	t.Parallel()
	const lambdaLimit = 6 << 20
	ask := func(n int) response {
		w, h := begin(t, strings.Repeat("\"\\", n/4)+strings.Repeat("x", n%4)) // each takes two bytes in JSON
		w.holds = false                                                        // over what a voice may have
		r, _ := invoke(t, h, event("GET", contextapi.Path(w.env.Run), "", map[string]string{"authorization": "Bearer " + w.token.Reveal()}, nil))
		return r
	}
	base, err := base64.StdEncoding.DecodeString(ask(0).Body)
	if err != nil {
		t.Fatal(err)
	}
	room := MaxContextBytes - len(base)
	r := ask(room)
	b, err := json.Marshal(r)
	if err != nil || r.StatusCode != 200 || len(b) > lambdaLimit {
		t.Errorf("the largest: got %d with %d bytes, %v", r.StatusCode, len(b), err)
	}
	if r := ask(room + 1); r.StatusCode != contextapi.Broken.Status() {
		t.Errorf("one byte more: got %d", r.StatusCode)
	}
}

func TestPartsAreWanted(t *testing.T) {
	t.Parallel()
	w, _ := begin(t, "x")
	for _, c := range []Config{{}, {Bundles: w, Runs: w}, {Bundles: w, Authorizer: w}, {Runs: w, Authorizer: w}} {
		if _, err := New(c); err == nil {
			t.Errorf("got a handler of %+v", c)
		}
	}
}

// No request opens anything without the token, and every answer is one of the
// list.
func FuzzHandle(f *testing.F) {
	w, h := begin(f, "zz9")
	for _, e := range []map[string]any{
		event("GET", contextapi.Path(w.env.Run), "", map[string]string{"authorization": "Bearer x"}, nil), event("POST", "/", "a", nil, "b"),
	} {
		b, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Add([]byte(`{"version":"2.0"}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		fn := &function.Function{Service: "context", Namespace: "decant", Handle: h.Handle, Refuse: refuse, Out: io.Discard}
		out, err := fn.Invoke(t.Context(), payload)
		var r response
		if err != nil || json.Unmarshal(out, &r) != nil || r.StatusCode < 400 || r.Base64 || !strings.HasPrefix(r.Body, `{"code":"`) {
			t.Errorf("got %s, %v", out, err)
		}
	})
}
