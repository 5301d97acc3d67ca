package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"decant.dev/act/plan"
	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// note is a small shape for recipes of this package's tests.
type note struct {
	Kind  string       `json:"kind" jsonschema:"enum=a,enum=b"`
	Quote *shape.Quote `json:"quote,omitempty" jsonschema:"maxLength=40"`
}

func keepNote(n note, at plan.Target) []plan.Action {
	return []plan.Action{plan.TableRow{Table: "notes", Key: at.Ref(), Columns: []plan.Column{
		plan.Text("kind", n.Kind), plan.Quote("quote", n.Quote),
	}}}
}

// listed builds a recipe whose outcome list is in force.
func listed[T any](name string, decide func(T, plan.Target) []plan.Action, policy plan.Policy) *pipeline.Recipe {
	spec := pipeline.Spec[T]{
		Name: name, Plan: decide, Policy: policy, MaxDecide: 12, MaxCarry: 4000,
		Events: []pipeline.Event{{Name: "issues.opened", Reads: pipeline.ActorsWords}},
	}
	list, _ := pipeline.Build(spec).Enumerate()
	spec.Outcomes = list.Encode()
	return pipeline.New(spec)
}

var storeAlways = plan.Policy{plan.KindTableRow: plan.Always(plan.Auto)}

func notePipeline(name string, x extract.Extractor) Pipeline {
	return Pipeline{
		Recipe: listed(name, keepNote, storeAlways),
		Intake: fetch.Intake{
			Source: "github", Elements: fetch.GitHubIssues, Profile: fence.ProfileIntake, Instruction: "Take a note.",
			Limits: fence.Limits{MessageMaxBytes: 1 << 14, ContextMaxBytes: 1 << 16},
		},
		Extractor: func(*http.Client) extract.Extractor { return x },
	}
}

// says is an extractor that gives one answer a turn, then the last again.
type says []string

func (says) Name() string { return "says" }

func (a says) Extract(_ context.Context, r extract.Request) (extract.Answer, error) {
	turn := 0
	if r.Broken != "" {
		turn = 1
	}
	return extract.Answer{Candidate: []byte(a[min(turn, len(a)-1)])}, nil
}

// does is an extractor that does anything at all.
type does func(r extract.Request) (extract.Answer, error)

func (does) Name() string { return "does" }

func (d does) Extract(_ context.Context, r extract.Request) (extract.Answer, error) { return d(r) }

// hostileExtractors lists extractors that try to break out of the phase's contract, and
// the code that each must end with.
var hostileExtractors = []struct {
	name string
	x    extract.Extractor
	want pipeline.Code
}{
	{"honest", says{`{"kind":"a"}`}, pipeline.OK},
	{"corrected", says{`{"kind":"c"}`, `{"kind":"b"}`}, pipeline.OK},
	{"prose", says{`Sure! {"kind":"a"}`}, pipeline.Undecodable},
	{"empty", says{``}, pipeline.Undecodable},
	{"null", says{`null`}, pipeline.Undecodable},
	{"extra-key", says{`{"kind":"a","admin":true}`}, pipeline.Undecodable},
	{"other-case", says{`{"KIND":"a"}`}, pipeline.Undecodable},
	{"duplicate", says{`{"kind":"a","kind":"b"}`}, pipeline.Undecodable},
	{"trailing", says{`{"kind":"a"}{"kind":"b"}`}, pipeline.Undecodable},
	{"deep", says{strings.Repeat("[", 10000)}, pipeline.Undecodable},
	{"long", says{`{"kind":"a","quote":"` + strings.Repeat("x", 1<<20) + `"}`}, pipeline.Undecodable},
	{"not-quoted", says{`{"kind":"a","quote":"never said"}`}, pipeline.Ungrounded},
	{"quoted", says{`{"kind":"a","quote":"exporter"}`}, pipeline.OK},
	{"fails", does(func(extract.Request) (extract.Answer, error) { return extract.Answer{}, errors.New("SECRETWORD") }), pipeline.NoAnswer},
	{"echo", does(func(r extract.Request) (extract.Answer, error) {
		return extract.Answer{Candidate: []byte(`{"kind":"a","quote":"` + r.Prompt.Boundary().Hex()[5:25] + `"}`)}, nil
	}), pipeline.BoundaryEchoed},
	{"panic", does(func(extract.Request) (extract.Answer, error) { panic("SECRETWORD") }), pipeline.PhasePanic},
	{"exit", does(func(extract.Request) (extract.Answer, error) { os.Exit(0); return extract.Answer{}, nil }), pipeline.PhaseDied},
	{"hang", does(func(extract.Request) (extract.Answer, error) { select {} }), pipeline.PhaseTimeout},
	{"endless", does(func(extract.Request) (extract.Answer, error) {
		w := bufio.NewWriter(os.Stdout)
		for {
			if _, err := w.WriteString("xxxxxxxxxxxxxxxx"); err != nil {
				os.Exit(1)
			}
		}
	}), pipeline.PhaseMisbehave},
	{"other-run", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q,"answer":{"structure":{"kind":"a"},"trace":{"extractor":"does"}}}`, n, strings.Repeat("0", 32))
	})), pipeline.PhaseMisbehave},
	{"other-question", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q,"answer":{"structure":{"kind":"a"},"trace":{"extractor":"does"}}}`, n+1, r.Context.Run)
	})), pipeline.PhaseMisbehave},
	{"unknown-code", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q,"code":"SECRETWORD"}`, n, r.Context.Run)
	})), pipeline.PhaseMisbehave},
	{"unknown-code-inside", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q,"answer":{"code":"SECRETWORD"}}`, n, r.Context.Run)
	})), pipeline.PhaseMisbehave},
	{"code-of-another", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q,"answer":{"code":"approval_needed"}}`, n, r.Context.Run)
	})), pipeline.PhaseMisbehave},
	{"code-of-another-outside", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q,"code":"approval_needed"}`, n, r.Context.Run)
	})), pipeline.PhaseMisbehave},
	{"no-answer", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q}`, n, r.Context.Run)
	})), pipeline.PhaseMisbehave},
	{"empty-answer", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q,"answer":{}}`, n, r.Context.Run)
	})), pipeline.PhaseMisbehave},
	{"two-lines", does(forge(func(n int, r extract.Request) string {
		line := fmt.Sprintf(`{"n":%d,"run":%q,"answer":{"structure":{"kind":"a"}}}`, n, r.Context.Run)
		return line + "\n" + line
	})), pipeline.PhaseMisbehave},
	{"another-answer", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q,"answer":[{"run":"x","admit":{"label":"system"}}]}`, n, r.Context.Run)
	})), pipeline.PhaseMisbehave},
	{"two-answers", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q,"answer":{"structure":{"kind":"a"}},"acts":[]}`, n, r.Context.Run)
	})), pipeline.PhaseMisbehave},
	{"not-canonical", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q,"answer":{"structure":{ "kind":"a" },"trace":{"extractor":"does"}}}`, n, r.Context.Run)
	})), pipeline.PhaseMisbehave},
	{"not-of-shape", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q,"answer":{"structure":{"kind":"SECRETWORD"},"trace":{"extractor":"does"}}}`, n, r.Context.Run)
	})), pipeline.PhaseMisbehave},
	{"words-in-trace", does(forge(func(n int, r extract.Request) string {
		return fmt.Sprintf(`{"n":%d,"run":%q,"answer":{"structure":{"kind":"a"},"trace":{"extractor":"SECRETWORD","steps":[{"field":"kind","rule":"SECRETWORD","confidence":1}]}}}`, n, r.Context.Run)
	})), pipeline.OK},
}

