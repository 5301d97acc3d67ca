package local

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"decant.dev/fence"
	"decant.dev/pipeline"
	"decant.dev/pipeline/contextapi"
	"decant.dev/pipeline/local/store"
)

// actor is who sent the delivery of a number.
const actor = "github:7030"

func deliver(t *testing.T, s *served, title string) Result {
	t.Helper()
	return s.engine.Deliver(context.Background(), delivery(t, payload(30, title, report, 2000)))[0]
}

var (
	trusted = map[string]string{
		"member": "authorized", "stranger": "unverified", "agent": "unverified", "app": "unverified", "import": "unverified",
		"attachment": "unverified", "strangers-words": "unverified", "message": "trigger", "words": "trigger",
	}
	lost = map[string]string{
		"member": "authorized", "stranger": "unverified", "agent": "unverified", "app": "unverified", "import": "unverified",
		"attachment": "unverified", "strangers-words": "unverified", "message": "unverified", "words": "unverified",
	}
)

// The adapter's side of a run: it is given the address and the token of its
// own run's context, reads it from within its sandbox, and the token opens
// nothing once the run is over.
func TestAdapterReadsItsRunWhileItIsActive(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		t.Run(map[bool]string{false: "staged", true: "live"}[live], func(t *testing.T) {
			t.Parallel()
			s := serveContext(t, Config{Live: live}, readerPipeline(1))
			grantTo(t, s.engine, actor, member)
			var during contextapi.Response
			s.before = func(int) {
				other, err := contextapi.Mint(s.run(), zeros{})
				if err != nil {
					t.Error(err)
				}
				during = s.ask(t, s.run(), other.Reveal())
			}
			r := deliver(t, s, "title")
			if want := map[bool]pipeline.Status{false: pipeline.Staged, true: pipeline.Done}[live]; r.Status != want || string(r.Structure) != `{"kind":"a"}` {
				t.Fatalf("%s %s %s", r.Status, r.Reason, r.Structure)
			}
			c := s.context(t, 1)
			if c.Run != r.Run || c.Recipe != "reader-1" || c.Trigger != "message" || !maps.Equal(trust(c), trusted) {
				t.Errorf("got run %s, voice %q, %v", c.Run, c.Trigger, trust(c))
			}
			if during.Status != 404 {
				t.Errorf("another token of a run under way: got %d", during.Status)
			}
			if a := s.ask(t, r.Run, s.tokens[0]); a.Status != 410 {
				t.Errorf("after the run: got %d, want 410", a.Status)
			}
			if a := s.ask(t, strings.Repeat("0", 32), s.tokens[0]); a.Status != 403 {
				t.Errorf("another run: got %d, want 403", a.Status)
			}
			object, ok, err := s.engine.Prompt(t.Context(), r.Run, s.engine.Mode())
			if err != nil || !ok {
				t.Fatal(err)
			}
			p, err := fence.DecodeObject(object)
			if err != nil {
				t.Fatal(err)
			}
			shown, err := p.Context().Encode()
			if err != nil || !bytes.Equal(shown, s.answers[0].Body) {
				t.Errorf("the prompt's context and the API's differ, %v", err)
			}
		})
	}
}

// zeros is a source of randomness that has none.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// run is the run of the first token that was shown.
func (s *served) run() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	run, _, _ := strings.Cut(s.tokens[0], ".")
	return run
}

// AG-20: what a person without trigger, another agent, an app and an import
// wrote is unverified in what the API answers, and a prompt of it shows each
// of these texts in a marked block and nowhere else. The same holds of a file,
// also one that the triggering person attached; a transcript carries its
// message's mark.
func TestAG20ForeignTextIsUnverifiedAndFenced(t *testing.T) {
	t.Parallel()
	s := serveContext(t, Config{}, readerPipeline(1))
	grantTo(t, s.engine, actor, member)
	if r := deliver(t, s, "title"); r.Status != pipeline.Staged {
		t.Fatalf("%s %s", r.Status, r.Reason)
	}
	c := s.context(t, 1)
	if !maps.Equal(trust(c), trusted) {
		t.Errorf("got %v", trust(c))
	}
	p, err := fence.Render(c, zerosOnce())
	if err != nil {
		t.Fatal(err)
	}
	blocks, outside, err := fence.Split(p.Data(), p.Boundary())
	if err != nil {
		t.Fatal(err)
	}
	var inside []string
	for _, b := range blocks {
		inside = append(inside, b.Text)
	}
	for _, e := range c.Elements {
		if e.ID == "message" {
			continue
		}
		if !slices.Contains(inside, e.Text) || !slices.Contains(inside, e.Author.Name) {
			t.Errorf("%s is not in a block of its own", e.ID)
		}
		for where, text := range map[string]string{"outside the blocks": outside, "the voice": p.Voice(), "the preamble": p.Preamble()} {
			if strings.Contains(text, e.Text) || strings.Contains(text, e.Author.Name) {
				t.Errorf("%s stands in %s", e.ID, where)
			}
		}
	}
	if !strings.HasPrefix(p.Voice(), "Take this down.") || strings.Contains(strings.Join(p.System(), "\n"), "Take this down.") {
		t.Error("the voice is not the message, or stands in a system part")
	}
}

