package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"decant.dev/act/plan"
	"decant.dev/extract"
	"decant.dev/extract/command"
	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/pipeline"
)

// The test binary is also the program of extract/command's recipes.
const (
	programRole  = "PROGRAM_ROLE"
	programPaths = "PROGRAM_PATHS" // what it tries to open, with colons
	programPIDs  = "PROGRAM_PIDS"  // whom it tries to reach, with colons
	programMark  = "PROGRAM_MARK"  // a word by which what it leaves behind is found
)

// programs answer with kind a where all is as it should be, b where not.
var programs = map[string]func() (bool, string){
	"reads":   reads,
	"fetches": fetchesContext,
	"probes":  func() (bool, string) { return probe() == nil, "" },
	"leaves":  leaves,
	"hangs":   func() (bool, string) { _, _ = leaves(); <-time.After(24 * time.Hour); return false, "" },
	"rambles": func() (bool, string) {
		for {
			if _, err := os.Stdout.WriteString(strings.Repeat("SECRETWORD", 1000)); err != nil {
				os.Exit(1)
			}
		}
	},
	"fails": func() (bool, string) { fmt.Fprint(os.Stderr, "SECRETWORD"); os.Exit(1); return false, "" },
	"mends": func() (bool, string) {
		if os.Getenv(command.BrokenVariable) == "" {
			fmt.Print(`{"kind":"SECRETWORD"}`)
			os.Exit(0)
		}
		return os.Getenv(command.BrokenVariable) == "kind: label", ""
	},
}

func init() {
	entries = append(entries, func() bool {
		role := os.Getenv(programRole)
		switch role {
		case "":
			return false
		case "stays":
			<-time.After(24 * time.Hour)
		}
		kind, quote := "b", ""
		ok, said := programs[role]()
		if ok {
			kind = "a"
		}
		if said != "" {
			quote = fmt.Sprintf(`,"quote":%q`, said)
		}
		fmt.Printf(`{"kind":%q%s}`, kind, quote)
		return true
	})
}

// reads quotes a word of the context on standard input.
func reads() (bool, string) {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		return false, ""
	}
	return quoting(input)
}

func quoting(doc []byte) (bool, string) {
	c, err := fence.DecodeRunContext(doc)
	if err != nil || !strings.Contains(c.Elements[len(c.Elements)-1].Text, "exporter") {
		return false, ""
	}
	return true, "exporter"
}

// fetchesContext quotes a word of the context that it fetched on the
// connection it was given.
func fetchesContext() (bool, string) {
	client := http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		n, err := strconv.Atoi(os.Getenv(command.DescriptorVariable))
		if err != nil {
			return nil, err
		}
		return net.FileConn(os.NewFile(uintptr(n), "context"))
	}}}
	q, err := http.NewRequest(http.MethodGet, os.Getenv(command.URLVariable), nil)
	if err != nil {
		return false, ""
	}
	q.Header.Set("Authorization", "Bearer "+os.Getenv(command.TokenVariable))
	a, err := client.Do(q)
	if err != nil {
		return false, ""
	}
	doc, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		return false, ""
	}
	c, err := fence.DecodeRunContext(doc)
	return err == nil && c.Trigger == "message", "Take this down."
}

// leaves starts a process that stays, and says whether it could.
func leaves() (bool, string) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{programRole + "=stays", programMark + "=" + os.Getenv(programMark)}
	return cmd.Start() == nil, ""
}

// programPipeline is a recipe whose extractor is this binary in a role.
func programPipeline(role string, mode command.Mode) Pipeline {
	self, err := os.Executable() // which a restricted child cannot ask for
	if err != nil {
		panic(err)
	}
	make := func(client *http.Client) extract.Extractor {
		s, err := shape.Of[note]()
		if err != nil {
			panic(err)
		}
		c := command.Config{Argv: []string{self}, Mode: mode, Client: client, Environment: []string{programRole + "=" + role, "GORACE=atexit_sleep_ms=0", programPaths, programPIDs, programMark}}
		if role == "hangs" {
			c.Timeout = time.Second / 2 // the outcome is the same however long it takes
		}
		return command.Must(s, c)
	}
	if mode == command.Fetch {
		return talkPipeline("program-"+role, make)
	}
	p := notePipeline("program-"+role, nil)
	p.Extractor = make
	return p
}

