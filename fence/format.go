package fence

import (
	"crypto/sha256"
	"fmt"
)

// What holds foreign text shows sizes, digests and our own words when it is formatted, whatever the verb, so that none
// reaches a log or an error by accident.

// foreign describes a text without showing it.
func foreign(s string) string {
	sum := sha256.Sum256([]byte(s))
	return fmt.Sprintf("%d bytes sha256:%x", len(s), sum[:6])
}

// shownID gives an id that keeps its alphabet.
func shownID(id string) string {
	if !isID(id, maxElementID) {
		return "invalid"
	}
	return id
}

// Format shows kind and id.
func (a Author) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "author(%v:%s)", a.Kind, shownID(a.ID)) }

// Format shows id, marks, and size and digest of the text.
func (e Element) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "element(%s %v %v %v, %s)", shownID(e.ID), e.Origin, e.Trust, e.Author, foreign(e.Text))
}

// Format shows run, recipe and the number of elements.
func (c RunContext) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "context(run %s, recipe %s, %d elements)", shownID(c.Run), shownID(c.Recipe), len(c.Elements))
}

// Format shows sizes and digests.
func (p Prompt) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "prompt(data %s, voice %s, %v)", foreign(p.data), foreign(p.voice), p.boundary)
}

// Format shows sizes and digests.
func (p ForeignPrompt) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "foreign prompt(data %s, voice %s)", foreign(p.Data), foreign(p.Voice))
}

// Format shows number, and size and digest of the text.
func (b Block) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "block(%d, %s)", b.N, foreign(b.Text))
}
