package plan

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

var listPolicy = Policy{
	KindTableRow: Always(Auto), KindGitHubLabel: {Auto, Auto, Ask, Never}, KindGitHubComment: Always(Ask),
}

// world is every outcome that the list tests draw from: products of several
// signatures, with constants that would confuse a careless encoding.
func world(n note) []Outcome {
	var all [][]Action
	label := func(s string) Action { return GitHubLabel{target(), s} }
	labels := []string{"bug", "@bug", "@target", `x","y`}
	all = append(all, nil)
	for _, a := range labels {
		all = append(all, []Action{label(a)})
		for _, b := range labels[:3] {
			all = append(all, []Action{label(a), label(b)})
		}
	}
	for _, kind := range []string{"a", "null", "1", "line\nfeed"} {
		for severity := range 3 {
			for _, version := range []Column{Token("version", nil), Token("version", n.Version), Text("version", "@version")} {
				r := row(Text("kind", kind), Int("severity", severity), version)
				all = append(all, []Action{r}, []Action{r, GitHubComment{target(), Say("severe: ", n.Body)}})
			}
		}
		all = append(all, []Action{row(Text("kind", kind))}, []Action{row(Text("kinds", kind))}, []Action{GitHubComment{target(), Say(kind)}})
	}
	outcomes := make([]Outcome, len(all))
	for i, actions := range all {
		o, err := NewOutcome(actions)
		if err != nil {
			panic(err)
		}
		outcomes[i] = o
	}
	return outcomes
}

// subset draws outcomes of the world as a union of runs, which factor well,
// and single ones, which do not.
func subset(t *rapid.T, size int) map[int]bool {
	in := map[int]bool{}
	for range rapid.IntRange(0, 4).Draw(t, "runs") {
		from := rapid.IntRange(0, size-1).Draw(t, "from")
		step := rapid.SampledFrom([]int{1, 2, 3, 6}).Draw(t, "step")
		for i := from; i < size && i < from+step*rapid.IntRange(1, 24).Draw(t, "length"); i += step {
			in[i] = true
		}
	}
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, size-1), 0, 12).Draw(t, "singles") {
		in[i] = true
	}
	for _, i := range rapid.SliceOfN(rapid.IntRange(0, size-1), 0, 8).Draw(t, "holes") {
		delete(in, i)
	}
	return in
}

// A list admits exactly the outcomes it was built of, counts each once, does
// not depend on their order, and is the same after it was written and read.
func TestListAdmitsExactlyWhatItWasBuiltOf(t *testing.T) {
	t.Parallel()
	n, _ := fullOf(t)
	all := world(n)
	keys := map[string]bool{}
	for _, o := range all {
		keys[o.Key()] = true
	}
	if len(keys) != len(all) {
		t.Fatalf("%d distinct outcomes of %d: the world repeats itself", len(keys), len(all))
	}
	rapid.Check(t, func(t *rapid.T) {
		in := subset(t, len(all))
		var members []Outcome
		for i := range in {
			members = append(members, all[i])
		}
		for range rapid.IntRange(0, 3).Draw(t, "repeats") {
			if len(members) > 0 {
				members = append(members, members[0])
			}
		}
		list := BuildList("r", "shape", listPolicy, members)
		encoded := list.Encode()
		read, err := DecodeList(encoded)
		if err != nil {
			t.Fatalf("a list does not read what it wrote: %v\n%s", err, encoded)
		}
		if again := read.Encode(); !bytes.Equal(again, encoded) {
			t.Fatalf("written again:\n%s\nwant\n%s", again, encoded)
		}
		for name, l := range map[string]*List{"built": list, "read": read} {
			if want := fmt.Sprint(len(in)); l.Outcomes().String() != want {
				t.Fatalf("%s: %s outcomes: want %s", name, l.Outcomes(), want)
			}
			if l.Classes() > len(in) {
				t.Fatalf("%s: %d classes for %d outcomes", name, l.Classes(), len(in))
			}
			for i, o := range all {
				if l.Admits(o) != in[i] {
					t.Fatalf("%s: outcome %d, listed %t: admitted %t", name, i, in[i], l.Admits(o))
				}
			}
		}
		slices.Reverse(members)
		if other := BuildList("r", "shape", listPolicy, members).Encode(); !bytes.Equal(other, encoded) {
			t.Fatalf("the order of outcomes changed the list:\n%s\nwas\n%s", other, encoded)
		}
		shuffled := rapid.Permutation(members).Draw(t, "order")
		if other := BuildList("r", "shape", listPolicy, shuffled).Encode(); !bytes.Equal(other, encoded) {
			t.Fatalf("the order of outcomes changed the list:\n%s\nwas\n%s", other, encoded)
		}
	})
}

