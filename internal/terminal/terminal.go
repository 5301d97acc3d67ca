// Package terminal prints text of foreign origin to a person at a terminal.
//
// What a terminal could act on, or what could hide or reorder what a person
// reads, is shown as an escape, by act's renderer of that place. Nothing is
// deleted but what Cut leaves out, and says so.
package terminal

import "decant.dev/act/render"

// Line is render.Terminal: s on one line, every rune that is not printable or
// leaves no mark as ⟦U+202E⟧, an invalid byte as ⟦0xFF⟧, and a literal ⟦ as
// ⟦U+27E6⟧. Different texts never look the same.
func Line(s string) string { return render.Terminal(s) }

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
