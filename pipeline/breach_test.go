package pipeline

import (
	"slices"
	"testing"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
)

type choiceOnly struct {
	Kind string `json:"kind" jsonschema:"enum=a,enum=b"`
}

// plainSpec is a recipe without a breach, of any shape.
func plainSpec[T any]() Spec[T] {
	return Spec[T]{
		Name: "plain", MaxDecide: 40, MaxCarry: 4000, Policy: plan.Policy{plan.KindTableRow: plan.Always(plan.Auto)},
		Plan: func(_ T, at plan.Target) []plan.Action {
			return []plan.Action{plan.TableRow{Table: "plain", Key: at.Ref()}}
		},
	}
}

func plainWith(change func(*Spec[choiceOnly])) *Recipe {
	s := plainSpec[choiceOnly]()
	change(&s)
	return Build(s)
}

// labels gives a plan that labels what the event named.
func labels(_ choiceOnly, at plan.Target) []plan.Action {
	return []plan.Action{plan.GitHubLabel{Issue: at.Ref(), Label: "x"}}
}

// For every rule there is a recipe that breaks it and no other.
func TestEachRuleIsBrokenAlone(t *testing.T) {
	t.Parallel()
	type noted struct {
		Body shape.Text `json:"body" jsonschema:"maxLength=10"`
	}
	type unbounded struct {
		Body string `json:"body"`
	}
	type longToken struct {
		Order shape.Token `json:"order" jsonschema:"pattern=^[a-z]{40}$"`
	}
	type wide struct {
		A int `json:"a" jsonschema:"minimum=0,maximum=1024"`
		B int `json:"b" jsonschema:"minimum=0,maximum=1024"`
	}
	said := plainSpec[noted]()
	said.Policy = plan.Policy{plan.KindGitHubComment: {System: plan.Auto, Trigger: plan.Ask, Authorized: plan.Ask, Unverified: plan.Ask}}
	said.Plan = func(n noted, at plan.Target) []plan.Action {
		return []plan.Action{plan.GitHubComment{Issue: at.Ref(), Body: plan.Say(n.Body)}}
	}
	addressed := plainSpec[noted]()
	addressed.Plan = func(n noted, _ plan.Target) []plan.Action { return []plan.Action{forged{plan.Say(n.Body)}} }
	carrying := plainSpec[noted]()
	carrying.MaxCarry = 10
	tick := func(s *Spec[choiceOnly]) { s.Events = []Event{{Name: Tick}} }

	broken := map[string]*Recipe{
		"recipe_name":    plainWith(func(s *Spec[choiceOnly]) { s.Name = "Plain" }),
		"event_name":     plainWith(func(s *Spec[choiceOnly]) { s.Events = []Event{{Name: "Opened"}} }),
		"approvals":      plainWith(func(s *Spec[choiceOnly]) { s.Approvals = 3 }),
		"readers":        plainWith(func(s *Spec[choiceOnly]) { s.Readers = 9 }),
		"budget":         plainWith(func(s *Spec[choiceOnly]) { s.Budgets = []plan.Budget{{}} }),
		"schedule_event": plainWith(func(s *Spec[choiceOnly]) { s.Schedules = []Schedule{{Name: "hourly"}} }),
		"schedule_name":  plainWith(func(s *Spec[choiceOnly]) { tick(s); s.Schedules = []Schedule{{Name: "Hourly", Channel: "feed:x"}} }),
		"schedule_channel": plainWith(func(s *Spec[choiceOnly]) {
			tick(s)
			s.Schedules = []Schedule{{Name: "hourly", Channel: "no channel"}}
		}),
		"schedule_target": plainWith(func(s *Spec[choiceOnly]) {
			tick(s)
			s.Schedules = []Schedule{{Name: "hourly", Target: Target{Number: -1}}}
		}),
		"policy_row": plainWith(func(s *Spec[choiceOnly]) {
			s.Policy = plan.Policy{plan.KindTableRow: plan.Always(plan.Auto), "mail.send": plan.Always(plan.Ask)}
		}),
		"no_plan":            plainWith(func(s *Spec[choiceOnly]) { s.Plan = nil }),
		"shape_not_bounded":  Build(plainSpec[unbounded]()),
		"token_is_text":      Build(plainSpec[longToken]()),
		"over_max_decide":    plainWith(func(s *Spec[choiceOnly]) { s.MaxDecide = 1 }),
		"over_max_carry":     Build(carrying),
		"too_many_skeletons": Build(plainSpec[wide]()),
		"plan_failed":        plainWith(func(s *Spec[choiceOnly]) { s.Plan = func(choiceOnly, plan.Target) []plan.Action { panic("words") } }),
		"invalid_action": plainWith(func(s *Spec[choiceOnly]) {
			s.Plan = func(_ choiceOnly, at plan.Target) []plan.Action {
				return []plan.Action{plan.TableRow{Table: "Bad Name", Key: at.Ref()}}
			}
		}),
		"handle_in_address":   Build(addressed),
		"kind_without_policy": plainWith(func(s *Spec[choiceOnly]) { s.Plan = labels }),
		"speaks_text":         Build(said),
		"audience_wider": plainWith(func(s *Spec[choiceOnly]) {
			s.Plan, s.Policy, s.Readers = labels, plan.Policy{plan.KindGitHubLabel: plan.Always(plan.Ask)}, plan.Operators
		}),
	}
	for _, rule := range Rules() {
		r, ok := broken[rule]
		if !ok {
			t.Errorf("%s: want a recipe that breaks it", rule)
			continue
		}
		_, breaches := r.Enumerate()
		if got := slices.Compact(rules(breaches)); !slices.Equal(got, []string{rule}) {
			t.Errorf("%s: breaches %v", rule, breaches)
		}
	}
	if len(broken) != len(Rules()) {
		t.Errorf("%d recipes for %d rules", len(broken), len(Rules()))
	}
	if _, breaches := plainWith(func(*Spec[choiceOnly]) {}).Enumerate(); len(breaches) > 0 {
		t.Errorf("the plain recipe has the breaches %v", breaches)
	}
}

// A wider sink is no breach where the recipe says that it is meant, nor one
// that is as narrow as the sources.
func TestAudiencesThatARecipeMayHave(t *testing.T) {
	t.Parallel()
	for _, readers := range append(plan.Audiences(), 0) {
		for _, widens := range []bool{false, true} {
			r := plainWith(func(s *Spec[choiceOnly]) {
				s.Plan, s.Policy = labels, plan.Policy{plan.KindGitHubLabel: plan.Always(plan.Ask)}
				s.Readers, s.Widens = readers, widens
			})
			_, breaches := r.Enumerate()
			if want := readers == plan.Operators && !widens; (len(breaches) > 0) != want {
				t.Errorf("sources for %s, widens %t: breaches %v", readers, widens, breaches)
			}
		}
	}
}