// Random cells of a cube of columns: whatever is left out of the cube stays
// out, however much of the rest merges.
func TestListIsNeverWiderThanACubeWithHoles(t *testing.T) {
	t.Parallel()
	const side = 4
	var cube []Outcome
	for i := range side * side * side {
		cube = append(cube, outcomeOf(t, row(Int("a", i%side), Int("b", i/side%side), Int("c", i/side/side))))
	}
	rapid.Check(t, func(t *rapid.T) {
		holes := rapid.SliceOfNDistinct(rapid.IntRange(0, len(cube)-1), 0, len(cube), rapid.ID[int]).Draw(t, "holes")
		var members []Outcome
		for i, o := range cube {
			if !slices.Contains(holes, i) {
				members = append(members, o)
			}
		}
		list := BuildList("r", "shape", listPolicy, members)
		if list.Outcomes().Int64() != int64(len(members)) {
			t.Fatalf("%s outcomes: want %d", list.Outcomes(), len(members))
		}
		for i, o := range cube {
			if list.Admits(o) == slices.Contains(holes, i) {
				t.Fatalf("cell %d, hole %t: admitted %t", i, slices.Contains(holes, i), list.Admits(o))
			}
		}
	})
}

// A whole product is one class: the list is short enough to be read.
func TestAProductIsOneClass(t *testing.T) {
	t.Parallel()
	var members []Outcome
	for i := range 60 {
		members = append(members, outcomeOf(t, row(Int("a", i%3), Int("b", i/3%4), Int("c", i/12))))
	}
	if l := BuildList("r", "shape", listPolicy, members); l.Classes() != 1 || l.Outcomes().Int64() != 60 {
		t.Errorf("%d classes of %s outcomes: want 1 of 60", l.Classes(), l.Outcomes())
	}
}

// An outcome is admitted whole: neither more actions nor fewer, in no other
// order, and by no list that is not there.
func TestAdmitsWantsTheWholeOutcome(t *testing.T) {
	t.Parallel()
	a, b := GitHubLabel{target(), "a"}, GitHubLabel{target(), "b"}
	list := BuildList("r", "shape", listPolicy, []Outcome{outcomeOf(t, a, b)})
	for name, o := range map[string]Outcome{
		"none": {}, "first": outcomeOf(t, a), "second": outcomeOf(t, b), "swapped": outcomeOf(t, b, a), "more": outcomeOf(t, a, b, b), "twice": outcomeOf(t, a, b, a, b),
	} {
		if list.Admits(o) {
			t.Errorf("%s: admitted", name)
		}
	}
	if !list.Admits(outcomeOf(t, a, b)) {
		t.Error("the listed outcome is not admitted")
	}
	var none *List
	if none.Admits(Outcome{}) || new(List).Admits(Outcome{}) {
		t.Error("a list of nothing admits the outcome of no action")
	}
	if !BuildList("r", "shape", listPolicy, []Outcome{{}}).Admits(Outcome{}) {
		t.Error("the outcome of no action is listed and not admitted")
	}
}

func TestTheListShowsWhatPolicyDecides(t *testing.T) {
	t.Parallel()
	list := BuildList("r", "shape", listPolicy, []Outcome{outcomeOf(t, GitHubLabel{target(), "a"}, GitHubClose{target(), "completed"})}).Encode()
	for _, want := range []string{
		`"github.label 1": {"decision": {"system": "auto", "trigger": "auto", "authorized": "ask", "unverified": "never"}, "address": {"issue": "@target", "label": "a"}, "content": {}}`,
		`"github.close 1": {"decision": "never", "address": {"issue": "@target"}, "content": {"reason": "completed"}}`,
		`{"outcomes": 1, "actions": ["github.label 1", "github.close 1"]}`,
	} {
		if !bytes.Contains(list, []byte(want)) {
			t.Errorf("the list\n%s\nlacks %s", list, want)
		}
	}
}

func TestOutcomesIsACopy(t *testing.T) {
	t.Parallel()
	list := BuildList("r", "shape", listPolicy, []Outcome{{}})
	list.Outcomes().SetInt64(99)
	if list.Outcomes().Int64() != 1 {
		t.Error("a caller changed the list's count")
	}
}

// An action that stands in many classes is spelt once.
func TestAnActionIsSpeltOnce(t *testing.T) {
	t.Parallel()
	var members []Outcome
	for i := range 8 { // eight signatures, and so eight classes at least
		actions := []Action{row(Text("kind", "a"))}
		for range i {
			actions = append(actions, GitHubLabel{target(), "x"})
		}
		members = append(members, outcomeOf(t, actions...))
	}
	l := BuildList("r", "shape", listPolicy, members)
	encoded := l.Encode()
	if l.Classes() != 8 || bytes.Count(encoded, []byte(`"table": `)) != 1 || bytes.Count(encoded, []byte(`"label": "x"`)) != 1 {
		t.Errorf("%d classes:\n%s", l.Classes(), encoded)
	}
}

// Within a kind the numbers follow the order of what is spelt, past 9 too.
func TestNumbersAreCounted(t *testing.T) {
	t.Parallel()
	var members []Outcome
	for i := range 12 {
		members = append(members, outcomeOf(t, slices.Repeat([]Action{GitHubLabel{target(), fmt.Sprintf("l%02d", i)}}, i+1)...))
	}
	encoded := BuildList("r", "shape", listPolicy, members).Encode()
	if !bytes.Contains(encoded, []byte(`"github.label 12": {"decision": {"system": "auto", "trigger": "auto", "authorized": "ask", "unverified": "never"}, "address": {"issue": "@target", "label": "l11"}`)) {
		t.Errorf("the list\n%s\nlacks its twelfth label", encoded)
	}
	if _, err := DecodeList(encoded); err != nil {
		t.Error(err)
	}
}
