package shape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/invopop/jsonschema"
	oracle "github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"
)

type area string

func (area) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"api", "cli", "docs", "fence", "shape", "plan", "local", "aws", "site", "other"}}
}

// triage is the recipe of design section 3.
type triage struct {
	Kind     string `json:"kind"     jsonschema:"enum=bug,enum=feature,enum=question,enum=spam"`
	Severity int    `json:"severity" jsonschema:"minimum=0,maximum=3"`
	Areas    []area `json:"areas"    jsonschema:"maxItems=2,uniqueItems=true"`
	Version  *Token `json:"version,omitempty" jsonschema:"pattern=^v[0-9]{1\\,3}(\\.[0-9]{1\\,3}){2}$"`
	Quote    *Quote `json:"quote,omitempty"   jsonschema:"maxLength=160"`
}

// report has every form, nested.
type report struct {
	Title Text   `json:"title" jsonschema:"maxLength=40,minLength=1,description=What it is about\\, in a line"`
	Known bool   `json:"known"`
	Level int8   `json:"level" jsonschema:"minimum=-3,maximum=11"`
	Port  uint16 `json:"port" jsonschema:"minimum=1,maximum=65535"`
	Order []area `json:"order" jsonschema:"maxItems=3,minItems=1"`
	Items []struct {
		ID   Token  `json:"id" jsonschema:"pattern=^CVE-[0-9]{4}-[0-9]{4\\,7}$"`
		Fix  *bool  `json:"fix,omitempty"`
		Note *Quote `json:"note,omitempty" jsonschema:"maxLength=30"`
		Tags []area `json:"tags" jsonschema:"maxItems=10,uniqueItems=true"`
	} `json:"items" jsonschema:"maxItems=4"`
	Refs  []Token `json:"refs" jsonschema:"maxItems=3,pattern=^#[1-9][0-9]{0\\,5}$"`
	Code  *Text   `json:"code,omitempty" jsonschema:"pattern=^[a-z \"]{0\\,12}$"`
	Where *struct {
		File Text    `json:"file" jsonschema:"maxLength=20"`
		Line *int    `json:"line,omitempty" jsonschema:"minimum=1,maximum=9999"`
		More []*Text `json:"-"`
	} `json:"where,omitempty"`
	Flags []bool `json:"flags" jsonschema:"maxItems=2,uniqueItems=true"`
	State *[]int `json:"state,omitempty" jsonschema:"maxItems=2,minimum=1,maximum=3"`
}

func must[T any](t testing.TB) *Shape {
	t.Helper()
	s, err := Of[T]()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func rng(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// compileOracle makes a validator of a schema; it shares no code with the package.
func compileOracle(t fataler, schema []byte) *oracle.Schema {
	t.Helper()
	doc, err := oracle.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		t.Fatal(err)
	}
	c := oracle.NewCompiler()
	if err := c.AddResource("shape.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("shape.json")
	if err != nil {
		t.Fatalf("compile: %v\n%s", err, schema)
	}
	return s
}

// fataler is what tests, benchmarks and properties have in common.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func accepts(s *oracle.Schema, doc []byte) bool {
	v, err := oracle.UnmarshalJSON(bytes.NewReader(doc))
	return err == nil && s.Validate(v) == nil
}

// labels that JSON spells in different lengths.
var someLabels = []string{"a", "bc", "d e", `q"q`, `b\s`, "é", "日本", "x-1", "Z", "😀"}

// leafField draws the type and tag of a field that is no list and no object.
func leafField(t *rapid.T) (reflect.Type, string) {
	switch rapid.IntRange(0, 5).Draw(t, "leaf") {
	case 0:
		n := rapid.IntRange(1, len(someLabels)).Draw(t, "labels")
		return reflect.TypeFor[string](), "enum=" + strings.Join(someLabels[:n], ",enum=")
	case 1:
		return reflect.TypeFor[bool](), ""
	case 2:
		lo := rapid.IntRange(-12, 12).Draw(t, "lo")
		return reflect.TypeFor[int16](), fmt.Sprintf("minimum=%d,maximum=%d", lo, lo+rapid.IntRange(0, 200).Draw(t, "width"))
	case 3:
		return reflect.TypeFor[Token](), "pattern=" + rapid.SampledFrom([]string{`^[A-Z]{2}-[0-9]$`, `^v[0-9]{1\,2}(\.[0-9]){0\,2}$`, `^(?:a|ab|b)(?:b|c)?$`, `^["\\]{1\,3}$`}).Draw(t, "pattern")
	case 4:
		lo := rapid.IntRange(0, 3).Draw(t, "minLength")
		return reflect.TypeFor[Text](), fmt.Sprintf("minLength=%d,maxLength=%d", lo, lo+rapid.IntRange(0, 12).Draw(t, "more"))
	default:
		return reflect.TypeFor[Quote](), `pattern=^[ab c"]{0\,3}$`
	}
}

// structType draws a Go struct that is a shape.
func structType(t *rapid.T, depth int) reflect.Type {
	n := rapid.IntRange(1, 4).Draw(t, "fields")
	var fields []reflect.StructField
	for i := range n {
		typ, tag := leafField(t)
		form := rapid.IntRange(0, 4).Draw(t, "form")
		if form == 4 && depth > 0 {
			typ, tag = structType(t, depth-1), ""
		}
		if form >= 3 && !strings.Contains(tag, `"`) {
			lo := rapid.IntRange(0, 1).Draw(t, "minItems")
			keys := fmt.Sprintf("minItems=%d,maxItems=%d", lo, lo+rapid.IntRange(1, 3).Draw(t, "items"))
			if k := typ.Kind(); k != reflect.Struct && rapid.Bool().Draw(t, "set") {
				keys = fmt.Sprintf("maxItems=%d,uniqueItems=true", rapid.IntRange(1, 4).Draw(t, "size"))
			}
			typ, tag = reflect.SliceOf(typ), strings.Trim(keys+","+tag, ",")
		}
		name := fmt.Sprintf("%c%d", "zkabQ"[i], i)
		if rapid.Bool().Draw(t, "optional") {
			typ, name = reflect.PointerTo(typ), name+",omitempty"
		}
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("F%d", i), Type: typ,
			Tag: reflect.StructTag(fmt.Sprintf("json:%q jsonschema:%q", name, tag)),
		})
	}
	return reflect.StructOf(fields)
}

