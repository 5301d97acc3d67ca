package act

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"decant.dev/act/plan"
	"decant.dev/pipeline"
)

const full = `{"kind":"row","parts":["engine","release"],"quote":"it says SECRET","version":"v7"}`

func encode(tb testing.TB, v any) string {
	tb.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}

// One spelling of a structure crosses. Any other ends the run, and what it
// said does not come back.
func TestOnlyTheCanonicalSpellingCrosses(t *testing.T) {
	t.Parallel()
	r := listed(t, spec())
	for name, structure := range map[string]string{
		"nothing":           ``,
		"prose":             `SECRET`,
		"null":              `null`,
		"white space":       strings.Replace(full, ":", ": ", 1),
		"line feed":         full + "\n",
		"order of keys":     `{"parts":[],"kind":"row"}`,
		"order of a set":    strings.Replace(full, `"engine","release"`, `"release","engine"`, 1),
		"a choice twice":    strings.Replace(full, `"engine","release"`, `"engine","engine"`, 1),
		"an escape":         strings.Replace(full, `"it`, `"\u0069t`, 1),
		"an escaped slash":  strings.Replace(full, `"it`, `"\/`, 1),
		"key twice":         strings.Replace(full, `"kind":"row"`, `"kind":"row","kind":"row"`, 1),
		"unknown key":       strings.Replace(full, `"kind":"row"`, `"kind":"row","note":"SECRET"`, 1),
		"key of other case": strings.Replace(full, `"kind"`, `"Kind"`, 1),
		"missing field":     `{"kind":"row"}`,
		"null field":        strings.Replace(full, `"v7"`, `null`, 1),
		"unknown label":     strings.Replace(full, `"row"`, `"SECRET"`, 1),
		"too long":          strings.Replace(full, "it says", strings.Repeat("x", 41), 1),
		"off the pattern":   strings.Replace(full, `"v7"`, `"v7 SECRET"`, 1),
		"bidi control":      strings.Replace(full, "it", "\u202e", 1),
		"bad UTF-8":         strings.Replace(full, "it", "\xff", 1),
		"two documents":     full + full,
		"deep":              strings.Repeat("[", 10000),
	} {
		if structure == full {
			t.Errorf("%s: nothing was changed", name)
		}
		for _, live := range []bool{false, true} {
			h, m := handlerOf(r, live)
			out := run(t, h, input("own.words", maintainer, structure))
			if out.Code != pipeline.NotCanonical || out.Status != pipeline.Refused || len(out.Actions) > 0 {
				t.Errorf("%s: %+v: want not_canonical", name, out)
			}
			if strings.Contains(encode(t, out), "SECRET") {
				t.Errorf("%s: the output repeats the structure", name)
			}
			untouched(t, m)
		}
	}
	h, _ := handlerOf(r, false)
	if out := run(t, h, input("own.words", maintainer, full)); out.Status != pipeline.Staged {
		t.Errorf("the canonical spelling: %+v", out)
	}
}

// A plan that gives another outcome at run time than it gave to the audit is
// stopped by the list, and one that panics or forges by its error.
func TestAPlanThatChangedAfterItsAudit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then func(report, plan.Target) []plan.Action
		code pipeline.Code
	}{
		"another column": {func(r report, at plan.Target) []plan.Action {
			return decide(report{Kind: "row", Parts: make([]part, 3)}, at)
		}, pipeline.UnlistedOutcome},
		"another table": {func(_ report, at plan.Target) []plan.Action {
			return []plan.Action{plan.TableRow{Table: "other", Key: at.Ref()}}
		}, pipeline.UnlistedOutcome},
		"an action more": {func(r report, at plan.Target) []plan.Action { return append(decide(r, at), decide(r, at)...) }, pipeline.UnlistedOutcome},
		"another kind": {func(_ report, at plan.Target) []plan.Action {
			return []plan.Action{plan.GitHubLabel{Issue: at.Ref(), Label: "report"}}
		}, pipeline.UnlistedOutcome},
		"a panic": {func(report, plan.Target) []plan.Action { panic("SECRET") }, pipeline.PlanFailed},
		"an absent field": {func(_ report, at plan.Target) []plan.Action {
			return []plan.Action{plan.GitHubComment{Issue: at.Ref(), Body: plan.Say(nil)}}
		}, pipeline.PlanFailed},
		"a nil action":  {func(report, plan.Target) []plan.Action { return []plan.Action{nil} }, pipeline.PlanFailed},
		"a nil pointer": {func(report, plan.Target) []plan.Action { return []plan.Action{(*plan.TableRow)(nil)} }, pipeline.PlanFailed},
		"a reserved column": {func(_ report, at plan.Target) []plan.Action {
			return []plan.Action{plan.TableRow{Table: "reports", Key: at.Ref(), Columns: []plan.Column{plan.Text("label", "system")}}}
		}, pipeline.PlanFailed},
		"the audited answer": {decide, pipeline.OK},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var changed atomic.Bool
			s := spec()
			s.Plan = func(r report, at plan.Target) []plan.Action {
				if changed.Load() {
					return c.then(r, at)
				}
				return decide(r, at)
			}
			h, m := handlerOf(listed(t, s), true)
			changed.Store(true)
			out := run(t, h, input("own.words", maintainer, full))
			if out.Code != c.code || out.Code != pipeline.OK && len(out.Actions) > 0 || strings.Contains(encode(t, out), "panic") {
				t.Errorf("%+v: want %s", out, c.code)
			}
			if c.code != pipeline.OK {
				untouched(t, m)
			}
		})
	}
}

