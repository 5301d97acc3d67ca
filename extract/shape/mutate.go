package shape

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
)

// Mutations names every kind of near miss that Mutate makes, in a fixed order.
func Mutations() []string {
	names := make([]string, len(mutations))
	for i, m := range mutations {
		names[i] = m.name
	}
	return names
}

// Mutate makes a near miss of doc, a canonical document of the shape, and names its kind. Most are refused; some
// (spaces, escapes, another order) are candidates that Decode takes and DecodeCanonical refuses; by chance a mutated
// document can be a canonical one. Documents that are not canonical get the kinds that need no outline.
func (s *Shape) Mutate(rng *rand.Rand, doc []byte) (out []byte, kind string) {
	m := &mutator{rng: rng, doc: doc, o: outlineOf(doc), shape: s}
	for {
		k := mutations[rng.IntN(len(mutations))]
		if out := k.apply(m); out != nil {
			return out, k.name
		}
	}
}

type mutator struct {
	rng   *rand.Rand
	doc   []byte
	o     outline
	shape *Shape
}

// splice is doc with s replaced.
func (m *mutator) splice(s span, with string) []byte {
	out := make([]byte, 0, len(m.doc)+len(with))
	out = append(out, m.doc[:s.from]...)
	out = append(out, with...)
	return append(out, m.doc[s.to:]...)
}

func (m *mutator) cut(s span) string { return string(m.doc[s.from:s.to]) }

// pick draws one, and calls f with it; nil without any.
func pick[T any](m *mutator, list []T, f func(T) []byte) []byte {
	if len(list) == 0 {
		return nil
	}
	return f(list[m.rng.IntN(len(list))])
}

// inString puts s inside some string.
func (m *mutator) inString(s string) []byte {
	return pick(m, m.o.strings, func(x span) []byte { return m.splice(span{x.to - 1, x.to - 1}, s) })
}

// asValue puts s in place of some value.
func (m *mutator) asValue(s string) []byte {
	return pick(m, m.o.values, func(x span) []byte { return m.splice(x, s) })
}

// asNumber puts f of a number in its place.
func (m *mutator) asNumber(f func(string) string) []byte {
	return pick(m, m.o.numbers, func(x span) []byte { return m.splice(x, f(m.cut(x))) })
}

// asMember puts f of a member (key, whole) in its place.
func (m *mutator) asMember(f func(key, whole string) string) []byte {
	return pick(m, m.o.members, func(x member) []byte { return m.splice(x.whole, f(m.cut(x.key), m.cut(x.whole))) })
}

// asItems puts f of the items of an array in their place.
func (m *mutator) asItems(least int, f func(items []string) []string) []byte {
	return pick(m, m.o.arrays, func(a array) []byte {
		if len(a.items) < least {
			return nil
		}
		items := make([]string, len(a.items))
		for i, x := range a.items {
			items[i] = m.cut(x)
		}
		return m.splice(a.span, "["+strings.Join(f(items), ",")+"]")
	})
}

// inObject puts a member first into some object.
func (m *mutator) inObject(s string) []byte {
	return pick(m, m.o.objects, func(x span) []byte {
		if x.to-x.from > 2 {
			s += ","
		}
		return m.splice(span{x.from + 1, x.from + 1}, s)
	})
}

// atByte calls f with some offset of a document that is not empty.
func (m *mutator) atByte(f func(i int) []byte) []byte {
	if len(m.doc) == 0 {
		return nil
	}
	return f(m.rng.IntN(len(m.doc)))
}

type mutation struct {
	name  string
	apply func(*mutator) []byte
}

func swapCase(s string) string {
	return strings.Map(func(r rune) rune {
		if r|0x20 >= 'a' && r|0x20 <= 'z' {
			return r ^ 0x20
		}
		return r
	}, s)
}

var mutations = slices.Concat(byteMutations, stringMutations, numberMutations, keyMutations, listMutations)