func programPipelines() []Pipeline {
	all := []Pipeline{programPipeline("fetches", command.Fetch), examplePipeline(command.Stdin), examplePipeline(command.Fetch)}
	for role := range programs {
		if role != "fetches" {
			all = append(all, programPipeline(role, command.Stdin))
		}
	}
	return all
}

// tell adds variables to what an extract child is given.
func (e *Engine) tell(variables ...string) {
	for _, p := range e.extracts {
		p.env = append(slices.Clone(p.env), variables...)
	}
}

func deliverReport(t *testing.T, e *Engine) Result {
	t.Helper()
	return e.Deliver(context.Background(), delivery(t, payload(30, "title", report, 2000)))[0]
}

// A program is a recipe's extractor from end to end, in either mode, sandboxed
// and not; and no child is kept, whose next run a program could reach.
func TestAProgramExtracts(t *testing.T) {
	t.Parallel()
	for name, restricts := range map[string]func() bool{"sandboxed": nil, "unsandboxed": func() bool { return false }} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if restricts == nil {
				needSandbox(t)
			}
			for _, mode := range []command.Mode{command.Stdin, command.Fetch} {
				role, want := "reads", `{"kind":"a","quote":"exporter"}`
				if mode == command.Fetch {
					role, want = "fetches", `{"kind":"a","quote":"Take this down."}`
				}
				s := serveContext(t, Config{restricts: restricts}, programPipeline(role, mode))
				grantTo(t, s.engine, actor, member)
				for range 2 {
					if r := deliver(t, s, "title"); r.Status != pipeline.Staged || string(r.Structure) != want {
						t.Errorf("%s: %s %s %s", mode, r.Status, r.Reason, r.Structure)
					}
					for _, p := range s.engine.extracts {
						if p.proc != nil {
							t.Errorf("%s: a child that ran a program is kept", mode)
						}
					}
				}
			}
		})
	}
}

// Whatever a program does, its run ends with a code, and the next is not
// harmed.
func TestAProgramOnlyEndsItsRun(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Config{}, programPipelines()[3:]...)
	want := map[string]pipeline.Code{"rambles": pipeline.NoAnswer, "fails": pipeline.NoAnswer, "hangs": pipeline.NoAnswer}
	for _, r := range e.Deliver(context.Background(), delivery(t, payload(30, "SECRETWORD", report, 2000))) {
		role := strings.TrimPrefix(r.Recipe, "program-")
		if r.Reason != want[role] {
			t.Errorf("%s: got %q, want %q", role, r.Reason, want[role])
		}
		if role == "mends" && string(r.Structure) != `{"kind":"a"}` {
			t.Errorf("a correction: got %s", r.Structure)
		}
		if said := fmt.Sprintf("%+v", r); strings.Contains(said, "SECRETWORD") {
			t.Errorf("%s: repeats what was written: %s", role, said)
		}
	}
}

// Only an engine with a program loosens its extract children, and no other
// phase.
func TestOnlyProgramsLoosenTheSandbox(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]bool{"a program": true, "none": false} {
		pipelines := []Pipeline{issuesPipeline()}
		if with {
			pipelines = append(pipelines, programPipeline("reads", command.Stdin))
		}
		e := openEngine(t, Config{Live: true}, pipelines...)
		for phase, p := range e.phases() {
			loose := with && strings.HasPrefix(phase, "extract")
			if (len(p.profile.Programs) > 0) != loose || p.once != loose {
				t.Errorf("%s: %s may run %q, once %v", name, phase, p.profile.Programs, p.once)
			}
			if loose && len(p.profile.ReadOnly)+len(p.profile.ReadWrite) > 0 {
				t.Errorf("%s: %s has directories: %+v", name, phase, p.profile)
			}
		}
	}
}

