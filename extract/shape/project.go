package shape

import (
	"fmt"
	"strconv"
)

// Provider is what a model's provider takes of JSON Schema. A keyword that it refuses, or drops in silence, is not sent:
// what crosses is decided by Decode alone. The zero value takes no bound and no optional field.
type Provider struct {
	Name     string
	Bounds   bool // minimum, maximum, minItems, maxItems, uniqueItems
	Lengths  bool // minLength, maxLength
	Patterns bool // pattern
	Optional int  // most properties that are not required, over all objects
	Unions   int  // most properties that are a union with null
}

// providers is the table of capabilities. Limits as vendors' pages and public threads report them (late 2026): a bound is
// a 400 from Bedrock; strict mode of the OpenAI API wants every property required; constrained decoders forget lengths
// beside a pattern.
var providers = [...]Provider{
	{Name: "bedrock", Patterns: true, Optional: 24, Unions: 16},
	{Name: "openai", Patterns: true, Unions: saturated},
	{Name: "exact", Bounds: true, Lengths: true, Patterns: true, Optional: saturated},
}

// Bedrock is Amazon Bedrock's structured output.
func Bedrock() Provider { return providers[0] }

// OpenAI is strict json_schema of the OpenAI API, and of endpoints that imitate it.
func OpenAI() Provider { return providers[1] }

// Exact takes every keyword of a shape: our own extractors, and grammars that are built from the whole schema.
func Exact() Provider { return providers[2] }

// Providers is every provider of the table.
func Providers() []Provider { return append([]Provider(nil), providers[:]...) }

// expandInts is the longest range that a provider without bounds is given as an enum.
const expandInts = 256

// Projection is a schema that the provider takes and that accepts whatever the shape accepts, once the absence of an
// optional field that the projection requires is written as null: see DecodeProjected. Properties stand in the order of
// the Go struct, since models fill them in the order of the schema. The error says which limit the shape exceeds.
func (s *Shape) Projection(p Provider) ([]byte, error) {
	j := &projector{p: p}
	out := j.node(nil, s.root, false)
	if j.optional > p.Optional {
		return nil, fmt.Errorf("projection for %s: want at most %d optional fields beside %d unions with null, got %d: make some required or split the shape",
			p.Name, p.Optional, p.Unions, j.optional)
	}
	return out, nil
}

type projector struct {
	p                Provider
	unions, optional int
}

// omits decides how an optional field is spelled: left out of required where the provider takes any number of such,
// else as a union with null, else left out again.
func (j *projector) omits() bool {
	if j.p.Optional < saturated && j.unions < j.p.Unions {
		j.unions++
		return false
	}
	j.optional++
	return true
}

func (j *projector) node(dst []byte, n *node, nullable bool) []byte {
	if nullable {
		dst = append(dst, `{"anyOf":[`...)
		dst = j.node(dst, n, false)
		return append(dst, `,{"type":"null"}]}`...)
	}
	dst = append(dst, '{')
	num := func(name string, v int) { dst = appendMember(dst, name, strconv.AppendInt(nil, int64(v), 10)) }
	typ := func(name string) { dst = appendMember(dst, "type", appendString(nil, name)) }
	if about := j.about(n); about != "" {
		dst = appendMember(dst, "description", appendAuthor(nil, about))
	}
	switch n.form {
	case formEnum:
		typ("string")
		dst = appendMember(dst, "enum", n.appendLabels(nil))
	case formBool:
		typ("boolean")
	case formInt:
		typ("integer")
		switch {
		case j.p.Bounds:
			num("minimum", int(n.lo))
			num("maximum", int(n.hi))
		case n.choices() <= expandInts:
			list := []byte{'['}
			for ord := range int32(n.choices()) {
				if ord > 0 {
					list = append(list, ',')
				}
				list = n.appendChoice(list, ord)
			}
			dst = appendMember(dst, "enum", append(list, ']'))
		}
	case formString:
		typ("string")
		if j.p.Patterns && n.pattern != "" {
			dst = appendMember(dst, "pattern", appendString(nil, n.pattern))
		}
		if j.p.Lengths {
			num("minLength", n.minLen)
			num("maxLength", n.maxLen)
		}
	case formSet, formList:
		typ("array")
		dst = appendMember(dst, "items", j.node(nil, n.item, false))
		if j.p.Bounds {
			num("minItems", n.minItems)
			num("maxItems", n.maxItems)
			if n.form == formSet {
				dst = appendMember(dst, "uniqueItems", []byte("true"))
			}
		}
	case formObject:
		typ("object")
		dst = j.object(dst, n)
	default: // not of the closed list: a schema that accepts nothing
		dst = appendMember(dst, "not", []byte("{}"))
	}
	return append(dst, '}')
}

func (j *projector) object(dst []byte, n *node) []byte {
	props, required := []byte{'{'}, []byte{'['}
	for _, i := range n.byOrder {
		f := n.fields[i]
		omit := f.optional && j.omits()
		props = appendMember(props, f.name, j.node(nil, f.value, f.optional && !omit))
		if omit {
			continue
		}
		if len(required) > 1 {
			required = append(required, ',')
		}
		required = appendString(required, f.name)
	}
	dst = appendMember(dst, "properties", append(props, '}'))
	dst = appendMember(dst, "required", append(required, ']'))
	return appendMember(dst, "additionalProperties", []byte("false"))
}

// about is the author's description and, in words, the bounds that the provider does not take.
func (j *projector) about(n *node) string {
	bound := ""
	switch n.form {
	case formInt:
		if !j.p.Bounds && n.choices() > expandInts {
			bound = fmt.Sprintf("From %d to %d.", n.lo, n.hi)
		}
	case formString:
		if !j.p.Lengths && n.pattern == "" {
			bound = fmt.Sprintf("One line of at most %d characters.", n.maxLen)
			if n.minLen > 0 {
				bound = fmt.Sprintf("One line of %d to %d characters.", n.minLen, n.maxLen)
			}
		}
	case formSet, formList:
		if !j.p.Bounds {
			bound = fmt.Sprintf("From %d to %d items.", n.minItems, n.maxItems)
			if n.form == formSet {
				bound = fmt.Sprintf("From %d to %d distinct items.", n.minItems, n.setMax())
			}
		}
	default: // enum, boolean and object say all in their keywords
	}
	if n.about != "" && bound != "" {
		return n.about + " " + bound
	}
	return n.about + bound
}
