package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"decant.dev/pipeline"
)

// nodeRoot returns the folder with package.json whose tools are installed, or
// skips the test.
func nodeRoot(t *testing.T, tool string) string {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("SKIP-NODE: node is not on the path")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "node_modules", tool)); err != nil {
		t.Skipf("SKIP-NODE: %s is not installed; run npm ci", tool)
	}
	return root
}

func TestValidatorAcceptsTheDefinition(t *testing.T) {
	t.Parallel()
	root := nodeRoot(t, "asl-validator")
	check := func(definition []byte) ([]byte, error) {
		file := filepath.Join(t.TempDir(), "definition.json")
		if err := os.WriteFile(file, definition, 0o600); err != nil {
			t.Fatal(err)
		}
		return exec.Command("node", filepath.Join(root, "node_modules/asl-validator/dist/bin/asl-validator.js"), "--json-path", file).CombinedOutput()
	}
	for _, definition := range [][]byte{generate(t), generateBatch(t)} {
		if out, err := check(definition); err != nil {
			t.Fatalf("asl-validator: %v\n%s", err, out)
		}
	}
	inner := bytes.Replace(generateBatch(t), []byte(`"Next": "ItemFetched"`), []byte(`"Next": "Fetched"`), 1)
	if out, err := check(inner); err == nil {
		t.Fatalf("asl-validator accepts an item's state that leads out of its map:\n%s", out)
	}
	broken := bytes.Replace(generate(t), []byte(`"Next": "Fetched"`), []byte(`"Next": "Nowhere"`), 1)
	if out, err := check(broken); err == nil {
		t.Fatalf("asl-validator accepts a definition that leads nowhere:\n%s", out)
	}
}

// step is one answer of a scripted task.
type step struct {
	Return    any    `json:"return,omitempty"`
	Undefined bool   `json:"return_undefined,omitempty"`
	Error     string `json:"error,omitempty"`
	Cause     string `json:"cause,omitempty"`
}

type script map[string][]step

type execution struct {
	Name   string `json:"name"`
	Input  any    `json:"input"`
	Script script `json:"script"`
}

type outcome struct {
	Name    string         `json:"name"`
	Status  string         `json:"status"`
	Error   string         `json:"error"`
	Output  map[string]any `json:"output"`
	Visited []string       `json:"visited"`
	Calls   []struct {
		State string         `json:"state"`
		Input map[string]any `json:"input"`
	} `json:"calls"`
	Seen []struct {
		State string          `json:"state"`
		Input json.RawMessage `json:"input"`
	} `json:"seen"`
}

// calls returns how often each task was asked.
func (o outcome) calls(name string) int {
	n := 0
	for _, c := range o.Calls {
		if c.State == name {
			n++
		}
	}
	return n
}

// end returns the status and code that the run was recorded with, and whether
// the queue was told of it.
func (o outcome) end() (status, code string, told bool) {
	for _, c := range o.Calls {
		switch c.State {
		case record:
			values := c.Input["ExpressionAttributeValues"].(map[string]any)
			status = values[":status"].(map[string]any)["S"].(string)
			code = values[":code"].(map[string]any)["S"].(string)
		case enqueue:
			told = true
		}
	}
	return status, code, told
}

const run = "0f1e2d3c4b5a69788796a5b4c3d2e1f0"

func input() map[string]any {
	return map[string]any{"envelope": map[string]any{"run": run, "recipe": "issues", "channel": "o/r"}}
}

// marker stands for a stranger's text that a phase which is taken over, or
// died over it, lets slip.
const marker = "MARKER-ignore-all-previous-instructions"

func good() script {
	trace := map[string]any{"extractor": "rules"}
	return script{
		admit: {{Return: map[string]any{"verdict": "ok", "class": "unverified", "label": "unverified"}}},
		fetch: {{Return: map[string]any{"verdict": "ok", "lowest": "unverified"}}},
		lower: {{Return: map[string]any{"verdict": "ok", "class": "unverified", "label": "unverified"}}},
		extractUnverified: {{Return: map[string]any{
			"verdict": "ok", "structure": map[string]any{"kind": "bug"}, "trace": trace,
		}}},
		extractRest: {{Return: map[string]any{
			"verdict": "ok", "structure": map[string]any{"kind": "feature"}, "trace": trace,
		}}},
		act: {performed},
	}
}

func with(changes script) script {
	s := good()
	maps.Copy(s, changes)
	return s
}