// A handle that was kept from another run has no content in this one.
func TestAHandleOfAnotherRunResolvesToNothing(t *testing.T) {
	t.Parallel()
	var kept atomic.Pointer[report]
	s := spec()
	s.Plan = func(r report, at plan.Target) []plan.Action {
		if k := kept.Load(); k != nil {
			r.Quote = k.Quote
		}
		return decide(r, at)
	}
	r := listed(t, s)
	v, err := r.Shape().DecodeCanonical([]byte(`{"kind":"row","parts":[],"quote":"it says SECRET"}`))
	if err != nil {
		t.Fatal(err)
	}
	grab := s
	grab.Plan = func(x report, _ plan.Target) []plan.Action { kept.Store(&x); return nil }
	other := pipeline.Build(grab)
	if v, err = other.Shape().DecodeCanonical(v.Encode()); err != nil {
		t.Fatal(err)
	}
	if _, _, err := other.Decide(v, ""); err != nil {
		t.Fatal(err)
	}
	h, m := handlerOf(r, true)
	if out := run(t, h, input("own.words", maintainer, `{"kind":"row","parts":[]}`)); out.Code != pipeline.PlanFailed {
		t.Errorf("%+v: want plan_failed", out)
	}
	untouched(t, m)
}

// Without --live everything is staged, whatever policy says, and shown with
// the decision it would meet.
func TestStagedWritesNothingWhateverPolicySays(t *testing.T) {
	t.Parallel()
	r := listed(t, spec())
	for structure, want := range map[string][]plan.Decision{
		`{"kind":"none","parts":[]}`:               {},
		`{"kind":"row","parts":[]}`:                {plan.Auto},
		`{"kind":"label","parts":[]}`:              {plan.Auto, plan.Auto},
		`{"kind":"speak","parts":[]}`:              {plan.Auto, plan.Ask},
		`{"kind":"speak","parts":[],"quote":"hi"}`: {plan.Ask, plan.Auto},
		`{"kind":"close","parts":[]}`:              {plan.Auto, plan.Never},
	} {
		h, m := handlerOf(r, false)
		out := run(t, h, input("others.words", maintainer, structure))
		if out.Status != pipeline.Staged || (out.Code == pipeline.NothingToDo) != (len(want) == 0) || len(out.Actions) != len(want) {
			t.Errorf("%s: %+v", structure, out)
			continue
		}
		for i, a := range out.Actions {
			if a.Outcome != "staged" || a.Decision != want[i] || a.Target != "octo-org/sample#12" || (len(a.Reasons) > 0) != (want[i] != plan.Auto) {
				t.Errorf("%s: action %d is %+v: want staged, %s", structure, i, a, want[i])
			}
		}
		untouched(t, m)
	}
}

// One action that policy forbids or wants asked holds the whole outcome back.
func TestPolicyHoldsTheWholeOutcomeBack(t *testing.T) {
	t.Parallel()
	r := listed(t, spec())
	for name, c := range map[string]struct {
		event, structure string
		actor            pipeline.Actor
		code             pipeline.Code
		each             string
	}{
		"asked":            {"own.words", `{"kind":"speak","parts":[]}`, person(maintainer), pipeline.ApprovalNeeded, "waiting"},
		"asked first":      {"own.words", `{"kind":"speak","parts":[],"quote":"hi"}`, person(maintainer), pipeline.ApprovalNeeded, "waiting"},
		"asked of trigger": {"own.words", `{"kind":"close","parts":[]}`, person(maintainer), pipeline.ApprovalNeeded, "waiting"},
		"never":            {"own.words", `{"kind":"close","parts":[]}`, person("github:13"), pipeline.PolicyNever, "refused"},
		"never for others": {"others.words", `{"kind":"close","parts":[]}`, person(maintainer), pipeline.PolicyNever, "refused"},
	} {
		h, m := handlerOf(r, true)
		out := run(t, h, Input{envelope(c.event, c.actor), []byte(c.structure)})
		if out.Code != c.code || out.Status != c.code.Status() || len(out.Actions) != 2 {
			t.Errorf("%s: %+v: want %s", name, out, c.code)
		}
		for _, a := range out.Actions {
			if a.Outcome != c.each {
				t.Errorf("%s: %s is %s: want %s", name, a.Kind, a.Outcome, c.each)
			}
		}
		untouched(t, m)
	}
}

// The words of a store that broke are not in the output, nothing is kept, and
// no action is said to be done; the next attempt begins anew.
func TestAStoreThatBreaksSaysSoAndNoMore(t *testing.T) {
	t.Parallel()
	h, m := handlerOf(listed(t, spec()), true)
	m.fail = errors.New("SECRET of the store")
	in := input("own.words", maintainer, `{"kind":"row","parts":[]}`)
	out := run(t, h, in)
	if out.Code != pipeline.StoreFailed || out.Status != pipeline.Failed || len(out.Actions) != 1 || out.Actions[0].Outcome != "failed" {
		t.Errorf("%+v: want store_failed", out)
	}
	if strings.Contains(encode(t, out), "SECRET") || len(m.receipts)+len(m.rows) > 0 {
		t.Error("the output repeats the store's error, or something was kept")
	}
	m.fail = nil
	if out := h.Act(t.Context(), in); out.Status != pipeline.Done || len(m.all()) != 1 {
		t.Errorf("tried again: %+v, %d receipts: want done, 1", out, len(m.all()))
	}
}

// An outcome of no action is done at once, with nothing to store.
func TestAnOutcomeOfNoActionTouchesNoStore(t *testing.T) {
	t.Parallel()
	h, m := handlerOf(listed(t, spec()), true)
	out := run(t, h, input("own.words", maintainer, `{"kind":"none","parts":[]}`))
	if out.Status != pipeline.Done || out.Actions == nil || !reflect.DeepEqual(out.Actions, []Action{}) {
		t.Errorf("%+v: want done with no action", out)
	}
	untouched(t, m)
}
