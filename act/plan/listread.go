package plan

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// Line is one action of a list, for a person: kind, policy's row, and the
// parameters with the values that each may have.
type Line struct {
	Kind   Kind
	Row    Row
	Params []LineParam
}

// LineParam is one parameter of a Line.
type LineParam struct {
	Name   string
	Place  Place
	Values []string // canonical JSON, sorted
}

func (e entry) line() Line {
	l := Line{Kind: e.kind, Row: e.row}
	for _, p := range e.params {
		l.Params = append(l.Params, LineParam{p.name, p.place, slices.Clone(p.values)})
	}
	return l
}

// Lines returns every action that stands on the list, each once, sorted.
func (l *List) Lines() []Line {
	lines := make([]Line, 0, len(l.entries))
	for _, e := range l.entries {
		lines = append(lines, e.line())
	}
	return lines
}

// EachClass yields the classes in order, each with its number of outcomes and
// its actions, until yield returns false.
func (l *List) EachClass(yield func(outcomes *big.Int, actions []Line) bool) {
	for _, c := range l.classes {
		lines := make([]Line, 0, len(c.entries))
		for _, at := range c.entries {
			lines = append(lines, l.entries[at].line())
		}
		if !yield(l.size(c), lines) {
			return
		}
	}
}

// Decided counts the outcomes by what happens to them under a label. An
// outcome goes as a whole: the strictest of its actions' decisions is its own.
func (l *List) Decided(label Label) map[Decision]*big.Int {
	counts := map[Decision]*big.Int{Auto: new(big.Int), Ask: new(big.Int), Never: new(big.Int)}
	for _, c := range l.classes {
		strictest := Auto
		for _, at := range c.entries {
			strictest = min(strictest, l.entries[at].row.For(label))
		}
		counts[strictest].Add(counts[strictest], l.size(c))
	}
	return counts
}

// Except is a list of the outcomes that l admits and other does not, under
// l's recipe, shape and policy.
func (l *List) Except(other *List) *List {
	var drafts []draft
	for _, c := range l.classes {
		left := [][]factor{l.factors(c)}
		for _, i := range other.index[c.signature] {
			taken := other.factors(other.classes[i])
			var next [][]factor
			for _, box := range left {
				next = append(next, without(box, taken)...)
			}
			left = next
		}
		for _, box := range left {
			drafts = append(drafts, l.redraft(c, box))
		}
	}
	d := &List{Recipe: l.Recipe, Shape: l.Shape, Policy: l.Policy}
	d.finish(drafts)
	return d
}

// factors are the parameters of all actions of a class, one after the other.
func (l *List) factors(c class) []factor {
	var all []factor
	for _, at := range c.entries {
		all = append(all, l.entries[at].params...)
	}
	return all
}

// redraft is a class with other values for its parameters.
func (l *List) redraft(c class, box []factor) draft {
	d := draft{signature: c.signature}
	for _, at := range c.entries {
		e := l.entries[at]
		e.params, box = box[:len(e.params)], box[len(e.params):]
		e.spell()
		d.entries = append(d.entries, e)
	}
	return d
}

// without is the product a without the product b, as disjoint products: for
// each parameter, what only a has of it, where the parameters before it are of
// both.
func without(a, b []factor) [][]factor {
	both := make([][]string, len(a))
	for i := range a {
		both[i] = slices.DeleteFunc(slices.Clone(a[i].values), func(v string) bool { return !among(b[i].values, v) })
		if len(both[i]) == 0 {
			return [][]factor{a}
		}
	}
	var out [][]factor
	for i := range a {
		only := slices.DeleteFunc(slices.Clone(a[i].values), func(v string) bool { return among(b[i].values, v) })
		if len(only) == 0 {
			continue
		}
		box := slices.Clone(a)
		for j := range i {
			box[j].values = both[j]
		}
		box[i].values = only
		out = append(out, box)
	}
	return out
}

func among(sorted []string, v string) bool { _, ok := slices.BinarySearch(sorted, v); return ok }

// String is the line as a person reads it: constants and handles by their JSON,
// what may differ with bars between.
func (l Line) String() string {
	var sb strings.Builder
	sb.WriteString(string(l.Kind))
	for _, p := range l.Params {
		fmt.Fprintf(&sb, " %s=%s", p.Name, strings.Join(p.Values, "|"))
	}
	return sb.String()
}
