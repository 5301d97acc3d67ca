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
// categories L, M, N, P, S and the ASCII space, and every one of these that
// leaves no mark, is written as ⟦U+202E⟧, an invalid byte as ⟦0xFF⟧, and a
// literal ⟦ as ⟦U+27E6⟧. Different texts never look the same.
func Line(s string) string {
	if plain(s) {
		return s
	}
	var sb strings.Builder
	shown := rune(0) // the rune before, unless it was escaped
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		before := shown
		shown = 0
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&sb, "⟦0x%02X⟧", s[i])
		case r == '⟦' || !unicode.IsPrint(r) || invisible(r) && !styles(r, before):
			fmt.Fprintf(&sb, "⟦U+%04X⟧", r)
		default:
			sb.WriteRune(r)
			shown = r
		}
		i += n
	}
	return sb.String()
}

// invisible reports whether a rune that counts as a letter or a mark is drawn
// as nothing: fillers, joiners and variation selectors, of which a run can
// carry any text unseen.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// styles reports whether r asks for the coloured or the plain form of the
// symbol before it.
func styles(r, before rune) bool {
	return (r == '\uFE0E' || r == '\uFE0F') && unicode.IsSymbol(before)
}

// Cut is Line of at most n runes of s, n at least 0; what is left out is shown
// as "…". An invalid byte counts as a rune.
func Cut(s string, n int) string {
	for i := range s {
		if n--; n < 0 {
			return Line(s[:i]) + "…"
		}
	}
	return Line(s)
}

func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
