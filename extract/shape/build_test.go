package shape

import (
	"encoding/json"
	"errors"
	"net"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/invopop/jsonschema"
)

type (
	pointerHook  string
	sharedHook   string
	nilHook      string
	panicHook    string
	openHook     string
	structHook   struct{ A bool }
	wrongHook    int
	closedHook   []area
	aliased      string
	texty        int
	tree         struct{ Kids []tree }
	loop         []loop
	left         struct{ R *right }
	right        struct{ L *left }
	Embedded     struct{ A bool }
	scale        int
	fluctuating  string
	numericEnum  string
	shadowed     struct{ A string }
	notASchemaer string
)

var (
	oneSchema = &jsonschema.Schema{Type: "string", Enum: []any{"a"}}
	flips     int
)

func (*pointerHook) JSONSchema() *jsonschema.Schema { return oneSchema }
func (sharedHook) JSONSchema() *jsonschema.Schema   { return oneSchema }
func (nilHook) JSONSchema() *jsonschema.Schema      { return nil }
func (panicHook) JSONSchema() *jsonschema.Schema    { panic("raw text") }
func (openHook) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", AnyOf: []*jsonschema.Schema{{Type: "string"}}}
}
func (structHook) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "object"} }
func (wrongHook) JSONSchema() *jsonschema.Schema  { return &jsonschema.Schema{Type: "string"} }
func (scale) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "integer", Minimum: "1", Maximum: "5"}
}
func (closedHook) JSONSchema() *jsonschema.Schema {
	n := uint64(2)
	return &jsonschema.Schema{Type: "array", MaxItems: &n, Items: area("").JSONSchema()}
}
func (fluctuating) JSONSchema() *jsonschema.Schema {
	flips++
	return &jsonschema.Schema{Type: "string", Enum: []any{strings.Repeat("a", flips)}}
}
func (numericEnum) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{1, 2}}
}
func (aliased) JSONSchemaAlias() any           { return 0 }
func (texty) MarshalText() ([]byte, error)     { return nil, nil }
func (notASchemaer) JSONSchema() string        { return "" }
func (shadowed) JSONSchemaProperty(string) any { return 0 }