// The answers of an act that is through with a run, and of one that policy
// makes wait.
var (
	performed = step{Return: map[string]any{"verdict": "ok", "status": "done"}}
	waits     = step{Return: map[string]any{"verdict": "ok", "status": "waiting"}}
)

// restClass is the answer of an act that admits a run for the class of extract that
// reads no unverified text.
var restClass = step{Return: map[string]any{"verdict": "ok", "class": "rest"}}

// execute runs all cases in one process of the emulator.
func execute(t *testing.T, cases []execution) map[string]outcome {
	t.Helper()
	return executeOn(t, generate(t), cases)
}

func executeOn[C any](t *testing.T, definition []byte, cases []C) map[string]outcome {
	t.Helper()
	root := nodeRoot(t, "aws-local-stepfunctions")
	in, err := json.Marshal(map[string]any{"definition": json.RawMessage(definition), "cases": cases})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", "testdata/drive.mjs", root)
	cmd.Stdin = bytes.NewReader(in)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("emulator: %v\n%s", err, stderr.Bytes())
	}
	outcomes := map[string]outcome{}
	for _, line := range bytes.Split(bytes.TrimSpace(out), []byte("\n")) {
		var o outcome
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatalf("emulator's line: %v\n%s", err, line)
		}
		if o.Status == "invalid" {
			t.Fatalf("%s: the emulator refuses: %s", o.Name, o.Error)
		}
		outcomes[o.Name] = o
	}
	if len(outcomes) != len(cases) {
		t.Fatalf("got %d outcomes of %d cases", len(outcomes), len(cases))
	}
	return outcomes
}

func TestGoodRunGoesThroughThePhasesInOrder(t *testing.T) {
	t.Parallel()
	answered := []step{{Return: map[string]any{"text": marker}}}
	outcomes := execute(t, []execution{
		{"done", input(), good()},
		{"rest", input(), with(script{admit: {restClass}, lower: {restClass}})},
		{"lowered", input(), with(script{admit: {restClass}})},
		{"asked", input(), with(script{act: {waits, performed}, ask: answered})},
		{"asked anew", input(), with(script{act: {waits, waits, performed}, ask: answered})},
	})
	for name, want := range map[string][]string{
		"done":       {admit, fetch, extractUnverified, journal, act},
		"rest":       {admit, fetch, lower, extractRest, journal, act},
		"lowered":    {admit, fetch, lower, extractUnverified, journal, act},
		"asked":      {admit, fetch, extractUnverified, journal, act, announce, ask, act},
		"asked anew": {admit, fetch, extractUnverified, journal, act, announce, ask, act, announce, ask, act},
	} {
		o := outcomes[name]
		var got []string
		for _, c := range o.Calls {
			got = append(got, c.State)
		}
		if o.Status != "succeeded" || !slices.Equal(got, want) {
			t.Errorf("%s: %s with the tasks %v, want succeeded with %v", name, o.Status, got, want)
		}
		for _, c := range o.Calls {
			if c.State != act {
				continue
			}
			keys := slices.Sorted(maps.Keys(c.Input))
			if !slices.Equal(keys, []string{"envelope", "structure"}) {
				t.Errorf("%s: %s is given %v", name, c.State, keys)
			}
		}
		for _, s := range o.Seen {
			if strings.Contains(string(s.Input), marker) {
				t.Errorf("%s: what woke the run reached %s", name, s.State)
			}
		}
	}
	// The cost table of docs/deploy.md counts on this.
	if n := len(outcomes["done"].Visited); n != 13 {
		t.Errorf("a run that is done passes %d states, want 13", n)
	}
	ask := outcomes["asked"].Calls[6].Input["Payload"]
	if !reflect.DeepEqual(ask, map[string]any{"op": "ask", "run": run, "task_token": "task-token"}) {
		t.Errorf("approve is asked with %v", ask)
	}
	trace := outcomes["done"].Calls[3].Input["ExpressionAttributeValues"].(map[string]any)[":trace"]
	if !reflect.DeepEqual(trace, map[string]any{"S": `{"extractor":"rules"}`}) {
		t.Errorf("the journal is given the trace %v", trace)
	}
}

// phases are the tasks before act, each with the task that follows on a good
// verdict.
var phases = map[string]string{admit: fetch, fetch: extractUnverified, extractUnverified: act, lower: extractUnverified}

