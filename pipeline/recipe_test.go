package pipeline

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
)

// panicOf returns what f panicked with, or "" where it did not.
func panicOf(f func()) (said string) {
	defer func() {
		if p := recover(); p != nil {
			said = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}

func hourly(m plan.Measure, limit int64) plan.Budget {
	return plan.Budget{Measure: m, Per: plan.PerRecipe, Window: time.Hour, Limit: limit}
}

func manyBudgets() (all []plan.Budget) {
	for i := range plan.MaxBudgets + 1 {
		b := hourly(plan.Runs, 10)
		b.Window += time.Duration(i) * time.Minute
		all = append(all, b)
	}
	return all
}

// Budgets and the cost of a run are reviewed with the recipe.
func TestBudgetsEnterTheDigest(t *testing.T) {
	t.Parallel()
	seen := map[string]int{}
	for i, change := range []func(*Spec[note]){
		func(*Spec[note]) {},
		func(s *Spec[note]) { s.RunCost = 1 },
		func(s *Spec[note]) { s.Budgets = []plan.Budget{hourly(plan.Runs, 10)} },
		func(s *Spec[note]) { s.Budgets = []plan.Budget{hourly(plan.Runs, 11)} },
		func(s *Spec[note]) { s.Budgets = []plan.Budget{hourly(plan.Actions, 10)} },
		func(s *Spec[note]) { s.Budgets = manyBudgets()[1:2] },
		func(s *Spec[note]) {
			b := hourly(plan.Runs, 10)
			b.Shares = map[plan.Label]int{plan.Unverified: 51}
			s.Budgets = []plan.Budget{b}
		},
	} {
		s := noteSpec()
		change(&s)
		d := New(s).Digest()
		if before, twice := seen[d]; twice {
			t.Errorf("changes %d and %d have one digest", before, i)
		}
		seen[d] = i
	}
}

type open struct {
	Kind   string            `json:"kind" jsonschema:"enum=a,enum=b"`
	Title  string            `json:"title"`
	Extra  map[string]string `json:"extra"`
	Scores []float64         `json:"scores" jsonschema:"maxItems=2"`
}

// New panics and Build gathers, with the same words: the field, the rule that
// is broken and a way to mend it.
func TestNewPanicsWithWhatBuildGathers(t *testing.T) {
	t.Parallel()
	spec := func(change func(*Spec[note])) Spec[note] { s := noteSpec(); change(&s); return s }
	for name, c := range map[string]struct {
		run   func(build bool) *Recipe
		rule  string
		where []string // one violation each
		says  []string
	}{
		"unbounded shape": {either(Spec[open]{Name: "open", Plan: func(open, plan.Target) []plan.Action { return nil }}), "shape_not_bounded", []string{"Extra", "Scores", "Title"}, []string{"a bound", "maxLength", "a plain string may say anything"}},
		"no struct":       {either(Spec[any]{Name: "any", Plan: func(any, plan.Target) []plan.Action { return nil }}), "shape_not_bounded", []string{""}, []string{"struct"}},
		"over MaxDecide":  {either(spec(func(s *Spec[note]) { s.MaxDecide = 4 })), "over_max_decide", []string{"MaxDecide"}, []string{fmt.Sprintf("decides %.2f bits", math.Log2(float64(noteSkeletons+TerminalCodes()))), "allows 4", "raise"}},
		"over MaxCarry":   {either(spec(func(s *Spec[note]) { s.MaxCarry = 0 })), "over_max_carry", []string{"MaxCarry"}, []string{"allows 0", "shorten"}},
		"no name":         {either(spec(func(s *Spec[note]) { s.Name = "" })), "recipe_name", []string{"Name"}, []string{nameForm}},
		"bad name":        {either(spec(func(s *Spec[note]) { s.Name = "Notes" })), "recipe_name", []string{"Name"}, []string{nameForm}},
		"nil plan":        {either(spec(func(s *Spec[note]) { s.Plan = nil })), "no_plan", []string{"Plan"}, []string{"function"}},
		"bad event":       {either(spec(func(s *Spec[note]) { s.Events = []Event{{Name: "Issues"}, {Name: "a.b.c"}} })), "event_name", []string{"Events", "Events"}, []string{eventForm}},
		"event twice":     {either(spec(func(s *Spec[note]) { s.Events = []Event{{Name: "a.b"}, {"a.b", ActorsWords}} })), "event_name", []string{"Events"}, []string{"twice"}},
		"unknown kind":    {either(spec(func(s *Spec[note]) { s.Policy = plan.Policy{"mail.send": plan.Always(plan.Ask)} })), "policy_row", []string{"Policy"}, []string{"mail.send", "table.row"}},
		"label left out":  {either(spec(func(s *Spec[note]) { s.Policy = plan.Policy{plan.KindTableRow: {System: plan.Auto}} })), "policy_row", []string{"Policy"}, []string{"table.row", "unverified"}},
		"bad budget":      {either(spec(func(s *Spec[note]) { s.Budgets = []plan.Budget{{Measure: plan.Runs}} })), "budget", []string{"Budgets[0]"}, []string{"PerRecipe"}},
		"budget twice":    {either(spec(func(s *Spec[note]) { s.Budgets = []plan.Budget{hourly(plan.Runs, 10), hourly(plan.Runs, 20)} })), "budget", []string{"Budgets[1]"}, []string{"one limit"}},
		"too many":        {either(spec(func(s *Spec[note]) { s.Budgets = manyBudgets() })), "budget", []string{"Budgets"}, []string{"17", "at most 16"}},
		"a dear run":      {either(spec(func(s *Spec[note]) { s.RunCost, s.Budgets = 60, []plan.Budget{hourly(plan.ModelCost, 100)} })), "budget", []string{"Budgets[0]"}, []string{"60", "unverified has 50"}},
		"a negative cost": {either(spec(func(s *Spec[note]) { s.RunCost = -1 })), "budget", []string{"RunCost"}, []string{"-1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var r *Recipe
			if said := panicOf(func() { r = c.run(true) }); said != "" {
				t.Fatalf("Build panicked: %s", said)
			}
			breaches := r.Violations()
			if len(breaches) != len(c.where) {
				t.Fatalf("%d breaches %v: want %d", len(breaches), breaches, len(c.where))
			}
			said := panicOf(func() { c.run(false) })
			for i, b := range breaches {
				if b.Rule != c.rule || !strings.Contains(b.Where, c.where[i]) || b.Mend == "" {
					t.Errorf("breach %+v: want rule %s at %s with a mend", b, c.rule, c.where[i])
				}
				if !strings.Contains(said, b.String()) {
					t.Errorf("New said %q: want it to hold %q", said, b)
				}
			}
			for _, w := range c.says {
				if !strings.Contains(said, w) {
					t.Errorf("New said %q: want it to name %s", said, w)
				}
			}
			if l, code := r.List(); l != nil || code == OK {
				t.Errorf("a recipe with breaches has the list %v, %q: want it to refuse every run", l, code)
			}
		})
	}
}

func either[T any](s Spec[T]) func(build bool) *Recipe {
	return func(build bool) *Recipe {
		if build {
			return Build(s)
		}
		return New(s)
	}
}

func TestNewTakesASpecThatIsWhole(t *testing.T) {
	t.Parallel()
	s := noteSpec()
	s.Events = []Event{{"issues.opened", ActorsWords}, {"push", OthersWords}}
	r := New(s)
	if r.Name() != "notes" || r.Shape() == nil || len(r.Violations()) > 0 || !slices.Equal(r.Events(), s.Events) || len(r.Policy()) != 1 {
		t.Errorf("recipe %s with events %v and breaches %v", r.Name(), r.Events(), r.Violations())
	}
	s.Events[0].Reads = OthersWords
	r.Events()[1].Reads = ActorsWords
	if r.LabelFor("issues.opened", plan.Trigger) != plan.Trigger || r.LabelFor("push", plan.Trigger) != plan.Unverified {
		t.Error("the recipe's events changed after it was built")
	}
}

// A list is in force for one name, shape and policy; act refuses on any other.
func TestListCodes(t *testing.T) {
	t.Parallel()
	good := listed(t, noteSpec())
	if l, code := good.List(); code != OK || l == nil {
		t.Fatalf("a fresh list is %q", code)
	}
	encoded := string(good.outcomes)
	type wider struct {
		Kind string `json:"kind" jsonschema:"enum=a,enum=b,enum=c,enum=d"`
	}
	other := Spec[wider]{Name: "notes", Plan: func(wider, plan.Target) []plan.Action { return nil }, Policy: noteSpec().Policy, MaxDecide: 8, Outcomes: []byte(encoded)}
	with := func(change func(*Spec[note])) *Recipe {
		s := noteSpec()
		s.Outcomes = []byte(encoded)
		change(&s)
		return Build(s)
	}
	for name, c := range map[string]struct {
		r    *Recipe
		want Code
	}{
		"no bytes":       {with(func(s *Spec[note]) { s.Outcomes = nil }), OutcomesEmpty},
		"braces":         {with(func(s *Spec[note]) { s.Outcomes = []byte("  {}\n") }), OutcomesEmpty},
		"malformed":      {with(func(s *Spec[note]) { s.Outcomes = []byte(`{"schema":1}`) }), OutcomesStale},
		"cut":            {with(func(s *Spec[note]) { s.Outcomes = s.Outcomes[:len(s.Outcomes)-3] }), OutcomesStale},
		"another name":   {with(func(s *Spec[note]) { s.Name = "other" }), OutcomesStale},
		"another policy": {with(func(s *Spec[note]) { s.Policy = plan.Policy{plan.KindTableRow: plan.Always(plan.Ask)} }), OutcomesStale},
		"one more row": {with(func(s *Spec[note]) {
			s.Policy = plan.Policy{plan.KindTableRow: plan.Always(plan.Auto), plan.KindGitHubLabel: plan.Always(plan.Never)}
		}), OutcomesStale},
		"another shape":   {Build(other), OutcomesStale},
		"other limits":    {with(func(s *Spec[note]) { s.MaxCarry = 2000 }), OK},
		"over its limits": {with(func(s *Spec[note]) { s.MaxCarry = 1 }), OutcomesStale},
	} {
		if l, code := c.r.List(); code != c.want || (l != nil) != (c.want == OK) {
			t.Errorf("%s: %q with list %v: want %q", name, code, l != nil, c.want)
		}
	}
}

// The label is the actor's only where all that is read is the actor's own,
// and nothing raises it.
func TestLabelForEveryEventAndActor(t *testing.T) {
	t.Parallel()
	s := noteSpec()
	s.Events = []Event{{"own.words", ActorsWords}, {"others.words", OthersWords}, {"left.out", 0}, {"not.known", 7}}
	r := Build(s)
	for _, event := range []string{"own.words", "others.words", "left.out", "not.known", "unlisted", ""} {
		for actor := range plan.Label(7) {
			want := "unverified"
			if event == "own.words" {
				switch actor {
				case 2:
					want = "authorized"
				case 3:
					want = "trigger"
				case 4:
					want = "system"
				}
			}
			if got := r.LabelFor(event, actor); got.String() != want {
				t.Errorf("%q with actor %s: %s: want %s", event, actor, got, want)
			}
		}
	}
}

// A plan is told one of the recipe's events or none: a name that the recipe
// does not list never reaches it.
func TestDecideHidesEventsThatTheRecipeDoesNotName(t *testing.T) {
	t.Parallel()
	s := noteSpec()
	s.Events = []Event{{Name: "issues.opened"}}
	s.Plan = func(_ note, at plan.Target) []plan.Action {
		return []plan.Action{plan.TableRow{Table: "notes", Key: at.Ref(), Columns: []plan.Column{plan.Text("event", at.Event())}}}
	}
	r := listed(t, s)
	list, _ := r.List()
	v := decode(t, r, `{"kind":"a"}`)
	for event, admitted := range map[string]bool{"issues.opened": true, "issues.closed": false, "": false, "Issues.opened": false} {
		o, _, err := r.Decide(v, event)
		if err != nil {
			t.Fatal(err)
		}
		if event != "issues.opened" {
			if got := string(o.Actions[0].Params[2].Value.AppendJSON(nil)); got != `""` {
				t.Errorf("%q: the plan saw %s", event, got)
			}
		}
		if list.Admits(o) != admitted {
			t.Errorf("%q: admitted %t", event, !admitted)
		}
	}
}

func TestDecideFailsWithoutWords(t *testing.T) {
	t.Parallel()
	const secret = "stranger"
	panics := noteSpec()
	panics.Plan = func(n note, _ plan.Target) []plan.Action { panic(secret + n.Kind) }
	invalid := noteSpec()
	invalid.Plan = func(n note, at plan.Target) []plan.Action {
		return []plan.Action{plan.GitHubComment{Issue: at.Ref(), Body: plan.Say((*shape.Quote)(nil))}}
	}
	for name, r := range map[string]*Recipe{"panic": Build(panics), "invalid": Build(invalid)} {
		_, _, err := r.Decide(decode(t, r, `{"kind":"a","quote":"stranger"}`), "")
		if err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	r := Build(noteSpec())
	if _, _, err := r.Decide(nil, ""); err == nil {
		t.Error("no value was decided")
	}
	if _, _, err := r.Decide(decode(t, Build(invalid), `{"kind":"a"}`), ""); err == nil {
		t.Error("the value of another shape was decided")
	}
	if _, _, err := Build(Spec[open]{Name: "open"}).Decide(nil, ""); err == nil {
		t.Error("a recipe without a shape decided")
	}
}

// Everything that act knows of a recipe is in its digest.
func TestDigestNamesEverythingThatActKnows(t *testing.T) {
	t.Parallel()
	base := noteSpec()
	base.Events = []Event{{"issues.opened", ActorsWords}}
	base.Outcomes = []byte("{}")
	type renamed struct {
		Kind string `json:"kind" jsonschema:"enum=a,enum=b"`
	}
	seen := map[string]string{}
	add := func(name string, r *Recipe) {
		if was, ok := seen[r.Digest()]; ok {
			t.Errorf("%s and %s have one digest", was, name)
		}
		if len(r.Digest()) != 64 {
			t.Errorf("%s: digest of %d characters", name, len(r.Digest()))
		}
		seen[r.Digest()] = name
	}
	add("base", Build(base))
	for name, change := range map[string]func(*Spec[note]){
		"name":     func(s *Spec[note]) { s.Name = "others" },
		"policy":   func(s *Spec[note]) { s.Policy = plan.Policy{plan.KindTableRow: plan.Always(plan.Ask)} },
		"event":    func(s *Spec[note]) { s.Events = []Event{{"issues.edited", ActorsWords}} },
		"reads":    func(s *Spec[note]) { s.Events = []Event{{"issues.opened", OthersWords}} },
		"events":   func(s *Spec[note]) { s.Events = nil },
		"outcomes": func(s *Spec[note]) { s.Outcomes = []byte("{} ") },
	} {
		s := base
		change(&s)
		add(name, Build(s))
	}
	add("shape", Build(Spec[renamed]{Name: "notes", Policy: base.Policy, Events: base.Events, Outcomes: base.Outcomes}))
	if _, ok := seen[Build(base).Digest()]; !ok {
		t.Error("one spec has two digests")
	}
}
