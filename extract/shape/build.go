package shape

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/invopop/jsonschema"
)

// builder turns a Go type into the closed representation and gathers every fault on the way.
type builder struct {
	faults
	stack   []reflect.Type
	goField map[*keywords]reflect.StructField // of each property
}

var (
	tokenType = reflect.TypeFor[Token]()
	textType  = reflect.TypeFor[Text]()
	quoteType = reflect.TypeFor[Quote]()
	hookType  = reflect.TypeFor[interface{ JSONSchema() *jsonschema.Schema }]()
)

func build(t reflect.Type) (*node, BoundErrors) {
	b := &builder{goField: map[*keywords]reflect.StructField{}}
	p := place{typeName(t), rootPath}
	if t == nil || t.Kind() != reflect.Struct || handleKind(t) != 0 {
		b.add(p, "a struct at the root", "wrap the value in a struct with one field")
		return nil, b.list
	}
	want := b.base(t, p)
	if want == nil {
		return nil, b.list
	}
	root := b.object(t, want, p)
	if len(b.list) > 0 {
		return nil, b.list
	}
	got, err := reflectSchema(t)
	if err != nil {
		b.add(p, "a schema of the keywords that a shape counts: "+err.Error(), mendKeyword)
		return nil, b.list
	}
	b.survives(want, got, t, p)
	return root, b.list
}

func handleKind(t reflect.Type) Kind {
	switch t {
	case tokenType:
		return KindToken
	case textType:
		return KindText
	case quoteType:
		return KindQuote
	default:
		return 0
	}
}

// base is what a type says by itself, before any tag, or nil where the type can be no part of a shape. It goes on after a
// fault where it can, so that one build names them all.
func (b *builder) base(t reflect.Type, p place) *keywords {
	if handleKind(t) != 0 {
		return &keywords{typ: "string"}
	}
	if missing, mend := unbounded(t); missing != "" {
		b.add(p, missing, mend)
		return nil
	}
	if name := reshaping(t); name != "" {
		b.add(p, "a type whose JSON is what its fields say: the method "+name+" changes it", "remove the method, or use another type")
		return nil
	}
	if slices.Contains(b.stack, t) {
		b.add(p, "an end: the type contains itself", "unroll it to the depth that is needed, or use a list of references")
		return nil
	}
	if len(b.stack) >= maxDepth {
		b.add(p, fmt.Sprintf("at most %d levels", maxDepth), "flatten the type")
		return nil
	}
	if t.Implements(hookType) {
		return b.hooked(t, p)
	}
	switch t.Kind() {
	case reflect.String:
		return &keywords{typ: "string"}
	case reflect.Bool:
		return &keywords{typ: "boolean"}
	case reflect.Slice:
		b.stack = append(b.stack, t)
		defer func() { b.stack = b.stack[:len(b.stack)-1] }()
		if t.Elem().Kind() == reflect.Pointer {
			b.add(p.item(), "items that are always present", "use a slice of values, not of pointers")
			return nil
		}
		item := b.base(t.Elem(), p.item())
		if item == nil {
			return nil
		}
		return &keywords{typ: "array", items: item}
	case reflect.Struct:
		return b.properties(t, p)
	default: // the integers: unbounded has refused all others
		return &keywords{typ: "integer"}
	}
}

// hooked reads a type's own schema.
func (b *builder) hooked(t reflect.Type, p place) *keywords {
	if t.Kind() == reflect.Struct {
		b.add(p, "a struct without a schema of its own: what it would say is not what its fields say", "remove the method JSONSchema, or use shape.Token, shape.Text or shape.Quote without embedding")
		return nil
	}
	k, shared, err := hookSchema(t)
	switch {
	case err != nil:
		b.add(p, "a JSONSchema method with the keywords that a shape counts: "+err.Error(), mendKeyword)
		return nil
	case shared:
		b.add(p, "a JSONSchema method that builds a new and equal schema in each call", "return a new &jsonschema.Schema{…} each time")
		return nil
	}
	want := map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Slice: "array"}[t.Kind()]
	if want == "" {
		want = "integer"
	}
	inner := k
	for e := t; e.Kind() == reflect.Slice; e = e.Elem() {
		if inner == nil || inner.typ != "array" || inner.items == nil {
			break
		}
		inner = inner.items
	}
	if k.typ != want || len(inner.props) > 0 {
		b.add(p, fmt.Sprintf("a JSONSchema method of type %s, as the Go type is, without properties", want), "mend the method")
		return nil
	}
	return k
}

