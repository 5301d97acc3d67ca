package local

import (
	"bytes"
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"

	"decant.dev/extract"
	"decant.dev/internal/escape"
	"decant.dev/pipeline"
)

// attemptsVariable makes a phase's child, restricted as ever, try to get out
// instead of serving.
const attemptsVariable = "DECANT_TEST_ATTEMPTS"

// opened says of one path whether it could be opened.
type opened struct{ Read, Write bool }

func init() {
	entries = append(entries, func() bool {
		return os.Getenv(attemptsVariable) != "" &&
			childWith(map[string]builder{phaseFetch: attemptsHandler, phaseExtract: attemptsHandler, phaseAct: attemptsHandler, phaseContext: attemptsHandler})
	})
}

// attemptsHandler answers what stands where an extract child's prompt object
// would: the surroundings to try to get out into, or paths to try to open.
func attemptsHandler(childConfig, *http.Client) (handler, error) {
	return func(_ context.Context, q request) (any, pipeline.Code) {
		var answer any
		var env escape.Env
		var paths []string
		switch q.Extract.Recipe {
		case "attempts":
			if err := unmarshal(q.Extract.Object, &env); err != nil {
				return nil, pipeline.PhaseMisbehave
			}
			var out bytes.Buffer
			if err := escape.Run(escape.All(), env, &out); err != nil {
				return nil, pipeline.PhaseMisbehave
			}
			answer = out.String()
		default:
			if err := unmarshal(q.Extract.Object, &paths); err != nil {
				return nil, pipeline.PhaseMisbehave
			}
			all := map[string]opened{}
			for _, path := range paths {
				all[path] = opened{canOpen(path, os.O_RDONLY), canOpen(path, os.O_WRONLY)}
			}
			answer = all
		}
		b, err := json.Marshal(answer)
		if err != nil {
			return nil, pipeline.PhaseMisbehave
		}
		return extract.Output{Structure: b}, pipeline.OK
	}, nil
}

// try asks a child of attemptsHandler.
func try(t *testing.T, p *phase, what string, in, out any) {
	t.Helper()
	b, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	a, code := p.call(context.Background(), request{Run: strings.Repeat("0", 32), Extract: &extract.Input{Recipe: what, Object: b}})
	if code != pipeline.OK {
		t.Fatalf("the child did not answer: %s", code)
	}
	if err := unmarshal(a.extract.Structure, out); err != nil {
		t.Fatal(err)
	}
}

func canOpen(path string, flag int) bool {
	f, err := os.OpenFile(path, flag, 0)
	if err == nil {
		_ = f.Close()
	}
	return err == nil
}

// attempts makes every attempt of the kit from inside the phase's own child.
func attempts(t *testing.T, p *phase, restricted bool) []escape.Result {
	t.Helper()
	p.env = append(p.env[:len(p.env):len(p.env)], attemptsVariable+"=1")
	if !restricted {
		p.env = append(p.env, unsandboxedVariable+"=1")
	}
	env := escape.Surroundings(t)
	env.BrokerFD, env.Undeclared, env.Special = 3, "example.com:443", "127.0.0.1:443"
	p.hosts = []string{env.Special}
	var lines string
	try(t, p, "attempts", env, &lines)
	results, err := escape.Read(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	if len(results) != len(escape.All()) {
		t.Fatalf("%d results, want %d", len(results), len(escape.All()))
	}
	return results
}

// From inside each phase's real child nothing gets out.
func TestNoPhaseGetsOut(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	for name := range openEngine(t, Config{}).phases() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := openEngine(t, Config{Live: true})
			for _, r := range attempts(t, e.phases()[name], true) {
				if r.Out {
					t.Errorf("%s: got out", r.Name)
				}
			}
		})
	}
}

// The same attempts from the same child get out without the sandbox, so the
// test above can fail. What wants a privilege that this machine does not give
// is logged; what only the broker refuses stays refused.
func TestAttemptsGetOutWithoutTheSandbox(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	e := openEngine(t, Config{Live: true})
	for _, r := range attempts(t, e.fetches[true], false) {
		switch {
		case r.Need == escape.NeedNoBroker && r.Out:
			t.Errorf("%s: got past the broker", r.Name)
		case r.Need == escape.NeedNothing && !r.Out:
			t.Errorf("%s: want it to succeed unrestricted, got %s", r.Name, r.Error)
		case r.Need == escape.NeedPrivilege && !r.Out && r.Errno != int(unix.ENOSYS) && os.Getuid() == 0:
			t.Logf("not shown here: %s: %s", r.Name, r.Error)
		}
	}
}

// Each phase opens its own directories and no other's: the table of what each
// phase holds, tried for every directory that the engine keeps.
func TestPhasesOpenOnlyTheirOwnDirectories(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	may := map[string]map[string]opened{
		"fetch for unverified":   {"grants/grants.json": {Read: true}},
		"fetch for the rest":     {"grants/grants.json": {Read: true}},
		"context for unverified": {"grants/grants.json": {Read: true}},
		"context for the rest":   {"grants/grants.json": {Read: true}},
		"extract for unverified": {},
		"extract for the rest":   {},
		"act": {"grants/grants.json": {Read: true}, "act/act.db": {Read: true, Write: true}, "approvals/approvals.db": {Read: true, Write: true},
			"budgets/budgets.db": {Read: true, Write: true}},
	}
	for name, allowed := range may {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// An adapter whose API nobody serves: its run ends without an answer, and its bundle is kept.
			e := openEngine(t, Config{Live: true, ContextAPI: "127.0.0.1:1"}, issuesPipeline(), readerPipeline(1))
			e.Deliver(context.Background(), delivery(t, payload(1, "title", report, 2000)))
			dir := filepath.Dir(e.act.phase.config.Ledger)
			if err := os.WriteFile(e.act.phase.config.Grants, []byte(`{"schema":"grants.v1","grants":[]}`), 0o600); err != nil {
				t.Fatal(err)
			}
			var paths []string
			if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
				if err == nil && d.Type().IsRegular() && !strings.HasSuffix(path, "-shm") && !strings.HasSuffix(path, "-wal") {
					paths = append(paths, path)
				}
				return err
			}); err != nil {
				t.Fatal(err)
			}
			for _, kept := range []string{"raw/blobs.db", "prompts/live/blobs.db", "journal/journal.db", "bundles/live/bundles.db", "act/act.db", "approvals/approvals.db", "budgets/budgets.db", "grants/grants.json"} {
				if !slices.Contains(paths, filepath.Join(dir, kept)) {
					t.Fatalf("the engine keeps no %s: the test would prove nothing", kept)
				}
			}
			for restricted, want := range map[bool]map[string]opened{true: allowed, false: nil} {
				p := e.phases()[name]
				if p.proc != nil {
					p.proc.end()
					p.proc = nil
				}
				p.env = []string{attemptsVariable + "=1"}
				if !restricted {
					p.env = append(p.env, unsandboxedVariable+"=1")
				}
				var got map[string]opened
				try(t, p, "open", paths, &got)
				for _, path := range paths {
					kept, _ := filepath.Rel(dir, path)
					expected := opened{Read: true, Write: true}
					if restricted {
						expected = want[kept]
					}
					if got[path] != expected {
						t.Errorf("restricted %v: %s: %+v, want %+v", restricted, kept, got[path], expected)
					}
				}
			}
		})
	}
}
