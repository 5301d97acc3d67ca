package authority

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

const (
	// maxTemplate is the largest template that CloudFormation takes, in bytes
	// (AWS CloudFormation quotas, "Template body size in an object").
	maxTemplate = 1 << 20
	maxDepth    = 64
)

// node is one JSON value of a template, with the path by which errors name it.
type node struct {
	path string
	kind jsontext.Kind
	text string // a string's value, or a number's spelling
	keys []string
	list []*node // an array's items, or an object's values in the order of keys
}

// failf makes the error that names the node and what was wanted there.
func (n *node) failf(format string, args ...any) error {
	return fmt.Errorf("%s: %s", n.path, fmt.Sprintf(format, args...))
}

// get returns the member of that key, or nil.
func (n *node) get(key string) *node {
	if i := slices.Index(n.keys, key); i >= 0 {
		return n.list[i]
	}
	return nil
}

// object checks that n is an object with known keys only.
func (n *node) object(known ...string) error {
	if n.kind != '{' {
		return n.failf("want an object")
	}
	for i, k := range n.keys {
		if !slices.Contains(known, k) {
			return n.list[i].failf("want one of the properties that the proof knows here, got another")
		}
	}
	return nil
}

// string returns the value of a plain string.
func (n *node) string() (string, error) {
	if n.kind != '"' {
		return "", n.failf("want a plain string")
	}
	return n.text, nil
}

// oneOrMore returns the items of an array, or n itself if it is anything else.
func (n *node) oneOrMore() []*node {
	if n.kind == '[' {
		return n.list
	}
	return []*node{n}
}

// parse reads a template strictly: one object, each key once at any depth,
// UTF-8, no trailing bytes, nesting of at most maxDepth.
func parse(doc []byte) (*node, error) {
	if len(doc) > maxTemplate {
		return nil, fmt.Errorf("template: want at most %d bytes, got %d", maxTemplate, len(doc))
	}
	d := jsontext.NewDecoder(bytes.NewReader(doc))
	n, err := read(d, "", 0)
	if err != nil {
		return nil, syntax(err)
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errors.New("template: want nothing after its end")
	}
	if n.kind != '{' {
		return nil, errors.New("template: want a JSON object")
	}
	return n, nil
}

var errDeep = errors.New("too deep")

func read(d *jsontext.Decoder, path string, depth int) (*node, error) {
	if depth > maxDepth {
		return nil, errDeep
	}
	t, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	n := &node{path: path, kind: t.Kind()}
	switch n.kind {
	case '"', '0':
		n.text = t.String()
	case '[':
		for i := 0; d.PeekKind() != ']'; i++ {
			item, err := read(d, path+"["+strconv.Itoa(i)+"]", depth+1)
			if err != nil {
				return nil, err
			}
			n.list = append(n.list, item)
		}
		_, err = d.ReadToken()
	case '{':
		for d.PeekKind() != '}' {
			t, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			key := t.String()
			value, err := read(d, step(path, key), depth+1)
			if err != nil {
				return nil, err
			}
			n.keys = append(n.keys, key)
			n.list = append(n.list, value)
		}
		_, err = d.ReadToken()
	}
	return n, err
}

// step is the path of a member. The word Resources at its root goes without saying.
func step(path, key string) string {
	key = plain(key)
	if path == "" || path == "Resources" {
		return key
	}
	return path + "." + key
}

// plain is a key as an error may repeat it: names of the kind that templates have, nothing else.
func plain(key string) string {
	odd := func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') && !strings.ContainsRune(":._/-", r)
	}
	if key == "" || len(key) > 255 || strings.ContainsFunc(key, odd) {
		return "(key)"
	}
	return key
}

// syntax puts a decoder's error into our own words.
func syntax(err error) error {
	if errors.Is(err, errDeep) {
		return fmt.Errorf("template: want nesting of at most %d levels", maxDepth)
	}
	what := "want JSON in UTF-8"
	if errors.Is(err, jsontext.ErrDuplicateName) {
		what = "want each key once"
	}
	if at, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		where := strings.TrimPrefix(string(at.JSONPointer), "/Resources/")
		return fmt.Errorf("template: %s, got another at byte %d, in %s", what, at.ByteOffset, plain(strings.TrimPrefix(where, "/")))
	}
	return fmt.Errorf("template: %s", what)
}