// properties is the object of a struct, and lints the tags of its fields.
func (b *builder) properties(t reflect.Type, p place) *keywords {
	b.stack = append(b.stack, t)
	defer func() { b.stack = b.stack[:len(b.stack)-1] }()
	before := len(b.list)
	k := &keywords{typ: "object", closed: true}
	names := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		at := p.dot(f.Name, f.Name)
		_, tagged := f.Tag.Lookup("json")
		_, schema := f.Tag.Lookup("jsonschema")
		switch {
		case f.Anonymous:
			b.add(at, "fields of its own: an embedded struct may hide or be hidden", "write the fields out, or give the field a name")
		case !f.IsExported():
			if tagged || schema {
				b.add(at, "an exported field: this one is never filled", "export it, or remove its tags")
			}
		case f.Tag.Get("json") == "-":
			if schema {
				b.add(at, `a field that crosses: json:"-" leaves it out`, "remove one of the two tags")
			}
		default:
			b.property(k, f, p, names)
		}
	}
	if len(b.list) == before && len(k.props) == 0 {
		b.add(p, "a field", "add one, or leave the struct out")
	}
	return k
}

// property adds one field to the object k.
func (b *builder) property(k *keywords, f reflect.StructField, p place, names map[string]bool) {
	at := p.dot(f.Name, f.Name)
	if !b.lintKeys(f, at) {
		return
	}
	name, omit, ok := b.jsonName(f, at)
	if !ok {
		return
	}
	at = p.dot(f.Name, name)
	if names[strings.ToLower(name)] {
		b.add(at, "a name that differs from the others by more than case", "rename the field")
	}
	names[strings.ToLower(name)] = true
	t, pointer := f.Type, f.Type.Kind() == reflect.Pointer
	if pointer {
		t = t.Elem()
	}
	switch {
	case pointer && !omit:
		b.add(at, "omitempty beside the pointer: a null would cross", `write json:"`+name+`,omitempty", or drop the pointer`)
	case !pointer && omit:
		b.add(at, "a pointer beside omitempty: the zero value would vanish", "write a pointer for an optional field, or drop omitempty")
	}
	sub := b.base(t, at)
	if sub == nil {
		return
	}
	b.applyTag(sub, f, at)
	b.goField[sub] = f
	k.props = append(k.props, prop{name, sub})
	if !pointer {
		k.required = append(k.required, name)
	}
}

// unbounded says why a Go type can never be part of a shape.
func unbounded(t reflect.Type) (missing, mend string) {
	switch t {
	case reflect.TypeFor[time.Time]():
		return "a bound on the time", "use a shape.Token with a pattern for the date"
	case reflect.TypeFor[time.Duration]():
		return "a bound on the duration", "use an int with minimum and maximum, and name the unit"
	}
	switch t.Kind() {
	case reflect.String, reflect.Bool, reflect.Struct,
		reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "", ""
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a bound and an alphabet: bytes may be anything", "use a shape.Text with maxLength, a shape.Token with a pattern, or a slice of int for numbers"
		}
		return "", ""
	case reflect.Interface:
		return "a closed type: an interface may hold anything", "name the fields in a struct"
	case reflect.Map:
		return "closed keys: a map has any", "use a struct, or a list of structs with maxItems"
	case reflect.Array:
		return "a slice: an array is not counted", "use a slice with equal minItems and maxItems"
	case reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return "a finite number of values: a float has too many spellings", "use an int with minimum and maximum, and name the unit"
	case reflect.Pointer:
		return "a pointer only at a field, and only once", "use a pointer to a value for an optional field"
	default:
		return "a type that JSON can hold", "use choices, tokens, texts and quotes"
	}
}

// reshaping names a method that makes the type's JSON, or its schema, other than what its fields say.
func reshaping(t reflect.Type) string {
	ptr := reflect.PointerTo(t)
	has := func(_ reflect.Method, ok bool) bool { return ok }
	// Each name is a constant of its own call: for a variable one the linker keeps every method of every type.
	switch {
	case has(ptr.MethodByName("MarshalJSON")):
		return "MarshalJSON"
	case has(ptr.MethodByName("UnmarshalJSON")):
		return "UnmarshalJSON"
	case has(ptr.MethodByName("MarshalJSONTo")):
		return "MarshalJSONTo"
	case has(ptr.MethodByName("UnmarshalJSONFrom")):
		return "UnmarshalJSONFrom"
	case has(ptr.MethodByName("MarshalText")):
		return "MarshalText"
	case has(ptr.MethodByName("UnmarshalText")):
		return "UnmarshalText"
	case has(ptr.MethodByName("AppendText")):
		return "AppendText"
	case has(ptr.MethodByName("JSONSchemaAlias")):
		return "JSONSchemaAlias"
	case has(ptr.MethodByName("JSONSchemaProperty")):
		return "JSONSchemaProperty"
	case has(ptr.MethodByName("JSONSchemaExtend")):
		return "JSONSchemaExtend"
	case has(ptr.MethodByName("GetFieldDocString")):
		return "GetFieldDocString"
	case has(ptr.MethodByName("EnumDescriptor")):
		return "EnumDescriptor"
	}
	if _, ok := ptr.MethodByName("JSONSchema"); ok && !t.Implements(hookType) {
		return "JSONSchema, which has a pointer receiver or another signature and so is ignored,"
	}
	return ""
}
