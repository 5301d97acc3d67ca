package plan

import (
	"slices"
	"strings"
	"testing"
)

// unlisted is an action of a kind that no table knows.
type unlisted struct{}

func (unlisted) Kind() Kind { return "mail.send" }

// decided is what each value of a Decision means, written a second time.
func decided(d Decision) (string, []Reason) {
	switch d {
	case 3:
		return "auto", nil
	case 2:
		return "ask", []Reason{"policy_ask"}
	}
	return "never", []Reason{"policy_never"}
}

func TestEveryKindLabelAndDecision(t *testing.T) {
	t.Parallel()
	all := []Decision{0, 1, 2, 3, 4, 255}
	for _, k := range AllKinds() {
		action := k.Trait().New()
		for _, s := range all {
			for _, tr := range all {
				for _, au := range all {
					for _, un := range all {
						p := Policy{k: Row{System: s, Trigger: tr, Authorized: au, Unverified: un}}
						for i, d := range []Decision{0, un, au, tr, s, 0} { // by the label's number; 0 and 5 are no labels
							want, reasons := decided(d)
							got := p.Decide(action, Label(i))
							if got.Decision.String() != want || !slices.Equal(got.Reasons, reasons) {
								t.Fatalf("%s under %s with %d: %s %v: want %s %v", k, Label(i), d, got.Decision, got.Reasons, want, reasons)
							}
							if got.Decision < Never || got.Decision > Auto {
								t.Fatalf("%s: decision %d is not of the closed list", k, got.Decision)
							}
						}
					}
				}
			}
		}
	}
}

func TestAKindWithoutARowIsNever(t *testing.T) {
	t.Parallel()
	full := Policy{}
	for _, k := range AllKinds() {
		full[k] = Always(Auto)
	}
	for _, k := range AllKinds() {
		for i := range Label(6) {
			others := Policy{}
			for o, r := range full {
				if o != k {
					others[o] = r
				}
			}
			for name, p := range map[string]Policy{"nil": nil, "others": others} {
				got := p.Decide(k.Trait().New(), i)
				if got.Decision != Never || !slices.Equal(got.Reasons, []Reason{ReasonNoRow}) {
					t.Errorf("%s under %s, policy %s: %s %v", k, i, name, got.Decision, got.Reasons)
				}
			}
			if got := full.Decide(unlisted{}, i); got.Decision != Never || !slices.Equal(got.Reasons, []Reason{ReasonNoRow}) {
				t.Errorf("unknown kind under %s: %s %v", i, got.Decision, got.Reasons)
			}
		}
	}
}

func TestARowAnswersWithADecisionOfTheListOnly(t *testing.T) {
	t.Parallel()
	for b := range 256 {
		d, want := Decision(b), Never
		if d == Ask || d == Auto {
			want = d
		}
		for _, l := range Labels() {
			if got := Always(d).For(l); got != want {
				t.Errorf("Always(%d).For(%s) = %d: want %s", d, l, got, want)
			}
		}
	}
}

func TestPolicyCheckNamesEachRowThatIsNotWritten(t *testing.T) {
	t.Parallel()
	if faults := (Policy{KindTableRow: Always(Never), KindGitHubClose: {Auto, Ask, Never, Auto}}).Check(); len(faults) > 0 {
		t.Errorf("a written policy is faulted: %v", faults)
	}
	for name, r := range map[string]Row{
		"system": {0, Ask, Ask, Ask}, "trigger": {Ask, 0, Ask, Ask}, "authorized": {Ask, Ask, 0, Ask}, "unverified": {Ask, Ask, Ask, 0}, "not of the list": Always(4),
	} {
		faults := Policy{KindTableRow: r, KindGitHubLabel: Always(Auto)}.Check()
		if len(faults) != 1 || !strings.Contains(faults[0].Error(), "table.row") {
			t.Errorf("%s left out: %v: want one fault that names table.row", name, faults)
		}
	}
	faults := Policy{"mail.send": Always(Auto), KindTableRow: {}}.Check()
	if len(faults) != 2 || !strings.Contains(faults[0].Error(), "mail.send") || !strings.Contains(faults[1].Error(), "table.row") {
		t.Errorf("faults %v: want mail.send, then table.row", faults)
	}
}

// Two tables have one digest only where they decide alike.
func TestPolicyDigestTellsDecisionsApart(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, k := range AllKinds() {
		for n := range 81 {
			d := func(i int) Decision { return Decision(n/i%3 + 1) }
			p := Policy{k: {d(1), d(3), d(9), d(27)}}
			var says strings.Builder
			says.WriteString(string(k))
			for _, l := range Labels() {
				says.WriteString(" " + p[k].For(l).String())
			}
			if was, ok := seen[p.Digest()]; ok {
				t.Fatalf("%q and %q have one digest", was, says.String())
			}
			seen[p.Digest()] = says.String()
		}
	}
	a := Policy{KindTableRow: Always(Auto), KindGitHubLabel: Always(Ask)}
	b := Policy{KindTableRow: Always(Ask), KindGitHubLabel: Always(Auto)}
	if a.Digest() == b.Digest() {
		t.Error("rows of two kinds changed places and the digest did not change")
	}
	if (Policy{KindTableRow: {}}).Digest() != (Policy{KindTableRow: Always(Never)}).Digest() {
		t.Error("a decision that was left out has another digest than never, which it means")
	}
}