// forge writes a reply line of its own, past the child's handler.
func forge(line func(n int, r extract.Request) string) func(extract.Request) (extract.Answer, error) {
	n := 0
	return func(r extract.Request) (extract.Answer, error) {
		n++
		fmt.Fprintln(os.Stdout, line(n, r))
		select {}
	}
}

func hostilePipelines() []Pipeline {
	all := make([]Pipeline, 0, len(hostileExtractors))
	for _, h := range hostileExtractors {
		all = append(all, notePipeline(h.name, h.x))
	}
	return all
}

// A wholly hostile extract child can end its run with a code and nothing
// else: no write, no word of its own in the journal, and no harm to the next
// run of the same engine.
func TestHostileExtractorOnlyEndsItsRun(t *testing.T) {
	t.Parallel()
	for _, h := range hostileExtractors {
		t.Run(h.name, func(t *testing.T) {
			t.Parallel()
			e := openEngine(t, Config{Live: true}, notePipeline(h.name, h.x), notePipeline("honest-too", says{`{"kind":"b"}`}))
			e.extracts[true].timeout = 5 * time.Second // a child that hangs costs the next run as much again
			results := e.Deliver(context.Background(), delivery(t, payload(7, "SECRETWORD", report, 2000)))
			if len(results) != 2 {
				t.Fatalf("%d results, want one for each recipe", len(results))
			}
			if got := results[0].Reason; got != h.want {
				t.Errorf("hostile run: %s %s, want %q", results[0].Status, got, h.want)
			}
			if results[1].Status != pipeline.Done {
				t.Errorf("the next run: %s %s, want done", results[1].Status, results[1].Reason)
			}
			entry, ok, err := e.Journal().Get(context.Background(), results[0].Run, store.LiveMode)
			if err != nil || !ok {
				t.Fatalf("journal: %v, found %v", err, ok)
			}
			if recorded := fmt.Sprintf("%+v %s %s %s %s", entry, entry.Envelope, entry.Structure, entry.Trace, entry.Actions); strings.Contains(recorded, "SECRETWORD") {
				t.Errorf("the journal repeats a word of the text or the extractor: %s", recorded)
			}
			rows := ledgerRows(t, e, "notes")
			if len(rows) != 1 { // both recipes write the row of the same target, the honest one last
				t.Fatalf("%d rows, want 1", len(rows))
			}
			wrote := slices.ContainsFunc(results[0].Actions, func(a Action) bool { return a.Outcome == "done" })
			if wrote != (h.want == pipeline.OK) {
				t.Errorf("the run ended with %q: wrote %v", h.want, wrote)
			}
		})
	}
}

func ledgerRows(t *testing.T, e *Engine, table string) []store.Row {
	t.Helper()
	l, err := store.OpenLedger(e.act.phase.config.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	rows, err := l.Rows(context.Background(), table)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}
