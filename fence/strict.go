package fence

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// strictReader reads JSON against a known form, token by token: I-JSON in UTF-8 without lone surrogates, each key once and
// in its exact spelling, no nulls, no trailing bytes. Depth is bounded by the form, since nothing unknown is entered.
// Errors name a path of known keys and a rule; they never repeat a value or a foreign key.
type strictReader struct {
	dec  *jsontext.Decoder
	fail func(path, rule string) error
}

// key is one member of an object.
type key struct {
	name     string
	optional bool
	read     func(path string) error
}

const wellFormed = "want well-formed JSON in UTF-8, each key once"

func newStrictReader(doc []byte, fail func(path, rule string) error) *strictReader {
	return &strictReader{jsontext.NewDecoder(bytes.NewReader(doc)), fail}
}

func (r *strictReader) token(path string, kind jsontext.Kind, rule string) (jsontext.Token, error) {
	t, err := r.dec.ReadToken()
	if err != nil {
		return t, r.fail(path, wellFormed)
	}
	if t.Kind() != kind {
		return t, r.fail(path, rule)
	}
	return t, nil
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// object reads an object with just these keys, in any order.
func (r *strictReader) object(path string, keys ...key) error {
	at := path
	if at == "" {
		at = "document"
	}
	if _, err := r.token(at, '{', "want an object"); err != nil {
		return err
	}
	seen := 0
	for {
		t, err := r.dec.ReadToken()
		if err != nil {
			return r.fail(at, wellFormed)
		}
		if t.Kind() == '}' {
			break
		}
		i := indexOf(keys, t.String())
		if i < 0 {
			return r.fail(at, "want known keys only, in their exact spelling")
		}
		if err := keys[i].read(join(path, keys[i].name)); err != nil {
			return err
		}
		seen |= 1 << i
	}
	for i, k := range keys {
		if !k.optional && seen>>i&1 == 0 {
			return r.fail(join(path, k.name), "want this key")
		}
	}
	return nil
}

func indexOf(keys []key, name string) int {
	for i, k := range keys {
		if k.name == name {
			return i
		}
	}
	return -1
}

// array reads at most limit items.
func (r *strictReader) array(path string, limit int, item func(path string) error) error {
	if _, err := r.token(path, '[', "want an array"); err != nil {
		return err
	}
	for i := 0; ; i++ {
		if r.dec.PeekKind() == ']' {
			_, err := r.token(path, ']', "want the end of the array")
			return err
		}
		if i == limit {
			return r.fail(path, "want at most "+strconv.Itoa(limit)+" items")
		}
		if err := item(path + "[" + strconv.Itoa(i) + "]"); err != nil {
			return err
		}
	}
}

// text gives a reader of a string into dst.
func (r *strictReader) text(dst *string) func(string) error {
	return func(path string) error {
		t, err := r.token(path, '"', "want a string")
		if err == nil {
			*dst = t.String()
		}
		return err
	}
}

// constant gives a reader of one certain string.
func (r *strictReader) constant(want string) func(string) error {
	return func(path string) error {
		t, err := r.token(path, '"', "want a string")
		if err == nil && t.String() != want {
			return r.fail(path, "want "+strconv.Quote(want))
		}
		return err
	}
}

// whole gives a reader of an integer of 0 to 2^53-1 in its canonical form into dst.
func (r *strictReader) whole(dst *int) func(string) error {
	return func(path string) error {
		t, err := r.token(path, '0', "want a number")
		if err != nil {
			return err
		}
		n, err := strconv.Atoi(t.String())
		if err != nil || n < 0 || n > maxInteger || strconv.Itoa(n) != t.String() {
			return r.fail(path, "want a whole number of 0 to 2^53-1")
		}
		*dst = n
		return nil
	}
}

// word gives a reader of one of a closed list into dst.
func word[E ~uint8](r *strictReader, names []string, dst *E) func(string) error {
	return func(path string) error {
		t, err := r.token(path, '"', "want a string")
		if err != nil {
			return err
		}
		for i := 1; i < len(names); i++ {
			if names[i] == t.String() {
				*dst = E(i)
				return nil
			}
		}
		return r.fail(path, "want a known word")
	}
}

// end reads the end of the document.
func (r *strictReader) end() error {
	if _, err := r.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return r.fail("document", "want nothing after its end")
	}
	return nil
}
