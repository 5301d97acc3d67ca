package authority

import (
	"fmt"
	"slices"
	"strings"
)

// Need says whether an expected right must be there.
type Need uint8

const (
	// Must is for a right without which the phase cannot work.
	Must Need = iota + 1
	// May is for a right that is in order, and may be missing.
	May
	// InNetwork is as May for a role whose function is in subnets, and not in
	// order otherwise.
	InNetwork
)

// Expectation is who may do what, in names of its own. What it does not list
// is a violation.
type Expectation struct {
	Roles []RoleRule
	Names []Name
	// Rights is the closed list of what may be done.
	Rights []Rule
	// Denies must all be there, in these words or wider ones.
	Denies []Right
}

// RoleRule expects one role, held by one resource, and trusted by one service.
type RoleRule struct {
	Name string
	// Holder is the name by which the expectation calls what runs as the role,
	// and Type its type.
	Holder, Type string
	Trust        string
	Optional     bool
	// Many allows more than one holder, all of Type. Holder is then no name.
	Many bool
}

// Name binds a name to the one resource of a type whose logical id, without
// the eight digits that CDK appends, ends in one of Ends: the first of these
// that any has. The last of Ends may be empty, for the only one of its type.
type Name struct {
	Name, Type string
	Ends       []string
	// Outside is a pattern of ARNs. If no resource of the template has the
	// name, it stands for the one resource outside it that is named so.
	Outside  string
	Optional bool
}

// Rule is an expected right. IDs in its patterns, and Who unless it is one of
// the principals outside the template, are names.
type Rule struct {
	Right
	Need Need
}

// Violation is one difference between a table and an expectation.
type Violation struct {
	// Who is the logical id of the role, or another principal, or the name
	// that could not be bound.
	Who string
	// What says what is wrong.
	What string
	// Via is the path in the template, where there is one.
	Via string
}

func (v Violation) String() string {
	if v.Via == "" {
		return v.Who + ": " + v.What
	}
	return v.Who + ": " + v.What + " (" + v.Via + ")"
}

// Compare returns all differences, and none where the table is as expected:
// every role, holder, trust and right is listed, every needed right and deny
// is there, and no right is masked by a deny.
func (t *Table) Compare(e Expectation) []Violation {
	c := &comparison{table: t, want: e, ids: map[string]string{}, names: map[string]string{}}
	c.bind()
	c.roles()
	c.rights()
	c.denies()
	return c.found
}

type comparison struct {
	table   *Table
	want    Expectation
	ids     map[string]string // name to logical id
	names   map[string]string // logical id to name
	outside map[string]string // ARN to name
	found   []Violation
}

func (c *comparison) violation(who, via, format string, args ...any) {
	c.found = append(c.found, Violation{who, fmt.Sprintf(format, args...), via})
}

// named puts a right into the expectation's names. What has no name gets one
// that no expectation has.
func (c *comparison) named(r Right) Right {
	rename := func(p Pattern) Pattern {
		switch name, bound := c.names[p.ID]; {
		case p.ID == "" && c.outside[p.Rest] != "":
			return Pattern{ID: c.outside[p.Rest]}
		case p.ID == "":
			return p
		case bound:
			return Pattern{name, p.Rest}
		}
		return Pattern{"unnamed " + p.ID, p.Rest}
	}
	if c.table.types[r.Who] != "" {
		r.Who = rename(Pattern{ID: r.Who}).ID
	}
	r.Resource = rename(r.Resource)
	when := make([]Condition, len(r.When))
	for i, w := range r.When {
		when[i] = Condition{w.Key, rename(w.Value)}
	}
	r.When = when
	return r
}

// roles compares which roles there are, and who may assume them.
func (c *comparison) roles() {
	trusted := map[string]bool{}
	for _, r := range c.table.Trust {
		role := r.Resource.ID
		rule := c.rule(role)
		if rule == nil {
			continue
		}
		if r.Who != rule.Trust {
			c.violation(role, r.Via, "may be assumed by %s, want %s alone", r.Who, rule.Trust)
			continue
		}
		trusted[role] = true
	}
	for _, r := range c.table.Roles {
		switch rule := c.rule(r.ID); {
		case rule == nil:
			c.violation(r.ID, "", "is a role that the expectation does not list")
		case !trusted[r.ID]:
			c.violation(r.ID, "", "cannot be assumed by %s", rule.Trust)
		}
	}
}

func (c *comparison) rule(role string) *RoleRule {
	for i, r := range c.want.Roles {
		if id, bound := c.ids[r.Name]; bound && id == role {
			return &c.want.Roles[i]
		}
	}
	return nil
}

// rights compares what is allowed with what is listed.
func (c *comparison) rights() {
	held := make([]bool, len(c.want.Rights))
	for _, r := range c.table.Rights {
		listed, n := false, c.named(r)
		for i, rule := range c.want.Rights {
			if rule.Who == n.Who && strings.EqualFold(rule.Action, n.Action) && c.admits(rule, r, n) {
				listed, held[i] = true, true
			}
		}
		if !listed {
			c.violation(r.Who, r.Via, "may %s, which the expectation does not list", describe(r))
		}
	}
	for _, r := range c.table.Masked {
		c.violation(r.Who, r.Via, "is allowed %s, which a deny takes away again: want neither", describe(r))
	}
	for i, rule := range c.want.Rights {
		if rule.Need == Must && !held[i] && c.there(rule.Right) {
			c.violation(rule.Who, "", "may not %s, which it needs", describe(rule.Right))
		}
	}
}

// admits reports whether a rule for the same principal and action lists a
// right, which is n in the expectation's names: a narrower one is in order.
func (c *comparison) admits(rule Rule, r, n Right) bool {
	switch rule.Need {
	case Must, May:
	case InNetwork:
		role := c.role(r.Who)
		if role == nil || !slices.ContainsFunc(c.table.Egress, func(e Egress) bool {
			return slices.Contains(role.Holders, e.Function) && len(e.Subnets) > 0
		}) {
			return false
		}
	default:
		return false
	}
	if !rule.Resource.Covers(n.Resource) {
		return false
	}
	for _, want := range rule.When {
		if !slices.ContainsFunc(n.When, func(got Condition) bool { return got.Key == want.Key && want.Value.Covers(got.Value) }) {
			return false
		}
	}
	return true
}

// there reports whether the names of an expected right are bound. Names that
// are not bound and not optional are violations already.
func (c *comparison) there(r Right) bool {
	bound := func(name string) bool {
		_, inside := c.ids[name]
		for _, n := range c.outside {
			inside = inside || n == name
		}
		return inside
	}
	outside := r.Who == Anyone || r.Who == Account || strings.Contains(r.Who, ":")
	return (outside || bound(r.Who)) && (r.Resource.ID == "" || bound(r.Resource.ID))
}

// denies checks that each expected deny is there.
func (c *comparison) denies() {
	for _, want := range c.want.Denies {
		if !c.there(want) {
			continue
		}
		if !slices.ContainsFunc(c.table.Denies, func(r Right) bool {
			n := c.named(r)
			return (n.Who == want.Who || n.Who == Anyone) && coversAction(n.Action, want.Action) &&
				n.Resource.Covers(want.Resource) && slices.Equal(n.When, want.When)
		}) {
			c.violation(want.Who, "", "is not denied %s", describe(want))
		}
	}
}

// describe is a right in words, without who has it.
func describe(r Right) string {
	s := r.Action + " on " + r.Resource.String()
	for i, w := range r.When {
		s += []string{" when ", " and "}[min(i, 1)] + w.String()
	}
	return s
}