var byteMutations = []mutation{
	{"empty", func(*mutator) []byte { return []byte{} }},
	{"truncated", func(m *mutator) []byte { return m.atByte(func(i int) []byte { return slices.Clone(m.doc[:i]) }) }},
	{"byte_changed", func(m *mutator) []byte {
		return m.atByte(func(i int) []byte { return m.splice(span{i, i + 1}, string([]byte{byte(m.rng.Uint32())})) })
	}},
	{"byte_added", func(m *mutator) []byte {
		return m.atByte(func(i int) []byte { return m.splice(span{i, i}, string([]byte{byte(m.rng.Uint32())})) })
	}},
	{"byte_lost", func(m *mutator) []byte { return m.atByte(func(i int) []byte { return m.splice(span{i, i + 1}, "") }) }},
	{"trailing_space", func(m *mutator) []byte { return append(slices.Clone(m.doc), " \n"...) }},
	{"trailing_document", func(m *mutator) []byte { return append(slices.Clone(m.doc), m.doc...) }},
	{"trailing_nul", func(m *mutator) []byte { return append(slices.Clone(m.doc), 0) }},
	{"byte_order_mark", func(m *mutator) []byte { return append([]byte("\xef\xbb\xbf"), m.doc...) }},
	{"comment", func(m *mutator) []byte { return append([]byte("/**/"), m.doc...) }},
	{"fenced", func(m *mutator) []byte { return slices.Concat([]byte("```json\n"), m.doc, []byte("\n```")) }},
	{"in_list", func(m *mutator) []byte { return slices.Concat([]byte("["), m.doc, []byte("]")) }},
	{"null_document", func(*mutator) []byte { return []byte("null") }},
	{"too_long", func(m *mutator) []byte { return append(bytes.Repeat([]byte(" "), m.shape.MaxCandidate()), m.doc...) }},
	{"deep", func(m *mutator) []byte { return m.asValue(strings.Repeat("[", 10001) + strings.Repeat("]", 10001)) }},
	{"null_value", func(m *mutator) []byte { return m.asValue("null") }},
	{"other_type", func(m *mutator) []byte {
		return m.asValue([]string{"true", "7", `"x"`, "[]", "{}", "0.5"}[m.rng.IntN(6)])
	}},
}

var stringMutations = []mutation{
	{"bad_utf8", func(m *mutator) []byte {
		return m.inString([]string{"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80"}[m.rng.IntN(4)])
	}},
	{"lone_surrogate", func(m *mutator) []byte {
		return m.inString([]string{`\ud800`, `\udc00`, `\ud800\u0041`, `\udc00\ud800`}[m.rng.IntN(4)])
	}},
	{"control", func(m *mutator) []byte {
		return m.inString([]string{"\n", "\x00", `\n`, `\u0000`, "\x7f", `\u0085`}[m.rng.IntN(6)])
	}},
	{"bidi", func(m *mutator) []byte {
		return m.inString([]string{"\u202e", `\u2066`, "\u200f", "\u061c"}[m.rng.IntN(4)])
	}},
	{"tag_character", func(m *mutator) []byte { return m.inString("\U000E0041") }},
	{"separator", func(m *mutator) []byte { return m.inString([]string{"\u2028", `\u2029`}[m.rng.IntN(2)]) }},
	{"noncharacter", func(m *mutator) []byte { return m.inString([]string{"\uffff", "\U0001FFFE", "\ufdd0"}[m.rng.IntN(3)]) }},
	{"bad_escape", func(m *mutator) []byte { return m.inString([]string{`\x41`, `\u12`, `\'`, `\U0041`}[m.rng.IntN(4)]) }},
	{"long_string", func(m *mutator) []byte { return m.inString(strings.Repeat("a", 1+m.rng.IntN(maxLength))) }},
	{"one_more", func(m *mutator) []byte { return m.inString([]string{"a", "0", " ", "\u200b", "\u0301"}[m.rng.IntN(5)]) }},
	{"empty_string", func(m *mutator) []byte { return pick(m, m.o.strings, func(s span) []byte { return m.splice(s, `""`) }) }},
	{"string_case", func(m *mutator) []byte {
		return pick(m, m.o.strings, func(s span) []byte { return m.splice(s, swapCase(m.cut(s))) })
	}},
	{"escaped", func(m *mutator) []byte {
		return pick(m, m.o.strings, func(s span) []byte {
			if s.to-s.from < 3 || m.doc[s.from+1] >= 0x7F || m.doc[s.from+1] == '\\' {
				return nil
			}
			const hex = "0123456789ABCDEF"
			c := m.doc[s.from+1]
			return m.splice(span{s.from + 1, s.from + 2}, `\u00`+string([]byte{hex[c>>4], hex[c&15]}))
		})
	}},
}

