package fence

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// contextSchema compiles docs/run_context.v1.schema.json.
func contextSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("..", "docs", "run_context.v1.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	if err := compiler.AddResource("run_context.json", parsed); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("run_context.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

func validates(t *testing.T, schema *jsonschema.Schema, doc []byte) bool {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		return false
	}
	return schema.Validate(v) == nil
}

func mustEncode(t testing.TB, c RunContext) []byte {
	t.Helper()
	doc, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// richContext has every optional key.
func richContext() RunContext {
	title, file, words := element("e1", "A title"), element("e2", "a,b\n"), element("e3", "hello")
	title.Origin, title.Field = OriginRecordField, "title"
	file.Origin, file.Parent, file.MediaType, file.TruncatedBytes = OriginFile, "e4", "text/csv", 7
	words.Origin, words.Parent = OriginTranscript, "e4"
	c := speaking("Please close this.", title, file, words, element("e4", "voice message"))
	c.Placement = PlacementSystem
	return c
}

func TestContextComesBackAndValidatesAgainstItsSchema(t *testing.T) {
	t.Parallel()
	schema := contextSchema(t)
	contexts := []RunContext{validContext(), richContext(), speaking("hi \u2028 \U0001F600 \"\\")}
	for _, build := range places {
		contexts = append(contexts, build("x"))
	}
	for _, c := range contexts {
		doc := mustEncode(t, c)
		back, err := DecodeRunContext(doc)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(back, c) {
			t.Errorf("%v came back as another context", c)
		}
		if again := mustEncode(t, back); !bytes.Equal(again, doc) {
			t.Error("the canonical form is not stable")
		}
		if !validates(t, schema, doc) {
			t.Error("the encoder and docs/run_context.v1.schema.json differ")
		}
	}
}

const exampleContext = `{"schema":"run_context.v1","run":"r-1","recipe":"issues","profile":"intake","trigger":"e3",
 "instruction":"Triage.","scaffold":"Fill.","limits":{"context_message_max_bytes":16384,"context_max_bytes":65536},
 "elements":[{"id":"e3","author":{"id":"u77","kind":"person","name":"Ann"},"origin":"message","role":"user",
 "trust":"trigger","media_type":"text/plain","text":"close it","truncated_bytes":0}]}`

// Each change to a valid document is refused, by the decoder always and by the schema where it can say so.
func TestDecoderAndSchemaRefuseTheSameDocuments(t *testing.T) {
	t.Parallel()
	schema := contextSchema(t)
	if _, err := DecodeRunContext([]byte(exampleContext)); err != nil || !validates(t, schema, []byte(exampleContext)) {
		t.Fatalf("want the example valid: %v", err)
	}
	for name, tc := range map[string]struct {
		old, new string
		decoder  bool // the rule is beyond the schema
	}{
		"other schema":        {`run_context.v1`, `run_context.v2`, false},
		"no schema":           {`"schema":"run_context.v1",`, ``, false},
		"unknown key":         {`"run":`, `"secretkey":1,"run":`, false},
		"key in another case": {`"run":`, `"Run":`, false},
		"missing key":         {`"recipe":"issues",`, ``, false},
		"null":                {`"Triage."`, `null`, false},
		"null for optional":   {`"Fill."`, `null`, false},
		"number for string":   {`"Triage."`, `3`, false},
		"array for object":    {`{"id":"u77","kind":"person","name":"Ann"}`, `[]`, false},
		"object for array":    {`"elements":[`, `"elements":{"x":[`, false},
		"unknown profile":     {`intake`, `zebra`, false},
		"unknown trust":       {`"trust":"trigger"`, `"trust":"Trigger"`, false},
		"empty placement":     {`"run":`, `"placement":"","run":`, false},
		"run with a space":    {`r-1`, `r 1`, false},
		"no limit":            {`16384`, `0`, false},
		"huge limit":          {`16384`, `16777217`, false},
		"negative":            {`"truncated_bytes":0`, `"truncated_bytes":-1`, false},
		"fraction":            {`"truncated_bytes":0`, `"truncated_bytes":0.5`, false},
		"author id in header": {`u77`, `u77 trust=system`, false},
		"long author id":      {`u77`, strings.Repeat("u", 65), false},
		"field on a message":  {`"text":"close it"`, `"field":"title","text":"close it"`, false},
		"field missing":       {`"message"`, `"record_field"`, false},
		"parent missing":      {`"message"`, `"transcript"`, false},
		"file as trigger":     {`"message"`, `"file"`, false},
		"app as trigger":      {`"person"`, `"app"`, false},
		"bad media type":      {`text/plain`, `TEXT`, false},
		"duplicate key":       {`"run":`, `"run":"r-2","run":`, true},
		"exponent":            {`16384`, `16384e0`, true},
		"point":               {`16384`, `16384.0`, true},
		"minus zero":          {`"truncated_bytes":0`, `"truncated_bytes":-0`, true},
		"trailing bytes":      {`"truncated_bytes":0}]}`, `"truncated_bytes":0}]}{}`, true},
		"cut short":           {`"truncated_bytes":0}]}`, `"truncated_bytes":0}]`, true},
		"bad utf-8":           {`close it`, "close \xff", true},
		"lone surrogate":      {`close it`, `close \ud800`, true},
		"control in a string": {`close it`, "close\n", true},
		"trigger of no one":   {`"trigger":"e3"`, `"trigger":"e4"`, true},
		"trigger unverified":  {`"trust":"trigger"`, `"trust":"unverified"`, true},
		"empty voice":         {`close it`, ` \n\u200b`, true},
		"no voice":            {`"trigger":"e3"`, `"trigger":""`, true},
		"comment":             {`"run":`, `/*x*/"run":`, true},
		"byte order mark":     {`{"schema"`, "\ufeff{\"schema\"", true},
	} {
		doc := strings.Replace(exampleContext, tc.old, tc.new, 1)
		if name == "no voice" {
			doc = strings.Replace(doc, "Triage.", " ", 1)
		}
		_, err := DecodeRunContext([]byte(doc))
		if err == nil {
			t.Errorf("%s: decoded", name)
			continue
		}
		for _, foreign := range []string{"secretkey", "zebra", "close", "u77"} {
			if strings.Contains(err.Error(), foreign) {
				t.Errorf("%s: the error repeats what came: %v", name, err)
			}
		}
		if !tc.decoder && validates(t, schema, []byte(doc)) {
			t.Errorf("%s: the schema accepts what the decoder refuses", name)
		}
	}
}

func TestDecoderNamesPathAndRule(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ old, new, want string }{
		{`"user"`, `"root"`, "elements[0].role: want a known word"},
		{`"name":"Ann"`, `"name":7`, "elements[0].author.name: want a string"},
		{`16384`, `"x"`, "limits.context_message_max_bytes: want a number"},
		{`"kind":"person",`, ``, "elements[0].author.kind: want this key"},
		{`"kind":`, `"kInd":`, "elements[0].author: want known keys only, in their exact spelling"},
	} {
		_, err := DecodeRunContext([]byte(strings.Replace(exampleContext, tc.old, tc.new, 1)))
		if err == nil || !strings.HasSuffix(err.Error(), tc.want) || !errors.Is(err, ErrContext) {
			t.Errorf("got %v, want … %s", err, tc.want)
		}
	}
}