func TestOpenRefusesProgramsThatReachItsState(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "state", "adapter"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "adapter"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "adapter", "grants.json"), []byte(`{"schema":"grants.v1","grants":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "state"), link); err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct{ path, grants, want string }{
		"apart":                 {filepath.Join(dir, "adapter"), "", ""},
		"missing":               {filepath.Join(dir, "missing"), "", "found none"},
		"the state directory":   {filepath.Join(dir, "state"), "", "want it apart"},
		"around it":             {dir, "", "want it apart"},
		"in it":                 {filepath.Join(dir, "state", "adapter"), "", "want it apart"},
		"a link to it":          {link, "", "want it apart"},
		"beside the grants":     {filepath.Join(dir, "adapter"), filepath.Join(dir, "adapter", "grants.json"), "want it apart"},
		"a name that it begins": {filepath.Join(dir, "adapter"), "", ""},
	} {
		p := notePipeline("program-there", nil)
		p.Extractor = func(*http.Client) extract.Extractor { return there(tc.path) }
		e, err := Open(Config{Dir: filepath.Join(dir, "state"), Grants: tc.grants}, p)
		if err == nil {
			err = errors.Join(e.Close(), errors.New("opened"))
		}
		if want := tc.want; want == "" && err.Error() != "opened" || want != "" && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "program-there")) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
}

// there is an extractor that runs what is at a path.
type there string

func (there) Name() string         { return "there" }
func (x there) Programs() []string { return []string{string(x)} }
func (there) Extract(context.Context, extract.Request) (extract.Answer, error) {
	return extract.Answer{}, errors.New("never asked")
}

// exampleNote is the shape that examples/extractor.py answers.
type exampleNote struct {
	Kind  string       `json:"kind" jsonschema:"enum=bug,enum=feature,enum=question"`
	Quote *shape.Quote `json:"quote,omitempty" jsonschema:"maxLength=160"`
}

const python = "/usr/bin/python3"

// examplePipeline runs examples/extractor.py, which may read and run what is
// in the directories beside it.
func examplePipeline(mode command.Mode, directories ...string) Pipeline {
	_, here, _, _ := runtime.Caller(0) // a child works in another directory
	script := filepath.Join(filepath.Dir(here), "../../examples/extractor.py")
	keep := func(n exampleNote, at plan.Target) []plan.Action {
		return []plan.Action{plan.TableRow{Table: "notes", Key: at.Ref(), Columns: []plan.Column{plan.Text("kind", n.Kind), plan.Quote("quote", n.Quote)}}}
	}
	p := talkPipeline("example-"+mode.String(), nil)
	p.Recipe = listed("example-"+mode.String(), keep, storeAlways)
	p.Extractor = func(client *http.Client) extract.Extractor {
		return command.Must(p.Recipe.Shape(), command.Config{
			Argv: []string{python, script}, Mode: mode, Client: client, Environment: []string{"DECANT"},
			Directories: append(append(command.System(), script), directories...),
		})
	}
	return p
}

// The example of the guide is an extractor, in both modes and in its sandbox,
// with the decant command beside it.
func TestTheExampleInPythonExtracts(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	if err := exec.Command(python, "-c", "import http.client").Run(); err != nil {
		t.Skipf("SKIP-ADAPTER: %s is not at hand", python)
	}
	dir := t.TempDir()
	decant := filepath.Join(dir, "decant")
	if out, err := exec.Command("go", "build", "-o", decant, "decant.dev").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, mode := range []command.Mode{command.Stdin, command.Fetch} {
		s := serveContext(t, Config{LookupEnv: func(name string) (string, bool) { return decant, name == "DECANT" }}, examplePipeline(mode, dir))
		grantTo(t, s.engine, actor, member)
		if r := deliver(t, s, "title"); r.Status != pipeline.Staged || !strings.HasPrefix(string(r.Structure), `{"kind":"`) {
			t.Errorf("%s: %s %s %s", mode, r.Status, r.Reason, r.Structure)
		}
	}
}
