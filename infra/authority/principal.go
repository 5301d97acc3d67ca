package authority

import (
	"regexp"
	"strings"
)

// Principals that are not a role of the template. A role is its logical id.
const (
	// Anyone is every principal, of every account.
	Anyone = "*"
	// Account is every identity of the stack's own account that its own
	// policies allow it.
	Account = "account:own"
	// Service is the prefix of a service's principal.
	Service = "service:"
	// Foreign is the prefix of a principal outside the template.
	Foreign = "foreign:"
)

var serviceName = regexp.MustCompile(`^[a-z0-9.-]+\.amazonaws\.com$`)

// principals resolves who a statement is about.
func (t *template) principals(n, s *node) ([]string, error) {
	if n == nil {
		return nil, s.failf("want a Principal")
	}
	if n.kind == '"' {
		if n.text != "*" {
			return nil, n.failf("want * or an object")
		}
		return []string{Anyone}, nil
	}
	if err := n.object("AWS", "Service"); err != nil {
		return nil, err
	}
	var all []string
	for i, k := range n.keys {
		for _, item := range n.list[i].oneOrMore() {
			who, err := t.principal(item, k == "Service")
			if err != nil {
				return nil, err
			}
			all = append(all, who)
		}
	}
	if len(all) == 0 {
		return nil, n.failf("want a principal")
	}
	return all, nil
}

func (t *template) principal(n *node, service bool) (string, error) {
	parts, err := t.parts(n)
	if err != nil {
		return "", err
	}
	if len(parts) == 1 && parts[0].id != "" && !service && parts[0].attr == "Arn" && t.resources[parts[0].id].typ == "AWS::IAM::Role" {
		return parts[0].id, nil
	}
	if len(parts) != 1 || parts[0].id != "" {
		return "", n.failf("want a role of the template, a service, an account or *")
	}
	text := parts[0].text
	switch root := ":root"; {
	case service:
		if text = strings.Replace(text, "${AWS::URLSuffix}", "amazonaws.com", 1); serviceName.MatchString(text) {
			return Service + text, nil
		}
	case text == "*":
		return Anyone, nil
	case text == ownAccount, strings.HasPrefix(text, "arn:") && strings.HasSuffix(text, ":iam::"+ownAccount+root):
		return Account, nil
	case account(text), strings.HasPrefix(text, "arn:") && !wild(text):
		return Foreign + text, nil
	}
	return "", n.failf("want a role of the template, a service, an account or *")
}
