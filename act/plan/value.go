package plan

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/extract/shape"
)

// Value is one parameter's value before its handles are resolved: a constant,
// a handle, or a template of both. The zero Value is null.
//
// In JSON a constant text is a string, a handle is a string beginning with
// "@", a constant that itself begins with "@" is written with "@@", and a
// template is an array of such strings.
type Value struct {
	parts []part
	form  form
	n     int64
	b     bool
}

type form uint8

const (
	formNull form = iota
	formText
	formInt
	formBool
	formHandle
	formTemplate
)

type part struct {
	text   string
	handle shape.Handle // valid only where lifted
	lifted bool
	target bool
}

// Ref is a handle of the run's target. It is the only handle that an address
// may hold.
type Ref struct{ target bool }

// Template is text by the recipe's author with handles standing in it.
type Template struct{ v Value }

// Say builds a template from constant strings, tokens, texts, quotes and
// refs, in order. Any other part, and a nil or zero handle, makes the action
// invalid: Params refuses it.
func Say(parts ...any) Template {
	v := Value{form: formTemplate}
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			v.parts = append(v.parts, part{text: p})
		case Ref:
			v.parts = append(v.parts, part{target: p.target, lifted: !p.target})
		case *shape.Token:
			v.parts = append(v.parts, lifted(p != nil, func() shape.Handle { return p.Handle() }))
		case *shape.Text:
			v.parts = append(v.parts, lifted(p != nil, func() shape.Handle { return p.Handle() }))
		case *shape.Quote:
			v.parts = append(v.parts, lifted(p != nil, func() shape.Handle { return p.Handle() }))
		case shape.Token:
			v.parts = append(v.parts, part{handle: p.Handle(), lifted: true})
		case shape.Text:
			v.parts = append(v.parts, part{handle: p.Handle(), lifted: true})
		case shape.Quote:
			v.parts = append(v.parts, part{handle: p.Handle(), lifted: true})
		default:
			v.parts = append(v.parts, part{lifted: true})
		}
	}
	return Template{v}
}

func lifted(present bool, h func() shape.Handle) part {
	if !present {
		return part{lifted: true}
	}
	return part{handle: h(), lifted: true}
}

func null() Value                   { return Value{} }
func constantString(s string) Value { return Value{form: formText, parts: []part{{text: s}}} }
func constantInt(n int64) Value     { return Value{form: formInt, n: n} }
func constantBool(b bool) Value     { return Value{form: formBool, b: b} }
func handle(h shape.Handle) Value {
	return Value{form: formHandle, parts: []part{{handle: h, lifted: true}}}
}
func (r Ref) value() Value {
	return Value{form: formHandle, parts: []part{{target: r.target, lifted: !r.target}}}
}
func (p part) valid() bool { return !p.lifted || !p.handle.IsZero() }
func (p part) name() string {
	if p.target {
		return "@target"
	}
	return "@" + p.handle.Path()
}

// Handles yields the structure's handles that the value holds, in order.
func (v Value) Handles(yield func(shape.Handle) bool) {
	for _, p := range v.parts {
		if p.lifted && !p.handle.IsZero() && !yield(p.handle) {
			return
		}
	}
}

// valid reports whether every handle in v came from a structure or a target.
func (v Value) valid() bool {
	for _, p := range v.parts {
		if !p.valid() {
			return false
		}
	}
	return true
}

// exact reports whether JSON keeps v's constants as they are.
func (v Value) exact() bool {
	for _, p := range v.parts {
		if !utf8.ValidString(p.text) {
			return false
		}
	}
	return v.n >= -maxInt && v.n <= maxInt
}

// AppendJSON appends the value's canonical form, as outcome lists spell it.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.form {
	case formText, formHandle:
		return appendPart(dst, v.parts[0])
	case formInt:
		return strconv.AppendInt(dst, v.n, 10)
	case formBool:
		return strconv.AppendBool(dst, v.b)
	case formTemplate:
		dst = append(dst, '[')
		for i, p := range v.parts {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendPart(dst, p)
		}
		return append(dst, ']')
	default:
		return append(dst, "null"...)
	}
}

func appendPart(dst []byte, p part) []byte {
	if p.target || p.lifted {
		return appendString(dst, p.name())
	}
	if strings.HasPrefix(p.text, "@") {
		return appendString(dst, "@"+p.text)
	}
	return appendString(dst, p.text)
}

// appendString writes s as RFC 8785 does; invalid UTF-8 becomes U+FFFD.
func appendString(dst []byte, s string) []byte {
	out, err := jsontext.AppendQuote(dst, s)
	if err != nil {
		out, _ = jsontext.AppendQuote(dst, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return out
}

// Piece is one part of a value with its handle resolved: a constant by the
// recipe's author, or foreign text.
type Piece struct {
	Text    string
	Foreign bool // from the structure or the event
}

// Resolver gives what stands behind handles: Content for one of the
// structure, Target for the run's target. Render writes the pieces of a text
// for the place that the parameter goes to, and reports false where they
// cannot stand there; nil writes them as they are, one after the other.
type Resolver struct {
	Content func(shape.Handle) (string, bool)
	Target  string
	Render  func([]Piece) (string, bool)
}

// Resolve returns the value as a sink writes it: a string, an int64, a bool
// or nil. It reports false where a handle has no content, or no place.
func (v Value) Resolve(r Resolver) (any, bool) {
	switch v.form {
	case formInt:
		return v.n, true
	case formBool:
		return v.b, true
	case formNull:
		return nil, true
	}
	pieces := make([]Piece, 0, len(v.parts))
	for _, p := range v.parts {
		switch {
		case p.target:
			pieces = append(pieces, Piece{r.Target, true})
		case p.lifted:
			s, ok := r.Content(p.handle)
			if !ok {
				return nil, false
			}
			pieces = append(pieces, Piece{s, true})
		default:
			pieces = append(pieces, Piece{p.text, false})
		}
	}
	if r.Render != nil {
		s, ok := r.Render(pieces)
		return s, ok
	}
	var sb strings.Builder
	for _, p := range pieces {
		sb.WriteString(p.Text)
	}
	return sb.String(), true
}
