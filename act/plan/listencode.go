package plan

import (
	"strconv"
	"strings"
)

// Encode writes the list as it is reviewed: each entry once, on a line of its
// own under its kind and a number, and each class as a line of such names.
func (l *List) Encode() []byte {
	var b []byte
	b = append(b, "{\n  \"schema\": \""+ListSchema+"\",\n  \"recipe\": "...)
	b = appendString(b, l.Recipe)
	b = append(b, ",\n  \"shape\": "...)
	b = appendString(b, l.Shape)
	b = append(b, ",\n  \"policy\": "...)
	b = appendString(b, l.Policy)
	b = append(b, ",\n  \"outcomes\": "...)
	b = append(b, l.count.String()...)
	b = append(b, ",\n  \"actions\": {"...)
	names := l.names()
	for i, e := range l.entries {
		b = append(b, following(i)...)
		b = append(appendString(b, names[i]), ": "...)
		b = append(b, e.spelt...)
	}
	b = append(b, closing(len(l.entries))...)
	b = append(b, "},\n  \"classes\": ["...)
	for i, c := range l.classes {
		b = append(b, following(i)...)
		b = append(b, `{"outcomes": `...)
		b = append(b, l.size(c).String()...)
		b = append(b, `, "actions": [`...)
		for j, at := range c.entries {
			if j > 0 {
				b = append(b, ", "...)
			}
			b = appendString(b, names[at])
		}
		b = append(b, "]}"...)
	}
	b = append(b, closing(len(l.classes))...)
	return append(b, "]\n}\n"...)
}

func following(i int) string {
	if i == 0 {
		return "\n    "
	}
	return ",\n    "
}

func closing(n int) string {
	if n == 0 {
		return ""
	}
	return "\n  "
}

// names are those of the entries: the kind, and a number from 1 within it.
func (l *List) names() []string {
	names := make([]string, len(l.entries))
	n := 0
	for i, e := range l.entries {
		if n++; i > 0 && l.entries[i-1].kind != e.kind {
			n = 1
		}
		names[i] = string(e.kind) + " " + strconv.Itoa(n)
	}
	return names
}

// spell gives an entry its JSON.
func (e *entry) spell() {
	b := appendRow([]byte(`{"decision": `), e.row)
	for _, place := range []Place{Address, Content} {
		b = append(b, `, "`+placeName(place)+`": {`...)
		first := true
		for _, p := range e.params {
			if p.place != place {
				continue
			}
			if !first {
				b = append(b, ", "...)
			}
			first = false
			b = append(appendString(b, p.name), ": "...)
			b = p.appendJSON(b)
		}
		b = append(b, '}')
	}
	e.spelt = string(append(b, '}'))
}

// appendRow writes a decision that is the same for all labels as one word.
func appendRow(b []byte, r Row) []byte {
	if r == Always(r.System) {
		return append(b, `"`+r.System.String()+`"`...)
	}
	b = append(b, '{')
	for i, l := range Labels() {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, `"`+l.String()+`": "`+r.For(l).String()+`"`...)
	}
	return append(b, '}')
}

// maxSpread is the longest set of values, in bytes, that stands on one line.
const maxSpread = 120

func (p factor) appendJSON(b []byte) []byte {
	if len(p.values) == 1 {
		return append(b, p.values[0]...)
	}
	first, between := "", ", "
	if len(strings.Join(p.values, between)) > maxSpread { // a line each, so that a difference is of lines
		first, between = "\n        ", ",\n        "
	}
	b = append(b, `{"oneof": [`+first...)
	b = append(b, strings.Join(p.values, between)...)
	return append(b, "]}"...)
}

func placeName(p Place) string {
	if p == Address {
		return "address"
	}
	return "content"
}
