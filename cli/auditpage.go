package cli

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"decant.dev/act/plan"
	"decant.dev/events"
	"decant.dev/extract/shape"
	"decant.dev/internal/terminal"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/server"
)

// pageWidth is how many columns an audit's page takes at most.
const pageWidth = 80

// page is what an audit prints of one recipe.
type page struct {
	out    io.Writer
	recipe *pipeline.Recipe
	from   Pipeline // of the recipe
	report auditReport
}

func (p page) print() {
	fmt.Fprintf(p.out, "recipe %s\n", terminal.Cut(p.recipe.Name(), 64))
	for _, section := range []func(){p.fields, p.capacity, p.outcomes, p.sinks, p.starts, p.proof, p.budgets, p.difference, p.breaches} {
		section()
	}
}

// line prints a name of its column's width, then the rest, wrapped beside it.
// A longer name has a line of its own.
func (p page) line(indent, column int, name, rest string) {
	name = terminal.Line(name)
	pad := strings.Repeat(" ", indent)
	lines := wrap(rest, pageWidth-indent-column)
	if utf8.RuneCountInString(name) >= column {
		p.plain(indent, name)
		name = ""
	}
	for i, l := range lines {
		if i > 0 {
			name = ""
		}
		fmt.Fprintln(p.out, strings.TrimRight(fmt.Sprintf("%s%-*s%s", pad, column, name, l), " "))
	}
}

// plain prints a text, wrapped.
func (p page) plain(indent int, text string) {
	for _, l := range wrap(text, pageWidth-indent) {
		fmt.Fprintf(p.out, "%s%s\n", strings.Repeat(" ", indent), l)
	}
}

// wrap breaks a text at spaces, and words that are longer than a line anywhere.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Split(text, " ") {
		for {
			room := width
			if line != "" {
				room = width - utf8.RuneCountInString(line) - 1
			}
			if n := utf8.RuneCountInString(word); n <= room {
				if line != "" {
					word = line + " " + word
				}
				line = word
				break
			} else if line == "" {
				runes := []rune(word)
				lines = append(lines, string(runes[:width]))
				word = string(runes[width:])
			} else {
				lines = append(lines, line)
				line = ""
			}
		}
	}
	return append(lines, line)
}

func (p page) fields() {
	s := p.recipe.Shape()
	if s == nil {
		return
	}
	fmt.Fprintf(p.out, "\n  %-22s%-8s%12s  %s\n", "field", "kind", "bits", "holds")
	for i, f := range s.Fields() {
		name := f.Name
		if utf8.RuneCountInString(name) >= 22 { // a line of its own
			p.plain(2, terminal.Line(name))
			name = ""
		}
		p.line(2, 44, fmt.Sprintf("%-22s%-8s%12.2f", name, f.Kind, p.report.Fields[i].Bits), holds(f))
	}
}

// holds says in words what a field may hold.
func holds(f shape.Field) string {
	var what string
	characters := fmt.Sprintf("%d to %d characters", f.Min, f.Max)
	switch {
	case f.Kind == shape.KindText || f.Kind == shape.KindQuote || f.Kind == shape.KindToken:
		what = characters
	case f.Labels != nil && f.Max > 0:
		what = fmt.Sprintf("%d to %d of %s", f.Min, f.Max, labelled(f.Labels))
	case f.Labels != nil:
		what = labelled(f.Labels)
	case f.Kind == shape.KindList:
		what = fmt.Sprintf("%d to %d items", f.Min, f.Max)
	case f.Kind == shape.KindObject:
		what = "the fields below"
	case f.Min == 0 && f.Max == 0:
		what = "true or false"
	default:
		what = fmt.Sprintf("%d to %d", f.Min, f.Max)
	}
	if f.Optional {
		what += ", or absent"
	}
	return what
}

func labelled(labels []string) string {
	shown := make([]string, 0, len(labels))
	for _, l := range labels {
		shown = append(shown, terminal.Line(l))
	}
	return strings.Join(shown, " | ")
}

func (p page) capacity() {
	if p.recipe.Shape() == nil {
		return
	}
	decide, carry := p.recipe.Limits()
	row := func(name string, bits float64, limit, what string) {
		fmt.Fprintf(p.out, "  %-22s%20.2f  %s\n", name, bits, limit+what)
	}
	fmt.Fprintf(p.out, "\n  %-22s%20s\n", "a run", "bits")
	row("decides", p.report.Bits.Decide, fmt.Sprintf("of MaxDecide %g; ", decide), fmt.Sprintf("with %d codes", pipeline.TerminalCodes()))
	row("carries", p.report.Bits.Carry, fmt.Sprintf("of MaxCarry %g", carry), "")
	row("says in all", p.report.Bits.Total, fmt.Sprintf("in at most %d bytes", p.report.MaxBytes), "")
}

