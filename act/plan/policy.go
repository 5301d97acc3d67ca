package plan

import (
	"fmt"
	"slices"
)

// Row is policy's answer for one kind of action, a decision for each label.
// A field left out is invalid and means never.
type Row struct {
	System, Trigger, Authorized, Unverified Decision
}

// Always is the row that gives one decision whatever the label.
func Always(d Decision) Row { return Row{System: d, Trigger: d, Authorized: d, Unverified: d} }

// For returns the row's decision for a label. An unknown label or a decision
// that was left out is Never.
func (r Row) For(l Label) Decision {
	var d Decision
	switch l {
	case System:
		d = r.System
	case Trigger:
		d = r.Trigger
	case Authorized:
		d = r.Authorized
	case Unverified:
		d = r.Unverified
	}
	switch d {
	case Auto, Ask:
		return d
	default:
		return Never
	}
}

// Policy is the table of kind × label → auto, ask or never. A kind without a
// row is never, and a breach when the recipe is audited.
type Policy map[Kind]Row

// Verdict is what policy says of one action, with every reason gathered.
type Verdict struct {
	Decision Decision
	Reasons  []Reason
}

// Reason is one closed word for why a decision is not auto.
type Reason string

// The reasons that a verdict may carry.
const (
	ReasonNoRow Reason = "no_policy_row" // the kind has no row
	ReasonNever Reason = "policy_never"  // the row says never for this label
	ReasonAsk   Reason = "policy_ask"    // the row says ask for this label
)

// Decide answers for one action of an outcome under a label. Every rule that
// applies is gathered and the strictest wins; what no rule allows is never.
func (p Policy) Decide(a Action, l Label) Verdict {
	row, ok := p[a.Kind()]
	if !ok {
		return Verdict{Decision: Never, Reasons: []Reason{ReasonNoRow}}
	}
	switch row.For(l) {
	case Auto:
		return Verdict{Decision: Auto}
	case Ask:
		return Verdict{Decision: Ask, Reasons: []Reason{ReasonAsk}}
	}
	return Verdict{Decision: Never, Reasons: []Reason{ReasonNever}}
}

// Kinds lists the kinds that have a row, sorted.
func (p Policy) Kinds() []Kind {
	kinds := make([]Kind, 0, len(p))
	for k := range p {
		kinds = append(kinds, k)
	}
	slices.Sort(kinds)
	return kinds
}

// Check reports each row of a kind that does not exist and each decision that
// was left out, so that "never" is written and not merely forgotten.
func (p Policy) Check() []error {
	var faults []error
	for _, k := range p.Kinds() {
		if !k.Known() {
			faults = append(faults, fmt.Errorf("policy: row for kind %.64q: want one of %v", string(k), AllKinds()))
			continue
		}
		row := p[k]
		for _, d := range []Decision{row.System, row.Trigger, row.Authorized, row.Unverified} {
			if d != Auto && d != Ask && d != Never {
				faults = append(faults, fmt.Errorf("policy: row for %s leaves a label without a decision: want auto, ask or never for each of %v", k, Labels()))
				break
			}
		}
	}
	return faults
}
