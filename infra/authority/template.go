package authority

import (
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// template is a template while it is read.
type template struct {
	resources map[string]*resource
	ids       []string // sorted

	roles              map[string]*Role
	allows, denies     []Right
	trust              []Right
	identity           map[string]bool // paths of statements of identity policies
	boundaries         map[string]limits
	asBoundary, asRole map[string]bool // how the managed policies of the template are used
	egress             []Egress
	logs               map[string]string
}

type limits struct{ allows, denies []Right }

type resource struct {
	id, typ string
	props   *node
}

var logicalID = regexp.MustCompile(`^[A-Za-z0-9]{1,255}$`)

// load parses a template and checks that all in it is of a known kind.
func load(document []byte) (*template, error) {
	root, err := parse(document)
	if err != nil {
		return nil, err
	}
	// Transform, Modules and Hooks add to a template what is not in it.
	if err := root.object("AWSTemplateFormatVersion", "Description", "Metadata", "Parameters", "Mappings", "Conditions", "Rules", "Resources", "Outputs"); err != nil {
		return nil, err
	}
	list := root.get("Resources")
	if list == nil || list.kind != '{' || len(list.keys) == 0 {
		return nil, errors.New("template: want Resources")
	}
	t := &template{
		resources: map[string]*resource{}, roles: map[string]*Role{}, identity: map[string]bool{}, logs: map[string]string{},
		boundaries: map[string]limits{}, asBoundary: map[string]bool{}, asRole: map[string]bool{},
	}
	for i, id := range list.keys {
		r, err := declare(id, list.list[i])
		if err != nil {
			return nil, err
		}
		t.resources[id] = r
	}
	t.ids = slices.Sorted(maps.Keys(t.resources))
	return t, t.uses()
}

// declare checks the outer form of a resource.
func declare(id string, n *node) (*resource, error) {
	if !logicalID.MatchString(id) {
		return nil, n.failf("want a logical id of letters and digits")
	}
	if err := n.object("Type", "Properties", "DependsOn", "Metadata", "DeletionPolicy", "UpdateReplacePolicy", "Condition"); err != nil {
		return nil, err
	}
	typ := n.get("Type")
	if typ == nil || typ.kind != '"' {
		return nil, n.failf("want a Type")
	}
	if n.get("Condition") != nil && typ.text != "AWS::CDK::Metadata" {
		return nil, n.get("Condition").failf("want a resource without a condition, which is decided at the deployment")
	}
	k, ok := kindOf(typ.text)
	if !ok {
		return nil, typ.failf("want a type that the proof knows, got %s", plain(typ.text))
	}
	props := n.get("Properties")
	if props == nil {
		props = &node{path: n.path + ".Properties", kind: '{'}
	}
	if props.kind != '{' {
		return nil, props.failf("want an object")
	}
	if !k.open {
		if err := props.object(strings.Fields(k.props)...); err != nil {
			return nil, err
		}
	}
	return &resource{id: id, typ: typ.text, props: props}, nil
}

// uses notes how each managed policy of the template is used, before any is
// read: a boundary may say what a policy that gives rights may not.
func (t *template) uses() error {
	for _, id := range t.ids {
		r := t.resources[id]
		if r.typ != "AWS::IAM::Role" {
			continue
		}
		t.roles[id] = &Role{ID: id}
		if n := r.props.get("PermissionsBoundary"); n != nil {
			boundary, err := t.boundary(n)
			if err != nil {
				return err
			}
			t.roles[id].Boundary = boundary
		}
		if list := r.props.get("ManagedPolicyArns"); list != nil {
			for _, item := range list.oneOrMore() {
				policy, err := t.refer(item, "AWS::IAM::ManagedPolicy")
				if err != nil {
					return item.failf("want a managed policy of the template, got one whose rights are not known")
				}
				t.asRole[policy] = true
			}
		}
	}
	return nil
}

// boundary resolves a boundary: a managed policy of the template, or one
// outside it by its ARN, which can only take rights away.
func (t *template) boundary(n *node) (string, error) {
	if id, err := t.refer(n, "AWS::IAM::ManagedPolicy"); err == nil {
		t.asBoundary[id] = true
		return id, nil
	}
	p, err := t.pattern(n)
	if err != nil {
		return "", err
	}
	if p.ID != "" || wild(p.Rest) || !strings.Contains(p.Rest, ":policy/") {
		return "", n.failf("want the ARN of a managed policy")
	}
	return p.Rest, nil
}
