package machine

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"decant.dev/pipeline"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func sample() Resources {
	arn := "arn:aws:lambda:eu-central-1:111122223333:function:"
	return Resources{
		Partition: "aws",
		Act:       arn + "act", Fetch: arn + "fetch", Approve: arn + "approve",
		ExtractUnverified: arn + "extract-unverified", ExtractRest: arn + "extract-rest",
		RunsTable:     "runs",
		FailureQueue:  "https://sqs.eu-central-1.amazonaws.com/111122223333/failures",
		ApprovalTopic: "arn:aws:sns:eu-central-1:111122223333:approvals",
	}
}

func generate(t *testing.T) []byte {
	t.Helper()
	b, err := Definition(sample(), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// parsed reads a definition without this package's own types, so that what
// they leave out is seen.
func parsed(t *testing.T, b []byte) map[string]map[string]any {
	t.Helper()
	var d struct {
		States map[string]map[string]any
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	return d.States
}

var own = Own{Bucket: "text", Runs: "arn:aws:states:eu-central-1:111122223333:stateMachine:decant"}

// generateBatch makes the definition of the machine of batches.
func generateBatch(t *testing.T) []byte {
	t.Helper()
	b, err := BatchDefinition(sample(), own, DefaultLimits(), DefaultBatches())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// both are the states of the two machines, without those of an item, which are
// a run's (TestItemsAreRuns).
func both(t *testing.T) map[string]map[string]map[string]any {
	t.Helper()
	return map[string]map[string]map[string]any{"run": parsed(t, generate(t)), "batch": parsed(t, generateBatch(t))}
}

func TestDefinitionMatchesTheGoldenFile(t *testing.T) {
	t.Parallel()
	for name, got := range map[string][]byte{"definition": generate(t), "batch": generateBatch(t)} {
		golden := filepath.Join("testdata", name+".golden.json")
		if *update {
			if err := os.WriteFile(golden, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("definition differs from %s; run go test -update and review the difference", golden)
		}
	}
}

func TestDefinitionIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	first, batch := generate(t), generateBatch(t)
	for range 20 {
		if !bytes.Equal(first, generate(t)) || !bytes.Equal(batch, generateBatch(t)) {
			t.Fatal("two definitions of the same resources differ")
		}
	}
}

func TestDefinitionRefusesAResourceWithoutName(t *testing.T) {
	t.Parallel()
	for v, i := reflect.ValueOf(sample()), 0; i < v.NumField(); i++ {
		r := sample()
		reflect.ValueOf(&r).Elem().Field(i).SetString("")
		if _, err := BatchDefinition(r, own, DefaultLimits(), DefaultBatches()); err == nil || !strings.Contains(err.Error(), v.Type().Field(i).Name) {
			t.Errorf("batch without %s: got error %v, want one that names it", v.Type().Field(i).Name, err)
		}
		if _, err := Definition(r, DefaultLimits()); err == nil || !strings.Contains(err.Error(), v.Type().Field(i).Name) {
			t.Errorf("without %s: got error %v, want one that names it", v.Type().Field(i).Name, err)
		}
	}
}

func TestDefinitionRefusesLimitsOutOfBounds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Limits){
		"act zero":           func(l *Limits) { l.Act = 0 },
		"fetch over":         func(l *Limits) { l.Fetch = MaxPhase + time.Second },
		"extract fractional": func(l *Limits) { l.Extract = 1500 * time.Millisecond },
		"approval short":     func(l *Limits) { l.Approval = 59 * time.Second },
		"approval over":      func(l *Limits) { l.Approval = MaxApproval + time.Second },
	} {
		l := DefaultLimits()
		change(&l)
		phase, _, _ := strings.Cut(name, " ")
		if _, err := Definition(sample(), l); err == nil || !strings.Contains(err.Error(), phase) {
			t.Errorf("%s: got error %v, want one that names %s", name, err, phase)
		}
	}
	for _, l := range []Limits{{time.Second, time.Second, time.Second, time.Minute}, {MaxPhase, MaxPhase, MaxPhase, MaxApproval}} {
		if _, err := Definition(sample(), l); err != nil {
			t.Errorf("limits at their bounds: %v", err)
		}
	}
}

func TestEveryTaskHasTheClosedRetriesACatchAndATimeout(t *testing.T) {
	t.Parallel()
	for kind, states := range both(t) {
		tasks := 0
		for name, s := range states {
			if s["Type"] == "Task" {
				tasks++
				checkTask(t, kind+" "+name, name, s)
			}
		}
		if want := map[string]int{"run": 11, "batch": 5}[kind]; tasks != want {
			t.Errorf("%s: got %d tasks, want %d: is one left out of this test?", kind, tasks, want)
		}
	}
}

func checkTask(t *testing.T, at, name string, s map[string]any) {
	t.Helper()
	// A failure leads to one of these, and within the quarantine onward.
	failures := []string{phaseDied, phaseTimeout, storeFailed, approvalExpired}
	within := map[string]string{record: enqueue, enqueue: lost}
	if limit, ok := s["TimeoutSeconds"].(float64); !ok || limit < 1 {
		t.Errorf("%s: has no TimeoutSeconds", at)
	}
	catches, _ := s["Catch"].([]any)
	if len(catches) == 0 {
		t.Fatalf("%s: has no Catch", at)
	}
	for i, c := range catches {
		c := c.(map[string]any)
		if path, ok := c["ResultPath"]; !ok || path != nil {
			t.Errorf("%s: a Catch keeps what the error said", at)
		}
		next := c["Next"].(string)
		if to, inside := within[name]; inside && next != to || !inside && !slices.Contains(failures, next) {
			t.Errorf("%s: a Catch leads to %s", at, next)
		}
		all := reflect.DeepEqual(c["ErrorEquals"], []any{"States.ALL"})
		if last := i == len(catches)-1; last != all {
			t.Errorf("%s: want States.ALL in the last Catch and only there", at)
		}
	}
	service := strings.Contains(s["Resource"].(string), ":states:::") && name != ask
	for _, r := range s["Retry"].([]any) {
		checkRetrier(t, name, service, r.(map[string]any))
	}
}

func checkRetrier(t *testing.T, name string, service bool, r map[string]any) {
	t.Helper()
	var named []string
	for _, e := range r["ErrorEquals"].([]any) {
		named = append(named, e.(string))
	}
	closed := []string{"Lambda.TooManyRequestsException", "Lambda.ServiceException", "Lambda.SdkClientException", "RetryableError"}
	attempts := 4.0
	switch {
	case slices.Equal(named, []string{"States.Timeout", "Sandbox.Timedout"}):
		attempts = 1
		if service || name == ask {
			t.Errorf("%s: is asked again after a time-out", name)
		}
	case service:
		closed = append(closed, "DynamoDB.ProvisionedThroughputExceededException", "DynamoDB.RequestLimitExceeded", "DynamoDB.ThrottlingException")
		fallthrough
	default:
		if !slices.Equal(named, closed) {
			t.Errorf("%s: retries %v, want %v", name, named, closed)
		}
	}
	want := map[string]any{"IntervalSeconds": 1.0, "BackoffRate": 2.0, "MaxAttempts": attempts, "MaxDelaySeconds": 20.0, "JitterStrategy": "FULL"}
	delete(r, "ErrorEquals")
	if !maps.Equal(r, want) {
		t.Errorf("%s: retrier %v, want %v", name, r, want)
	}
}

func TestEveryChoiceDeniesByDefault(t *testing.T) {
	t.Parallel()
	denies := map[string]string{begin: lost, recorded: enqueue} // the rest: phaseMisbehave
	all := both(t)
	for name, s := range all["batch"] {
		all["run"]["batch "+name] = s
	}
	denies["batch "+begin], denies["batch "+recorded] = lost, enqueue
	for name, s := range all["run"] {
		if s["Type"] != "Choice" {
			continue
		}
		want, ok := denies[name]
		if !ok {
			want = phaseMisbehave
		}
		if s["Default"] != want {
			t.Errorf("%s: default is %v, want %s", name, s["Default"], want)
		}
	}
}

// A way on is one that leads to a state that asks a phase or ends well.
func TestEveryWayOnAsksForTheVerdictOK(t *testing.T) {
	t.Parallel()
	all := both(t)
	for name, s := range all["batch"] {
		all["run"]["batch "+name] = s
	}
	for name, s := range all["run"] {
		if _, base, batch := strings.Cut(name, " "); s["Type"] != "Choice" || name == begin || name == recorded || batch && (base == begin || base == recorded) {
			continue
		}
		choices := s["Choices"].([]any)
		for i, path := range []string{"IsPresent", "IsString"} {
			c := choices[i].(map[string]any)
			want := map[string]any{"Not": map[string]any{"Variable": "$.answer.verdict", path: true}, "Next": phaseMisbehave}
			if !reflect.DeepEqual(c, want) {
				t.Errorf("%s: rule %d is %v, want %v", name, i, c, want)
			}
		}
		for _, c := range choices[2:] {
			c := c.(map[string]any)
			if strings.HasPrefix(c["Next"].(string), "Verdict") {
				continue
			}
			and, _ := c["And"].([]any)
			want := map[string]any{"Variable": "$.answer.verdict", "StringEquals": "ok"}
			if len(and) < 2 || !reflect.DeepEqual(and[0], want) {
				t.Errorf("%s: the way to %v does not ask first for the verdict ok", name, c["Next"])
			}
		}
	}
}

func TestActIsGivenExactlyEnvelopeAndStructure(t *testing.T) {
	t.Parallel()
	states := parsed(t, generate(t))
	want := map[string]any{"envelope.$": "$.envelope", "structure.$": "$.structure"}
	asked := map[string]any{}
	for name, s := range states {
		if s["Resource"] == sample().Act {
			asked[name] = s["Parameters"]
		}
	}
	if !reflect.DeepEqual(asked, map[string]any{
		admit: map[string]any{"envelope.$": "$.envelope"}, lower: map[string]any{"envelope.$": "$.envelope", "ceiling.$": "$.answer.lowest"}, act: want,
	}) {
		t.Errorf("act is asked with %v", asked)
	}
	strips := map[string]any{"envelope.$": "$.envelope", "structure.$": "$.answer.structure"}
	if got := states[strip]["Parameters"]; !reflect.DeepEqual(got, strips) {
		t.Errorf("what is left before act is %v, want %v", got, strips)
	}
}

func TestStatesAreReachedAndNamed(t *testing.T) {
	t.Parallel()
	for _, states := range both(t) {
		checkReached(t, states, begin)
	}
}

func checkReached(t *testing.T, states map[string]map[string]any, first string) {
	t.Helper()
	reached := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		s, ok := states[name]
		if !ok {
			t.Fatalf("a state leads to %s, which is none", name)
		}
		if reached[name] {
			return
		}
		reached[name] = true
		for _, key := range []string{"Next", "Default"} {
			if next, ok := s[key].(string); ok {
				visit(next)
			}
		}
		for _, key := range []string{"Choices", "Catch"} {
			branches, _ := s[key].([]any)
			for _, b := range branches {
				visit(b.(map[string]any)["Next"].(string))
			}
		}
	}
	visit(first)
	for name := range states {
		if !reached[name] {
			t.Errorf("%s is never reached", name)
		}
	}
}

// What a phase may end a run with is small, known, and carries its status.
func TestCodesOfAPhaseAreKnown(t *testing.T) {
	t.Parallel()
	for _, p := range []phase{admitPhase, fetchPhase, extractPhase, actPhase} {
		codes := p.codes()
		if len(codes) == 0 || !slices.IsSorted(codes) || len(slices.Compact(slices.Clone(codes))) != len(codes) {
			t.Errorf("phase %d: codes %v are not a sorted set", p, codes)
		}
		for _, c := range codes {
			switch c.Status() {
			case pipeline.Done, pipeline.Staged, pipeline.Waiting:
				t.Errorf("phase %d ends a run as %s with %s", p, c.Status(), c)
			}
			if !c.Known() || c == pipeline.OK {
				t.Errorf("phase %d: %q is not on the list of codes", p, c)
			}
		}
	}
	if got := len(fetchPhase.codes()); got != pipeline.TerminalCodes() {
		t.Errorf("fetch may choose among %d codes, but %d are counted", got, pipeline.TerminalCodes())
	}
	if phase(0).codes() != nil {
		t.Error("no phase has codes")
	}
}

func TestTotalCoversEveryAttempt(t *testing.T) {
	t.Parallel()
	l := DefaultLimits()
	if l.Total() <= l.Approval+3*l.Act+l.Fetch+l.Extract {
		t.Errorf("the budget %s leaves no room for retries", l.Total())
	}
	if year := 365 * 24 * time.Hour; (Limits{MaxPhase, MaxPhase, MaxPhase, MaxApproval}).Total() > year {
		t.Error("the largest budget exceeds the year that an execution may last")
	}
}
