package authority

import "strings"

// IAM's patterns: * stands for any run of characters, ? for one (IAM User
// Guide, "IAM JSON policy elements: Resource").

const (
	anyRun = '*'
	anyOne = '?'
	// other stands for a character that occurs in neither pattern. What
	// matches it can match every character.
	other = '\x00'
	// maxStates bounds the search of covers.
	maxStates = 1 << 14
)

// wild reports whether s has a wildcard.
func wild(s string) bool { return strings.ContainsAny(s, "*?") }

// covers reports whether every string that inner matches is matched by outer.
// It is exact, except that it answers false where deciding would take more
// than maxStates steps.
//
// The strings of inner that are hardest to match fill its wildcards with a
// character foreign to both patterns, so only these are searched: a pair of a
// place in inner and the set of places in outer that are then possible.
func covers(outer, inner string) bool {
	switch {
	case outer == inner:
		return true
	case !wild(outer):
		return false
	}
	type pair struct {
		in  int
		out string
	}
	begin := make([]byte, len(outer)+1)
	begin[0] = 1
	start := pair{0, closure(outer, begin)}
	seen := map[pair]bool{start: true}
	todo := []pair{start}
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if at.in == len(inner) {
			if at.out[len(outer)] == 0 {
				return false
			}
			continue
		}
		var next []pair
		switch c := inner[at.in]; c {
		case anyRun:
			next = []pair{{at.in + 1, at.out}, {at.in, advance(outer, at.out, other)}}
		case anyOne:
			next = []pair{{at.in + 1, advance(outer, at.out, other)}}
		default:
			next = []pair{{at.in + 1, advance(outer, at.out, c)}}
		}
		for _, p := range next {
			if !seen[p] {
				seen[p] = true
				todo = append(todo, p)
			}
		}
		if len(seen) > maxStates {
			return false
		}
	}
	return true
}

// closure is a set of places in pattern, one byte a place, widened by skipping
// runs that match nothing.
func closure(pattern string, set []byte) string {
	for i := range len(pattern) {
		if set[i] == 1 && pattern[i] == anyRun {
			set[i+1] = 1
		}
	}
	return string(set)
}

// advance is the set of places after one more character.
func advance(pattern, set string, c byte) string {
	next := make([]byte, len(set))
	for i := range len(pattern) {
		if set[i] == 0 {
			continue
		}
		switch p := pattern[i]; {
		case p == anyRun:
			next[i] = 1
		case p == anyOne || p == c && c != other:
			next[i+1] = 1
		}
	}
	return closure(pattern, next)
}

// overlaps reports whether some string is matched by both patterns.
func overlaps(a, b string) bool {
	// row[j] says whether what is left of a from i on and of b from j on overlap.
	row := make([]bool, len(b)+1)
	for i := len(a); i >= 0; i-- {
		next := make([]bool, len(b)+1)
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a) && j == len(b):
				next[j] = true
			case i < len(a) && a[i] == anyRun:
				next[j] = row[j] || j < len(b) && next[j+1]
			case j < len(b) && b[j] == anyRun:
				next[j] = next[j+1] || i < len(a) && row[j]
			case i < len(a) && j < len(b):
				next[j] = row[j+1] && (a[i] == b[j] || a[i] == anyOne || b[j] == anyOne)
			}
		}
		row = next
	}
	return row[0]
}
