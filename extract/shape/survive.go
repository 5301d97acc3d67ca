package shape

import (
	"encoding/json"
	"errors"
	"reflect"

	"github.com/invopop/jsonschema"
)

var errHook = errors.New("hook panicked or gave no schema")

// reflectSchema asks invopop for the schema of a type that is known to have no cycle (references would lose tags, and
// without references a cycle overflows the stack).
func reflectSchema(t reflect.Type) (k *keywords, err error) {
	defer func() {
		if recover() != nil {
			k, err = nil, errHook
		}
	}()
	r := &jsonschema.Reflector{DoNotReference: true, Anonymous: true}
	b, err := json.Marshal(r.ReflectFromType(t))
	if err != nil {
		return nil, errHook
	}
	return parseKeywords(b)
}

// hookSchema calls a type's own JSONSchema method twice: it must build a new and equal schema each time, because invopop
// writes the tags of each field into what it returns.
func hookSchema(t reflect.Type) (k *keywords, shared bool, err error) {
	defer func() {
		if recover() != nil {
			k, err = nil, errHook
		}
	}()
	hook, ok := reflect.Zero(t).Interface().(interface{ JSONSchema() *jsonschema.Schema })
	if !ok {
		return nil, false, errHook
	}
	one, two := hook.JSONSchema(), hook.JSONSchema()
	if one == nil || two == nil {
		return nil, false, errHook
	}
	a, errA := json.Marshal(one)
	b, errB := json.Marshal(two)
	if errA != nil || errB != nil {
		return nil, false, errHook
	}
	k, err = parseKeywords(a)
	return k, one == two || string(a) != string(b), err
}

// survives compares what the tags and types say by our own reading with what invopop made of them: every keyword must
// have survived, and nothing may have been added.
func (b *builder) survives(want, got *keywords, t reflect.Type, p place) {
	if name := want.differ(got); name != "" {
		b.add(p, "the keyword "+name+" in the schema as it was written: it is lost or changed on the way",
			"write it in a named type with a JSONSchema method of value receiver, and keep = out of the tags of lists")
		return
	}
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		if t.Kind() == reflect.Slice {
			if want.items == nil {
				return
			}
			want, got, p = want.items, got.items, p.item()
		}
		t = t.Elem()
	}
	if len(want.props) != len(got.props) {
		b.add(p, "the same fields in Go and in the schema", "write the fields out in one struct")
		return
	}
	for i, w := range want.props {
		g := got.props[i]
		if w.name != g.name {
			b.add(p, "the same fields in Go and in the schema", "write the fields out in one struct")
			return
		}
		f := b.goField[w.value]
		b.survives(w.value, g.value, f.Type, p.dot(f.Name, w.name))
	}
}