func TestWhatIsNotBoundedIsRefusedWithItsMend(t *testing.T) {
	for _, c := range []struct {
		name, missing string
		typ           any
	}{
		{"any", "closed type", struct{ F any }{}},
		{"interface", "closed type", struct{ F error }{}},
		{"map", "closed keys", struct{ F map[string]bool }{}},
		{"raw message", "bytes", struct{ F json.RawMessage }{}},
		{"bytes", "bytes", struct{ F []byte }{}},
		{"ip", "bytes", struct{ F net.IP }{}},
		{"url", "UnmarshalBinary|MarshalBinary|tags|bound|method", struct{ F url.URL }{}},
		{"float", "float", struct{ F float64 }{}},
		{"complex", "float", struct{ F complex64 }{}},
		{"func", "JSON can hold", struct{ F func() }{}},
		{"channel", "JSON can hold", struct{ F chan bool }{}},
		{"time", "time", struct{ F time.Time }{}},
		{"duration", "duration", struct{ F time.Duration }{}},
		{"array", "a slice", struct{ F [2]bool }{}},
		{"plain string", "plain string", struct{ F string }{}},
		{"free reasoning", "plain string", struct {
			Reasoning string `json:"reasoning" jsonschema:"description=Think first"`
		}{}},
		{"string with a pattern", "cannot look into", struct {
			F string `jsonschema:"pattern=^a$"`
		}{}},
		{"string with a length", "cannot look into", struct {
			F string `jsonschema:"maxLength=9"`
		}{}},
		{"plain int", "both ends", struct{ F int }{}},
		{"int without maximum", "both ends", struct {
			F int `jsonschema:"minimum=0"`
		}{}},
		{"int8 without range", "both ends", struct{ F int8 }{}},
		{"wide int", "small range", struct {
			F int `jsonschema:"minimum=0,maximum=65536"`
		}{}},
		{"int beyond 2^53", "2^53", struct {
			F int `jsonschema:"minimum=9007199254740990,maximum=9007199254740993"`
		}{}},
		{"int beyond its type", "int8 can hold", struct {
			F int8 `jsonschema:"minimum=0,maximum=128"`
		}{}},
		{"negative uint", "uint can hold", struct {
			F uint `jsonschema:"minimum=-1,maximum=1"`
		}{}},
		{"empty range", "range with a value", struct {
			F int `jsonschema:"minimum=2,maximum=1"`
		}{}},
		{"slice without maxItems", "maxItems", struct {
			F []area
		}{}},
		{"slice of nothing", "maxItems of 1", struct {
			F []area `jsonschema:"maxItems=0"`
		}{}},
		{"long slice", "maxItems of 1", struct {
			F []area `jsonschema:"maxItems=4097"`
		}{}},
		{"list of lists", "maxItems", struct {
			F [][]area `jsonschema:"maxItems=2"`
		}{}},
		{"set of texts", "choices as the items", struct {
			F []Text `jsonschema:"maxItems=2,uniqueItems=true,maxLength=4"`
		}{}},
		{"set of objects", "choices as the items", struct {
			F []struct{ A bool } `jsonschema:"maxItems=2,uniqueItems=true"`
		}{}},
		{"set too large to fill", "as long as minItems", struct {
			F []bool `jsonschema:"minItems=3,maxItems=4,uniqueItems=true"`
		}{}},
		{"minItems over maxItems", "as long as minItems", struct {
			F []bool `jsonschema:"minItems=3,maxItems=2"`
		}{}},
		{"list of pointers", "always present", struct {
			F []*area `jsonschema:"maxItems=2"`
		}{}},
		{"recursion", "contains itself", tree{}},
		{"recursive slice", "contains itself", struct{ F loop }{}},
		{"mutual recursion", "contains itself", left{}},
		{"token without pattern", "a pattern", struct{ F Token }{}},
		{"token with a length only", "a pattern", struct {
			F Token `jsonschema:"maxLength=4"`
		}{}},
		{"token with a space", "token that is a text", struct {
			F Token `jsonschema:"pattern=^[a-z ]{1\\,4}$"`
		}{}},
		{"token over 64 bits", "token that is a text", struct {
			F Token `jsonschema:"pattern=^[a-z]{14}$"`
		}{}},
		{"token with an enum", "a choice", struct {
			F Token `jsonschema:"enum=a"`
		}{}},
		{"text without length", "maxLength", struct{ F Text }{}},
		{"long text", "maxLength of at most", struct {
			F Text `jsonschema:"maxLength=8193"`
		}{}},
		{"text that cannot be", "minLength of at most", struct {
			F Text `jsonschema:"minLength=3,maxLength=2"`
		}{}},
		{"pattern and length at odds", "a value that the pattern", struct {
			F Text `jsonschema:"pattern=^[a-z]{3}$,maxLength=2"`
		}{}},
		{"format", "keyword", struct {
			F Text `jsonschema:"maxLength=9,format=email"`
		}{}},
		{"pointer without omitempty", "omitempty beside", struct{ F *bool }{}},
		{"omitempty without pointer", "pointer beside", struct {
			F bool `json:"f,omitempty"`
		}{}},
		{"pointer to pointer", "only once", struct {
			F **bool `json:"f,omitempty"`
		}{}},
		{"string option", "option", struct {
			F int `json:"f,string" jsonschema:"minimum=0,maximum=1"`
		}{}},
		{"inline option", "option", struct {
			F struct{ A bool } `json:"f,inline"`
		}{}},
		{"embedded struct", "embedded", struct{ Embedded }{}},
		{"embedded struct that is hidden", "embedded", struct {
			Embedded
			A bool
		}{}},
		{"embedded token", "of its own", struct{ Token }{}},
		{"nothing", "a field", struct{}{}},
		{"nothing exported", "a field", struct{ f bool }{}},
		{"nothing inside", "a field", struct{ F struct{} }{}},
		{"names that differ by case", "more than case", struct {
			F bool `json:"name"`
			G bool `json:"Name"`
		}{}},
		{"name of another script", "plain JSON name", struct {
			F bool `json:"имя"`
		}{}},
		{"left out and tagged", "leaves it out", struct {
			F bool `json:"-" jsonschema:"enum=a"`
		}{}},
		{"misspelt tag", "tags that a shape reads", struct {
			F bool `jsonshema:"description=x"`
		}{}},
		{"extras", "tags that a shape reads", struct {
			F bool `jsonschema_extras:"a=b"`
		}{}},
		{"pointer hook", "pointer receiver", struct{ F pointerHook }{}},
		{"hook of another signature", "another signature", struct{ F notASchemaer }{}},
		{"shared hook", "new and equal schema", struct{ F sharedHook }{}},
		{"changing hook", "new and equal schema", struct{ F fluctuating }{}},
		{"hook without schema", "JSONSchema method", struct{ F nilHook }{}},
		{"hook that panics", "JSONSchema method", struct{ F panicHook }{}},
		{"hook with unions", "anyOf", struct{ F openHook }{}},
		{"hook with numbers for labels", "enum", struct{ F numericEnum }{}},
		{"hook of another type", "type integer", struct{ F wrongHook }{}},
		{"hook of a struct", "schema of its own", struct{ F structHook }{}},
		{"alias", "JSONSchemaAlias", struct{ F aliased }{}},
		{"property alias", "JSONSchemaProperty", struct{ F shadowed }{}},
		{"own JSON", "MarshalText", struct{ F texty }{}},
		{"tag over a hook", "the type has", struct {
			F area `jsonschema:"enum=more"`
		}{}},
		{"range over a hook", "the type has", struct {
			F scale `jsonschema:"maximum=9"`
		}{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := FromType(reflect.TypeOf(c.typ))
			var list BoundErrors
			if !errors.As(err, &list) {
				t.Fatalf("want a BoundErrors, got %v", err)
			}
			ok := false
			for _, part := range strings.Split(c.missing, "|") {
				ok = ok || strings.Contains(err.Error(), part)
			}
			if !ok {
				t.Errorf("want %q in the fault, got %v", c.missing, err)
			}
			for _, f := range list {
				if f.Field == "" || f.Path == "" || f.Missing == "" || f.Mend == "" {
					t.Errorf("fault without place or mend: %+v", f)
				}
			}
			if strings.Contains(err.Error(), "raw text") {
				t.Error("a panic's words are in the error")
			}
		})
	}
}

