package events

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// readObject reads b as exactly one JSON object and calls member for each of
// its members, with the decoder standing before the value, which member must
// consume. It refuses nesting beyond MaxDepth, more than MaxKeys keys, bad
// UTF-8, lone surrogates, duplicate keys at any depth, values of another kind
// and trailing bytes. The error names what is wrong and where, never what
// stands there.
func readObject(b []byte, member func(d *jsontext.Decoder, name []byte) error) error {
	switch depth, keys := measure(b); {
	case depth > MaxDepth:
		return fmt.Errorf("want nesting of at most %d levels, got more", MaxDepth)
	case keys > MaxKeys:
		return fmt.Errorf("want at most %d keys, got more", MaxKeys)
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(b))
	if kind := d.PeekKind(); kind != '{' && kind != jsontext.KindInvalid {
		return errors.New("want a JSON object, got another kind of value")
	}
	if err := eachMember(d, member); err != nil {
		return syntaxError(err)
	}
	switch _, err := d.ReadToken(); err {
	case io.EOF:
		return nil
	case nil:
		return errors.New("want nothing after the JSON object, got trailing bytes")
	default:
		return syntaxError(err)
	}
}

// eachMember reads the object that d stands before. A value of another kind
// is skipped, without a call.
func eachMember(d *jsontext.Decoder, member func(d *jsontext.Decoder, name []byte) error) error {
	if d.PeekKind() != '{' {
		return d.SkipValue()
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() != '}' {
		raw, err := d.ReadValue()
		if err != nil {
			return err
		}
		name, err := unquote(raw)
		if err != nil {
			return err
		}
		if err := member(d, name); err != nil {
			return err
		}
	}
	_, err := d.ReadToken()
	return err
}

// unquote returns the string that raw spells, within raw where it can.
func unquote(raw jsontext.Value) ([]byte, error) {
	if n := len(raw); n >= 2 && bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : n-1], nil
	}
	return jsontext.AppendUnquote(nil, raw)
}

// readString consumes a value and returns it if it is a string of at most
// limit bytes, otherwise false. The result is valid until d reads on.
func readString(d *jsontext.Decoder, limit int) ([]byte, bool, error) {
	isString := d.PeekKind() == '"'
	raw, err := d.ReadValue()
	if err != nil || !isString {
		return nil, false, err
	}
	s, err := unquote(raw)
	return s, err == nil && len(s) <= limit, err
}

// readID consumes a value and returns it if it is a positive integer in plain
// digits of at most limit, otherwise 0.
func readID(d *jsontext.Decoder, limit int64) (int64, error) {
	isNumber := d.PeekKind() == '0'
	raw, err := d.ReadValue()
	if err != nil || !isNumber || len(raw) > len("9223372036854775807") {
		return 0, err
	}
	n, perr := strconv.ParseInt(string(raw), 10, 64)
	if perr != nil || n < 1 || n > limit {
		return 0, nil
	}
	return n, nil
}

// readPresent consumes a value and reports whether it is anything but null.
func readPresent(d *jsontext.Decoder) (bool, error) {
	present := d.PeekKind() != 'n'
	return present, d.SkipValue()
}

// measure returns how deeply valid JSON in b nests and how many keys it has,
// or one of the two just beyond its limit. It looks at what stands outside
// strings only, so that a bomb is refused before a decoder keeps state for
// its levels and keys.
func measure(b []byte) (deepest, keys int) {
	depth := 0
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '{', '[':
			depth++
			if deepest = max(deepest, depth); deepest > MaxDepth {
				return deepest, keys
			}
		case '}', ']':
			depth--
		case ':':
			if keys++; keys > MaxKeys {
				return deepest, keys
			}
		case '"':
			end := stringEnd(b[i+1:])
			if end < 0 {
				return deepest, keys
			}
			i += 1 + end
		}
	}
	return deepest, keys
}

// stringEnd returns the index of the quote that ends the string whose content
// starts b, or -1.
func stringEnd(b []byte) int {
	for from := 0; ; {
		quote := bytes.IndexByte(b[from:], '"')
		if quote < 0 {
			return -1
		}
		quote += from
		start := quote
		for start > from && b[start-1] == '\\' {
			start--
		}
		if (quote-start)%2 == 0 {
			return quote
		}
		from = quote + 1
	}
}

// syntaxError puts a decoder's error into our own words.
func syntaxError(err error) error {
	what := "want strict JSON"
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		what = "want each key once in an object"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		what = "want a whole JSON object, got its beginning"
	}
	if at, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		return fmt.Errorf("%s, got an error at byte %d", what, at.ByteOffset)
	}
	return errors.New(what)
}
