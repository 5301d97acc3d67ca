// Package pointer finds the value at a JSON pointer (RFC 6901) of a document
// that a stranger wrote. It does not judge the document: whoever asks has
// checked that it is strict JSON, or does so after.
package pointer

import (
	"bytes"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Find returns the value that p names in doc, as it stands there and within
// doc's own bytes, and false where there is none. A token names a member of an
// object, or in plain digits an element of an array. The options say what is
// JSON; without any it is strict.
func Find(doc []byte, p jsontext.Pointer, options ...jsontext.Options) (jsontext.Value, bool) {
	d := jsontext.NewDecoder(bytes.NewBuffer(doc), options...)
	for token := range p.Tokens() {
		ok := false
		switch d.PeekKind() {
		case '{':
			ok = member(d, token)
		case '[':
			ok = element(d, token)
		}
		if !ok {
			return nil, false
		}
	}
	v, err := d.ReadValue()
	return v, err == nil
}

// member leaves d before the value of the member of that name.
func member(d *jsontext.Decoder, name string) bool {
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		switch {
		case err != nil:
			return false
		case t.String() == name:
			return true
		case d.SkipValue() != nil:
			return false
		}
	}
	return false
}

// element leaves d before the element of that index.
func element(d *jsontext.Decoder, index string) bool {
	n, err := strconv.Atoi(index)
	if err != nil || n < 0 || strconv.Itoa(n) != index {
		return false
	}
	if _, err := d.ReadToken(); err != nil {
		return false
	}
	for range n {
		if d.PeekKind() == ']' || d.SkipValue() != nil {
			return false
		}
	}
	return d.PeekKind() != ']' && d.PeekKind() != jsontext.KindInvalid
}
