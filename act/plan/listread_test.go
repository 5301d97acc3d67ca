package plan

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// What one list has and another has not is admitted by the difference, and
// nothing else is; it counts each outcome once.
func TestExceptIsTheDifferenceOfSets(t *testing.T) {
	t.Parallel()
	n, _ := fullOf(t)
	all := world(n)
	rapid.Check(t, func(t *rapid.T) {
		build := func(in map[int]bool) *List {
			var members []Outcome
			for i := range in {
				members = append(members, all[i])
			}
			return BuildList("r", "shape", listPolicy, members)
		}
		a, b := subset(t, len(all)), subset(t, len(all))
		d := build(a).Except(build(b))
		want := 0
		for i, o := range all {
			in := a[i] && !b[i]
			if in {
				want++
			}
			if d.Admits(o) != in {
				t.Fatalf("outcome %d, in one %t, in the other %t: admitted %t", i, a[i], b[i], !in)
			}
		}
		if d.Outcomes().Cmp(big.NewInt(int64(want))) != 0 {
			t.Fatalf("%s outcomes: want %d", d.Outcomes(), want)
		}
		if _, err := DecodeList(d.Encode()); err != nil {
			t.Fatal(err)
		}
	})
}

// An outcome is decided by its strictest action, and each is counted once.
func TestDecidedCountsWholeOutcomes(t *testing.T) {
	t.Parallel()
	l := BuildList("r", "shape", listPolicy, []Outcome{
		{}, outcomeOf(t, row(Int("a", 1))), outcomeOf(t, row(Int("a", 2))),
		outcomeOf(t, row(Int("a", 1)), GitHubLabel{target(), "x"}),
		outcomeOf(t, GitHubLabel{target(), "x"}, GitHubComment{target(), Say("y")}),
		outcomeOf(t, GitHubClose{target(), "completed"}),
	})
	for label, want := range map[Label][3]int64{
		System: {4, 1, 1}, Trigger: {4, 1, 1}, Authorized: {3, 2, 1}, Unverified: {3, 0, 3}, 0: {1, 0, 5},
	} {
		got := l.Decided(label)
		for i, d := range []Decision{Auto, Ask, Never} {
			if got[d].Int64() != want[i] {
				t.Errorf("%s: %s of %s: want %d", label, got[d], d, want[i])
			}
		}
	}
}

func TestLinesAndClassesAreThoseOfTheList(t *testing.T) {
	t.Parallel()
	l := BuildList("r", "shape", listPolicy, []Outcome{outcomeOf(t, GitHubLabel{target(), "x"}), outcomeOf(t, GitHubLabel{target(), "y"}), {}})
	lines := l.Lines()
	if len(lines) != 1 || lines[0].String() != `github.label issue="@target" label="x"|"y"` {
		t.Fatalf("lines %v", lines)
	}
	lines[0].Params[1].Values[0] = "changed"
	var sizes []string
	l.EachClass(func(n *big.Int, actions []Line) bool { sizes = append(sizes, n.String()); return len(actions) == 0 })
	if len(sizes) != 2 || sizes[0] != "1" || sizes[1] != "2" || l.Lines()[0].Params[1].Values[0] != `"x"` {
		t.Errorf("classes of %v outcomes", sizes)
	}
}
