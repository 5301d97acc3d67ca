package rules

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"decant.dev/extract/shape"
)

// field is what the rules need to know of one field of a shape. Labels are the values of a choice as rules spell them.
type field struct {
	name     string
	kind     fieldKind
	optional bool
	labels   []string
	quoted   bool // labels are JSON strings
	lo, hi   int  // items of a set or a list, characters of a string
	low      int  // characters of a string or of a list's item
	high     int
	expr     string
	pattern  *regexp.Regexp
}

type fieldKind uint8

const (
	fieldChoice fieldKind = iota + 1
	fieldSet
	fieldToken
	fieldQuote
	fieldText
	fieldTokens // a list of tokens
	fieldOther
)

// carried are the kinds of string that a plan carries, by their name in the schema.
var carried = map[string]fieldKind{
	shape.KindToken.String(): fieldToken, shape.KindQuote.String(): fieldQuote, shape.KindText.String(): fieldText,
}

// property is the part of the shape's exact schema that is read back.
type property struct {
	Comment   string    `json:"$comment"`
	Type      string    `json:"type"`
	Enum      []string  `json:"enum"`
	Minimum   int       `json:"minimum"`
	Maximum   int       `json:"maximum"`
	MinLength int       `json:"minLength"`
	MaxLength int       `json:"maxLength"`
	Pattern   string    `json:"pattern"`
	Items     *property `json:"items"`
	MinItems  int       `json:"minItems"`
	MaxItems  int       `json:"maxItems"`
	Unique    bool      `json:"uniqueItems"`
}

// fieldsOf reads the fields at the top of a shape, in its order.
func fieldsOf(s *shape.Shape) ([]field, error) {
	var schema struct {
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required"`
	}
	if err := json.Unmarshal(s.JSONSchema(), &schema); err != nil {
		return nil, fmt.Errorf("schema of the shape: %w", err)
	}
	var list []field
	for _, f := range s.Fields() {
		p, ok := schema.Properties[f.Name]
		if !ok {
			continue // inside of another field
		}
		x := field{name: f.Name, optional: !slices.Contains(schema.Required, f.Name)}
		switch {
		case p.Type == "string" && p.Enum != nil:
			x.kind, x.labels, x.quoted = fieldChoice, p.Enum, true
		case p.Type == "boolean":
			x.kind, x.labels = fieldChoice, []string{"false", "true"}
		case p.Type == "integer":
			x.kind = fieldChoice
			for n := p.Minimum; n <= p.Maximum; n++ {
				x.labels = append(x.labels, strconv.Itoa(n))
			}
		case p.Type == "array" && p.Unique && p.Items != nil && p.Items.Enum != nil:
			x.kind, x.labels, x.quoted = fieldSet, p.Items.Enum, true
			x.lo, x.hi = p.MinItems, min(p.MaxItems, len(p.Items.Enum))
		case p.Type == "array" && p.Items != nil && p.Items.Comment == shape.KindToken.String():
			x.kind, x.lo, x.hi = fieldTokens, p.MinItems, p.MaxItems
			x.low, x.high, x.expr = p.Items.MinLength, p.Items.MaxLength, p.Items.Pattern
		case p.Type == "string" && carried[p.Comment] != 0:
			x.kind, x.lo, x.hi = carried[p.Comment], p.MinLength, p.MaxLength
			x.low, x.high, x.expr = x.lo, x.hi, p.Pattern
		default:
			x.kind = fieldOther
		}
		if x.expr != "" {
			re, err := regexp.Compile(x.expr)
			if err != nil {
				return nil, fmt.Errorf("field %s: pattern of the shape: %w", f.Name, err)
			}
			x.pattern = re
		}
		list = append(list, x)
	}
	return list, nil
}

// fits reports whether a string is a value of a token, text or quote field, or of a list's items.
func (f *field) fits(s string) bool {
	n := utf8.RuneCountInString(s)
	return f.low <= n && n <= f.high && utf8.ValidString(s) && f.pattern.MatchString(s)
}
