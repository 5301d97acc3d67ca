package shape

import (
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// withTag is a shape of one field with that jsonschema tag.
func withTag(typ reflect.Type, tag string) (*Shape, error) {
	quoted := `json:"f" jsonschema:` + quoteTag(tag)
	return FromType(reflect.StructOf([]reflect.StructField{{Name: "F", Type: typ, Tag: reflect.StructTag(quoted)}}))
}

func quoteTag(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func TestEveryKeywordOfATagSurvivesOrIsRefused(t *testing.T) {
	t.Parallel()
	str, num, flag := reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[bool]()
	for _, c := range []struct {
		name, tag, missing string
		typ                reflect.Type
	}{
		{"comma that ends a pattern", `pattern=^[a-z]{1,3}$`, "value for each keyword", reflect.TypeFor[Token]()},
		{"misspelt keyword", `enum=a,maxlength=3`, "keyword that a shape counts", str},
		{"spaced keyword", `enum=a, enum=b`, "keyword that a shape counts", str},
		{"unparsable number", `minimum=zero,maximum=3`, "whole number", num},
		{"fraction", `minimum=0.5,maximum=3`, "whole number", num},
		{"spelling of a number", `minimum=+1,maximum=3`, "whole number", num},
		{"spaced number", `minimum= 1,maximum=3`, "whole number", num},
		{"negative length", `maxLength=-1`, "whole number", reflect.TypeFor[Text]()},
		{"uniqueItems without value", `maxItems=2,uniqueItems,enum=a`, "value for each keyword", reflect.SliceOf(str)},
		{"uniqueItems=false", `maxItems=2,uniqueItems=false,enum=a`, "uniqueItems=true", reflect.SliceOf(str)},
		{"equals sign in a label of a list", `maxItems=2,enum=a=b`, "keyword enum in the schema", reflect.SliceOf(str)},
		{"equals sign in a pattern of a list", `maxItems=2,pattern=^[a=]$`, "keyword pattern in the schema", reflect.SliceOf(reflect.TypeFor[Token]())},
		{"enum on a bool", `enum=true`, "keyword that a shape counts", flag},
		{"enum on an int", `enum=1,enum=2`, "keyword that a shape counts", num},
		{"range on a string", `enum=a,minimum=1`, "keyword that a shape counts", str},
		{"pattern on an int", `minimum=1,maximum=2,pattern=^a$`, "keyword that a shape counts", num},
		{"exclusive bound", `exclusiveMinimum=1,maximum=2`, "keyword that a shape counts", num},
		{"step", `minimum=0,maximum=8,multipleOf=2`, "keyword that a shape counts", num},
		{"default", `enum=a,default=a`, "keyword that a shape counts", str},
		{"title", `enum=a,title=x`, "keyword that a shape counts", str},
		{"type", `type=integer`, "keyword that a shape counts", str},
		{"nullable", `enum=a,nullable`, "value for each keyword", str},
		{"required", `enum=a,required`, "value for each keyword", str},
		{"oneof_type", `oneof_type=string;null`, "keyword that a shape counts", str},
		{"anyof_ref", `enum=a,anyof_ref=x`, "keyword that a shape counts", str},
		{"oneof_required", `enum=a,oneof_required=x`, "keyword that a shape counts", str},
		{"left out", `-`, "value for each keyword", str},
		{"twice", `minimum=0,minimum=1,maximum=2`, "each keyword once", num},
		{"label twice", `enum=a,enum=a`, "each label once", str},
		{"empty label", `enum=,enum=a`, "label of printable", str},
		{"label with a space at its end", `enum=a ,enum=b`, "label of printable", str},
		{"label with a control", "enum=a\u0085b", "label of printable", str},
		{"label beside a length", `enum=abc,maxLength=2`, "enum alone", str},
		{"keyword on a list of structs", `maxItems=2,pattern=^a$`, "keyword that a shape counts", reflect.TypeFor[[]struct{ A bool }]()},
		{"keyword on a struct", `maxProperties=1`, "keyword that a shape counts", reflect.TypeFor[struct{ A bool }]()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := withTag(c.typ, c.tag)
			if err == nil || !strings.Contains(err.Error(), c.missing) {
				t.Errorf("want %q, got %v", c.missing, err)
			}
		})
	}
}

func TestTagsThatAreWhole(t *testing.T) {
	t.Parallel()
	s, err := withTag(reflect.TypeFor[[]Token](), `maxItems=3,pattern=^[a-z]{1\,3}(?:\.[0-9]\\)?$,minLength=2,description=one\, two=three`)
	if err != nil {
		t.Fatal(err)
	}
	f := s.Fields()
	if f[0].About != "one, two=three" || f[1].Min != 2 || f[1].Max != 6 {
		t.Errorf("got %+v", f)
	}
}

func TestStructTagsAreReadByTheConvention(t *testing.T) {
	t.Parallel()
	for tag, want := range map[string]string{
		``:                      "",
		`a:"b" c:"d"`:           "a c",
		`json:"x"jsonschema:""`: "!",
		`json: "x"`:             "!",
		`json:x`:                "!",
		`json`:                  "!",
		`:"x"`:                  "!",
		`a b:"x"`:               "!",
		"a:`x`":                 "!",
		`a:"x`:                  "!",
	} {
		keys, ok := tagKeys(reflect.StructTag(tag))
		if got := strings.Join(keys, " "); ok && got != want || ok == (want == "!") {
			t.Errorf("%s: want %q, got %q %v", tag, want, got, ok)
		}
	}
	double := reflect.StructOf([]reflect.StructField{{Name: "F", Type: reflect.TypeFor[bool](), Tag: `json:"f" json:"g"`}})
	if _, err := FromType(double); err == nil || !strings.Contains(err.Error(), "each tag once") {
		t.Errorf("a tag that stands twice: got %v", err)
	}
	split := reflect.StructOf([]reflect.StructField{{Name: "F", Type: reflect.TypeFor[bool](), Tag: `json: "f"`}})
	if _, err := FromType(split); err == nil || !strings.Contains(err.Error(), "struct tag") {
		t.Errorf("a malformed tag: got %v", err)
	}
}

// FuzzTags: a tag is refused, or each of its keywords stands in the schema with the value that was written.
func FuzzTags(f *testing.F) {
	types := []reflect.Type{
		reflect.TypeFor[string](), reflect.TypeFor[int](), reflect.TypeFor[bool](), reflect.TypeFor[Token](), reflect.TypeFor[Text](),
		reflect.TypeFor[[]string](), reflect.TypeFor[[]int](), reflect.TypeFor[[]Token](), reflect.TypeFor[struct{ A bool }](),
	}
	for i, tag := range []string{
		`enum=a,enum=b`, `minimum=0,maximum=3`, `description=x`, `pattern=^[a-z]{1\,3}$`, `maxLength=9,minLength=2`, `maxItems=3,enum=a,uniqueItems=true`,
		`maxItems=2,minimum=1,maximum=4`, `maxItems=1,pattern=^[0-9=]$`, `enum=a\\,enum=b`, `uniqueItems`, `enum=a,,enum=b`, `=,=`, `enum=a=b`,
	} {
		f.Add(uint8(i), tag)
	}
	f.Fuzz(func(t *testing.T, which uint8, tag string) {
		if strings.ContainsFunc(tag, func(r rune) bool { return r < ' ' }) || !utf8.ValidString(tag) {
			return // no Go source has such a tag
		}
		s, err := withTag(types[int(which)%len(types)], tag)
		if err != nil {
			return
		}
		schema := string(s.JSONSchema())
		for _, kind := range []Kind{KindToken, KindText, KindQuote} {
			schema = strings.ReplaceAll(schema, `"$comment":"`+kind.String()+`",`, "")
		}
		k, err := parseKeywords([]byte(schema))
		if err != nil {
			t.Fatal(err)
		}
		got := k.props[0].value
		if tag == "" {
			return
		}
		enum := 0
		for _, part := range splitTag(tag) {
			name, val, ok := strings.Cut(part, "=")
			if !ok {
				t.Fatalf("%q was taken and has no value", part)
			}
			item := got
			if got.items != nil && name != "maxItems" && name != "minItems" && name != "uniqueItems" && name != "description" {
				item = got.items
			}
			survived := false
			switch name {
			case "enum":
				survived = enum < len(item.enum) && item.enum[enum] == val
				enum++
			case "pattern":
				survived = item.pattern != nil && *item.pattern == val
			case "minimum":
				survived = matches(item.minimum, whole, val)
			case "maximum":
				survived = matches(item.maximum, whole, val)
			case "minLength": // the pattern may narrow a length further, never widen it
				n, ok := length(val)
				survived = ok && item.minLen != nil && *item.minLen >= *n
			case "maxLength":
				n, ok := length(val)
				survived = ok && item.maxLen != nil && *item.maxLen <= *n
			case "minItems":
				survived = matches(item.minItems, length, val)
			case "maxItems":
				survived = matches(item.maxItems, length, val)
			case "uniqueItems":
				survived = item.unique && val == "true"
			case "description":
				survived = item.about == val
			}
			if !survived {
				t.Errorf("%q: keyword %q is lost", tag, part)
			}
		}
	})
}

func matches[T comparable](got *T, read func(string) (*T, bool), val string) bool {
	want, ok := read(val)
	return ok && got != nil && *got == *want
}
