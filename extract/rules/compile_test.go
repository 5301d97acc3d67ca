package rules

import (
	"strings"
	"testing"

	"decant.dev/extract/shape"
	"decant.dev/fence"
)

func TestNewNamesEveryFault(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spoil func(*Set)
		want  string
	}{
		{"no sources", func(s *Set) { s.Sources = nil }, "no sources"},
		{"invalid origin", func(s *Set) { s.Sources = []Source{{}} }, "source: invalid origin"},
		{"field of another origin", func(s *Set) { s.Sources = []Source{{Origin: fence.OriginMessage, Field: "x"}} }, "record_field only"},
		{"unknown field", func(s *Set) { s.Choices[0].Field = "sort" }, `field "sort": the shape has none`},
		{"field of another kind", func(s *Set) { s.Choices[0].Field = "parts" }, "field parts: it is of another kind"},
		{"field twice", func(s *Set) { s.Choices = append(s.Choices, s.Choices[0]) }, "field kind: decided twice"},
		{"field not decided", func(s *Set) { s.Choices = s.Choices[:2]; s.Subsets = nil }, "field urgent: no rule decides it"},
		{"set not decided", func(s *Set) { s.Subsets = nil }, "field parts: no rule decides it"},
		{"no default", func(s *Set) { s.Choices[0].Default = "" }, "field kind: no default"},
		{"default of no value", func(s *Set) { s.Choices[1].Default = "3" }, `field level: default "3" is no value`},
		{"value of no label", func(s *Set) { s.Choices[0].Rules[0].value = "defect" }, `rule fault.words: "defect" is no value of field kind`},
		{"integer outside", func(s *Set) { s.Choices[1].Rules[0].value = "-2" }, `rule level.high: "-2" is no value of field level`},
		{"boolean of no value", func(s *Set) { s.Choices[2].Rules[0].value = "yes" }, `"yes" is no value of field urgent`},
		{"member of no set", func(s *Set) { s.Subsets[0].Rules[0].value = "gate" }, `"gate" is no value of field parts`},
		{"id twice", func(s *Set) { s.Choices[0].Rules[1].id = "fault.words" }, "rule fault.words: this id stands twice"},
		{"id reserved", func(s *Set) { s.Choices[0].Rules[1].id = RuleDefault }, "rule default: this id stands twice or is reserved"},
		{"id of a token twice", func(s *Set) { s.Tokens[0].Rules[0].ID = "wish.words" }, "rule wish.words: this id stands twice"},
		{"id malformed", func(s *Set) { s.Choices[0].Rules[0].id = "Fault words" }, `rule "Fault words": want an id`},
		{"weight zero", func(s *Set) { s.Choices[0].Rules[0].weight = 0 }, "rule fault.words: weight 0"},
		{"weight too great", func(s *Set) { s.Choices[0].Rules[0].weight = 201 }, "rule fault.words: weight 201"},
		{"nowhere", func(s *Set) { s.Choices[0].Rules[0].where = 0 }, "rule fault.words: no part of a text"},
		{"unknown part", func(s *Set) { s.Choices[0].Rules[0].where = 1 << 12 }, "rule fault.words: unknown part"},
		{"no matcher", func(s *Set) { s.Choices[0].Rules[0].match = Matcher{} }, "rule fault.words: no matcher"},
		{"no words", func(s *Set) { s.Choices[0].Rules[0].match = Words() }, "rule fault.words: no words"},
		{"empty word", func(s *Set) { s.Choices[0].Rules[0].match = Words("a", "*") }, "rule fault.words: an empty word"},
		{"answer without a heading", func(s *Set) { s.Choices[0].Rules[0].match = Answer(nil, "x") }, "no words of a heading"},
		{"empty condition", func(s *Set) { s.Choices[0].Rules[0].match = All() }, "rule fault.words: a condition of nothing"},
		{"fault deep inside", func(s *Set) { s.Choices[0].Rules[0].match = Not(Any(Words())) }, "rule fault.words: no words"},
		{"unknown feature", func(s *Set) { s.Choices[0].Rules[0].match = Has(featureEnd) }, "rule fault.words: unknown feature"},
		{"bad pattern", func(s *Set) { s.Choices[0].Rules[0].match = Pattern("(", "a") }, "rule fault.words: error parsing"},
		{"pattern in upper case", func(s *Set) { s.Choices[0].Rules[0].match = Pattern("a[b]CVE", "a") }, "looks for upper case"},
		{"pattern of nothing", func(s *Set) { s.Choices[0].Rules[0].match = Pattern("a*", "a") }, "matches the empty text"},
		{"pattern on prose without words", func(s *Set) { s.Choices[0].Rules[0].match = Pattern("ab") }, "wants words that it is near"},
		{"later field", func(s *Set) { s.Choices[0].Rules[0].match = Is("urgent", "true") }, `field "urgent": want one that is decided before`},
		{"found of a choice", func(s *Set) { s.Choices[1].Rules[0].match = Found("kind") }, "want Found of a token or quote"},
		{"is of a token", func(s *Set) { s.Choices[1].Rules[0].match = Is("version", "1") }, "want Found of a token or quote"},
		{"is of no value", func(s *Set) { s.Choices[1].Rules[0].match = Is("kind", "x") }, `rule level.high: "x" is no value of field kind`},
		{"condition of a set", func(s *Set) { s.Subsets[0].When = Is("kind", "x") }, `rule parts: "x" is no value of field kind`},
		{"token is no token", func(s *Set) { s.Tokens[0].Field = "quote" }, "field quote: it is of another kind"},
		{"token in the opening", func(s *Set) { s.Tokens[0].Rules[0].Where = Opening }, "rule version.near: want parts"},
		{"confidence", func(s *Set) { s.Tokens[0].Rules[0].Confidence = 101 }, "rule version.near: confidence 101"},
		{"layouts without a format", func(s *Set) { s.Tokens[1].Rules[0].Format = "" }, "rule day.any: want layouts and a format"},
		{"empty layout", func(s *Set) { s.Tokens[1].Rules[0].Layouts = []string{""} }, "rule day.any: an empty layout"},
		{"empty near", func(s *Set) { s.Tokens[0].Rules[0].Near = []string{""} }, "rule version.near: an empty word"},
		{"quote of code", func(s *Set) { s.Quotes[0].Rules[0].Where = Code }, "rule quote.prose: want parts"},
		{"quote too long", func(s *Set) { s.Quotes[0].Rules[0].Min = 61 }, "rule quote.prose: at least 61 characters"},
		{"command without a slash", func(s *Set) { s.Commands[0].Name = "sort" }, `command "sort": want a slash`},
		{"key of no field", func(s *Set) { s.Commands[0].Keys["a"] = "version" }, "command /sort: key a: want a choice or a set"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			set := formSet()
			tt.spoil(&set)
			_, err := New(formShape(t), set)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v: want one with %q", err, tt.want)
			}
		})
	}
}

