// Package authority computes from a synthesized CloudFormation template who
// may do what, and compares it with what each phase of decant may hold
// (IAM's share of the promise: a phase that is taken over still has only its
// own rights).
//
// Compute reads every resource of the template and knows the types and
// properties that can carry authority by a closed list. Whatever it cannot
// interpret is an error that names the resource and the property: a table is
// either whole or not there. It rounds up where the template does not tell,
// so that a right that exists is in the table.
//
// Not promised: what stands outside the template (the deployment's own roles,
// policies of the organization, grants of a key, policies that a service
// writes for itself), what a service does on its own account, and what the
// network lets out, beyond the endpoints that are listed.
package authority

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Table is what a template gives to whom. All lists are sorted, and hold each
// entry once.
type Table struct {
	// Roles are all roles of the template.
	Roles []Role
	// Rights are what each principal may do, after denies and boundaries.
	Rights []Right
	// Masked are rights that a statement allows and a deny takes away again.
	Masked []Right
	// Denies are what principals may not do, whatever allows it.
	Denies []Right
	// Trust are the principals that may assume each role.
	Trust []Right
	// Egress is where each function may connect to.
	Egress []Egress

	types map[string]string // logical id of each resource to its type
	logs  map[string]string // logical id of a function to that of its log group
}

// Role is an identity of the template.
type Role struct {
	ID string
	// Holders are the functions, state machines, schedules and rules that run
	// with the role's rights.
	Holders []string
	// Boundary is the managed policy of the template that bounds the role, or
	// the ARN of one outside it, which can only narrow what is listed, or
	// empty.
	Boundary string
}

// Egress says where a function may connect to.
type Egress struct {
	Function string
	// Subnets are the subnets that the function is in, sorted.
	Subnets []string
	// Enforced is false where the function has a way to the internet, or the
	// template does not tell: it is in no subnet, or in one from elsewhere, or
	// the template has a gateway or a route.
	Enforced bool
	// Endpoints are the services that its network has endpoints for, sorted.
	Endpoints []string
}

// Compute reads a template of at most 1 MiB, as `cdk synth` writes it. The
// error names the logical id and the path of the first property that it
// cannot interpret.
func Compute(document []byte) (*Table, error) {
	t, err := load(document)
	if err != nil {
		return nil, err
	}
	for _, id := range t.ids {
		if err := t.resource(t.resources[id]); err != nil {
			return nil, err
		}
	}
	return t.table(), nil
}

// table subtracts denies and boundaries from what is allowed.
func (t *template) table() *Table {
	out := &Table{Denies: t.denies, Trust: t.trust, Egress: t.egress, types: map[string]string{}, logs: t.logs}
	for _, right := range t.allows {
		switch {
		case slices.ContainsFunc(t.denies, func(deny Right) bool { return masks(deny, right) }):
			out.Masked = append(out.Masked, right)
		case t.passes(right):
			out.Rights = append(out.Rights, right)
		}
	}
	for _, role := range t.roles {
		slices.Sort(role.Holders)
		role.Holders = slices.Compact(role.Holders)
		out.Roles = append(out.Roles, *role)
	}
	slices.SortFunc(out.Roles, func(a, b Role) int { return strings.Compare(a.ID, b.ID) })
	slices.SortFunc(out.Egress, func(a, b Egress) int { return strings.Compare(a.Function, b.Function) })
	for _, list := range []*[]Right{&out.Rights, &out.Masked, &out.Denies, &out.Trust} {
		slices.SortStableFunc(*list, compareRights)
		*list = slices.CompactFunc(*list, func(a, b Right) bool { return compareRights(a, b) == 0 })
	}
	for id, r := range t.resources {
		out.types[id] = r.typ
	}
	return out
}

func compareRights(a, b Right) int {
	return cmp.Or(
		strings.Compare(a.Who, b.Who),
		strings.Compare(a.Resource.String(), b.Resource.String()),
		strings.Compare(a.Action, b.Action),
		slices.CompareFunc(a.When, b.When, func(x, y Condition) int { return strings.Compare(x.String(), y.String()) }),
	)
}

// masks reports whether a deny takes all of a right away, always.
func masks(deny, right Right) bool {
	return (deny.Who == right.Who || deny.Who == Anyone) && len(deny.When) == 0 &&
		coversAction(deny.Action, right.Action) && deny.Resource.Covers(right.Resource)
}

// coversAction compares actions, which have no case.
func coversAction(outer, inner string) bool {
	return covers(strings.ToLower(outer), strings.ToLower(inner))
}

// passes reports whether a right may pass the boundary of its role.
func (t *template) passes(right Right) bool {
	role := t.roles[right.Who]
	if role == nil {
		return true
	}
	limits, ok := t.boundaries[role.Boundary]
	if !ok {
		return true
	}
	for _, deny := range limits.denies {
		deny.Who = right.Who
		if masks(deny, right) {
			return false
		}
	}
	// What a policy of a resource gives to a role may pass a boundary that is
	// silent about it.
	if !t.identity[right.Via] {
		return true
	}
	return slices.ContainsFunc(limits.allows, func(allow Right) bool {
		return overlaps(strings.ToLower(allow.Action), strings.ToLower(right.Action)) && allow.Resource.mayOverlap(right.Resource)
	})
}

// May returns the rights of one principal, in the order of the table.
func (t *Table) May(who string) []Right {
	var list []Right
	for _, r := range t.Rights {
		if r.Who == who {
			list = append(list, r)
		}
	}
	return list
}

// Invokers returns the rights to invoke a function or to start or wake a state
// machine, sorted by target.
func (t *Table) Invokers() []Right {
	var list []Right
	for _, r := range t.Rights {
		switch strings.ToLower(r.Action) {
		case "lambda:invokefunction", "lambda:invokefunctionurl", "lambda:invokeasync", "states:startexecution", "states:startsyncexecution",
			"states:redriveexecution", "states:sendtasksuccess", "states:sendtaskfailure":
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b Right) int { return strings.Compare(a.Resource.String(), b.Resource.String()) })
	return list
}

// principals are all that have a right, a deny or a role, sorted.
func (t *Table) principals() []string {
	set := map[string]bool{}
	for _, r := range t.Roles {
		set[r.ID] = true
	}
	for _, list := range [][]Right{t.Rights, t.Denies, t.Masked} {
		for _, r := range list {
			set[r.Who] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}