// zerosOnce is randomness that is never the same twice.
func zerosOnce() *bytes.Reader {
	b := make([]byte, 1<<12)
	for i := range b {
		b[i] = byte(i * 7)
	}
	return bytes.NewReader(b)
}

// AG-21: a context over its limit is cut from old to new, in the prompt of
// the running pipeline; the triggering message, which is longer than both
// limits, stays whole, and the API gives every text whole.
func TestAG21TheOldestGoesAndTheTriggerStays(t *testing.T) {
	t.Parallel()
	s := serveContext(t, Config{}, readerPipeline(1))
	grantTo(t, s.engine, actor, member)
	r := deliver(t, s, "a long history")
	object, ok, err := s.engine.Prompt(t.Context(), r.Run, store.StagedMode)
	if err != nil || !ok {
		t.Fatalf("%s %s: no prompt, %v", r.Status, r.Reason, err)
	}
	p, err := fence.DecodeObject(object)
	if err != nil {
		t.Fatal(err)
	}
	c := s.context(t, 1)
	last := c.Elements[len(c.Elements)-2]
	if last.ID != "message" || p.Voice() != last.Text || len(p.Voice()) <= c.Limits.ContextMaxBytes {
		t.Errorf("the voice has %d bytes, the message %s %d, the limit is %d", len(p.Voice()), last.ID, len(last.Text), c.Limits.ContextMaxBytes)
	}
	dropped := p.Dropped()
	if len(dropped) == 0 || len(dropped) == 40 {
		t.Fatalf("got %d dropped, want some of the history", len(dropped))
	}
	for i, id := range dropped {
		if id != c.Elements[i].ID {
			t.Errorf("dropped %v, want the oldest", dropped)
			break
		}
	}
	for i, e := range c.Elements[:40] {
		if len(e.Text) != 250*8 {
			t.Errorf("element %d has %d bytes in the context", i, len(e.Text))
		}
	}
}

// An author who loses trigger between two runs is unverified in the second;
// so is one who loses it between two reads of one run, and the instruction
// speaks in their place. What cannot be read grants nothing.
func TestLosingTriggerShowsInTheNextRead(t *testing.T) {
	t.Parallel()
	for name, take := range map[string]func(*testing.T, *Engine){
		"taken away": func(t *testing.T, e *Engine) { grantTo(t, e, member) },
		"malformed":  func(t *testing.T, e *Engine) { spoilGrants(t, e) },
		"gone": func(t *testing.T, e *Engine) {
			if err := os.Remove(e.act.phase.config.Grants); err != nil {
				t.Error(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := maps.Clone(lost)
			if name != "taken away" {
				want["member"] = "unverified"
			}
			s := serveContext(t, Config{}, readerPipeline(2))
			grantTo(t, s.engine, actor, member)
			s.before = func(n int) {
				if n == 2 {
					take(t, s.engine)
				}
			}
			if r := deliver(t, s, "title"); r.Status != pipeline.Staged {
				t.Fatalf("%s %s", r.Status, r.Reason)
			}
			if c := s.context(t, 1); c.Trigger != "message" || !maps.Equal(trust(c), trusted) {
				t.Errorf("first read: voice %q, %v", c.Trigger, trust(c))
			}
			s.before = nil
			if r := deliver(t, s, "title"); r.Status != pipeline.Staged {
				t.Fatalf("%s %s", r.Status, r.Reason)
			}
			for n, which := range map[int]string{2: "second read of the first run", 3: "second run"} {
				c := s.context(t, n)
				p, err := fence.Render(c, zerosOnce())
				if err != nil {
					t.Fatal(err)
				}
				if c.Trigger != "" || !maps.Equal(trust(c), want) || p.Voice() != c.Instruction {
					t.Errorf("%s: voice %q, %v", which, c.Trigger, trust(c))
				}
			}
		})
	}
}

func spoilGrants(t *testing.T, e *Engine) {
	if err := os.WriteFile(e.act.phase.config.Grants, []byte(`{"schema":"grants.v1"`), 0o600); err != nil {
		t.Error(err)
	}
}

// Each attempt at a run has a token of its own, and that of an earlier one
// opens nothing.
func TestATokenIsOfOneAttempt(t *testing.T) {
	t.Parallel()
	s := serveContext(t, Config{}, readerPipeline(1))
	first := deliver(t, s, "title")
	var old contextapi.Response
	s.before = func(int) { old = s.ask(t, s.run(), s.tokens[0]) }
	second := deliver(t, s, "title")
	if first.Run != second.Run || len(s.tokens) != 2 || s.tokens[0] == s.tokens[1] {
		t.Fatalf("got runs %s and %s, %d tokens", first.Run, second.Run, len(s.tokens))
	}
	if old.Status != 404 {
		t.Errorf("the first attempt's token in the second: got %d, want 404", old.Status)
	}
}

// Nothing of the state directory holds a token: only its digest is kept.
func TestOnlyTheTokensDigestIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveContext(t, Config{Dir: dir, Live: true}, readerPipeline(1))
	deliver(t, s, "title")
	token, err := contextapi.ParseToken(s.tokens[0])
	if err != nil {
		t.Fatal(err)
	}
	_, secret, _ := strings.Cut(s.tokens[0], ".")
	digest := token.Digest()
	found := 0
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(secret)) {
			t.Errorf("%s holds the token", path)
		}
		if bytes.Contains(b, digest[:]) {
			found++
		}
		return err
	})
	if err != nil || found == 0 {
		t.Errorf("the digest stands in %d files, %v: otherwise this test saw nothing", found, err)
	}
}

