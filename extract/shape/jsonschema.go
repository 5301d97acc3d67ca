package shape

import (
	"strconv"
	"strings"
)

// appendSchema appends the exact schema of a root in canonical JSON. Keywords stand in the order of RFC 8785.
func appendSchema(dst []byte, root *node) []byte {
	body := root.appendSchema(nil)
	dst = append(dst, '{')
	dst = appendMember(dst, "$schema", appendString(nil, "https://json-schema.org/draft/2020-12/schema"))
	dst = append(dst, ',')
	return append(dst, body[1:]...)
}

func appendMember(dst []byte, name string, value []byte) []byte {
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	dst = appendString(dst, name)
	dst = append(dst, ':')
	return append(dst, value...)
}

func (n *node) appendSchema(dst []byte) []byte {
	dst = append(dst, '{')
	str := func(name, v string) { dst = appendMember(dst, name, appendAuthor(nil, v)) }
	num := func(name string, v int64) { dst = appendMember(dst, name, strconv.AppendInt(nil, v, 10)) }
	if n.form == formString {
		str("$comment", n.kind.String())
	}
	if n.form == formObject {
		dst = appendMember(dst, "additionalProperties", []byte("false"))
	}
	if n.about != "" {
		str("description", n.about)
	}
	switch n.form {
	case formEnum:
		dst = appendMember(dst, "enum", n.appendLabels(nil))
		str("type", "string")
	case formBool:
		str("type", "boolean")
	case formInt:
		num("maximum", n.hi)
		num("minimum", n.lo)
		str("type", "integer")
	case formString:
		num("maxLength", int64(n.maxLen))
		num("minLength", int64(n.minLen))
		if n.pattern != "" {
			str("pattern", n.pattern)
		} else {
			str("pattern", alphabetPattern)
		}
		str("type", "string")
	case formSet, formList:
		dst = appendMember(dst, "items", n.item.appendSchema(nil))
		num("maxItems", int64(n.maxItems))
		num("minItems", int64(n.minItems))
		str("type", "array")
		if n.form == formSet {
			dst = appendMember(dst, "uniqueItems", []byte("true"))
		}
	case formObject:
		props, required := []byte{'{'}, []byte{'['}
		for _, f := range n.fields {
			props = appendMember(props, f.name, f.value.appendSchema(nil))
			if f.optional {
				continue
			}
			if len(required) > 1 {
				required = append(required, ',')
			}
			required = appendString(required, f.name)
		}
		dst = appendMember(dst, "properties", append(props, '}'))
		dst = appendMember(dst, "required", append(required, ']'))
		str("type", "object")
	default: // not of the closed list: a schema that accepts nothing
		dst = appendMember(dst, "not", []byte("{}"))
	}
	return append(dst, '}')
}

func (n *node) appendLabels(dst []byte) []byte {
	dst = append(dst, '[')
	for i, l := range n.encoded {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, l...)
	}
	return append(dst, ']')
}

// appendAuthor is appendString for words of the author, which may hold control characters (RFC 8785, section 3.2.2.2).
func appendAuthor(dst []byte, s string) []byte {
	const short = "\b\t\n\f\r"
	const names = "btnfr"
	dst = append(dst, '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ':
			i := strings.IndexRune(short, r)
			if i >= 0 {
				dst = append(dst, '\\', names[i])
			} else {
				const digits = "0123456789abcdef"
				dst = append(dst, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
			}
		default:
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '"')
}
