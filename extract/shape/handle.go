package shape

import (
	"fmt"
	"strconv"

	"github.com/invopop/jsonschema"
)

// Kind is what a field may be. The zero value is invalid.
type Kind uint8

// The kinds. A set (a list of distinct choices) is a choice; a list is a choice of its length only.
const (
	KindChoice Kind = iota + 1 // few values; a plan may branch on it
	KindToken                  // bounded by a pattern without spaces, at most 64 bits
	KindText                   // bounded by length and alphabet
	KindQuote                  // a text that an honest extract found in one element
	KindList                   // up to maxItems values of one kind
	KindObject                 // a struct
)

var kindNames = [...]string{KindChoice: "choice", KindToken: "token", KindText: "text", KindQuote: "quote", KindList: "list", KindObject: "object"}

// String is the word of the design, or "invalid".
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return "invalid"
	}
	return kindNames[k]
}

// Handle stands for one token, text or quote of a structure. It is an index and the place of the field, never the
// content: two structures with equal choices, presence and lengths have equal handles. The zero Handle is invalid.
type Handle struct {
	ref  int // 1 + position among the handles of its structure, in canonical order
	kind Kind
	path string
}

// Path is the place of the field: "version", "items[0].id". It is empty for the zero Handle.
func (h Handle) Path() string { return h.path }

// Kind is KindToken, KindText or KindQuote, and invalid for the zero Handle.
func (h Handle) Kind() Kind { return h.kind }

// IsZero reports whether h stands for nothing.
func (h Handle) IsZero() bool { return h == Handle{} }

// String is "token(version)": kind and place, never the content.
func (h Handle) String() string { return h.kind.String() + "(" + h.path + ")" }

// GoString is String, so that %#v tells no more.
func (h Handle) GoString() string { return h.String() }

// Token is a handle to a token. A plan may carry it and never look inside.
type Token struct{ h Handle }

// Text is a handle to a text.
type Text struct{ h Handle }

// Quote is a handle to a quote.
type Quote struct{ h Handle }

// Handle is what an action's parameters hold.
func (t Token) Handle() Handle { return t.h }

// Handle is what an action's parameters hold.
func (t Text) Handle() Handle { return t.h }

// Handle is what an action's parameters hold.
func (q Quote) Handle() Handle { return q.h }

// String is kind and place.
func (t Token) String() string { return t.h.String() }

// String is kind and place.
func (t Text) String() string { return t.h.String() }

// String is kind and place.
func (q Quote) String() string { return q.h.String() }

// JSONSchema makes a token a JSON string; its pattern stands in the field's tag.
func (Token) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }

// JSONSchema makes a text a JSON string; its bounds stand in the field's tag.
func (Text) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }

// JSONSchema makes a quote a JSON string; its bounds stand in the field's tag.
func (Quote) JSONSchema() *jsonschema.Schema { return &jsonschema.Schema{Type: "string"} }

// Handles resolves the handles of one structure. Only a sink, and the digest of what it sends, asks for content.
// The zero value resolves nothing.
type Handles struct {
	list    []Handle
	cells   []int32 // cell of each handle, in the same order
	content *Value  // nil for a skeleton
}

// Len is the number of handles.
func (h Handles) Len() int { return len(h.list) }

// All is every handle, in canonical order.
func (h Handles) All() []Handle { return append([]Handle(nil), h.list...) }

// Content is the token, text or quote that a handle of this structure stands for. It is false for a handle of another
// structure's skeleton, for the zero Handle, and for every handle of a skeleton.
func (h Handles) Content(x Handle) (string, bool) {
	if h.content == nil || x.ref < 1 || x.ref > len(h.list) || h.list[x.ref-1] != x {
		return "", false
	}
	c := h.content.cells[h.cells[x.ref-1]]
	return string(h.content.text[c.n : c.n+c.first]), true
}

// String tells the number only.
func (h Handles) String() string { return strconv.Itoa(len(h.list)) + " handles" }

// Format keeps every verb from walking into the content.
func (h Handles) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(h.String())) }
