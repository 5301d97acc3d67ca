package plan

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// words is design section 2's order of labels, written a second time.
var words = []string{"system", "trigger", "authorized", "unverified"}

func TestLabelsAreTheFourOfTheDesignHighestFirst(t *testing.T) {
	t.Parallel()
	labels := Labels()
	if len(labels) != len(words) {
		t.Fatalf("%d labels: want %d", len(labels), len(words))
	}
	for i, l := range labels {
		if l.String() != words[i] || !l.Valid() {
			t.Errorf("label %d is %s, valid %t: want %s", i, l, l.Valid(), words[i])
		}
		if i > 0 && labels[i-1] <= l {
			t.Errorf("%s does not rank above %s", labels[i-1], l)
		}
	}
	for b := range 256 {
		l := Label(b)
		if l.Valid() != slices.Contains(labels, l) || l.Valid() == (l.String() == "invalid") {
			t.Errorf("label %d: valid %t, %s", b, l.Valid(), l)
		}
	}
}

func TestLowerNeverRaises(t *testing.T) {
	t.Parallel()
	for a := range Label(8) {
		for b := range Label(8) {
			got := Lower(a, b)
			want := Unverified
			if a.Valid() && b.Valid() {
				want = a
				if slices.Index(Labels(), b) > slices.Index(Labels(), a) {
					want = b
				}
			}
			if got != want {
				t.Errorf("Lower(%s, %s) = %s: want %s", a, b, got, want)
			}
			if got != Lower(b, a) {
				t.Errorf("Lower(%s, %s) depends on the order", a, b)
			}
			for c := range Label(8) {
				if Lower(Lower(a, b), c) != Lower(a, Lower(b, c)) {
					t.Errorf("Lower is not associative at %s, %s, %s", a, b, c)
				}
			}
		}
	}
}

func TestLabelAndDecisionTextIsExact(t *testing.T) {
	t.Parallel()
	for b := range 256 {
		text, err := Label(b).MarshalText()
		var back Label
		if !Label(b).Valid() {
			if err == nil {
				t.Errorf("label %d was written as %s", b, text)
			}
			continue
		}
		if err != nil || back.UnmarshalText(text) != nil || back != Label(b) {
			t.Errorf("label %d does not survive its text %q: %v", b, text, err)
		}
	}
	for _, d := range []Decision{Never, Ask, Auto} {
		text, err := d.MarshalText()
		var back Decision
		if err != nil || back.UnmarshalText(text) != nil || back != d {
			t.Errorf("decision %d does not survive its text %q: %v", d, text, err)
		}
	}
	for b := range 256 {
		if d := Decision(b); d != Ask && d != Auto && d.String() != "never" {
			t.Errorf("decision %d is %s: want never", b, d)
		}
	}
}

// A word in another case, with white space or made up is refused, leaves the
// value as it was, and is not repeated.
func TestLabelAndDecisionRefuseOtherWords(t *testing.T) {
	t.Parallel()
	known := append([]string{"auto", "ask", "never"}, words...)
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.OneOf(
			rapid.String(),
			rapid.Map(rapid.SampledFrom(known), strings.ToUpper),
			rapid.Map(rapid.SampledFrom(known), func(s string) string { return s + " " }),
			rapid.Map(rapid.SampledFrom(known), func(s string) string { return s[1:] }),
			rapid.Just("self"), rapid.Just("invalid"), rapid.Just(""),
		).Filter(func(s string) bool { return !slices.Contains(known, s) }).Draw(t, "word")
		l, d := Trigger, Ask
		lerr, derr := l.UnmarshalText([]byte(s)), d.UnmarshalText([]byte(s))
		if lerr == nil || derr == nil {
			t.Fatalf("%q was read as %s, %s", s, l, d)
		}
		if l != Trigger || d != Ask {
			t.Fatalf("a refused word changed the value to %s, %s", l, d)
		}
		marked := "\u2603" + s
		if err := l.UnmarshalText([]byte(marked)); err == nil || strings.Contains(err.Error(), "\u2603") {
			t.Fatalf("the error repeats the word: %v", err)
		}
	})
}
