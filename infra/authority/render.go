package authority

import (
	"fmt"
	"slices"
	"strings"
)

// width is the columns that a line keeps to, where a single name fits.
const width = 80

// String is Render.
func (t *Table) String() string { return Render(t) }

// Render shows a table for a person: each principal with what it may do and
// what it never may, by resource; then who may invoke what; then where each
// function may connect to. It holds logical ids and names of AWS only, and
// ends in a line feed.
func Render(t *Table) string {
	b := &strings.Builder{}
	for _, who := range t.principals() {
		fmt.Fprintln(b, show(who))
		for _, r := range t.Roles {
			if r.ID == who {
				t.renderRole(b, r)
			}
		}
		rightsOf(b, "may", who, t.Rights)
		rightsOf(b, "never", who, t.Denies)
		rightsOf(b, "masked", who, t.Masked)
		fmt.Fprintln(b)
	}
	fmt.Fprintln(b, "who invokes, starts or wakes what")
	for _, r := range t.Invokers() {
		fmt.Fprintf(b, "  %s\n    %s by %s\n", r.Resource, r.Action, show(r.Who))
		conditions(b, r)
	}
	fmt.Fprintln(b, "\negress")
	for _, e := range t.Egress {
		fmt.Fprintf(b, "  %s\n", e.Function)
		switch {
		case len(e.Subnets) == 0:
			fmt.Fprintln(b, "    egress: not enforced")
		case !e.Enforced:
			fmt.Fprintln(b, "    egress: not enforced, since the network may have a way out")
		default:
			wrap(b, "    egress: ", append([]string{"endpoints alone"}, e.Endpoints...))
		}
	}
	return b.String()
}

func (t *Table) renderRole(b *strings.Builder, r Role) {
	holders := r.Holders
	if len(holders) == 0 {
		holders = []string{"nothing"}
	}
	wrap(b, "  held by    ", holders)
	for _, a := range t.Trust {
		if a.Resource.ID == r.ID {
			fmt.Fprintf(b, "  assumed by %s\n", show(a.Who))
			conditions(b, a)
		}
	}
	if r.Boundary != "" {
		fmt.Fprintf(b, "  bounded by %s\n", r.Boundary)
	}
}

// rightsOf lists the rights of one principal, the actions on a resource
// together.
func rightsOf(b *strings.Builder, verb, who string, rights []Right) {
	var mine []Right
	for _, r := range rights {
		if r.Who == who {
			mine = append(mine, r)
		}
	}
	for len(mine) > 0 {
		first := mine[0]
		n := 1
		for n < len(mine) && mine[n].Resource == first.Resource && slices.Equal(mine[n].When, first.When) {
			n++
		}
		actions := make([]string, n)
		for i, r := range mine[:n] {
			actions[i] = r.Action
		}
		fmt.Fprintf(b, "  %-10s %s\n", verb, first.Resource)
		wrap(b, "    ", actions)
		conditions(b, first)
		mine = mine[n:]
	}
}

func conditions(b *strings.Builder, r Right) {
	for _, w := range r.When {
		fmt.Fprintf(b, "    when %s\n", w)
	}
}

// show is a principal as a person reads it.
func show(who string) string {
	switch {
	case who == Anyone:
		return "anyone"
	case who == Account:
		return "any identity of the account"
	case strings.HasPrefix(who, Service):
		return "the service " + strings.TrimPrefix(who, Service)
	case strings.HasPrefix(who, Foreign):
		return "the foreign " + strings.TrimPrefix(who, Foreign)
	}
	return who
}

// wrap writes words with commas on lines of at most width columns, unless a
// word is longer.
func wrap(b *strings.Builder, indent string, words []string) {
	line := indent
	for i, w := range words {
		if i < len(words)-1 {
			w += ","
		}
		if line != indent && len(line)+1+len(w) > width {
			fmt.Fprintln(b, strings.TrimRight(line, " "))
			indent = strings.Repeat(" ", len(indent))
			line = indent
		}
		if line != indent {
			line += " "
		}
		line += w
	}
	fmt.Fprintln(b, line)
}
