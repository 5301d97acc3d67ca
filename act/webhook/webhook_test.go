package webhook

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"decant.dev/act"
	"decant.dev/act/credential"
	"decant.dev/act/message"
	"decant.dev/act/plan"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func secret(b byte) credential.Secret {
	return credential.New("whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32)))
}

func config(to string, secrets ...credential.Secret) Config {
	return Config{
		Destinations: map[string]Destination{"desk": {URL: to, Secrets: secrets}}, Clock: func() time.Time { return noon }, Loopback: true,
	}
}

func sink(t *testing.T, c Config) *Sink {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func job() act.Job {
	run := strings.Repeat("0f", 16)
	return act.Job{
		Kind: plan.KindWebhookPost, Key: act.IdempotencyKey(run, 2), Run: run, Source: "github", Label: plan.System, Place: "octo-org/sample#12",
		Params: map[string]any{"destination": "desk", "kind": "bug", "title": "a \"b\" <c>"},
	}
}

// What arrives is the message, signed with each secret by the scheme, under
// the job's key and the time of the attempt.
func TestAPostIsSignedByTheScheme(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer server.Close()
	s := sink(t, config(server.URL+"/in/x", secret('a'), secret('b')))
	j := job()
	if a := s.Send(t.Context(), j); a != (act.Answer{Verdict: act.Performed, Word: "posted"}) {
		t.Fatalf("%+v", a)
	}
	_, want, err := message.Encode(j, "destination")
	if err != nil || !bytes.Equal(body, want) || got.Method != http.MethodPost || got.URL.Path != "/in/x" {
		t.Errorf("%s %s with %s: want %s", got.Method, got.URL.Path, body, want)
	}
	if got.Header.Get("webhook-id") != j.Key || got.Header.Get("webhook-timestamp") != strconv.FormatInt(noon.Unix(), 10) || got.Header.Get("Content-Type") != "application/json" {
		t.Errorf("headers %v", got.Header)
	}
	for key, ok := range map[byte]bool{'a': true, 'b': true, 'c': false} {
		verifier, err := standardwebhooks.NewWebhookRaw(bytes.Repeat([]byte{key}, 32))
		if err != nil {
			t.Fatal(err)
		}
		if err := verifier.VerifyIgnoringTimestamp(body, got.Header); (err == nil) != ok {
			t.Errorf("secret %c: %v: want verified: %t", key, err, ok)
		}
		if verifier.VerifyIgnoringTimestamp(append(body, ' '), got.Header) == nil {
			t.Errorf("secret %c: other bytes are verified", key)
		}
	}
}

// The scheme's own example (its specification, "Example").
func TestTheSchemesExample(t *testing.T) {
	t.Parallel()
	key, ok := keyOf(credential.New("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
	if !ok {
		t.Fatal("the example's secret is refused")
	}
	signer, err := standardwebhooks.NewWebhookRaw(key)
	if err != nil {
		t.Fatal(err)
	}
	got, err := signer.Sign("msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; err != nil || got != want {
		t.Errorf("%s, %v: want %s", got, err, want)
	}
}

// Each status is what it is certain of, written a second time.
func TestEachStatusIsWhatItIsCertainOf(t *testing.T) {
	t.Parallel()
	rejected := []int{301, 302, 303, 307, 308, 400, 402, 403, 404, 405, 406, 410, 413, 415, 422, 451}
	for _, wait := range []string{"", "30", "soon"} {
		for status := 100; status < 600; status++ {
			want := act.Answer{}
			switch {
			case status >= 200 && status < 300:
				want.Verdict = act.Performed
			case status == 401:
				want = act.Answer{Verdict: act.NotPerformed, After: time.Minute}
			case status == 429:
				want = act.Answer{Verdict: act.NotPerformed, After: time.Minute}
				if wait == "30" {
					want.After = 30 * time.Second
				}
			case status == 503 && wait == "30":
				want = act.Answer{Verdict: act.NotPerformed, After: 30 * time.Second}
			}
			for _, r := range rejected {
				if status == r {
					want.Verdict = act.Rejected
				}
			}
			h := http.Header{}
			if wait != "" {
				h.Set("Retry-After", wait)
			}
			got := judge(status, h, noon)
			if (got.Word == "") != (want.Verdict == act.Unsure) {
				t.Errorf("%d: word %q", status, got.Word)
			}
			if got.Word = ""; got != want {
				t.Errorf("%d, Retry-After %q: %+v: want %+v", status, wait, got, want)
			}
		}
	}
}

// A destination is configured or there is none: a job waits for it, and one
// that may have been posted to it stays unknown.
func TestOnlyConfiguredDestinationsArePostedTo(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("posted") }))
	defer server.Close()
	c := config(server.URL, secret('a'))
	c.Destinations["desk"] = Destination{URL: server.URL, Secrets: []credential.Secret{secret('a')}, Idempotent: true}
	s := sink(t, c)
	for _, to := range []any{"elsewhere", server.URL, "", "../desk", int64(1), nil} {
		j := job()
		j.Params["destination"] = to
		want := act.Rejected
		if to == "elsewhere" {
			want = act.NotPerformed
		}
		if a := s.Send(t.Context(), j); a.Verdict != want {
			t.Errorf("to %v: %+v: want verdict %d", to, a, want)
		}
		if a := s.Find(t.Context(), j); a.Verdict == act.NotPerformed || a.Verdict == act.Performed {
			t.Errorf("asked about %v: %+v", to, a)
		}
	}
}

func TestAConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	short := credential.New("whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("h"), 23)))
	long := credential.New("whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("h"), 65)))
	of := func(d Destination) func(*Config) {
		return func(c *Config) { c.Destinations = map[string]Destination{"desk": d} }
	}
	const to = "https://example.com/hunter2"
	one := []credential.Secret{secret('a')}
	for name, change := range map[string]func(*Config){
		"none":            func(c *Config) { c.Destinations = nil },
		"no clock":        func(c *Config) { c.Clock = nil },
		"too long":        func(c *Config) { c.Limit = act.MaxSinkTime + 1 },
		"negative":        func(c *Config) { c.Limit = -1 },
		"a bad name":      func(c *Config) { c.Destinations["a.b"] = c.Destinations["desk"] },
		"http":            of(Destination{URL: "http://example.com/hunter2", Secrets: one}),
		"user":            of(Destination{URL: "https://hunter2@example.com/", Secrets: one}),
		"query":           of(Destination{URL: to + "?token=hunter2", Secrets: one}),
		"no secret":       of(Destination{URL: to}),
		"three secrets":   of(Destination{URL: to, Secrets: []credential.Secret{secret('a'), secret('b'), secret('c')}}),
		"an empty secret": of(Destination{URL: to, Secrets: []credential.Secret{{}}}),
		"only a prefix":   of(Destination{URL: to, Secrets: []credential.Secret{credential.New("whsec_")}}),
		"a short one":     of(Destination{URL: to, Secrets: []credential.Secret{short}}),
		"a long one":      of(Destination{URL: to, Secrets: []credential.Secret{long}}),
		"no prefix":       of(Destination{URL: to, Secrets: []credential.Secret{credential.New(strings.Repeat("aGhh", 10))}}),
		"no base64":       of(Destination{URL: to, Secrets: []credential.Secret{credential.New("whsec_hunter2-hunter2-hunter2-hunter2-hunter2")}}),
	} {
		c := config(to, secret('a'))
		change(&c)
		if s, err := New(c); err == nil || s != nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v: want a refusal", name, err)
		}
	}
	c := config(to, secret('z'))
	s := sink(t, c)
	hidden := strings.TrimPrefix(secret('z').Reveal(), "whsec_")
	for _, said := range []string{fmt.Sprintf("%v %+v %#v", s, s, s), fmt.Sprintf("%+v %#v", c, c)} {
		if strings.Contains(said, hidden) || strings.Contains(said, "122 122") {
			t.Errorf("printed as %s", said)
		}
	}
	if s.Limit() != DefaultLimit {
		t.Errorf("limit %s", s.Limit())
	}
}

// A call that the caller ended before it began wrote nothing.
func TestACallThatWasOverWroteNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if a := sink(t, config("https://127.0.0.1:1/", secret('a'))).Send(ctx, job()); a.Verdict != act.NotPerformed {
		t.Errorf("%+v: want not performed", a)
	}
}