func TestWhatHasAHookIsTaken(t *testing.T) {
	t.Parallel()
	s := must[struct {
		A closedHook
		B scale
		C []scale      `jsonschema:"maxItems=2,uniqueItems=true"`
		D []closedHook `jsonschema:"maxItems=1"`
		E *area        `json:"e,omitempty" jsonschema:"description=where it is"`
		F struct{ G bool }
		h bool
		I func() `json:"-"`
	}](t)
	if got := s.Count().Int64(); got != 111*5*16*112*11*2 {
		t.Errorf("got %d", got)
	}
	if f := s.Fields(); f[7].About != "where it is" {
		t.Errorf("the description is lost: %+v", f)
	}
}

func TestRootIsAStruct(t *testing.T) {
	t.Parallel()
	for _, typ := range []reflect.Type{nil, reflect.TypeFor[int](), reflect.TypeFor[*triage](), reflect.TypeFor[Token](), reflect.TypeFor[[]triage]()} {
		if _, err := FromType(typ); err == nil {
			t.Errorf("%v was taken", typ)
		}
	}
}

func TestUnexportedFieldWithATagIsRefused(t *testing.T) {
	t.Parallel()
	typ := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: reflect.TypeFor[bool]()},
		{Name: "f", PkgPath: "decant.dev/x", Type: reflect.TypeFor[bool](), Tag: `json:"f"`},
	})
	if _, err := FromType(typ); err == nil || !strings.Contains(err.Error(), "exported") {
		t.Errorf("want a fault, got %v", err)
	}
}

func TestAllFaultsAreGathered(t *testing.T) {
	t.Parallel()
	type inner struct {
		X string `json:"x"`
		Y []bool `json:"y"`
	}
	type outer struct {
		A any     `json:"a"`
		B float64 `json:"b"`
		C []inner `json:"c" jsonschema:"maxItems=2"`
		D Token   `json:"d"`
	}
	_, err := Of[outer]()
	var list BoundErrors
	if !errors.As(err, &list) {
		t.Fatal(err)
	}
	var got []string
	for _, f := range list {
		got = append(got, f.Field+" "+f.Path)
	}
	if want := "outer.A a|outer.B b"; !strings.HasPrefix(strings.Join(got, "|"), want) {
		t.Errorf("want %s first, got %s", want, got)
	}
	for _, want := range []string{"outer.C[].X c[].x", "outer.C[].Y c[].y", "outer.D d"} {
		if !strings.Contains(strings.Join(got, "|"), want) {
			t.Errorf("want %s, got %s", want, got)
		}
	}
	var one *BoundError
	if !errors.As(err, &one) {
		t.Error("errors.As does not find a single fault")
	}
}

func TestDepthIsCapped(t *testing.T) {
	t.Parallel()
	typ := reflect.TypeFor[struct{ A bool }]()
	for range maxDepth {
		typ = reflect.StructOf([]reflect.StructField{{Name: "F", Type: typ, Tag: `json:"f"`}})
	}
	if _, err := FromType(typ); err == nil || !strings.Contains(err.Error(), "levels") {
		t.Errorf("want the cap named, got %v", err)
	}
}

func TestTypesOfOneNameDoNotMix(t *testing.T) {
	t.Parallel()
	first := func() reflect.Type {
		type item struct {
			A bool `json:"a"`
		}
		return reflect.TypeFor[item]()
	}()
	second := func() reflect.Type {
		type item struct {
			B string `json:"b" jsonschema:"enum=x,enum=y,enum=z"`
		}
		return reflect.TypeFor[item]()
	}()
	s, err := FromType(reflect.StructOf([]reflect.StructField{
		{Name: "F", Type: first, Tag: `json:"f"`}, {Name: "G", Type: second, Tag: `json:"g"`}, {Name: "H", Type: first, Tag: `json:"h"`},
	}))
	if err != nil || s.Count().Int64() != 2*3*2 {
		t.Fatalf("got %v", err)
	}
	if _, err := s.DecodeCanonical([]byte(`{"f":{"a":true},"g":{"b":"z"},"h":{"a":false}}`)); err != nil {
		t.Error(err)
	}
}

func TestTagsOfOneFieldDoNotReachAnother(t *testing.T) {
	t.Parallel()
	s := must[struct {
		A Text   `json:"a" jsonschema:"maxLength=1"`
		B Text   `json:"b" jsonschema:"maxLength=2"`
		C []area `json:"c" jsonschema:"maxItems=1"`
		D []area `json:"d" jsonschema:"maxItems=2,uniqueItems=true"`
	}](t)
	f := s.Fields()
	if f[0].Max != 1 || f[1].Max != 2 || f[2].Kind != KindList || f[4].Kind != KindChoice || f[2].Max != 1 || f[4].Max != 2 {
		t.Errorf("got %+v", f)
	}
}