var numberMutations = []mutation{
	{"minus_zero", func(m *mutator) []byte { return m.asNumber(func(string) string { return "-0" }) }},
	{"exponent", func(m *mutator) []byte { return m.asNumber(func(s string) string { return s + "e0" }) }},
	{"huge_exponent", func(m *mutator) []byte { return m.asNumber(func(string) string { return "1e1000000" }) }},
	{"fraction", func(m *mutator) []byte { return m.asNumber(func(s string) string { return s + ".0" }) }},
	{"leading_zero", func(m *mutator) []byte { return m.asNumber(func(s string) string { return "0" + s }) }},
	{"plus", func(m *mutator) []byte { return m.asNumber(func(s string) string { return "+" + s }) }},
	{"negated", func(m *mutator) []byte { return m.asNumber(func(s string) string { return "-" + s }) }},
	{"beyond", func(m *mutator) []byte { return m.asNumber(func(s string) string { return s + "0" }) }},
	{"beyond_2_53", func(m *mutator) []byte { return m.asNumber(func(string) string { return "9007199254740993" }) }},
	{"many_digits", func(m *mutator) []byte {
		return m.asNumber(func(s string) string { return s + strings.Repeat("0", 400) })
	}},
	{"number_as_string", func(m *mutator) []byte { return m.asNumber(func(s string) string { return `"` + s + `"` }) }},
}

var keyMutations = []mutation{
	{"unknown_key", func(m *mutator) []byte { return m.inObject(`"zz":1`) }},
	{"proto_key", func(m *mutator) []byte { return m.inObject(`"__proto__":{}`) }},
	{"empty_key", func(m *mutator) []byte { return m.inObject(`"":""`) }},
	{"duplicate_key", func(m *mutator) []byte {
		return m.asMember(func(_, whole string) string { return whole + "," + whole })
	}},
	{"duplicate_escaped_key", func(m *mutator) []byte {
		return m.asMember(func(key, whole string) string { return escapeKey(key) + whole[len(key):] + "," + whole })
	}},
	{"escaped_key", func(m *mutator) []byte {
		return m.asMember(func(key, whole string) string { return escapeKey(key) + whole[len(key):] })
	}},
	{"key_case", func(m *mutator) []byte {
		return m.asMember(func(key, whole string) string { return swapCase(key) + whole[len(key):] })
	}},
	{"second_case", func(m *mutator) []byte {
		return m.asMember(func(key, whole string) string { return whole + "," + swapCase(key) + whole[len(key):] })
	}},
	{"spaced", func(m *mutator) []byte {
		return m.asMember(func(key, whole string) string { return "\n\t" + key + " :\r " + whole[len(key)+1:] + " " })
	}},
	{"field_lost", func(m *mutator) []byte {
		return pick(m, m.o.members, func(x member) []byte {
			switch s := x.whole; {
			case m.doc[s.to] == ',':
				return m.splice(span{s.from, s.to + 1}, "")
			case m.doc[s.from-1] == ',':
				return m.splice(span{s.from - 1, s.to}, "")
			default:
				return m.splice(s, "")
			}
		})
	}},
	{"trailing_comma", func(m *mutator) []byte {
		return pick(m, m.o.objects, func(x span) []byte { return m.splice(span{x.to - 1, x.to - 1}, ",") })
	}},
	{"fields_reordered", func(m *mutator) []byte {
		return pick(m, m.o.members, func(x member) []byte {
			for _, y := range m.o.members {
				if y.whole.from == x.whole.to+1 && m.doc[x.whole.to] == ',' {
					return m.splice(span{x.whole.from, y.whole.to}, m.cut(y.whole)+","+m.cut(x.whole))
				}
			}
			return nil
		})
	}},
}

var listMutations = []mutation{
	{"item_twice", func(m *mutator) []byte { return m.asItems(1, func(s []string) []string { return append(s, s[0]) }) }},
	{"items_reversed", func(m *mutator) []byte {
		return m.asItems(2, func(s []string) []string { slices.Reverse(s); return s })
	}},
	{"items_lost", func(m *mutator) []byte { return m.asItems(1, func([]string) []string { return nil }) }},
	{"many_items", func(m *mutator) []byte {
		return m.asItems(1, func(s []string) []string { return slices.Repeat(s, 64) })
	}},
	{"null_item", func(m *mutator) []byte { return m.asItems(0, func(s []string) []string { return append(s, "null") }) }},
	{"list_in_list", func(m *mutator) []byte {
		return m.asItems(1, func(s []string) []string { s[0] = "[" + s[0] + "]"; return s })
	}},
}

// escapeKey spells the first letter of a quoted key as an escape.
func escapeKey(key string) string {
	const hex = "0123456789abcdef"
	c := key[1]
	return `"\u00` + string([]byte{hex[c>>4], hex[c&15]}) + key[2:]
}
