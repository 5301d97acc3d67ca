package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// withNulls writes null for every absent field that the projection requires: what a model would answer.
func withNulls(schema map[string]any, doc any) any {
	if any := schema["anyOf"]; any != nil {
		schema = any.([]interface{})[0].(map[string]interface{})
	}
	switch x := doc.(type) {
	case map[string]any:
		for name, sub := range schema["properties"].(map[string]any) {
			if v, ok := x[name]; ok {
				x[name] = withNulls(sub.(map[string]any), v)
				continue
			}
			for _, r := range schema["required"].([]any) {
				if r == name {
					x[name] = nil
				}
			}
		}
	case []any:
		for i := range x {
			x[i] = withNulls(schema["items"].(map[string]any), x[i])
		}
	}
	return doc
}

func parse(t fataler, b []byte) any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, b)
	}
	return v
}

func TestWhatTheShapeTakesEveryProjectionTakes(t *testing.T) {
	t.Parallel()
	check := func(t fataler, s *Shape, seed uint64, n int) {
		for _, p := range Providers() {
			b, err := s.Projection(p)
			if err != nil {
				t.Fatal(err)
			}
			schema := compileOracle(t, b)
			r := rng(seed)
			for range n {
				v := s.Sample(r)
				answer, err := json.Marshal(withNulls(parse(t, b).(map[string]any), parse(t, v.Encode())))
				if err != nil {
					t.Fatal(err)
				}
				if !accepts(schema, answer) {
					t.Fatalf("%s refuses %s\n%s", p.Name, answer, b)
				}
				back, err := s.DecodeProjected(answer)
				if err != nil || !bytes.Equal(back.Encode(), v.Encode()) {
					t.Fatalf("%s: want %s, got %v", p.Name, v.Encode(), err)
				}
			}
		}
	}
	check(t, must[report](t), 1, 100)
	rapid.Check(t, func(t *rapid.T) { check(t, anyShape(t), rapid.Uint64().Draw(t, "seed"), 3) })
}

// keywordsOf gathers every keyword of a schema.
func keywordsOf(v any, into map[string]int) {
	switch x := v.(type) {
	case map[string]any:
		for k, sub := range x {
			if k == "properties" {
				for _, p := range sub.(map[string]any) {
					keywordsOf(p, into)
				}
				continue
			}
			into[k]++
			keywordsOf(sub, into)
		}
	case []any:
		for _, sub := range x {
			keywordsOf(sub, into)
		}
	}
}

func TestProjectionsHoldOnlyWhatTheProviderTakes(t *testing.T) {
	t.Parallel()
	s := must[report](t)
	for _, p := range Providers() {
		b, err := s.Projection(p)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]int{}
		keywordsOf(parse(t, b), got)
		for k, taken := range map[string]bool{
			"minimum": p.Bounds, "maximum": p.Bounds, "minItems": p.Bounds, "maxItems": p.Bounds, "uniqueItems": p.Bounds,
			"minLength": p.Lengths, "maxLength": p.Lengths, "pattern": p.Patterns, "$comment": false, "anyOf": p.Unions > 0,
			"type": true, "enum": true, "required": true, "additionalProperties": true, "description": true,
		} {
			if (got[k] > 0) != taken {
				t.Errorf("%s: keyword %s: want %v, got %d", p.Name, k, taken, got[k])
			}
		}
		if got["anyOf"] > p.Unions {
			t.Errorf("%s: %d unions", p.Name, got["anyOf"])
		}
	}
}

// optionals is a struct of n optional booleans.
func optionals(n int) reflect.Type {
	var fields []reflect.StructField
	for i := range n {
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: reflect.TypeFor[*bool](), Tag: reflect.StructTag(fmt.Sprintf(`json:"f%d,omitempty"`, i)),
		})
	}
	return reflect.StructOf(fields)
}

func TestLimitsOnOptionalsAndUnionsAreKept(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		n        int
		p        Provider
		unions   int
		required int
		ok       bool
	}{
		{16, Bedrock(), 16, 16, true}, {17, Bedrock(), 16, 16, true}, {40, Bedrock(), 16, 16, true}, {41, Bedrock(), 0, 0, false},
		{100, OpenAI(), 100, 100, true}, {100, Exact(), 0, 0, true},
		{1, Provider{Name: "none"}, 0, 0, false},
	} {
		s, err := FromType(optionals(c.n))
		if err != nil {
			t.Fatal(err)
		}
		b, err := s.Projection(c.p)
		if (err == nil) != c.ok {
			t.Errorf("%d fields for %s: got %v", c.n, c.p.Name, err)
			continue
		}
		if err != nil {
			if !strings.Contains(err.Error(), c.p.Name) {
				t.Errorf("the error does not name the provider: %v", err)
			}
			continue
		}
		schema := parse(t, b).(map[string]any)
		got := map[string]int{}
		keywordsOf(schema, got)
		if got["anyOf"] != c.unions || len(schema["required"].([]any)) != c.required {
			t.Errorf("%d fields for %s: got %d unions and %d required", c.n, c.p.Name, got["anyOf"], len(schema["required"].([]any)))
		}
	}
}

func TestProjectionKeepsTheOrderOfTheStruct(t *testing.T) {
	t.Parallel()
	b, err := must[triage](t).Projection(Bedrock())
	if err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, name := range []string{`"kind":`, `"severity":`, `"areas":`, `"version":`, `"quote":`} {
		i := bytes.Index(b, []byte(name))
		if i <= at {
			t.Errorf("%s stands before its predecessor", name)
		}
		at = i
	}
}

func TestSmallIntegersAreEnumsAndLargeOnesAreDescribed(t *testing.T) {
	t.Parallel()
	s := must[struct {
		A int  `json:"a" jsonschema:"minimum=0,maximum=2,description=How bad"`
		B int  `json:"b" jsonschema:"minimum=1,maximum=9999,description=Which line."`
		C Text `json:"c" jsonschema:"minLength=1,maxLength=9"`
	}](t)
	b, err := s.Projection(Bedrock())
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`{"description":"How bad","type":"integer","enum":[0,1,2]}`, `{"description":"Which line. From 1 to 9999.","type":"integer"}`, `One line of 1 to 9 characters.`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("want %s in %s", want, b)
		}
	}
}
