package local

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/act/credential"
	"decant.dev/internal/conformance/sinks"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// anAPI is a GitHub that speaks the API's wire format, at a plain address of
// this machine.
func anAPI(t *testing.T) (*sinks.GitHub, string) {
	t.Helper()
	g := sinks.NewGitHub(t)
	to, err := url.Parse(g.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{Transport: g.Client().Transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	return g, front.URL + "/"
}

func writing(api string) Sinks {
	return Sinks{GitHub: GitHubSink{
		API: api, Token: credential.New("ghs_sample"), Identity: []int64{sinks.Own}, Marker: []credential.Secret{credential.New(strings.Repeat("k", 32))},
	}}
}

// incomplete is a bug report that the recipe labels and asks about.
func incomplete(t *testing.T) []byte {
	t.Helper()
	return payload(12, "Crash on start", "It crashes with an error since yesterday.", 0)
}

func receiptsOf(t *testing.T, e *Engine, run string) []act.Receipt {
	t.Helper()
	l, err := store.OpenLedger(e.act.phase.config.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	all, err := l.Receipts(context.Background(), run)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A live run writes to GitHub through the sandboxed child, once, and a run that
// our own comment would start is dropped.
func TestALiveRunWritesOnGitHubOnce(t *testing.T) {
	t.Parallel()
	g, api := anAPI(t)
	e := openEngine(t, Config{Live: true, Sinks: writing(api)})
	d := delivery(t, incomplete(t))
	r := e.Deliver(context.Background(), d)[0]
	if r.Status != pipeline.Done || r.Reason != pipeline.OK {
		t.Fatalf("got %s %s: %+v", r.Status, r.Reason, r.Actions)
	}
	for _, a := range r.Actions {
		if a.Outcome != "done" {
			t.Errorf("%s is %s", a.Kind, a.Outcome)
		}
	}
	if g.Marked() != 1 || g.Happened("labeled") == 0 {
		t.Errorf("got %d comments and %d labels", g.Marked(), g.Happened("labeled"))
	}
	writes := len(g.Bodies)
	if again := e.Deliver(context.Background(), d)[0]; !again.Recorded || len(g.Bodies) != writes {
		t.Errorf("the same delivery again: recorded %t, %d writes more", again.Recorded, len(g.Bodies)-writes)
	}
	d.Actor = pipeline.Actor{ID: "github:99", Kind: pipeline.Person}
	d.Body = append([]byte(" "), d.Body...)
	if r := e.Deliver(context.Background(), d)[0]; r.Reason != pipeline.AgentsNeverTrigger {
		t.Errorf("a run of our own identity: %s %s", r.Status, r.Reason)
	}
}

// The token reaches the act child and no other: not its environment, nor that
// of the others, nor their configuration.
func TestOnlyActIsGivenCredentials(t *testing.T) {
	t.Parallel()
	_, api := anAPI(t)
	e := openEngine(t, Config{Live: true, Sinks: writing(api)})
	for _, p := range []map[bool]*phase{e.fetches, e.extracts, e.contexts} {
		for _, one := range p {
			if one.config.Sinks.GitHub != nil || strings.Contains(strings.Join(append(one.env, one.hosts...), " "), strings.TrimPrefix(strings.TrimSuffix(api, "/"), "http://")) {
				t.Errorf("%s is told of the sink", one.name)
			}
		}
	}
	if e.act.phase.config.Sinks.GitHub == nil || strings.Contains(strings.Join(e.act.phase.env, " "), "ghs_sample") {
		t.Error("want act told over its input, and not in its environment")
	}
	staged := openEngine(t, Config{Sinks: writing(api)})
	if staged.act.phase.config.Sinks.GitHub != nil || len(staged.act.phase.hosts) != 0 {
		t.Error("an engine that is not live is given credentials")
	}
}

// Killed at each write to GitHub, before it arrives and before its answer
// does, and asked again after act's lease, a run is performed once and is not
// lost.
func TestAKilledLiveRunWritesOnce(t *testing.T) {
	for _, arrives := range []bool{false, true} {
		for nth := 1; nth <= 2; nth++ {
			t.Run(fmt.Sprintf("write %d, arrives %t", nth, arrives), func(t *testing.T) {
				t.Parallel()
				g, api := anAPI(t)
				to, err := url.Parse(api)
				if err != nil {
					t.Fatal(err)
				}
				var pid, writes atomic.Int64
				kill := func(r *http.Request) bool {
					if r.Method == http.MethodGet || writes.Add(1) != int64(nth) {
						return false
					}
					_ = syscall.Kill(int(pid.Load()), syscall.SIGKILL)
					return true
				}
				proxy := &httputil.ReverseProxy{ErrorLog: log.New(io.Discard, "", 0), Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }}
				proxy.ModifyResponse = func(a *http.Response) error {
					if arrives {
						kill(a.Request)
					}
					return nil
				}
				front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if arrives || !kill(r) {
						proxy.ServeHTTP(w, r)
					}
				}))
				defer front.Close()
				e := openEngine(t, Config{Live: true, Sinks: writing(front.URL + "/")})
				d := delivery(t, incomplete(t))
				first := d
				first.Actor.Kind = pipeline.App // starts the child and nothing else
				first.Body = append([]byte(" "), d.Body...)
				e.Deliver(context.Background(), first)
				e.act.phase.mu.Lock()
				pid.Store(int64(e.act.phase.proc.cmd.Process.Pid))
				e.act.phase.mu.Unlock()
				r := e.Deliver(context.Background(), d)[0]
				if r.Status == pipeline.Done {
					t.Fatalf("done in spite of the kill: %d writes", writes.Load())
				}
				time.Sleep(act.Lease + time.Second) // act's own clock
				if r, err = e.Again(context.Background(), r.Run); err != nil || r.Status != pipeline.Done {
					t.Errorf("asked again: %s %s, %v: %+v", r.Status, r.Reason, err, r.Actions)
				}
				if g.Marked() != 1 {
					t.Errorf("commented %d times", g.Marked())
				}
				for _, receipt := range receiptsOf(t, e, r.Run) {
					if receipt.State != act.Done {
						t.Errorf("%s is %s", receipt.Kind, receipt.State)
					}
				}
			})
		}
	}
}

// A queue is a directory that act alone may write in.
func TestQueuesAreOpenedOrSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Config{Live: true, Sinks: Sinks{Queues: dir}})
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || e.act.phase.config.Sinks.Queues != real {
		t.Errorf("got %q, %v", e.act.phase.config.Sinks.Queues, err)
	}
	for _, p := range []*phase{e.fetches[true], e.extracts[true], e.contexts[true]} {
		if strings.Contains(strings.Join(append(p.profile.ReadWrite, p.profile.ReadOnly...), " "), real) {
			t.Errorf("%s is given the queues", p.name)
		}
	}
	for name, s := range map[string]Sinks{
		"no directory":   {Queues: filepath.Join(dir, "absent")},
		"plain http":     {Destinations: map[string]Destination{"audit": {URL: "http://example.com/", Secrets: []credential.Secret{credential.New("whsec_" + strings.Repeat("QUFB", 8))}}}},
		"a short secret": {Destinations: map[string]Destination{"audit": {URL: "https://example.com/", Secrets: []credential.Secret{credential.New("whsec_QUFB")}}}},
		"no marker":      {GitHub: GitHubSink{Token: credential.New("zz9"), Identity: []int64{1}}},
		"no host":        {GitHub: GitHubSink{API: "https:", Token: credential.New("zz9"), Identity: []int64{1}}},
	} {
		e, err := Open(Config{Dir: t.TempDir(), Live: true, Sinks: s}, issuesPipeline())
		if err == nil {
			_ = e.Close()
		}
		if err == nil || strings.Contains(err.Error(), "zz9") || strings.Contains(err.Error(), "QUFB") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}
