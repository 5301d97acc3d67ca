package authority

import (
	"slices"
	"strings"
)

// maxParts and maxText bound what one intrinsic may expand to.
const (
	maxParts = 64
	maxText  = 4096
)

// part is a piece of a resolved string: literal text, or an attribute of a
// resource of the template.
type part struct {
	text     string
	id, attr string
}

// pseudo are the parameters that CloudFormation itself sets. They stand in
// patterns as they are written in Fn::Sub.
var pseudo = []string{"AWS::AccountId", "AWS::Partition", "AWS::Region", "AWS::StackId", "AWS::StackName", "AWS::URLSuffix"}

// ownAccount is the account that the stack is deployed to.
const ownAccount = "${AWS::AccountId}"

// parts resolves a string, Ref, Fn::GetAtt, Fn::Join or Fn::Sub. Everything
// else is an error, as is a Ref to a parameter: its value is known at the
// deployment only.
func (t *template) parts(n *node) ([]part, error) {
	if n.kind == '"' {
		return literal(n, n.text)
	}
	if n.kind != '{' || len(n.keys) != 1 {
		return nil, n.failf("want a string or one intrinsic function")
	}
	arg := n.list[0]
	switch n.keys[0] {
	case "Ref":
		name, err := arg.string()
		if err != nil {
			return nil, err
		}
		return t.ref(arg, name)
	case "Fn::GetAtt":
		return t.getAtt(arg)
	case "Fn::Join":
		return t.join(arg)
	case "Fn::Sub":
		return t.sub(arg)
	}
	return nil, n.failf("want Ref, Fn::GetAtt, Fn::Join or Fn::Sub, got an intrinsic that cannot be resolved from the template")
}

// literal is a text that can hold no policy variable, wherever it is joined.
func literal(n *node, s string) ([]part, error) {
	if strings.Contains(s, "${") || strings.HasSuffix(s, "$") {
		return nil, n.failf("want no policy variable")
	}
	return bounded(n, []part{{text: s}})
}

func (t *template) ref(n *node, name string) ([]part, error) {
	if slices.Contains(pseudo, name) {
		return []part{{text: "${" + name + "}"}}, nil
	}
	if t.resources[name] == nil {
		return nil, n.failf("want the name of a resource of the template, got what cannot be resolved before it is deployed")
	}
	return []part{{id: name, attr: "Ref"}}, nil
}

func (t *template) getAtt(n *node) ([]part, error) {
	var id, attr string
	switch {
	case n.kind == '"':
		id, attr, _ = strings.Cut(n.text, ".")
	case n.kind == '[' && len(n.list) == 2 && n.list[0].kind == '"' && n.list[1].kind == '"':
		id, attr = n.list[0].text, n.list[1].text
	}
	if t.resources[id] == nil || attr == "" || attr == "Ref" {
		return nil, n.failf("want a resource of the template and one of its attributes")
	}
	return []part{{id: id, attr: attr}}, nil
}

func (t *template) join(n *node) ([]part, error) {
	if n.kind != '[' || len(n.list) != 2 || n.list[0].kind != '"' || n.list[1].kind != '[' {
		return nil, n.failf("want a delimiter and a list")
	}
	var all []part
	for i, item := range n.list[1].list {
		if i > 0 && n.list[0].text != "" {
			between, err := t.parts(n.list[0])
			if err != nil {
				return nil, err
			}
			all = append(all, between...)
		}
		p, err := t.parts(item)
		if err != nil {
			return nil, err
		}
		if all, err = bounded(n, append(all, p...)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func (t *template) sub(n *node) ([]part, error) {
	var vars *node
	format := n
	if n.kind == '[' && len(n.list) == 2 && n.list[1].kind == '{' {
		format, vars = n.list[0], n.list[1]
	}
	rest, err := format.string()
	if err != nil {
		return nil, err
	}
	values := map[string][]part{}
	if vars != nil {
		for i, k := range vars.keys {
			if values[k], err = t.parts(vars.list[i]); err != nil {
				return nil, err
			}
		}
	}
	var all []part
	for {
		before, after, found := strings.Cut(rest, "${")
		text, err := literal(format, before)
		if err != nil {
			return nil, err
		}
		all = append(all, text...)
		if !found {
			return bounded(n, all)
		}
		name, tail, closed := strings.Cut(after, "}")
		if !closed || strings.HasPrefix(name, "!") {
			return nil, format.failf("want no policy variable")
		}
		p, known := values[name]
		switch {
		case known:
		case strings.Contains(name, "."):
			p, err = t.getAtt(&node{path: format.path, kind: '"', text: name})
		default:
			p, err = t.ref(format, name)
		}
		if err != nil {
			return nil, err
		}
		if all, err = bounded(n, append(all, p...)); err != nil {
			return nil, err
		}
		rest = tail
	}
}

// bounded joins neighbouring texts and refuses what grows too long.
func bounded(n *node, all []part) ([]part, error) {
	var joined []part
	size := 0
	for _, p := range all {
		size += len(p.text)
		last := len(joined) - 1
		switch {
		case p.id == "" && p.text == "":
		case p.id == "" && last >= 0 && joined[last].id == "":
			joined[last].text += p.text
		default:
			joined = append(joined, p)
		}
	}
	if len(joined) > maxParts || size > maxText {
		return nil, n.failf("want a string of at most %d characters from %d parts", maxText, maxParts)
	}
	return joined, nil
}

// refer resolves n to the logical id of one resource of that type, meant by
// its name or its ARN. n must be present.
func (t *template) refer(n *node, typ string) (string, error) {
	p, err := t.parts(n)
	if err != nil {
		return "", err
	}
	if len(p) == 1 && p[0].id != "" && t.resources[p[0].id].typ == typ {
		if _, arn := known[typ].arns[p[0].attr]; arn || p[0].attr == "Ref" || p[0].attr == known[typ].nameAttr {
			return p[0].id, nil
		}
	}
	return "", n.failf("want a resource of the template of type %s", typ)
}
