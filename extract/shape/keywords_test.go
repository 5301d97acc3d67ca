package shape

import (
	"reflect"
	"testing"
)

func TestSchemasBeyondTheKeywordsAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		``, `true`, `false`, `[]`, `null`, `{`, `{"type":"string"`, `{"type":"string"}x`, `{"type":"string"} {}`,
		`{"type":"string","type":"string"}`, `{"type":["string","null"]}`, `{"type":1}`,
		`{"anyOf":[]}`, `{"$ref":"#"}`, `{"$defs":{}}`, `{"format":"email"}`, `{"title":"x"}`, `{"const":1}`, `{"not":{}}`, `{"default":1}`,
		`{"enum":"a"}`, `{"enum":[1]}`, `{"enum":["a",null]}`, `{"enum":["a"`, `{"required":[1]}`,
		`{"minimum":0.5}`, `{"minimum":1e3}`, `{"minimum":-0}`, `{"maximum":"1"}`, `{"minimum":99999999999999999999}`,
		`{"maxLength":-1}`, `{"minLength":1.0}`, `{"maxItems":9999999999999999}`, `{"minItems":null}`,
		`{"pattern":1}`, `{"description":1}`, `{"additionalProperties":true}`, `{"additionalProperties":{}}`,
		`{"items":true}`, `{"items":[{}]}`, `{"items":{"oneOf":[]}}`, `{"properties":[]}`, `{"properties":{"a":true}}`, `{"properties":{"a":{},"a":{}}}`,
		`{"properties":{"a":{"type":1}}}`, `{"properties":{`, `{"properties":{"a"`, `{"items":{"type":"string"`,
	} {
		if k, err := parseKeywords([]byte(bad)); err == nil {
			t.Errorf("%s was read as %+v", bad, k)
		}
	}
	deep := ""
	for range 2*maxDepth + 2 {
		deep += `{"items":`
	}
	if _, err := parseKeywords([]byte(deep)); err == nil {
		t.Error("a deep schema was read")
	}
}

// TestEveryKeywordIsCompared changes one field of keywords after the other.
func TestEveryKeywordIsCompared(t *testing.T) {
	t.Parallel()
	const full = `{"type":"x","description":"d","enum":["a"],"pattern":"p","minimum":1,"maximum":2,"minLength":3,"maxLength":4,` +
		`"minItems":5,"maxItems":6,"uniqueItems":true,"items":{"type":"y"},"required":["r"],"additionalProperties":false}`
	read := func() *keywords {
		k, err := parseKeywords([]byte(full))
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	if d := read().differ(read()); d != "" {
		t.Errorf("equal schemas differ in %s", d)
	}
	typ := reflect.TypeFor[keywords]()
	for i := range typ.NumField() {
		if typ.Field(i).Name == "props" {
			continue // compared by survives, which knows the Go fields
		}
		k := read()
		f := reflect.NewAt(typ.Field(i).Type, reflect.ValueOf(k).Elem().Field(i).Addr().UnsafePointer()).Elem()
		f.SetZero()
		if k.differ(read()) == "" || read().differ(k) == "" {
			t.Errorf("the keyword of %s is not compared", typ.Field(i).Name)
		}
	}
}

func TestWhatIsAddedToASchemaIsSeen(t *testing.T) {
	t.Parallel()
	typ := reflect.TypeFor[struct{ A, B bool }]()
	for _, got := range []string{
		`{"type":"object","additionalProperties":false,"required":["A","B"],"properties":{"A":{"type":"boolean"}}}`,
		`{"type":"object","additionalProperties":false,"required":["A","B"],"properties":{"B":{"type":"boolean"},"A":{"type":"boolean"}}}`,
		`{"type":"object","additionalProperties":false,"required":["A"],"properties":{"A":{"type":"boolean"},"B":{"type":"boolean"}}}`,
		`{"type":"object","required":["A","B"],"properties":{"A":{"type":"boolean"},"B":{"type":"boolean"}}}`,
		`{"type":"object","additionalProperties":false,"required":["A","B"],"properties":{"A":{"type":"boolean"},"B":{"type":"string"}}}`,
	} {
		b := &builder{goField: map[*keywords]reflect.StructField{}}
		want := b.base(typ, place{"T", rootPath})
		k, err := parseKeywords([]byte(got))
		if err != nil {
			t.Fatal(err)
		}
		if b.survives(want, k, typ, place{"T", rootPath}); len(b.list) != 1 {
			t.Errorf("want one fault for %s, got %v", got, b.list)
		}
	}
}
