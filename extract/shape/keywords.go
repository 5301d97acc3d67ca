package shape

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// keywords is the part of JSON Schema that a shape is made from. Whatever else stands in a schema is refused.
type keywords struct {
	typ                string
	about              string
	enum               []string
	pattern            *string
	minimum, maximum   *int64
	minLen, maxLen     *int
	minItems, maxItems *int
	unique             bool
	items              *keywords
	props              []prop
	required           []string
	closed             bool // additionalProperties: false
}

type prop struct {
	name  string
	value *keywords
}

var errSchema = errors.New("schema beyond the keywords of a shape")

// parseKeywords reads a schema strictly: duplicate names, unknown keywords and other types of value are errors. The
// errors name keywords, which are the author's.
func parseKeywords(b []byte) (*keywords, error) {
	d := jsontext.NewDecoder(bytes.NewReader(b))
	k, err := readKeywords(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errSchema
	}
	return k, nil
}

func readKeywords(d *jsontext.Decoder, depth int) (*keywords, error) {
	if d.PeekKind() != '{' || depth > 2*maxDepth {
		return nil, fmt.Errorf("want an object that lists keywords: %w", errSchema)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, errSchema
	}
	k := &keywords{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, errSchema
		}
		if err := k.read(d, name.String(), depth); err != nil {
			return nil, err
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, errSchema
	}
	return k, nil
}

func (k *keywords) read(d *jsontext.Decoder, name string, depth int) (err error) {
	switch name {
	case "properties":
		return k.readProps(d, depth)
	case "items":
		k.items, err = readKeywords(d, depth+1)
		return err
	}
	v, err := d.ReadValue()
	if err != nil {
		return errSchema
	}
	ok := true
	switch name {
	case "$schema":
	case "type":
		k.typ, ok = text(v)
	case "description":
		k.about, ok = text(v)
	case "enum":
		k.enum, ok = texts(v)
	case "required":
		k.required, ok = texts(v)
	case "pattern":
		var s string
		s, ok = text(v)
		k.pattern = &s
	case "minimum":
		k.minimum, ok = whole(string(v))
	case "maximum":
		k.maximum, ok = whole(string(v))
	case "minLength":
		k.minLen, ok = length(string(v))
	case "maxLength":
		k.maxLen, ok = length(string(v))
	case "minItems":
		k.minItems, ok = length(string(v))
	case "maxItems":
		k.maxItems, ok = length(string(v))
	case "uniqueItems":
		k.unique = string(v) == "true"
	case "additionalProperties":
		k.closed, ok = true, string(v) == "false"
	default:
		return fmt.Errorf("keyword %s: %w", name, errSchema)
	}
	if !ok {
		return fmt.Errorf("value of keyword %s: %w", name, errSchema)
	}
	return nil
}

func (k *keywords) readProps(d *jsontext.Decoder, depth int) error {
	if d.PeekKind() != '{' {
		return fmt.Errorf("value of keyword properties: %w", errSchema)
	}
	if _, err := d.ReadToken(); err != nil {
		return errSchema
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return errSchema
		}
		p := prop{name: name.String()}
		if p.value, err = readKeywords(d, depth+1); err != nil {
			return err
		}
		k.props = append(k.props, p)
	}
	_, err := d.ReadToken()
	return err
}

func text(v jsontext.Value) (string, bool) {
	if v.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
}

func texts(v jsontext.Value) ([]string, bool) {
	d := jsontext.NewDecoder(bytes.NewReader(v))
	if d.PeekKind() != '[' {
		return nil, false
	}
	_, _ = d.ReadToken()
	var list []string
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		list = append(list, t.String())
	}
	return list, d.PeekKind() == ']'
}

// whole reads an integer in its one spelling.
func whole(s string) (*int64, bool) {
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil || strconv.FormatInt(n, 10) != s {
		return nil, false
	}
	return &n, true
}

func length(s string) (*int, bool) {
	n, ok := whole(s)
	if !ok || *n < 0 || *n > saturated {
		return nil, false
	}
	l := int(*n)
	return &l, true
}

// differ names the first keyword in which two schemas differ, or is empty.
func (k *keywords) differ(o *keywords) string {
	switch {
	case k == nil || o == nil:
		if k == o {
			return ""
		}
		return "items"
	case k.typ != o.typ:
		return "type"
	case k.about != o.about:
		return "description"
	case !slices.Equal(k.enum, o.enum):
		return "enum"
	case !same(k.pattern, o.pattern):
		return "pattern"
	case !same(k.minimum, o.minimum):
		return "minimum"
	case !same(k.maximum, o.maximum):
		return "maximum"
	case !same(k.minLen, o.minLen):
		return "minLength"
	case !same(k.maxLen, o.maxLen):
		return "maxLength"
	case !same(k.minItems, o.minItems):
		return "minItems"
	case !same(k.maxItems, o.maxItems):
		return "maxItems"
	case k.unique != o.unique:
		return "uniqueItems"
	case k.closed != o.closed:
		return "additionalProperties"
	case !slices.Equal(k.required, o.required):
		return "required"
	}
	return k.items.differ(o.items)
}

func same[T comparable](a, b *T) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