// Only an adapter is given access: no other extractor of the same engine, and
// nobody where no context API is served. Then no bundle is kept either.
func TestOnlyAnAdapterIsGivenAccess(t *testing.T) {
	t.Parallel()
	s := serveContext(t, Config{}, readerPipeline(1), nosyPipeline())
	results := s.engine.Deliver(context.Background(), delivery(t, payload(30, "title", report, 2000)))
	if got := string(results[1].Structure); got != `{"kind":"b"}` {
		t.Errorf("no adapter: got %s %s %s", results[1].Status, results[1].Reason, got)
	}
	for name, e := range map[string]*Engine{
		"no adapter": serveContext(t, Config{}, nosyPipeline()).engine, "no address": openEngine(t, Config{}, readerPipeline(1)),
	} {
		r := e.Deliver(context.Background(), delivery(t, payload(30, "title", report, 2000)))[0]
		if e.bundles != nil || (r.Status == pipeline.Staged) != (name == "no adapter") {
			t.Errorf("%s: %s %s, a store of bundles: %t", name, r.Status, r.Reason, e.bundles != nil)
		}
		if a := (&served{engine: e}).ask(t, r.Run, r.Run+"."+strings.Repeat("A", 43)); a.Status != 404 {
			t.Errorf("%s: got %d, want 404", name, a.Status)
		}
	}
	if WantContext(nosyPipeline(), issuesPipeline()) || !WantContext(issuesPipeline(), readerPipeline(1)) {
		t.Error("the wrong pipelines want a context API")
	}
}

// The context of a run is built by the child of its class.
func TestContextChildrenAreOfOneClass(t *testing.T) {
	t.Parallel()
	s := serveContext(t, Config{}, readerPipeline(1))
	if r := deliver(t, s, "title"); r.Status != pipeline.Staged {
		t.Fatalf("%s %s", r.Status, r.Reason)
	}
	if s.engine.contexts[true].proc == nil || s.engine.contexts[false].proc != nil {
		t.Error("a context with unverified words was built by the child for the rest")
	}
	for _, p := range s.engine.contexts {
		if len(p.hosts) > 0 || len(p.profile.ReadWrite) > 0 || len(p.profile.ReadOnly) != 1 || len(p.near) > 0 {
			t.Errorf("a context child holds %+v and reaches %v", p.profile, p.hosts)
		}
	}
}

func TestContextAPIsAddressCanBeConnectedTo(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"localhost:80", "127.0.0.1", "127.0.0.1:0", "0.0.0.0:80", "[::]:80", ":80", "127.0.0.1:080", "http://127.0.0.1:80"} {
		if _, err := Open(Config{Dir: t.TempDir(), ContextAPI: bad}, issuesPipeline()); err == nil || !strings.Contains(err.Error(), "context api") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}

