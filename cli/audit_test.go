package cli_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"decant.dev/act/plan"
	"decant.dev/cli"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
	"decant.dev/recipes/issues"
)

// run runs the command in this process over recipes of a test.
func run(t *testing.T, recipes []*pipeline.Recipe, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, warn bytes.Buffer
	app := cli.App{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &warn, Clock: time.Now, Getenv: func(string) string { return "" },
	}
	for _, r := range recipes {
		app.Pipelines = append(app.Pipelines, cli.Pipeline{Recipe: r})
	}
	code = app.Run(context.Background(), args)
	return code, out.String(), warn.String()
}

const long = "a_name_that_goes_on_for_as_long_as_a_name_of_a_field_may_go_64_x"

// nasty is a shape that no page was made for.
type nasty struct {
	Long struct {
		Inner []struct {
			Deep shape.Text `json:"a_name_that_goes_on_for_as_long_as_a_name_of_a_field_may_go_64_x" jsonschema:"maxLength=500"`
		} `json:"a_name_that_goes_on_for_as_long_as_a_name_of_a_field_may_go_64_x" jsonschema:"maxItems=2"`
	} `json:"a_name_that_goes_on_for_as_long_as_a_name_of_a_field_may_go_64_x"`
	Kind  string `json:"kind" jsonschema:"enum=a label of many words that goes on and on without an end in sight until it ends,enum=onewordthatislongerthananylineofapagemaybeandsohastobebrokenanywhereatallsomehow,enum=⟦word"`
	Range int    `json:"range" jsonschema:"minimum=-9000,maximum=-8999"`
	Yes   bool   `json:"yes"`
}

func nastyRecipe() *pipeline.Recipe {
	return pipeline.Build(pipeline.Spec[nasty]{
		Name: "nasty", MaxDecide: 1e-9, MaxCarry: 1, Approvals: 2, Readers: plan.Operators,
		Plan: func(n nasty, at plan.Target) []plan.Action {
			return []plan.Action{
				plan.TableRow{Table: long[:63], Key: at.Ref(), Columns: []plan.Column{plan.Text(long[:62], strings.Repeat("words and ", 30)+n.Kind)}},
				plan.GitHubComment{Issue: at.Ref(), Body: plan.Say(strings.Repeat("x", 500))},
			}
		},
		Policy:    plan.Policy{plan.KindTableRow: plan.Always(plan.Ask), plan.KindGitHubClose: plan.Always(plan.Never)},
		Events:    []pipeline.Event{{Name: "schedule.tick"}, {Name: "abcdefghijklmnopqrstuvwxyzabcdef.abcdefghijklmnopqrstuvwxyzabcde"}},
		Schedules: []pipeline.Schedule{{Name: "hourly", Channel: "feed:" + strings.Repeat("long/", 30)}},
		Outcomes:  []byte(`{"schema":"outcomes.v1","recipe":"r","shape":"","policy":"","outcomes":1,"actions":{},"classes":[{"outcomes":1,"actions":[]}]}`),
	})
}

// Whatever a recipe's author wrote, a page is read in 80 columns, and holds
// nothing that a terminal would act on.
func TestAuditIsReadIn80Columns(t *testing.T) {
	t.Parallel()
	for _, r := range []*pipeline.Recipe{issues.Recipe, nastyRecipe()} {
		code, page, _ := run(t, []*pipeline.Recipe{r}, "audit")
		if want := map[bool]int{true: 0, false: 1}[r == issues.Recipe]; code != want {
			t.Errorf("%s: exit %d: want %d", r.Name(), code, want)
		}
		for n, line := range strings.Split(page, "\n") {
			if utf8.RuneCountInString(line) > 80 {
				t.Errorf("%s: line %d has %d columns: %s", r.Name(), n+1, utf8.RuneCountInString(line), line)
			}
			if strings.TrimRight(line, " ") != line || strings.ContainsAny(line, "\u202e\t\r\x1b") {
				t.Errorf("%s: line %d: %q", r.Name(), n+1, line)
			}
		}
	}
}

