package authority

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// matches is what IAM's patterns mean, by the book.
func matches(pattern, s string) bool {
	if pattern == "" {
		return s == ""
	}
	if pattern[0] == anyRun {
		return matches(pattern[1:], s) || s != "" && matches(pattern, s[1:])
	}
	return s != "" && (pattern[0] == anyOne || pattern[0] == s[0]) && matches(pattern[1:], s[1:])
}

// words are all strings of up to n letters of an alphabet.
func words(alphabet string, n int) []string {
	all, last := []string{""}, []string{""}
	for range n {
		var next []string
		for _, w := range last {
			for _, c := range alphabet {
				next = append(next, w+string(c))
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

// All pairs of short patterns against all words that can tell them apart or
// let them meet: twice as long as a pattern, with a letter c that stands for
// every letter that occurs in neither.
func TestCoversAndOverlapsAgreeWithBruteForce(t *testing.T) {
	t.Parallel()
	agree(t, words("ab*?", 3), words("abc", 6))
	agree(t, words("a*?", 5), words("ac", 10))
}

func agree(t *testing.T, patterns, texts []string) {
	t.Helper()
	matched := make([][]uint64, len(patterns))
	for i, p := range patterns {
		matched[i] = make([]uint64, len(texts)/64+1)
		for j, s := range texts {
			if matches(p, s) {
				matched[i][j/64] |= 1 << (j % 64)
			}
		}
	}
	for i, p := range patterns {
		for j, q := range patterns {
			within, shared := true, false
			for k, m := range matched[j] {
				within = within && m&^matched[i][k] == 0
				shared = shared || m&matched[i][k] != 0
			}
			if got := covers(p, q); got != within {
				t.Fatalf("covers(%q, %q) = %v, want %v", p, q, got, within)
			}
			if got := overlaps(p, q); got != shared {
				t.Fatalf("overlaps(%q, %q) = %v, want %v", p, q, got, shared)
			}
		}
	}
}

func TestCoversIsAnOrderAndImpliesOverlap(t *testing.T) {
	t.Parallel()
	pattern := rapid.StringOfN(rapid.SampledFrom([]rune("ab/:*?")), 0, 9, -1)
	rapid.Check(t, func(t *rapid.T) {
		p, q, r := pattern.Draw(t, "p"), pattern.Draw(t, "q"), pattern.Draw(t, "r")
		if !covers(p, p) || !covers("*", p) || !covers(p+"*", p) {
			t.Fatalf("%q: want it within itself and within what is wider", p)
		}
		if covers(p, q) && covers(q, r) && !covers(p, r) {
			t.Fatalf("%q covers %q covers %q, but the first not the last", p, q, r)
		}
		if covers(p, q) && !overlaps(p, q) {
			t.Fatalf("%q covers %q without a string in common", p, q)
		}
		if overlaps(p, q) != overlaps(q, p) {
			t.Fatalf("%q and %q overlap one way only", p, q)
		}
	})
}

// Two patterns that would take too long to compare are taken for not covered,
// though they are: a deny is then not counted, and the right stays in the
// table.
func TestCoversGivesUpOnTheSafeSide(t *testing.T) {
	t.Parallel()
	pair := func(n int) (outer, inner string) {
		return "*a" + strings.Repeat("?", n) + "*", strings.Repeat("*a", n) + strings.Repeat("?", n)
	}
	if outer, inner := pair(4); !covers(outer, inner) {
		t.Errorf("covers(%q, %q): want true", outer, inner)
	}
	if outer, inner := pair(16); covers(outer, inner) {
		t.Errorf("covers(%q, %q): want it given up", outer, inner)
	}
}