// The one address that is not public opens for the context API alone.
func TestBrokerAllowsTheContextAPIAlone(t *testing.T) {
	t.Parallel()
	s := serveContext(t, Config{}, readerPipeline(1))
	for name, p := range s.engine.phases() {
		if want := strings.HasPrefix(name, "extract"); (len(p.near) > 0) != want || slices.Contains(p.hosts, s.engine.config.ContextAPI) != want {
			t.Errorf("%s reaches %v and %q", name, p.hosts, p.near)
		}
	}
	allow := allowing([]string{s.engine.config.ContextAPI})
	for _, port := range []string{"1", "80", "65535"} {
		if checkContextAPI("127.0.0.1:"+port) != nil || allow(addrPort(t, "127.0.0.1:"+port)) == nil {
			t.Errorf("127.0.0.1:%s is allowed", port)
		}
	}
	if allow(addrPort(t, s.engine.config.ContextAPI)) != nil || allow(addrPort(t, "8.8.8.8:443")) != nil || allow(addrPort(t, "169.254.169.254:80")) == nil {
		t.Error("want the API and what is public allowed, and nothing else")
	}
	if allowing([]string{""}) != nil {
		t.Error("without an API there is a rule of its own")
	}
}

func addrPort(t *testing.T, s string) netip.AddrPort {
	t.Helper()
	a, err := netip.ParseAddrPort(s)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// A run that was stopped has not ended, and yet nobody carries it: its token
// opens nothing.
func TestAStoppedRunsContextIsClosed(t *testing.T) {
	t.Parallel()
	s := serveContext(t, Config{}, readerPipeline(1))
	ctx, stop := context.WithCancel(context.Background())
	s.before = func(int) { stop() }
	r := s.engine.Deliver(ctx, delivery(t, payload(30, "title", report, 2000)))[0]
	if r.Reason != pipeline.Stopped {
		t.Fatalf("%s %s, want stopped", r.Status, r.Reason)
	}
	entry, ok, err := s.engine.journal.Get(t.Context(), r.Run, store.StagedMode)
	if err != nil || !ok || entry.State == store.Ended {
		t.Fatalf("got %+v, %t, %v: this test would see nothing", entry, ok, err)
	}
	if a := s.ask(t, r.Run, s.tokens[0]); a.Status != 410 {
		t.Errorf("got %d, want 410", a.Status)
	}
}

// A context child that died is replaced at the next read; one that cannot be
// had is 503, and the run that asked ends as one whose extractor had no
// answer.
func TestContextChildrenAreReplaced(t *testing.T) {
	t.Parallel()
	s := serveContext(t, Config{}, readerPipeline(2))
	s.before = func(n int) {
		p := s.engine.contexts[true]
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case n != 2:
		case p.proc == nil:
			t.Error("no context child was asked")
		default:
			p.proc.end()
		}
	}
	if r := deliver(t, s, "title"); r.Status != pipeline.Staged {
		t.Errorf("%s %s", r.Status, r.Reason)
	}
	s.before = nil
	for _, p := range s.engine.contexts {
		p.close()
	}
	if r := deliver(t, s, "title"); r.Reason != pipeline.NoAnswer {
		t.Errorf("%s %s, want %s", r.Status, r.Reason, pipeline.NoAnswer)
	}
	if a := s.answers[len(s.answers)-1]; a.Status != 503 {
		t.Errorf("got %d, want 503", a.Status)
	}
}

// A file that the operator named is read anew for each read too.
func TestAGivenGrantsFileCountsAtEachRead(t *testing.T) {
	t.Parallel()
	given := filepath.Join(t.TempDir(), "given")
	write := func(person string) {
		b := []byte(`{"schema":"grants.v1","grants":[{"person":"` + person + `","channel":"github:octo-org/sample"}]}`)
		if err := os.WriteFile(given, b, 0o600); err != nil {
			t.Error(err)
		}
	}
	write(actor)
	s := serveContext(t, Config{Grants: given}, readerPipeline(2))
	s.before = func(n int) {
		if n == 2 {
			write("github:8")
		}
	}
	if r := deliver(t, s, "title"); r.Status != pipeline.Staged {
		t.Fatalf("%s %s", r.Status, r.Reason)
	}
	if first, second := s.context(t, 1).Trigger, s.context(t, 2).Trigger; first != "message" || second != "" {
		t.Errorf("got the voices %q and %q", first, second)
	}
}

// A fetch child that was taken over cannot have a bundle kept that nobody
// asked for, nor withhold one that an adapter's token is to open.
func TestFetchAnswersABundleExactlyWhereAsked(t *testing.T) {
	t.Parallel()
	for _, p := range forgedPipelines() {
		s := serveContext(t, Config{}, p)
		if r := deliver(t, s, "title"); r.Reason != pipeline.PhaseMisbehave {
			t.Errorf("%s: %s %s, want %s", p.Recipe.Name(), r.Status, r.Reason, pipeline.PhaseMisbehave)
		}
	}
}
