package shape

import (
	"fmt"
	"strconv"
)

// Value is one value of a shape, in its closed representation: what is not one of Count values cannot be written in it.
// It is immutable and safe for use by many goroutines.
type Value struct {
	shape *Shape
	cells []cell // cells[0] is the root
	text  []byte // contents of tokens, texts and quotes
}

// cell is one node's value.
//
//	choice   n is the ordinal: of the label, false or true, or the distance from minimum
//	string   n and first are offset and length in text
//	set      n items; first is the first of them, in ascending order of their ordinals
//	list     n items; first is the first of them
//	object   first is the first of as many cells as the object has fields, in canonical order
type cell struct{ n, first, next int32 }

const (
	absent int32 = -1 // of an optional field
	unset  int32 = -2 // not decoded yet
)

// Shape is what v is a value of.
func (v *Value) Shape() *Shape { return v.shape }

// String tells the size only. Its receiver is no pointer, so that a copy shows no more.
func (v Value) String() string {
	if v.shape == nil {
		return "no value"
	}
	return "value of " + strconv.Itoa(len(v.AppendCanonical(nil))) + " bytes"
}

// Format keeps every verb from walking into the content.
func (v Value) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(v.String())) }

// Encode is the canonical JSON of v (RFC 8785): at most MaxBytes of its shape, and one spelling a value.
func (v *Value) Encode() []byte { return v.AppendCanonical(nil) }

// AppendCanonical appends what Encode returns.
func (v *Value) AppendCanonical(dst []byte) []byte { return v.append(dst, v.shape.root, 0) }

func (v *Value) append(dst []byte, n *node, at int32) []byte {
	c := v.cells[at]
	switch n.form {
	case formEnum, formBool, formInt:
		return n.appendChoice(dst, c.n)
	case formString:
		s := v.text[c.n : c.n+c.first]
		if n.plain {
			dst = append(dst, '"')
			dst = append(dst, s...)
			return append(dst, '"')
		}
		return appendString(dst, s)
	case formSet, formList:
		dst = append(dst, '[')
		for i, at := int32(0), c.first; i < c.n; i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = v.append(dst, n.item, at)
			at = v.cells[at].next
		}
		return append(dst, ']')
	case formObject:
		dst = append(dst, '{')
		first := true
		for i := range n.fields {
			f := &n.fields[i]
			at := c.first + int32(i)
			if v.cells[at].n == absent {
				continue
			}
			if !first {
				dst = append(dst, ',')
			}
			first = false
			dst = append(dst, f.key...)
			dst = v.append(dst, f.value, at)
		}
		return append(dst, '}')
	default:
		return dst // no such form: the closed list ends here
	}
}

// appendString appends a JSON string. No string of a shape holds a control character, so that only quotes and
// backslashes are escaped (RFC 8785, section 3.2.2.2).
func appendString[S []byte | string](dst []byte, s S) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(s); i++ {
		if c := s[i]; c == '"' || c == '\\' {
			dst = append(dst, s[from:i]...)
			dst = append(dst, '\\', c)
			from = i + 1
		}
	}
	dst = append(dst, s[from:]...)
	return append(dst, '"')
}

// newValue is a value with the cell of its root.
func newValue(s *Shape, textCap int) *Value {
	v := &Value{shape: s, cells: make([]cell, 1, s.cellHint)}
	if textCap > 0 {
		v.text = make([]byte, 0, textCap)
	}
	return v
}

// block adds k cells and returns the first.
func (v *Value) block(k int, n int32) int32 {
	first := int32(len(v.cells))
	for range k {
		v.cells = append(v.cells, cell{n: n})
	}
	return first
}

// setText makes cell at hold s.
func (v *Value) setText(at int32, s string) {
	v.cells[at] = cell{n: int32(len(v.text)), first: int32(len(s)), next: v.cells[at].next}
	v.text = append(v.text, s...)
}