func anyShape(t *rapid.T) *Shape {
	s, err := FromType(structType(t, 2))
	if err != nil {
		t.Fatalf("a type made to be a shape was refused: %v", err)
	}
	return s
}

func TestRecipeOfTheDesignIsAShapeOfKnownSize(t *testing.T) {
	t.Parallel()
	s := must[triage](t)
	if got := s.SkeletonCount().Int64(); got != 4*4*(1+10+45)*2*2 {
		t.Errorf("skeletons: want %d, got %d", 4*4*56*4, got)
	}
	b := s.Bits(6)
	if b.Decide > 16 || b.Carry > 3300 || b.Carry < 3240 || b.Total <= b.Carry {
		t.Errorf("bits: got %+v", b)
	}
	for _, f := range s.Fields() {
		if f.Name == "quote" && fmt.Sprintf("%.0f", f.Bits) != "3214" {
			t.Errorf("quote: want 3214 bits, got %.2f", f.Bits)
		}
	}
}

func TestSchemaIsCanonicalAndTheDigestFollowsIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anyShape(t)
		canon := jsontext.Value(s.JSONSchema())
		if err := canon.Canonicalize(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(canon, s.JSONSchema()) {
			t.Errorf("want canonical\n%s, got\n%s", canon, s.JSONSchema())
		}
		again, err := FromType(s.Type())
		if err != nil || again.Digest() != s.Digest() || len(s.Digest()) != 64 {
			t.Errorf("digest is not a function of the type: %v", err)
		}
	})
	if must[triage](t).Digest() == must[report](t).Digest() {
		t.Error("two shapes, one digest")
	}
}

func TestDigestTellsTextFromQuote(t *testing.T) {
	t.Parallel()
	a := must[struct {
		A Text `json:"a" jsonschema:"maxLength=3"`
	}](t)
	b := must[struct {
		A Quote `json:"a" jsonschema:"maxLength=3"`
	}](t)
	if a.Digest() == b.Digest() {
		t.Error("a text and a quote have one digest")
	}
}

func TestSchemaOfADescriptionWithControlsIsJSON(t *testing.T) {
	t.Parallel()
	s := must[struct {
		A bool `json:"a" jsonschema_description:"tab\there \"quoted\" bell\u0007 <b>"`
	}](t)
	if !json.Valid(s.JSONSchema()) || s.Fields()[0].About != "tab\there \"quoted\" bell\a <b>" {
		t.Errorf("got %s", s.JSONSchema())
	}
}

func TestLargestStructureIsCapped(t *testing.T) {
	t.Parallel()
	_, err := Of[struct {
		A []Text `json:"a" jsonschema:"maxItems=9,maxLength=1000"`
	}]()
	if err == nil || !strings.Contains(err.Error(), "32768") {
		t.Errorf("want the cap named, got %v", err)
	}
	type in struct {
		A []Text `json:"a" jsonschema:"maxItems=4096,maxLength=8192"`
	}
	type mid struct {
		B []in `json:"b" jsonschema:"maxItems=4096"`
	}
	if _, err := Of[struct {
		C []mid `json:"c" jsonschema:"maxItems=4096"`
	}](); err == nil {
		t.Error("a huge shape was taken")
	}
}

func ExampleOf() {
	type order struct {
		Wish   string `json:"wish" jsonschema:"enum=refund,enum=status"`
		Number Token  `json:"number" jsonschema:"pattern=^[A-Z]{3}-[0-9]{4}$"`
		Note   string `json:"note"`
	}
	_, err := Of[order]()
	fmt.Println(err)
	// Output:
	// order.Note (note) is not bounded: a bound: a plain string may say anything; mend: add enum=… labels, or use a shape.Token with a pattern, or a shape.Text or shape.Quote with maxLength
}

func ExampleLift() {
	type order struct {
		Wish   string `json:"wish" jsonschema:"enum=refund,enum=status"`
		Number Token  `json:"number" jsonschema:"pattern=^[A-Z]{3}-[0-9]{4}$"`
	}
	s, _ := Of[order]()
	v, _ := s.Decode([]byte(`{ "number": "ABC-1234", "wish": "status" }`))
	o, handles, _ := Lift[order](s, v)
	content, _ := handles.Content(o.Number.Handle())
	fmt.Println(o.Wish, o.Number, content)
	fmt.Printf("%s %.2f bits\n", v.Encode(), s.Bits(0).Total)
	// Output:
	// status token(number) ABC-1234
	// {"number":"ABC-1234","wish":"status"} 28.39 bits
}
