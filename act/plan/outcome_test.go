package plan

import (
	"strings"
	"testing"
)

// impostor bears a kind of ours and names parameters of its own: an audit
// would list it and a sink would not know it.
type impostor struct {
	Issue Ref      `address:"issue"`
	Label Template `content:"label"`
}

func (impostor) Kind() Kind { return KindGitHubLabel }

type wrapped struct{ GitHubLabel }

func TestOutcomesAreMadeOfThisPackagesActionsOnly(t *testing.T) {
	t.Parallel()
	fine := GitHubLabel{target(), "x"}
	var pointer *GitHubLabel
	for name, a := range map[string]Action{
		"nil": nil, "nil pointer": pointer, "pointer": &fine, "another type of a known kind": impostor{target(), Say("x")},
		"wrapped": wrapped{fine}, "unknown kind": unlisted{}, "invalid": GitHubLabel{Label: "x"},
	} {
		o, err := NewOutcome([]Action{fine, a})
		if err == nil || !strings.Contains(err.Error(), "action 1") {
			t.Errorf("%s: %v: want a refusal that names action 1", name, err)
		}
		if len(o.Actions) > 0 {
			t.Errorf("%s: an outcome beside the error", name)
		}
	}
}

func TestOutcomesAreBounded(t *testing.T) {
	t.Parallel()
	actions := make([]Action, MaxActions+1)
	for i := range actions {
		actions[i] = GitHubLabel{target(), "x"}
	}
	if _, err := NewOutcome(actions); err == nil {
		t.Errorf("%d actions pass: want at most %d", len(actions), MaxActions)
	}
	o := outcomeOf(t, actions[:MaxActions]...)
	if len(o.Actions) != MaxActions {
		t.Errorf("%d actions: want %d", len(o.Actions), MaxActions)
	}
	for i, a := range o.Actions {
		if a.Kind != o.Action(i).Kind() {
			t.Errorf("action %d is a %s and its listing a %s", i, o.Action(i).Kind(), a.Kind)
		}
	}
}

// The key tells apart what differs in kind, order, parameter name, place or
// value, and nothing else.
func TestKeyIsEqualForEqualOutcomesOnly(t *testing.T) {
	t.Parallel()
	n, _ := fullOf(t)
	m, _ := lift[note](t, `{"body":"other","kind":"a","quote":"words","version":"v9"}`)
	if a, b := outcomeOf(t, row(Quote("q", n.Quote))), outcomeOf(t, row(Quote("q", m.Quote))); a.Key() != b.Key() {
		t.Error("what a quote says changed the key")
	}
	label := func(s string) Action { return GitHubLabel{target(), s} }
	seen := map[string]int{}
	for i, actions := range [][]Action{
		{}, {label("a")}, {label("b")}, {label("a"), label("b")}, {label("b"), label("a")}, {label("a"), label("a")},
		{label("a\nb")}, {label(`a","b`)}, {row()}, {row(Text("a", "x"))}, {row(Text("b", "x"))}, {row(Text("a", "x"), Text("b", "x"))},
		{row(), row()}, {row(Text("a", "1"))}, {row(Int("a", 1))}, {row(Text("a", "null"))}, {row(Token("a", nil))}, {row(Token("a", n.Version))},
		{row(Text("a", "@version"))}, {GitHubClose{target(), "a"}}, {GitHubComment{target(), Say("a")}}, {GitHubComment{target(), Say("a", "")}},
		{TableRow{Table: "other", Key: target()}}, {label("x"), row(Text("a", "x"))}, {row(Text("a", "x")), label("x")},
	} {
		k := outcomeOf(t, actions...).Key()
		if j, ok := seen[k]; ok {
			t.Errorf("outcomes %d and %d have one key", j, i)
		}
		seen[k] = i
	}
}