func TestNewGathersFaults(t *testing.T) {
	t.Parallel()
	set := formSet()
	set.Choices[0].Rules[0].value = "x"
	set.Choices[1].Rules[0].weight = 0
	_, err := New(formShape(t), set)
	if err == nil || !strings.Contains(err.Error(), "fault.words") || !strings.Contains(err.Error(), "level.high") {
		t.Errorf("error %v: want both faults", err)
	}
}

func TestRequiredTokensAndQuotesAreRefused(t *testing.T) {
	t.Parallel()
	s, err := shape.Of[struct {
		ID   shape.Token `json:"id" jsonschema:"pattern=^[0-9]{3}$"`
		Text shape.Quote `json:"text" jsonschema:"maxLength=9"`
		Note shape.Text  `json:"note" jsonschema:"maxLength=9"`
	}]()
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(s, Set{
		Sources: titleAndBody,
		Tokens:  []Token{{Field: "id", Rules: []TokenRule{{ID: "a", Where: Prose}}}},
		Quotes:  []Quotation{{Field: "text", Rules: []Sentence{{ID: "b", Where: Prose, Min: 1}}}},
	})
	for _, want := range []string{"field id: rules can only find", "field text: rules can only find", "field note: no rule decides it"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v: want one with %q", err, want)
		}
	}
}

func TestOptionalChoiceMayBeLeftOut(t *testing.T) {
	t.Parallel()
	s, err := shape.Of[struct {
		Tone *string `json:"tone,omitempty" jsonschema:"enum=calm,enum=loud"`
	}]()
	if err != nil {
		t.Fatal(err)
	}
	x := Must(s, Set{Sources: titleAndBody, Choices: []Choice{{Field: "tone", Rules: []Rule{Weigh("tone.loud", "loud", 9, Prose, Words("hey"))}}}})
	for body, want := range map[string]string{"hey": `{"tone":"loud"}`, "so": `{}`} {
		if got := extractOf(t, x, pair("", body)); got != want {
			t.Errorf("%q gives %s: want %s", body, got, want)
		}
	}
}

func TestSetsThatMayNotBeEmptyAreRefused(t *testing.T) {
	t.Parallel()
	s, err := shape.Of[struct {
		Parts []part `json:"parts" jsonschema:"minItems=1,maxItems=2,uniqueItems=true"`
	}]()
	if err != nil {
		t.Fatal(err)
	}
	_, err = New(s, Set{Sources: titleAndBody, Subsets: []Subset{{Field: "parts"}}})
	if err == nil || !strings.Contains(err.Error(), "field parts: rules can leave a set empty") {
		t.Errorf("error %v: want one about the empty set", err)
	}
}

func TestMustPanicsOnAFault(t *testing.T) {
	t.Parallel()
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	Must(formShape(t), Set{})
}
