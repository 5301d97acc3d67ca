package authority

import (
	"regexp"
	"slices"
	"strings"
)

// policyKind says what a policy document is attached to, and so what may
// stand in it.
type policyKind uint8

const (
	identityPolicy policyKind = iota + 1
	boundaryPolicy
	resourcePolicy
	trustPolicy
)

// Right is one cell of the table: Who may do Action on Resource When all
// conditions hold, or may not, in a list of denies. Via is the path in the
// template that says so.
type Right struct {
	Who      string
	Action   string
	Resource Pattern
	When     []Condition
	Via      string
}

// policy reads a document into rights that it allows and rights that it
// denies. who is the identity to which it is attached, and empty for a policy
// of a resource; own is that resource.
func (t *template) policy(n *node, kind policyKind, who, own string) (allows, denies []Right, err error) {
	if n == nil || n.kind != '{' {
		return nil, nil, t.absent(n, own+who, "a policy document")
	}
	if err := n.object("Version", "Id", "Statement"); err != nil {
		return nil, nil, err
	}
	// The older version has no policy variables, which are refused anyhow,
	// and is the default.
	if v := n.get("Version"); v == nil || v.text != "2012-10-17" {
		return nil, nil, n.failf(`want Version "2012-10-17"`)
	}
	list := n.get("Statement")
	if list == nil {
		return nil, nil, n.failf("want a Statement")
	}
	for _, s := range list.oneOrMore() {
		allow, rights, err := t.statement(s, kind, who, own)
		if err != nil {
			return nil, nil, err
		}
		if allow {
			allows = append(allows, rights...)
		} else {
			denies = append(denies, rights...)
		}
	}
	return allows, denies, nil
}

// absent is the error for a property that is missing or of another form.
func (t *template) absent(n *node, id, what string) error {
	if n == nil {
		return (&node{path: plain(id)}).failf("want %s, got none", what)
	}
	return n.failf("want %s", what)
}

// statement reads one statement. Whatever it does not name in full (NotAction,
// NotResource, NotPrincipal) is refused as an unknown property.
func (t *template) statement(s *node, kind policyKind, who, own string) (bool, []Right, error) {
	fields := []string{"Sid", "Effect", "Action", "Condition"}
	if kind != trustPolicy {
		fields = append(fields, "Resource")
	}
	if kind == resourcePolicy || kind == trustPolicy {
		fields = append(fields, "Principal")
	}
	if err := s.object(fields...); err != nil {
		return false, nil, err
	}
	effect := s.get("Effect")
	if effect == nil || effect.kind != '"' || effect.text != "Allow" && effect.text != "Deny" {
		return false, nil, s.failf(`want Effect "Allow" or "Deny"`)
	}
	allow := effect.text == "Allow"
	if kind == trustPolicy && !allow {
		return false, nil, effect.failf("want a trust policy that allows only")
	}
	actions, err := t.actions(s, kind, allow)
	if err != nil {
		return false, nil, err
	}
	when, err := t.conditions(s.get("Condition"), kind, allow)
	if err != nil {
		return false, nil, err
	}
	principals := []string{who}
	if who == "" {
		if principals, err = t.principals(s.get("Principal"), s); err != nil {
			return false, nil, err
		}
	}
	resources := []Pattern{{ID: own}}
	if kind != trustPolicy {
		if resources, err = t.named(s, kind, allow, actions, own); err != nil {
			return false, nil, err
		}
	}
	if allow && kind != boundaryPolicy && kind != trustPolicy {
		if err := t.exact(s, actions, principals, resources); err != nil {
			return false, nil, err
		}
	}
	var rights []Right
	for _, p := range principals {
		for _, a := range actions {
			for _, r := range resources {
				rights = append(rights, Right{p, a, r, when, s.path})
			}
		}
	}
	return allow, rights, nil
}

var (
	exactAction = regexp.MustCompile(`^[a-z0-9-]+:[A-Za-z0-9]+$`)
	anyAction   = regexp.MustCompile(`^(\*|[a-z0-9-]+:[A-Za-z0-9*?]+)$`)
)

func (t *template) actions(s *node, kind policyKind, allow bool) ([]string, error) {
	n := s.get("Action")
	if n == nil || len(n.oneOrMore()) == 0 {
		return nil, s.failf("want an Action")
	}
	var all []string
	for _, item := range n.oneOrMore() {
		a, err := item.string()
		if err != nil {
			return nil, err
		}
		switch {
		case !anyAction.MatchString(a):
			return nil, item.failf("want an action such as s3:GetObject")
		case kind == trustPolicy && a != "sts:AssumeRole":
			return nil, item.failf("want sts:AssumeRole alone in a trust policy")
		}
		all = append(all, a)
	}
	return all, nil
}

// exact refuses what a statement that gives rights may not say: a wildcard in
// an action, authority over authority, a resource that is not exact.
func (t *template) exact(s *node, actions, principals []string, resources []Pattern) error {
	for _, a := range actions {
		switch service, _, _ := strings.Cut(strings.ToLower(a), ":"); {
		case a == "kms:*" && slices.Equal(principals, []string{Account}):
			// The root statement of a key's policy leaves the key to the
			// identity policies of its account, and gives nobody a right.
		case !exactAction.MatchString(a):
			return s.failf("want exact actions, got %s", a)
		case service == "iam" || service == "sts":
			return s.failf("want no authority over authority, got %s", a)
		}
	}
	for _, r := range resources {
		if err := t.narrow(s, actions, r); err != nil {
			return err
		}
	}
	return nil
}

// named resolves the resources of a statement. In the policy of a resource
// they must be this resource or lie within it.
func (t *template) named(s *node, kind policyKind, allow bool, actions []string, own string) ([]Pattern, error) {
	n := s.get("Resource")
	if n == nil || len(n.oneOrMore()) == 0 {
		return nil, s.failf("want a Resource")
	}
	var all []Pattern
	for _, item := range n.oneOrMore() {
		p, err := t.pattern(item)
		if err != nil {
			return nil, err
		}
		if kind == resourcePolicy {
			if p == everything {
				p = Pattern{ID: own}
			}
			if p.ID != own {
				return nil, item.failf("want %s, whose policy it is", own)
			}
		}
		all = append(all, p)
	}
	return all, nil
}
