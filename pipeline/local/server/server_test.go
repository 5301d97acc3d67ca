package server

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"decant.dev/events"
	"decant.dev/pipeline"
)

const secret = "the webhook's secret"

const opened = `{"action":"opened","issue":{"number":7,"title":"zz9 title","body":"zz9 body","user":{"id":12,"type":"User","login":"reporter"}},` +
	`"repository":{"full_name":"octo-org/sample"},"sender":{"id":12,"type":"User","login":"reporter"}}`

// runs begins a run for each delivery and lets it end when told.
type runs struct {
	code  pipeline.Code
	panic bool
	over  chan struct{} // nil: at once
	got   []events.Delivery
	life  context.Context
}

func (x *runs) Accept(ctx context.Context, d events.Delivery) ([]string, func(), pipeline.Code) {
	if x.panic {
		panic("zz9")
	}
	x.got, x.life = append(x.got, d), ctx
	if x.code != pipeline.OK {
		return nil, nil, x.code
	}
	return []string{strings.Repeat("ab", 16)}, func() {
		if x.over != nil {
			<-x.over
		}
	}, pipeline.OK
}

func serverOf(t *testing.T, x *runs) *Server {
	t.Helper()
	s, err := New(Config{
		Runs: x, Secrets: events.Secrets{Current: events.NewSecret(secret)}, Life: t.Context(), Clock: time.Now,
		Context: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }),
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func sign(body string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(body))
	return "sha256=" + hex.EncodeToString(mac.Sum(nil))
}

func post(s http.Handler, event, signed string, body io.Reader) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, GitHubPath, body)
	if event != "" {
		r.Header.Set("X-GitHub-Event", event)
	}
	if signed != "" {
		r.Header.Set(signature, signed)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// Each kind of bad input is answered with its code, and nothing of it comes
// back.
func TestDeliveriesAreAnsweredWithCodes(t *testing.T) {
	t.Parallel()
	deep := `{"action":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`
	for name, tc := range map[string]struct {
		event, signed, body string
		accept              pipeline.Code
		status              int
		code                pipeline.Code
	}{
		"good":                  {"issues", sign(opened), opened, "", 202, ""},
		"no signature":          {"issues", "", opened, "", 401, pipeline.BadSignature},
		"wrong signature":       {"issues", sign(opened + " "), opened, "", 401, pipeline.BadSignature},
		"malformed signature":   {"issues", "sha1=zz9", opened, "", 401, pipeline.BadSignature},
		"too large":             {"issues", sign("x"), strings.Repeat("zz9", events.MaxBodyBytes), "", 413, pipeline.BodyTooLarge},
		"not JSON":              {"issues", sign("zz9"), "zz9", "", 400, pipeline.MalformedBody},
		"too deep":              {"issues", sign(deep), deep, "", 400, pipeline.MalformedBody},
		"another kind":          {"issue_comment", sign(opened), opened, "", 400, pipeline.BodyMisfit},
		"no event":              {"", sign(opened), opened, "", 400, pipeline.MalformedEvent},
		"ping":                  {"ping", sign(`{"zen":"zz9","hook":{}}`), `{"zen":"zz9","hook":{}}`, "", 202, pipeline.Ping},
		"an event of nobody's":  {"star", sign(`{"action":"created"}`), `{"action":"created"}`, "", 202, pipeline.UnhandledEvent},
		"no recipe handles it":  {"issues", sign(opened), opened, pipeline.UnhandledEvent, 202, pipeline.UnhandledEvent},
		"a store did not take":  {"issues", sign(opened), opened, pipeline.StoreFailed, 500, pipeline.StoreFailed},
		"the engine is stopped": {"issues", sign(opened), opened, pipeline.Stopped, 503, pipeline.Stopped},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &runs{code: tc.accept}
			s := serverOf(t, x)
			w := post(s, tc.event, tc.signed, strings.NewReader(tc.body))
			want := `{"code":"` + string(tc.code) + `"}`
			if tc.code == "" {
				want = `{"runs":["` + strings.Repeat("ab", 16) + `"]}`
			}
			if w.Code != tc.status || w.Body.String() != want || w.Header().Get("Cache-Control") != "no-store" || strings.Contains(fmt.Sprint(w.Header()), "zz9") {
				t.Errorf("got %d %s %v, want %d %s", w.Code, w.Body, w.Header(), tc.status, want)
			}
			if (len(x.got) > 0) != (tc.code == "" || tc.accept != "") {
				t.Errorf("%d deliveries went on", len(x.got))
			}
			word := string(tc.code)
			if tc.code == "" {
				word = Accepted
			}
			if !maps.Equal(s.Counts(), map[string]int{word: 1}) {
				t.Errorf("got counts %v", s.Counts())
			}
		})
	}
}

