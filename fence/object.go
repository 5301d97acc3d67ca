package fence

import (
	"errors"
	"fmt"
)

// ErrObject is the kind of every error about a prompt object.
var ErrObject = errors.New("invalid prompt object")

func objectError(path, rule string) error { return fmt.Errorf("%w: %s: %s", ErrObject, path, rule) }

// EncodeObject gives the run's prompt object in canonical JSON: what fetch leaves for extract, and nobody else may read.
//
//	{"schema":"prompt_object.v1","boundary":"…","context":{…run_context.v1…}}
//
// A prompt follows from its context and its boundary, so that it is not stored besides.
func EncodeObject(p Prompt) ([]byte, error) {
	if p.voice == "" {
		return nil, ErrNoPrompt
	}
	w, err := p.context.wire()
	if err != nil {
		return nil, err
	}
	return canonical(struct {
		Schema   string      `json:"schema"`
		Boundary string      `json:"boundary"`
		Context  wireContext `json:"context"`
	}{SchemaObject, p.boundary.Hex(), w})
}

// DecodeObject reads a prompt object strictly, as DecodeRunContext does, and makes the same prompt again, byte for byte.
// It refuses a boundary that occurs in the content.
func DecodeObject(doc []byte) (Prompt, error) {
	if len(doc) > MaxContextBytes+4096 {
		return Prompt{}, objectError("document", "want at most 33558528 bytes")
	}
	r := newStrictReader(doc, objectError)
	var c RunContext
	var token string
	err := r.object("",
		key{"schema", false, r.constant(SchemaObject)},
		key{"boundary", false, r.text(&token)},
		key{"context", false, func(path string) error { return r.context(path, &c) }})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return Prompt{}, err
	}
	b, err := ParseBoundary(token)
	if err != nil {
		return Prompt{}, objectError("boundary", "want 32 lower-case hex digits")
	}
	if err := c.Validate(); err != nil {
		return Prompt{}, err
	}
	if occurs(token, c.contents()) {
		return Prompt{}, objectError("boundary", "want one that does not occur in the content")
	}
	return render(c, b), nil
}