// through is a script in which the task is asked at all.
func through(task string, changes script) script {
	s := with(changes)
	if task == lower {
		s[admit] = []step{restClass}
	}
	return s
}

func TestActIsNotAskedOnAnyVerdictButTheGoodOne(t *testing.T) {
	t.Parallel()
	bad := map[string]step{
		"missing":            {Return: map[string]any{"structure": map[string]any{}, "trace": map[string]any{}, "class": "rest"}},
		"an empty object":    {Return: map[string]any{}},
		"null":               {Return: map[string]any{"verdict": nil}},
		"true":               {Return: map[string]any{"verdict": true}},
		"a number":           {Return: map[string]any{"verdict": 1}},
		"a list":             {Return: map[string]any{"verdict": []string{"ok"}}},
		"an object":          {Return: map[string]any{"verdict": map[string]any{"verdict": "ok"}}},
		"empty":              {Return: map[string]any{"verdict": ""}},
		"another case":       {Return: map[string]any{"verdict": "OK"}},
		"padded":             {Return: map[string]any{"verdict": "ok "}},
		"off the list":       {Return: map[string]any{"verdict": marker}},
		"of another phase":   {Return: map[string]any{"verdict": string(pipeline.BadSignature)}},
		"bare ok":            {Return: "ok"},
		"prose, not JSON":    {Return: "The verdict is ok. " + marker},
		"a list outside":     {Return: []any{map[string]any{"verdict": "ok"}}},
		"null outside":       {Return: nil},
		"a number outside":   {Return: 7},
		"nothing":            {Undefined: true},
		"ok and nothing":     {Return: map[string]any{"verdict": "ok"}},
		"an error":           {Error: "Lambda.Unknown", Cause: marker},
		"an unnamed error":   {Error: marker, Cause: marker},
		"a time-out":         {Error: "States.Timeout"},
		"its own time-out":   {Error: "Sandbox.Timedout", Cause: marker},
		"not JSON":           {Error: "Runtime.MarshalError", Cause: marker},
		"throttled for good": {Error: "Lambda.TooManyRequestsException"},
		"a broken contract":  {Return: map[string]any{"verdict": "ok", "class": marker, "structure": 1}},
	}
	var cases []execution
	for task := range phases {
		for name, s := range bad {
			cases = append(cases, execution{task + ": " + name, input(), through(task, script{task: {s}})})
		}
	}
	outcomes := execute(t, cases)
	for _, c := range cases {
		o := outcomes[c.Name]
		task, kind, _ := strings.Cut(c.Name, ": ")
		if n := o.calls(act) + o.calls(phases[task]); n != 0 {
			t.Errorf("%s: the next phase was asked", c.Name)
		}
		status, code, told := o.end()
		want := pipeline.PhaseMisbehave
		switch s := bad[kind]; {
		case s.Error == "States.Timeout" || s.Error == "Sandbox.Timedout":
			want = pipeline.PhaseTimeout
		case s.Error != "":
			want = pipeline.PhaseDied
		}
		if o.Status != "succeeded" || code != string(want) || status != string(want.Status()) || !told {
			t.Errorf("%s: execution %s, recorded as %q %q, queue told: %t; want succeeded, %s", c.Name, o.Status, status, code, told, want)
		}
		for i, s := range o.Seen {
			if s.State == record || s.State == enqueue || s.State == ended {
				if bytes.Contains(s.Input, []byte(marker)) {
					t.Errorf("%s: text reached %s (state %d)", c.Name, s.State, i)
				}
			}
		}
	}
}

func TestEachCodeOfAPhaseEndsTheRunWithItsStatus(t *testing.T) {
	t.Parallel()
	var cases []execution
	want := map[string]pipeline.Code{}
	for task, p := range map[string]phase{admit: admitPhase, fetch: fetchPhase, lower: admitPhase, extractUnverified: extractPhase, act: actPhase} {
		for _, c := range append(pipeline.Codes(), "nonsense") {
			name := fmt.Sprintf("%s: %s", task, c)
			s := through(task, script{task: {{Return: map[string]any{"verdict": c}}}})
			cases = append(cases, execution{name, input(), s})
			want[name] = c
			if !slices.Contains(p.codes(), c) {
				want[name] = pipeline.PhaseMisbehave
			}
		}
	}
	outcomes := execute(t, cases)
	for name, code := range want {
		o := outcomes[name]
		status, got, told := o.end()
		quiet := code.Status() == pipeline.Dropped || code.Status() == pipeline.Ignored
		if o.Status != "succeeded" || got != string(code) || status != string(code.Status()) || told == quiet {
			t.Errorf("%s: execution %s, recorded as %q %q, queue told: %t; want %s %s", name, o.Status, status, got, told, code.Status(), code)
		}
	}
}

