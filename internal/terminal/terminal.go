// Package terminal renders text of foreign origin for a terminal.
//
// What a terminal could act on, or what could hide or reorder what a person
// reads, is shown as an escape. Nothing is deleted.
package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line renders s on one line: every rune that is not printable, by Unicode's
// categories L, M, N, P, S and the ASCII space, is written as ⟦U+202E⟧, an
// invalid byte as ⟦0xFF⟧, and a literal ⟦ as ⟦U+27E6⟧.
func Line(s string) string {
	if plain(s) {
		return s
	}
	var sb strings.Builder
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&sb, "⟦0x%02X⟧", s[i])
		case r == '⟦' || !unicode.IsPrint(r):
			fmt.Fprintf(&sb, "⟦U+%04X⟧", r)
		default:
			sb.WriteRune(r)
		}
		i += n
	}
	return sb.String()
}

// Cut is Line of at most n runes of s; what is left out is shown as "…".
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return Line(s)
	}
	return Line(string([]rune(s)[:n])) + "…"
}

func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