func TestAuditNamesAllThatARecipeHas(t *testing.T) {
	t.Parallel()
	_, page, _ := run(t, []*pipeline.Recipe{nastyRecipe()}, "audit")
	flat := strings.Join(strings.Fields(page), " ")
	for _, want := range []string{
		"of MaxDecide 1e-09; with 12 codes", "of MaxCarry 1", "2 persons approve what is asked", "-9000 to -8999", "true or false",
		"table.row stores operators ask ask ask ask", "github.comment speaks channel never never never never", "github.close idle channel never never never never",
		"schedule hourly feed:long/", "[over_max_decide]", "[over_max_carry]", "[kind_without_policy]", "[audience_wider]", "[outcomes_stale]",
		"what the intake reads is read by: operators", "could newly happen: 3 outcomes", "+ the kind table.row", "no longer could: 1 outcomes",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
}

type small struct {
	Kind string      `json:"kind" jsonschema:"enum=a,enum=b"`
	Note *shape.Text `json:"note,omitempty" jsonschema:"maxLength=9"`
}

func smallSpec() pipeline.Spec[small] {
	return pipeline.Spec[small]{
		Name: "small", MaxDecide: 8, MaxCarry: 200, Policy: plan.Policy{plan.KindTableRow: plan.Always(plan.Auto), plan.KindGitHubLabel: plan.Always(plan.Auto)},
		Plan: func(s small, at plan.Target) []plan.Action {
			return []plan.Action{
				plan.TableRow{Table: "small", Key: at.Ref(), Columns: []plan.Column{plan.Carried("note", s.Note)}},
				plan.GitHubLabel{Issue: at.Ref(), Label: s.Kind},
			}
		},
	}
}

// A stale list is told as what could newly happen and what no longer could,
// in actions, and not as a difference of two files.
func TestAStaleListIsToldAsAPersonWouldReadIt(t *testing.T) {
	t.Parallel()
	list, _ := pipeline.Build(smallSpec()).Enumerate()
	for name, c := range map[string]struct {
		change   func(*pipeline.Spec[small])
		has, not []string
	}{
		"nothing": {func(*pipeline.Spec[small]) {}, []string{"no breach"}, []string{"against the list"}},
		"another label": {func(s *pipeline.Spec[small]) {
			s.Plan = func(s small, at plan.Target) []plan.Action {
				return []plan.Action{
					plan.TableRow{Table: "small", Key: at.Ref(), Columns: []plan.Column{plan.Carried("note", s.Note)}},
					plan.GitHubLabel{Issue: at.Ref(), Label: strings.Replace(s.Kind, "b", "c", 1)},
				}
			}
		}, []string{
			"could newly happen: 2 outcomes", `+ github.label with label "c"`, `table.row key="@target" table="small" note="@note"|null`,
			"no longer could: 2 outcomes", `- github.label with label "b"`, "[outcomes_stale]",
		}, []string{`with label "a"`}},
		"an action more": {func(s *pipeline.Spec[small]) {
			before := s.Plan
			s.Policy[plan.KindGitHubClose] = plan.Always(plan.Ask)
			s.Plan = func(s small, at plan.Target) []plan.Action {
				if s.Kind == "b" {
					return append(before(s, at), plan.GitHubClose{Issue: at.Ref(), Reason: "completed"})
				}
				return before(s, at)
			}
		}, []string{"could newly happen: 2 outcomes", "+ the kind github.close", "+ 2 outcomes of 3 actions:", "no longer could: 2 outcomes"}, []string{"- github.label with"}},
		"another decision": {func(s *pipeline.Spec[small]) {
			s.Policy[plan.KindGitHubLabel] = plan.Row{System: plan.Auto, Trigger: plan.Auto, Authorized: plan.Auto, Unverified: plan.Ask}
		}, []string{"~ github.label for unverified: was auto, is ask", "the same outcomes; policy's table is another", "[outcomes_stale]"}, []string{"could"}},
		"another name": {func(s *pipeline.Spec[small]) { s.Name = "smaller" }, []string{"the same outcomes; the recipe has another name"}, []string{"could"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := smallSpec()
			c.change(&s)
			s.Outcomes = list.Encode()
			_, page, _ := run(t, []*pipeline.Recipe{pipeline.Build(s)}, "audit")
			flat := strings.Join(strings.Fields(page), " ")
			for _, want := range c.has {
				if !strings.Contains(flat, want) {
					t.Errorf("want %q in\n%s", want, page)
				}
			}
			for _, not := range c.not {
				if strings.Contains(flat, not) {
					t.Errorf("want no %q in\n%s", not, page)
				}
			}
		})
	}
}

// A list that was never written, and one that is malformed, are breaches of
// their own codes.
func TestAListThatCannotBeReadIsABreach(t *testing.T) {
	t.Parallel()
	for outcomes, want := range map[string]string{"": "[outcomes_empty]", "{}": "[outcomes_empty]", "{": "[outcomes_stale]"} {
		s := smallSpec()
		s.Outcomes = []byte(outcomes)
		code, page, _ := run(t, []*pipeline.Recipe{pipeline.Build(s)}, "audit")
		if code != 1 || !strings.Contains(page, want) || !strings.Contains(page, "audit --write") {
			t.Errorf("%q: exit %d:\n%s", outcomes, code, page)
		}
	}
}

// Writing a list that is in force changes nothing, and says so.
func TestWritingAListThatIsInForceChangesNothing(t *testing.T) {
	t.Parallel()
	code, page, warn := run(t, []*pipeline.Recipe{issues.Recipe}, "audit", "--write")
	if code != 0 || !strings.HasSuffix(warn, "outcomes.json: up to date\n") || !strings.Contains(page, "no breach") {
		t.Errorf("exit %d, %q", code, warn)
	}
}

// BenchmarkAudit is the whole page of every recipe of this module.
func BenchmarkAudit(b *testing.B) {
	app := cli.App{
		Pipelines: pipelines, Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard, Clock: time.Now,
		Getenv: func(string) string { return "" },
	}
	for b.Loop() {
		if code := app.Run(context.Background(), []string{"audit"}); code != 0 {
			b.Fatal(code)
		}
	}
}