func (p page) outcomes() {
	list := p.report.list
	if list == nil {
		return
	}
	fmt.Fprintf(p.out, "\n  %-22s%12s%16s%12s\n", "outcomes, by label", "automatic", "ask a person", "never")
	for _, l := range plan.Labels() {
		n := list.Decided(l)
		fmt.Fprintf(p.out, "  %-22s%12s%16s%12s\n", l, n[plan.Auto], n[plan.Ask], n[plan.Never])
	}
	approvals := "1 person approves what is asked"
	if n := p.recipe.Approvals(); n > 1 {
		approvals = strconv.Itoa(n) + " persons approve what is asked"
	}
	p.plain(2, fmt.Sprintf("%s outcomes in %d classes; %s", list.Outcomes(), list.Classes(), approvals))
}

// sinks prints each kind of action with what policy decides of it. A kind that
// the plan never uses is said to be idle.
func (p page) sinks() {
	used := map[plan.Kind]bool{}
	kinds := p.recipe.Policy().Kinds()
	if p.report.list != nil {
		for _, l := range p.report.list.Lines() {
			if _, row := p.recipe.Policy()[l.Kind]; !row && !used[l.Kind] {
				kinds = append(kinds, l.Kind)
			}
			used[l.Kind] = true
		}
	}
	fmt.Fprintf(p.out, "\n  %-17s%-8s%-11s%-8s%-9s%-12s%s\n", "sink", "does", "read by", "system", "trigger", "authorized", "unverified")
	for _, k := range kinds {
		trait, row := k.Trait(), p.recipe.Policy()[k]
		does := "stores"
		if trait.Speaks {
			does = "speaks"
		}
		if p.report.list != nil && !used[k] {
			does = "idle"
		}
		p.line(2, 17, string(k), fmt.Sprintf("%-7s %-10s %-7s %-8s %-11s %s", does, trait.Audience,
			row.For(plan.System), row.For(plan.Trigger), row.For(plan.Authorized), row.For(plan.Unverified)))
	}
	readers, widens := p.recipe.Readers()
	reads := "what the intake reads is read by: " + readers.String()
	if widens {
		reads += "; sinks are meant to tell it to more"
	}
	p.plain(2, reads)
}

// starts prints what starts a run: events, and the schedules of batches.
func (p page) starts() {
	events, schedules := p.recipe.Events(), p.recipe.Schedules()
	if len(events) == 0 {
		return
	}
	fmt.Fprintf(p.out, "\n  %-30s%s\n", "started by", "reads the words of")
	for _, e := range events {
		whose := "anyone: the label is unverified"
		if e.Reads == pipeline.ActorsWords {
			whose = "the actor alone: the label is theirs"
		}
		p.line(2, 30, e.Name, whose)
	}
	for _, s := range schedules {
		to := s.Target.String()
		if to == "" {
			to = "a place for each item"
		}
		p.line(2, 30, "schedule "+s.Name, terminal.Line(s.Channel)+", written to "+terminal.Line(to))
	}
}

// proof says who sends the recipe's deliveries, and what proves that.
func (p page) proof() {
	path, by := "", ""
	switch {
	case p.from.Hook.Name != "":
		path, by = p.from.Hook.Path(), p.from.Hook.Scheme.String()
	case p.from.Intake.Source == events.GitHub:
		path, by = server.GitHubPath, "HMAC of the body, without a window"
	default:
		return
	}
	fmt.Fprintf(p.out, "\n  %-30s%s\n", "deliveries", "proved by")
	p.line(2, 30, "POST "+path, by)
}

func (p page) breaches() {
	fmt.Fprintln(p.out)
	if len(p.report.Violations) == 0 {
		fmt.Fprintln(p.out, "  no breach")
		return
	}
	for _, v := range p.report.Violations {
		p.line(2, 8, "breach:", terminal.Line(v.String()))
	}
}

// budgets says what bounds how much a recipe does.
func (p page) budgets() {
	fmt.Fprintln(p.out)
	if len(p.recipe.Budgets()) == 0 {
		p.plain(2, "budgets: none, so nothing bounds how often it acts")
		return
	}
	p.plain(2, "budgets")
	for _, b := range p.recipe.Budgets() {
		most, shares, _ := strings.Cut(b.String(), ", of which ")
		p.plain(4, most)
		if shares != "" {
			p.plain(6, "of which "+shares)
		}
	}
	if cost := p.recipe.RunCost(); cost > 0 {
		p.plain(4, "a run may cost "+strconv.FormatInt(cost, 10)+" millionths of a dollar")
	}
}
