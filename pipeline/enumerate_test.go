package pipeline

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
)

// forged bears a kind of plan's and holds a handle where it says where to
// write.
type forged struct {
	Queue plan.Template `address:"queue"`
}

func (forged) Kind() plan.Kind { return plan.KindTableRow }

func comment(at plan.Target, parts ...any) []plan.Action {
	return []plan.Action{plan.GitHubComment{Issue: at.Ref(), Body: plan.Say(parts...)}}
}

func commentOn(p plan.Row) plan.Policy { return plan.Policy{plan.KindGitHubComment: p} }

// Each breach is named by its rule and says where it is; it is reported once,
// not once a skeleton.
func TestEnumerateNamesBreaches(t *testing.T) {
	t.Parallel()
	sayBody := func(n note, at plan.Target) []plan.Action {
		if n.Body == nil {
			return nil
		}
		return comment(at, "they wrote: ", n.Body)
	}
	sayQuote := func(n note, at plan.Target) []plan.Action {
		if n.Quote == nil {
			return nil
		}
		return append(keep(n, at), comment(at, n.Quote)...)
	}
	sayVersion := func(n note, at plan.Target) []plan.Action {
		if n.Version == nil {
			return nil
		}
		return comment(at, n.Version)
	}
	ask, auto := plan.Always(plan.Ask), plan.Always(plan.Auto)
	for name, c := range map[string]struct {
		plan   func(note, plan.Target) []plan.Action
		policy plan.Policy
		rules  []string
		says   string
	}{
		"a row that stores texts":  {keep, plan.Policy{plan.KindTableRow: auto}, nil, ""},
		"a kind without a row":     {func(_ note, at plan.Target) []plan.Action { return comment(at, "x") }, plan.Policy{plan.KindTableRow: auto}, []string{"kind_without_policy"}, "github.comment"},
		"no policy at all":         {keep, nil, []string{"kind_without_policy"}, "table.row"},
		"a text spoken when asked": {sayBody, commentOn(ask), nil, ""},
		"a token spoken":           {sayVersion, commentOn(auto), nil, ""},
		"a text spoken to one":     {sayBody, commentOn(plan.Row{System: plan.Ask, Trigger: plan.Ask, Authorized: plan.Never, Unverified: plan.Auto}), []string{"speaks_text"}, "unverified"},
		"a text spoken for one":    {sayBody, commentOn(plan.Row{System: plan.Auto, Trigger: plan.Ask, Authorized: plan.Never, Unverified: plan.Never}), []string{"speaks_text"}, "system"},
		"a quote spoken": {sayQuote, plan.Policy{plan.KindTableRow: auto, plan.KindGitHubComment: auto},
			[]string{"speaks_text", "speaks_text", "speaks_text", "speaks_text"}, "quote"},
		"an action of another package": {func(note, plan.Target) []plan.Action { return []plan.Action{forged{plan.Say("x")}} }, plan.Policy{plan.KindTableRow: auto}, []string{"invalid_action"}, "action 0"},
		"a text in an address": {func(n note, _ plan.Target) []plan.Action {
			if n.Body == nil {
				return nil
			}
			return []plan.Action{forged{plan.Say(n.Body)}}
		}, plan.Policy{plan.KindTableRow: auto}, []string{"handle_in_address"}, "action 0"},
		"an absent field used": {func(n note, at plan.Target) []plan.Action { return comment(at, n.Version) }, commentOn(ask), []string{"invalid_action"}, "check the optional field"},
		"a zero target": {func(note, plan.Target) []plan.Action {
			return []plan.Action{plan.TableRow{Table: "notes"}}
		}, plan.Policy{plan.KindTableRow: auto}, []string{"invalid_action"}, "key"},
		"a reserved column": {func(_ note, at plan.Target) []plan.Action {
			return []plan.Action{plan.TableRow{Table: "notes", Key: at.Ref(), Columns: []plan.Column{plan.Text("label", "x")}}}
		}, plan.Policy{plan.KindTableRow: auto}, []string{"invalid_action"}, "label"},
		"too many actions": {func(_ note, at plan.Target) []plan.Action {
			return slices.Repeat(comment(at, "x"), plan.MaxActions+1)
		}, commentOn(ask), []string{"invalid_action"}, "33 actions"},
		"a plan that panics": {func(n note, _ plan.Target) []plan.Action { panic("words of " + n.Kind) }, commentOn(ask), []string{"plan_failed"}, "panicked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := noteSpec()
			s.Plan, s.Policy = c.plan, c.policy
			list, breaches := Build(s).Enumerate()
			if !slices.Equal(rules(breaches), c.rules) {
				t.Fatalf("breaches %v: want %v", breaches, c.rules)
			}
			if list == nil {
				t.Error("no list beside the breaches: want one to be looked at")
			}
			for _, b := range breaches {
				if !strings.Contains(b.String(), c.says) || strings.Contains(b.String(), "words of") {
					t.Errorf("breach %q: want it to name %s", b, c.says)
				}
			}
		})
	}
}

// What Build found is part of every audit.
func TestEnumerateKeepsWhatBuildFound(t *testing.T) {
	t.Parallel()
	s := noteSpec()
	s.Name, s.Policy = "Bad Name", nil
	_, breaches := Build(s).Enumerate()
	if got := rules(breaches); !slices.Equal(got, []string{"recipe_name", "kind_without_policy"}) {
		t.Errorf("rules %v", got)
	}
	list, breaches := Build(Spec[open]{Name: "open"}).Enumerate()
	if list != nil || !slices.Contains(rules(breaches), "shape_not_bounded") {
		t.Errorf("an unbounded shape: list %v, breaches %v", list, breaches)
	}
	s = noteSpec()
	s.Plan = nil
	if _, breaches := Build(s).Enumerate(); !slices.Contains(rules(breaches), "no_plan") {
		t.Errorf("no plan: %v", breaches)
	}
}

