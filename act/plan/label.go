// Package plan says what may be done: labels and decisions, kinds of action
// with typed parameters, targets, policy tables, and lists of outcomes.
//
// It is pure: it performs nothing and reads nothing. A recipe's plan returns
// values of this package, `decant audit` enumerates them into a reviewed
// list, and act refuses every outcome that the list does not admit. It does
// not promise that an outcome is wise, only that it was listed.
package plan

import (
	"fmt"
)

// Label is the trust that policy is keyed on: the lower of the actor's trust
// when act runs and the lowest trust of any origin that the recipe reads.
// The zero Label is invalid and ranks below every other.
type Label uint8

// The labels, lowest first. The agent's own earlier output (trust "self")
// ranks with Unverified, so no label of its own exists for it.
const (
	Unverified Label = iota + 1
	Authorized
	Trigger
	System
)

// Labels lists every valid label, highest first.
func Labels() []Label { return []Label{System, Trigger, Authorized, Unverified} }

// Lower returns the lower of two labels; an invalid label yields Unverified.
func Lower(a, b Label) Label {
	if !a.Valid() || !b.Valid() {
		return Unverified
	}
	return min(a, b)
}

// Valid reports whether l is one of the four labels.
func (l Label) Valid() bool { return l >= Unverified && l <= System }

// String returns the label's word in the design, "invalid" for the zero value.
func (l Label) String() string {
	switch l {
	case Unverified:
		return "unverified"
	case Authorized:
		return "authorized"
	case Trigger:
		return "trigger"
	case System:
		return "system"
	default:
		return "invalid"
	}
}

// MarshalText writes the label's word; an invalid label is an error.
func (l Label) MarshalText() ([]byte, error) {
	if !l.Valid() {
		return nil, fmt.Errorf("label %d: want unverified, authorized, trigger or system", uint8(l))
	}
	return []byte(l.String()), nil
}

// UnmarshalText reads one of the four words, exactly as spelt.
func (l *Label) UnmarshalText(b []byte) error {
	for _, v := range Labels() {
		if v.String() == string(b) {
			*l = v
			return nil
		}
	}
	return fmt.Errorf("label of %d bytes: want unverified, authorized, trigger or system", len(b))
}

// Decision is what policy says of one action. The zero Decision is invalid
// and is treated as Never everywhere.
type Decision uint8

// The decisions, strictest first.
const (
	Never Decision = iota + 1
	Ask
	Auto
)

// String returns "never", "ask" or "auto"; anything else is "never".
func (d Decision) String() string {
	switch d {
	case Ask:
		return "ask"
	case Auto:
		return "auto"
	default:
		return "never"
	}
}

// MarshalText writes the decision's word.
func (d Decision) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads "auto", "ask" or "never".
func (d *Decision) UnmarshalText(b []byte) error {
	switch string(b) {
	case "auto":
		*d = Auto
	case "ask":
		*d = Ask
	case "never":
		*d = Never
	default:
		return fmt.Errorf("decision of %d bytes: want auto, ask or never", len(b))
	}
	return nil
}