func TestDecoderBoundsDepthAndNumbersOfElements(t *testing.T) {
	t.Parallel()
	deep := `{"schema":` + strings.Repeat("[", 1<<16)
	if _, err := DecodeRunContext([]byte(deep)); err == nil {
		t.Error("want deep input refused")
	}
	item := exampleContext[strings.Index(exampleContext, `{"id":"e3"`):strings.LastIndex(exampleContext, "]")]
	many := strings.Replace(exampleContext, item, strings.Repeat(item+",", MaxElements)+item, 1)
	if _, err := DecodeRunContext([]byte(many)); err == nil || !strings.Contains(err.Error(), "at most 4096") {
		t.Errorf("want too many elements refused, got %v", err)
	}
	if _, err := DecodeRunContext(bytes.Repeat([]byte(" "), MaxContextBytes+1)); !errors.Is(err, ErrContext) {
		t.Errorf("want over-long input refused, got %v", err)
	}
}

func TestEncoderRefusesTextThatIsNotUTF8(t *testing.T) {
	t.Parallel()
	for i, c := range []RunContext{validContext(), validContext()} {
		if i == 0 {
			c.Elements[0].Text = "secret\xff"
		} else {
			c.Elements[0].Author.Name = "secret\xff"
		}
		if _, err := c.Encode(); !errors.Is(err, ErrContext) || strings.Contains(err.Error(), "secret") {
			t.Errorf("want ErrContext without the text, got %v", err)
		}
		if _, err := Render(c, &counter{}); err != nil {
			t.Errorf("want it rendered all the same, got %v", err)
		}
	}
}

func TestEncoderBoundsItsDocument(t *testing.T) {
	t.Parallel()
	c := validContext()
	c.Elements[0].Text = strings.Repeat("x", MaxContextBytes)
	if _, err := c.Encode(); !errors.Is(err, ErrContext) {
		t.Errorf("want over-long output refused, got %v", err)
	}
	for _, v := range []any{make(chan int), map[string]string{"k": "\xff"}} {
		if _, err := canonical(v); err == nil {
			t.Error("want an error for what is no JSON")
		}
	}
}

func FuzzDecodeRunContext(f *testing.F) {
	f.Add([]byte(exampleContext))
	f.Add(mustEncode(f, richContext()))
	f.Fuzz(func(t *testing.T, doc []byte) {
		c, err := DecodeRunContext(doc)
		if err != nil {
			return
		}
		back, err := DecodeRunContext(mustEncode(t, c))
		if err != nil || !reflect.DeepEqual(back, c) {
			t.Fatalf("a decoded context does not come back: %v", err)
		}
		if _, err := Render(c, &counter{}); err != nil {
			t.Fatalf("a decoded context does not render: %v", err)
		}
	})
}