// The walk stops after a number of faults that can be read.
func TestEnumerateStopsAtManyFaults(t *testing.T) {
	t.Parallel()
	type many struct {
		N int `json:"n" jsonschema:"minimum=0,maximum=99"`
	}
	_, breaches := Build(Spec[many]{Name: "many", MaxDecide: 8, Plan: func(m many, at plan.Target) []plan.Action {
		return []plan.Action{plan.TableRow{Table: fmt.Sprintf("Bad%d", m.N), Key: at.Ref()}}
	}}).Enumerate()
	if len(breaches) != 16 {
		t.Errorf("%d breaches: want 16", len(breaches))
	}
}

// One skeleton over the limit is too many; the plan is then never asked.
func TestEnumerateRefusesMoreSkeletonsThanCanBeListed(t *testing.T) {
	t.Parallel()
	type wide struct { // 17 × 61,681 = 2^20 + 1
		A int `json:"a" jsonschema:"minimum=0,maximum=16"`
		B int `json:"b" jsonschema:"minimum=0,maximum=61680"`
	}
	r := Build(Spec[wide]{Name: "wide", MaxDecide: 21, Plan: func(wide, plan.Target) []plan.Action { panic("asked") }})
	if n := r.Shape().SkeletonCount(); n.Int64() != MaxSkeletons+1 {
		t.Fatalf("%s skeletons: want one over the limit", n)
	}
	list, breaches := r.Enumerate()
	if list != nil || !slices.Equal(rules(breaches), []string{"too_many_skeletons"}) || !strings.Contains(breaches[0].Mend, "1048577") {
		t.Errorf("list %v, breaches %v", list, breaches)
	}
}

var threeEvents = []Event{{Name: "issues.opened"}, {Name: "issues.edited"}, {Name: "push"}}

// A plan that never looks at the event is enumerated once, one that looks,
// even in one case only, for every event; every event's outcomes are listed.
func TestEnumerateAsksForEveryEventThatMatters(t *testing.T) {
	t.Parallel()
	at := func(table string, at plan.Target) []plan.Action {
		return []plan.Action{plan.TableRow{Table: table, Key: at.Ref()}}
	}
	for name, c := range map[string]struct {
		events   []Event
		plan     func(note, plan.Target) []plan.Action
		calls    int64
		outcomes int64
	}{
		"blind":            {threeEvents, func(n note, to plan.Target) []plan.Action { return at(n.Kind, to) }, noteSkeletons, 3},
		"blind, no events": {nil, func(n note, to plan.Target) []plan.Action { return at(n.Kind, to) }, noteSkeletons, 3},
		"by event": {threeEvents, func(_ note, to plan.Target) []plan.Action {
			return at(strings.ReplaceAll(to.Event(), ".", "_"), to)
		}, 3 * noteSkeletons, 3},
		"no events, asked": {nil, func(_ note, to plan.Target) []plan.Action { return at("event_"+to.Event(), to) }, noteSkeletons, 1},
		"in one case only": {threeEvents, func(n note, to plan.Target) []plan.Action {
			if n.Kind == "c" && n.Quote != nil && to.Event() == "push" {
				return at("pushed", to)
			}
			return at("rest", to)
		}, 3 * noteSkeletons, 2},
		"panics at the last": {threeEvents, func(_ note, to plan.Target) []plan.Action {
			if to.Event() == "issues.opened" {
				panic("words")
			}
			return at("rest", to)
		}, 1 + 2*noteSkeletons, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var calls atomic.Int64
			s := noteSpec()
			s.Events = c.events
			s.Plan = func(n note, to plan.Target) []plan.Action { calls.Add(1); return c.plan(n, to) }
			list, _ := Build(s).Enumerate()
			if calls.Load() != c.calls || list.Outcomes().Int64() != c.outcomes {
				t.Errorf("%d calls, %s outcomes: want %d, %d", calls.Load(), list.Outcomes(), c.calls, c.outcomes)
			}
		})
	}
}

// Whatever a structure says, an honest plan's outcome is one that the audit
// listed.
func TestEveryStructureOfAnHonestPlanIsListed(t *testing.T) {
	t.Parallel()
	s := noteSpec()
	s.Policy = plan.Policy{plan.KindTableRow: plan.Always(plan.Auto), plan.KindGitHubComment: plan.Always(plan.Ask)}
	s.Events = threeEvents
	s.Plan = func(n note, at plan.Target) []plan.Action {
		actions := keep(n, at)
		if n.Quote != nil && at.Event() != "push" {
			actions = append(actions, comment(at, at.Event(), " said ", n.Quote)...)
		}
		return actions
	}
	r := listed(t, s)
	list, code := r.List()
	if code != OK {
		t.Fatal(code)
	}
	rng := newRand()
	var v *shape.Value
	for range 2000 {
		v = r.Shape().Sample(rng)
		for _, e := range append([]Event{{Name: "unlisted"}}, threeEvents...) {
			o, _, err := r.Decide(v, e.Name)
			if err != nil {
				t.Fatal(err)
			}
			if unlisted := e.Name == "unlisted" && len(o.Actions) > 1; list.Admits(o) == unlisted {
				t.Fatalf("%s: admitted %t", e.Name, !unlisted)
			}
		}
	}
}