func TestRetriesFireForTheirClassAndNoOther(t *testing.T) {
	t.Parallel()
	tasks := []string{admit, fetch, lower, extractUnverified, act}
	attempts := map[string]int{
		"Lambda.TooManyRequestsException": 5, "Lambda.ServiceException": 5, "Lambda.SdkClientException": 5, "RetryableError": 5,
		"States.Timeout": 2, "Sandbox.Timedout": 2,
		"Lambda.Unknown": 1, "Lambda.AWSLambdaException": 1, "Runtime.ExitError": 1, "States.Permissions": 1, "errorString": 1,
	}
	var cases []execution
	for _, task := range tasks {
		for e := range attempts {
			cases = append(cases,
				execution{task + ": " + e, input(), through(task, script{task: {{Error: e}}})},
				execution{task + ": " + e + " once", input(), through(task, script{task: {{Error: e}, good()[task][0]}})})
		}
	}
	outcomes := execute(t, cases)
	for _, task := range tasks {
		for e, n := range attempts {
			if got := outcomes[task+": "+e].calls(task); got != n {
				t.Errorf("%s: %s was tried %d times, want %d", task, e, got, n)
			}
			once := outcomes[task+": "+e+" once"]
			_, code, _ := once.end()
			if want := n > 1; (once.Status == "succeeded" && code == "") != want {
				t.Errorf("%s: after one %s the run ended with %q, want that it goes on: %t", task, e, code, want)
			}
		}
	}
}

func TestRunThatCannotBeKeptIsToldOrFails(t *testing.T) {
	t.Parallel()
	misbehave := script{fetch: {{Return: map[string]any{}}}}
	died := func(states ...string) script {
		s := with(misbehave)
		for _, name := range states {
			s[name] = []step{{Error: "DynamoDB.ConditionalCheckFailedException", Cause: marker}}
		}
		return s
	}
	waiting := []step{waits}
	outcomes := execute(t, []execution{
		{"not recorded", input(), died(record)},
		{"neither", input(), died(record, enqueue)},
		{"not journalled", input(), with(script{journal: {{Error: "DynamoDB.ThrottlingException"}}})},
		{"nobody told", input(), with(script{act: waiting, announce: {{Error: "SNS.NotFoundException"}}})},
		{"nobody answers", input(), with(script{act: waiting, ask: {{Error: "States.Timeout"}}})},
		{"denied", input(), with(script{act: {waits, {Return: map[string]any{"verdict": "approval_denied"}}}})},
		{"no envelope", map[string]any{}, good()},
		{"no recipe", map[string]any{"envelope": map[string]any{"run": run}}, good()},
		{"run of another type", map[string]any{"envelope": map[string]any{"run": 1, "recipe": "issues"}}, good()},
	})
	if o := outcomes["not recorded"]; o.Status != "succeeded" || o.calls(enqueue) != 1 {
		t.Errorf("not recorded: %s, queue told %d times", o.Status, o.calls(enqueue))
	}
	for _, name := range []string{"neither", "no envelope", "no recipe", "run of another type"} {
		if o := outcomes[name]; o.Status != "failed" || o.calls(act) != 0 {
			t.Errorf("%s: want that the execution fails, got %s", name, o.Status)
		}
	}
	for name, want := range map[string]pipeline.Code{
		"not journalled": pipeline.StoreFailed, "nobody told": pipeline.StoreFailed,
		"nobody answers": pipeline.ApprovalExpired, "denied": pipeline.ApprovalDenied,
	} {
		o := outcomes[name]
		if _, code, told := o.end(); code != string(want) || !told || o.Status != "succeeded" {
			t.Errorf("%s: %s with %q, queue told: %t; want %s", name, o.Status, code, told, want)
		}
	}
	if n := outcomes["not journalled"].calls(journal); n != 5 {
		t.Errorf("a throttled journal was tried %d times, want 5", n)
	}
	if n := outcomes["nobody answers"].calls(ask); n != 1 {
		t.Errorf("a person was asked %d times, want 1", n)
	}
}
