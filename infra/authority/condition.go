package authority

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Condition is one condition that must hold for a right: the value of Key is
// named by Value.
type Condition struct {
	Key   string
	Value Pattern
}

func (c Condition) String() string { return c.Key + "=" + c.Value.String() }

// conditions resolves the closed list of conditions: a deny may be for
// requests without TLS, what a policy of a resource allows or a trust policy
// says may be bound to a source, and what an identity policy allows of a
// bucket's list to one prefix of keys.
func (t *template) conditions(n *node, kind policyKind, allow bool) ([]Condition, error) {
	if n == nil {
		return nil, nil
	}
	if n.kind != '{' || len(n.keys) == 0 {
		return nil, n.failf("want conditions")
	}
	var all []Condition
	for i, op := range n.keys {
		for j, key := range n.list[i].keys {
			value := n.list[i].list[j]
			c, err := t.condition(op, key, value, kind, allow)
			if err != nil {
				return nil, err
			}
			all = append(all, c)
		}
		if len(n.list[i].keys) == 0 {
			return nil, n.list[i].failf("want a condition")
		}
	}
	return all, nil
}

func (t *template) condition(op, key string, value *node, kind policyKind, allow bool) (Condition, error) {
	source := allow && (kind == resourcePolicy || kind == trustPolicy)
	switch {
	case !allow && op == "Bool" && key == "aws:SecureTransport" && (value.text == "false" || value.kind == jsontext.KindFalse):
		return Condition{key, Pattern{Rest: "false"}}, nil
	case source && key == "aws:SourceAccount" && op == "StringEquals":
		return t.sourceAccount(value)
	case source && key == "aws:SourceArn" && slices.Contains([]string{"ArnEquals", "ArnLike", "StringEquals", "StringLike"}, op):
		return t.sourceARN(value)
	case allow && kind == identityPolicy && key == "s3:prefix" && (op == "StringLike" || op == "StringEquals"):
		if value.kind != '"' || value.text == "" || strings.ContainsAny(strings.TrimSuffix(value.text, "*"), "*?$") {
			return Condition{}, value.failf("want one prefix of keys")
		}
		return Condition{key, Pattern{Rest: value.text}}, nil
	}
	return Condition{}, value.failf("want a condition of the closed list: aws:SecureTransport for a deny; aws:SourceArn or aws:SourceAccount for a policy of a resource; s3:prefix for the list of a bucket")
}

func (t *template) sourceAccount(n *node) (Condition, error) {
	parts, err := t.parts(n)
	if err != nil {
		return Condition{}, err
	}
	if len(parts) != 1 || parts[0].id != "" || parts[0].text != ownAccount && !account(parts[0].text) {
		return Condition{}, n.failf("want an account")
	}
	return Condition{"aws:SourceAccount", Pattern{Rest: parts[0].text}}, nil
}

// sourceARN resolves the one source that a right is bound to: a resource of
// the template, or one outside that is named in full.
func (t *template) sourceARN(n *node) (Condition, error) {
	p, err := t.pattern(n)
	if err != nil {
		return Condition{}, err
	}
	if p.ID == "" && wild(p.Rest) || strings.HasPrefix(p.Rest, "*") || strings.HasPrefix(p.Rest, "?") {
		return Condition{}, n.failf("want one source, got %s", p)
	}
	return Condition{"aws:SourceArn", p}, nil
}
