// Package credential holds what a sink proves itself with, so that it is
// printed by nobody: not by a log line of a configuration, nor by an error
// that was given one.
package credential

import (
	"fmt"
	"io"
)

// Secret is a token or a key. Every verb of fmt prints a constant, and JSON
// holds nothing of it. The zero Secret is empty.
type Secret struct{ text *string } // a pointer: of a field that it cannot ask to print itself, fmt prints what is there

// New takes a secret in.
func New(text string) Secret { return Secret{&text} }

// Reveal gives the secret to the one place that needs it.
func (s Secret) Reveal() string {
	if s.text == nil {
		return ""
	}
	return *s.text
}

// Empty reports whether there is none.
func (s Secret) Empty() bool { return s.Reveal() == "" }

// String is a constant.
func (Secret) String() string { return "secret(hidden)" }

// Format prints a constant for every verb.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }
