package cli

import (
	"fmt"
	"math/big"
	"slices"
	"strings"

	"decant.dev/act/plan"
	"decant.dev/internal/terminal"
	"decant.dev/pipeline"
)

// maxClassesShown bounds how many classes of a difference are printed whole.
const maxClassesShown = 8

// difference prints what the plan could newly do, and what it no longer could,
// against the list that was built in.
func (p page) difference() {
	now, was := p.report.list, p.report.built
	if now == nil || was == nil || p.report.fresh {
		return
	}
	gained, lost := now.Except(was), was.Except(now)
	fmt.Fprintf(p.out, "\n  %s\n", "against the list that was built in")
	p.changed("could newly happen", "+", gained, was)
	p.changed("no longer could", "-", lost, now)
	for _, change := range decisionsChanged(was, now) {
		p.line(4, 2, "~", change)
	}
	if gained.Classes() == 0 && lost.Classes() == 0 {
		p.plain(4, "the same outcomes; "+why(p.recipe, was))
	}
}

// why is what else makes a list stale.
func why(r *pipeline.Recipe, was *plan.List) string {
	var parts []string
	if was.Recipe != r.Name() {
		parts = append(parts, "the recipe has another name")
	}
	if was.Shape != r.Shape().Digest() {
		parts = append(parts, "the shape says other things: what tokens and texts may hold, or fields that the plan does not heed")
	}
	if was.Policy != r.Policy().Digest() {
		parts = append(parts, "policy's table is another")
	}
	if len(parts) == 0 {
		return "they are spelt otherwise"
	}
	return strings.Join(parts, "; ")
}

// changed prints one side of a difference: first the actions with values that
// the other list has nowhere, then the classes.
func (p page) changed(what, sign string, side, other *plan.List) {
	if side.Classes() == 0 {
		return
	}
	p.plain(4, fmt.Sprintf("%s: %s outcomes", what, side.Outcomes()))
	for _, v := range unknownValues(side, other) {
		p.line(6, 2, sign, v)
	}
	shown := 0
	side.EachClass(func(n *big.Int, actions []plan.Line) bool {
		if shown == maxClassesShown {
			p.line(6, 2, sign, fmt.Sprintf("and %d classes more", side.Classes()-shown))
			return false
		}
		shown++
		p.line(6, 2, sign, fmt.Sprintf("%s outcomes of %d actions:", n, len(actions)))
		for _, a := range actions {
			p.plain(10, terminal.Line(a.String()))
		}
		return true
	})
}

// unknownValues lists kinds, and values of parameters, that stand in a list
// and nowhere in another.
func unknownValues(side, other *plan.List) []string {
	known, kinds := map[string]bool{}, map[plan.Kind]bool{}
	for _, l := range other.Lines() {
		kinds[l.Kind] = true
		for _, p := range l.Params {
			for _, v := range p.Values {
				known[string(l.Kind)+" "+p.Name+" "+v] = true
			}
		}
	}
	var out []string
	for _, l := range side.Lines() {
		if !kinds[l.Kind] {
			kinds[l.Kind] = true
			out = append(out, fmt.Sprintf("the kind %s", l.Kind))
		}
		for _, p := range l.Params {
			for _, v := range p.Values {
				if k := string(l.Kind) + " " + p.Name + " " + v; !known[k] {
					known[k] = true
					out = append(out, terminal.Line(fmt.Sprintf("%s with %s %s", l.Kind, p.Name, v)))
				}
			}
		}
	}
	return out
}

// decisionsChanged lists where policy decides of a kind otherwise than it did.
func decisionsChanged(was, now *plan.List) []string {
	var out []string
	before := decisions(was)
	for _, l := range now.Lines() {
		for _, label := range plan.Labels() {
			k := fmt.Sprintf("%s for %s", l.Kind, label)
			old, ok := before[k]
			if d := l.Row.For(label); ok && old != d {
				if change := fmt.Sprintf("%s: was %s, is %s", k, old, d); !slices.Contains(out, change) {
					out = append(out, change)
				}
			}
		}
	}
	return out
}

func decisions(l *plan.List) map[string]plan.Decision {
	out := map[string]plan.Decision{}
	for _, line := range l.Lines() {
		for _, label := range plan.Labels() {
			out[fmt.Sprintf("%s for %s", line.Kind, label)] = line.Row.For(label)
		}
	}
	return out
}