// What has no signature is refused before a byte of it is read, and a body
// over the limit is not read to its end.
func TestNoMoreIsReadThanNeeded(t *testing.T) {
	t.Parallel()
	s := serverOf(t, &runs{})
	endless := &zeros{}
	if w := post(s, "issues", "", endless); w.Code != 401 || endless.read != 0 {
		t.Errorf("unsigned: got %d after %d bytes", w.Code, endless.read)
	}
	if w := post(s, "issues", sign(""), endless); w.Code != 413 || endless.read > events.MaxBodyBytes+1 {
		t.Errorf("endless: got %d after %d bytes", w.Code, endless.read)
	}
}

type zeros struct{ read int }

func (z *zeros) Read(p []byte) (int, error) { z.read += len(p); clear(p); return len(p), nil }

func TestOtherRequests(t *testing.T) {
	t.Parallel()
	s := serverOf(t, &runs{})
	for _, tc := range []struct {
		method, path string
		status       int
	}{
		{"GET", HealthPath, 200}, {"HEAD", HealthPath, 200}, {"POST", HealthPath, 405}, {"GET", GitHubPath, 405}, {"PUT", GitHubPath, 405},
		{"GET", "/", 404}, {"GET", "/webhooks", 404}, {"GET", "/api/v1/runs/x/context", 418}, {"GET", "/debug/pprof/", 404},
	} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequest(tc.method, tc.path, nil))
		if w.Code != tc.status {
			t.Errorf("%s %s: got %d, want %d", tc.method, tc.path, w.Code, tc.status)
		}
	}
}

func TestAPanicIsACode(t *testing.T) {
	t.Parallel()
	w := post(serverOf(t, &runs{panic: true}), "issues", sign(opened), strings.NewReader(opened))
	if w.Code != 500 || strings.Contains(w.Body.String(), "zz9") {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
}

// Only so many runs are under way at once; a delivery for which there is no
// place within its sender's patience is to be sent again.
func TestRunsUnderWayAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := &runs{over: make(chan struct{})}
		s := serverOf(t, x)
		for range MaxJobs {
			if w := post(s, "issues", sign(opened), strings.NewReader(opened)); w.Code != 202 {
				t.Fatalf("got %d", w.Code)
			}
		}
		if w := post(s, "issues", sign(opened), strings.NewReader(opened)); w.Code != 503 || w.Body.String() != `{"code":"busy"}` || w.Header().Get("Retry-After") == "" {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
		close(x.over)
		synctest.Wait()
		if w := post(s, "issues", sign(opened), strings.NewReader(opened)); w.Code != 202 {
			t.Errorf("after the runs: got %d", w.Code)
		}
		synctest.Wait()
		if len(s.bodies) != 0 || len(s.jobs) != 0 {
			t.Errorf("%d bodies and %d jobs are held", len(s.bodies), len(s.jobs))
		}
	})
}

// A server that drains takes nothing more, waits for what is under way, and
// no longer than it is given.
func TestDrainWaitsForRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		x := &runs{over: make(chan struct{})}
		s := serverOf(t, x)
		if w := post(s, "issues", sign(opened), strings.NewReader(opened)); w.Code != 202 {
			t.Fatalf("got %d", w.Code)
		}
		short, cancel := context.WithCancel(t.Context())
		drained := make(chan struct{})
		go func() { s.Drain(short); close(drained) }()
		synctest.Wait()
		select {
		case <-drained:
			t.Error("drained with a run under way")
		default:
		}
		if w := post(s, "issues", sign(opened), strings.NewReader(opened)); w.Code != 503 || w.Body.String() != `{"code":"stopped"}` {
			t.Errorf("while it drains: got %d %s", w.Code, w.Body)
		}
		cancel()
		<-drained
		close(x.over)
		s.Drain(t.Context())
		if len(x.got) != 1 {
			t.Errorf("got %d deliveries", len(x.got))
		}
	})
}

func TestServerWantsItsParts(t *testing.T) {
	t.Parallel()
	whole := Config{Runs: &runs{}, Secrets: events.Secrets{Previous: events.NewSecret(secret)}, Context: http.NotFoundHandler(), Life: t.Context(), Clock: time.Now}
	if _, err := New(whole); err != nil {
		t.Error(err)
	}
	for name, spoil := range map[string]func(*Config){
		"runs": func(c *Config) { c.Runs = nil }, "context": func(c *Config) { c.Context = nil }, "life": func(c *Config) { c.Life = nil }, "clock": func(c *Config) { c.Clock = nil },
		"secret": func(c *Config) { c.Secrets = events.Secrets{} },
	} {
		c := whole
		spoil(&c)
		if _, err := New(c); err == nil {
			t.Errorf("a server without its %s", name)
		}
	}
}

func TestListensOnLoopbackUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		address string
		public  bool
		reach   string
	}{
		{"127.0.0.1:0", false, "127.0.0.1"}, {"localhost:0", false, "127.0.0.1"}, {"0.0.0.0:0", true, "127.0.0.1"},
		{"0.0.0.0:0", false, ""}, {"[::]:0", false, ""}, {":0", false, ""}, {"192.0.2.1:0", false, ""}, {"example.com:0", true, ""},
		{"127.0.0.1", false, ""}, {"", false, ""}, {"127.0.0.1:http:", false, ""}, {"[fe80::1%lo]:0", true, ""}, {"[::ffff:192.0.2.1]:0", false, ""},
	} {
		l, err := Listen(tc.address, tc.public)
		if (err == nil) != (tc.reach != "") {
			t.Errorf("%q, public %t: got %v", tc.address, tc.public, err)
		}
		if err != nil {
			continue
		}
		host, _, err := net.SplitHostPort(Reach(l))
		if err != nil || host != tc.reach {
			t.Errorf("%q: reached at %s, %v", tc.address, host, err)
		}
		_ = l.Close()
	}
}

// hookAt is a server with a hook of Standard Webhooks and one of a plain HMAC.
func hookAt(t *testing.T, x *runs, now time.Time) *Server {
	t.Helper()
	key := "whsec_" + base64.StdEncoding.EncodeToString([]byte(hookKey))
	event := events.HookEvent{Pointer: "/type", Names: map[string]string{"a": "order.created"}}
	s, err := New(Config{
		Runs: x, Life: t.Context(), Context: http.NotFoundHandler(), Clock: func() time.Time { return now },
		Hooks: []Hook{
			{events.Hook{Name: "shop", Scheme: events.StandardWebhooks{}, Event: event}, events.Secrets{Current: events.NewSecret(key)}},
			{events.Hook{Name: "door", Scheme: events.HMAC{Header: "x-sig", Encoding: events.Hex, Hash: events.SHA256, Signs: events.SignsBody}, Event: event}, events.Secrets{Previous: events.NewSecret(hookKey)}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

const hookKey = "the key of a hook, of 32 bytes.."

func hookMAC(text string) []byte {
	mac := hmac.New(sha256.New, []byte(hookKey))
	mac.Write([]byte(text))
	return mac.Sum(nil)
}

func hookPost(s http.Handler, path, id, stamp string, body io.Reader, signed string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodPost, path, body)
	if path == "/webhooks/shop" {
		r.Header.Set("Webhook-Id", id)
		r.Header.Set("Webhook-Timestamp", stamp)
		if signed != "" {
			r.Header.Set("Webhook-Signature", "v1,"+base64.StdEncoding.EncodeToString(hookMAC(id+"."+stamp+"."+signed)))
		}
	} else if signed != "" {
		r.Header.Set("X-Sig", hex.EncodeToString(hookMAC(signed)))
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// A hook's deliveries have the bounds, the codes and the counts that GitHub's
// have; what matched and what was ignored is counted in words of closed lists.
func TestHooksAreServedAsGitHubIs(t *testing.T) {
	t.Parallel()
	now := time.Unix(1_700_000_000, 0)
	const good, other = `{"type":"a"}`, `{"type":"zz9"}`
	x := &runs{}
	s := hookAt(t, x, now)
	for name, tc := range map[string]struct {
		path, stamp, body, signed string
		status                    int
		code                      string
	}{
		"good":               {"/webhooks/shop", "1700000000", good, good, 202, ""},
		"at the edge":        {"/webhooks/shop", "1699999700", good, good, 202, ""},
		"outside":            {"/webhooks/shop", "1699999699", good, good, 401, "outside_window"},
		"another body":       {"/webhooks/shop", "1700000000", other, good, 401, "bad_signature"},
		"unsigned":           {"/webhooks/shop", "1700000000", good, "", 401, "bad_signature"},
		"another event":      {"/webhooks/shop", "1700000000", other, other, 202, "unhandled_event"},
		"no event":           {"/webhooks/shop", "1700000000", `{}`, `{}`, 400, "body_misfit"},
		"not JSON":           {"/webhooks/shop", "1700000000", `zz9`, `zz9`, 400, "malformed_body"},
		"plain":              {"/webhooks/door", "", good, good, 202, ""},
		"plain, unsigned":    {"/webhooks/door", "", good, "", 401, "bad_signature"},
		"a hook of nobody's": {"/webhooks/zz9", "", good, good, 404, "not_found"},
		"no GitHub":          {"/webhooks/github", "", good, good, 404, "not_found"},
		"below":              {"/webhooks/door/x", "", good, good, 404, "not_found"},
	} {
		w := hookPost(s, tc.path, "msg_1", tc.stamp, strings.NewReader(tc.body), tc.signed)
		if w.Code != tc.status || tc.code != "" && w.Body.String() != `{"code":"`+tc.code+`"}` || strings.Contains(w.Body.String()+fmt.Sprint(w.Header()), "zz9") {
			t.Errorf("%s: got %d %s", name, w.Code, w.Body)
		}
	}
	if len(x.got) != 3 {
		t.Errorf("%d deliveries went on, want 3", len(x.got))
	}
	if got := fmt.Sprint(s.Matched(), s.Ignored(), s.Counts()); got != "map[door previous:1 shop current:5] map[shop other:1] "+
		"map[accepted:3 bad_signature:3 body_misfit:1 malformed_body:1 outside_window:1 unhandled_event:1]" {
		t.Errorf("got %s", got)
	}
	endless := &zeros{}
	for _, path := range []string{"/webhooks/shop", "/webhooks/door"} {
		if w := hookPost(s, path, "m", "1", endless, ""); w.Code != 401 || endless.read != 0 {
			t.Errorf("%s, unsigned: got %d after %d bytes", path, w.Code, endless.read)
		}
	}
	if w := hookPost(s, "/webhooks/door", "", "", endless, "x"); w.Code != 413 || endless.read > events.MaxBodyBytes+1 {
		t.Errorf("endless: got %d after %d bytes", w.Code, endless.read)
	}
}

// What GitHub sends and no recipe names is counted by the event's name where
// GitHub documents it, and never by what a sender wrote.
func TestIgnoredEventsAreCountedByClass(t *testing.T) {
	t.Parallel()
	s := serverOf(t, &runs{code: pipeline.UnhandledEvent})
	const body = `{"action":"created"}`
	for _, event := range []string{"star", "star", "workflow_run", "zz9-event", "zz9"} {
		post(s, event, sign(body), strings.NewReader(body))
		post(s, event, sign("another"), strings.NewReader(body)) // what is not proved is in no class
	}
	post(s, "issues", sign(opened), strings.NewReader(opened))
	shop := hookAt(t, &runs{code: pipeline.UnhandledEvent}, time.Unix(1_700_000_000, 0))
	for _, body := range []string{`{"type":"a"}`, `{"type":"zz9"}`} {
		hookPost(shop, "/webhooks/door", "", "", strings.NewReader(body), body)
	}
	if got := fmt.Sprint(shop.Ignored()); got != "map[door order.created:1 door other:1]" {
		t.Errorf("got %s", got)
	}
	post(s, "ping", sign(`{"zen":"z","hook":{}}`), strings.NewReader(`{"zen":"z","hook":{}}`))
	if got := fmt.Sprint(s.Ignored(), s.Matched()); got != "map[github issues:1 github other:2 github ping:1 github star:2 github workflow_run:1] map[github current:7]" {
		t.Errorf("got %s", got)
	}
}

// n8n#29480: without a secret nothing is served, unless it is said that nothing
// is signed.
func TestNoHookIsServedWithoutItsSecret(t *testing.T) {
	t.Parallel()
	hook := events.Hook{Name: "shop", Scheme: events.StandardWebhooks{}, Event: events.HookEvent{Name: "order.created"}}
	config := func(hooks ...Hook) Config {
		return Config{Runs: &runs{}, Secrets: events.Secrets{Current: events.NewSecret(secret)}, Hooks: hooks, Context: http.NotFoundHandler(), Life: t.Context(), Clock: time.Now}
	}
	open := hook
	open.Scheme = events.None{}
	good := Hook{hook, events.Secrets{Current: events.NewSecret("whsec_" + base64.StdEncoding.EncodeToString([]byte(hookKey)))}}
	for name, c := range map[string]Config{
		"none": config(Hook{hook, events.Secrets{}}), "another form": config(Hook{hook, events.Secrets{Current: events.NewSecret("zz9")}}),
		"unsigned, not said": config(Hook{open, events.Secrets{}}), "twice": config(good, good),
	} {
		if _, err := New(c); err == nil || strings.Contains(err.Error(), "zz9") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	open.Scheme = events.None{Unsigned: events.AnyoneMaySend}
	s, err := New(config(Hook{open, events.Secrets{}}))
	if err != nil {
		t.Fatal(err)
	}
	if w := hookPost(s, "/webhooks/shop", "m", "1", strings.NewReader(`{}`), ""); w.Code != 202 || s.Matched()["shop unsigned"] != 1 {
		t.Errorf("got %d %s, %v", w.Code, w.Body, s.Matched())
	}
}
