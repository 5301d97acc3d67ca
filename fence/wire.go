package fence

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Names of the formats.
const (
	SchemaRunContext = "run_context.v1"
	SchemaPrompt     = "prompt.v1"
	SchemaObject     = "prompt_object.v1"
)

type wireAuthor struct {
	ID   string     `json:"id"`
	Kind AuthorKind `json:"kind"`
	Name string     `json:"name"`
}

type wireElement struct {
	ID             string     `json:"id"`
	Author         wireAuthor `json:"author"`
	Origin         Origin     `json:"origin"`
	Role           Role       `json:"role"`
	Trust          Trust      `json:"trust"`
	MediaType      string     `json:"media_type"`
	Field          string     `json:"field,omitzero"`
	Parent         string     `json:"parent,omitzero"`
	Text           string     `json:"text"`
	TruncatedBytes int        `json:"truncated_bytes"`
}

type wireLimits struct {
	MessageMaxBytes int `json:"context_message_max_bytes"`
	ContextMaxBytes int `json:"context_max_bytes"`
}

type wireContext struct {
	Schema      string        `json:"schema"`
	Run         string        `json:"run"`
	Recipe      string        `json:"recipe"`
	Profile     Profile       `json:"profile"`
	Placement   Placement     `json:"placement,omitzero"`
	Trigger     string        `json:"trigger"`
	Instruction string        `json:"instruction"`
	Scaffold    string        `json:"scaffold,omitzero"`
	Limits      wireLimits    `json:"limits"`
	Elements    []wireElement `json:"elements"`
}

func (c RunContext) wire() (wireContext, error) {
	if err := c.Validate(); err != nil {
		return wireContext{}, err
	}
	w := wireContext{SchemaRunContext, c.Run, c.Recipe, c.Profile, c.Placement, c.Trigger, c.Instruction, c.Scaffold,
		wireLimits(c.Limits), make([]wireElement, len(c.Elements))}
	for i, e := range c.Elements {
		if !utf8.ValidString(e.Text) {
			return wireContext{}, contextError(fmt.Sprintf("elements[%d].text", i), "want UTF-8")
		}
		if !utf8.ValidString(e.Author.Name) {
			return wireContext{}, contextError(fmt.Sprintf("elements[%d].author.name", i), "want UTF-8")
		}
		w.Elements[i] = wireElement{e.ID, wireAuthor(e.Author), e.Origin, e.Role, e.Trust, e.MediaType, e.Field, e.Parent,
			e.Text, e.TruncatedBytes}
	}
	return w, nil
}

// canonical encodes v after RFC 8785. Foreign text stays out of the error.
func canonical(v any) ([]byte, error) {
	out, err := json.Marshal(v)
	doc := jsontext.Value(out)
	if err == nil {
		err = doc.Canonicalize()
	}
	if err != nil {
		return nil, errors.New("encoding failed: want valid words and UTF-8")
	}
	return doc, nil
}

// Encode gives c as run_context.v1 in canonical JSON (RFC 8785). It refuses a context that is not valid, one with text
// that is not UTF-8, and one over MaxContextBytes.
func (c RunContext) Encode() ([]byte, error) {
	w, err := c.wire()
	if err != nil {
		return nil, err
	}
	out, err := canonical(w)
	if err == nil && len(out) > MaxContextBytes {
		return nil, contextError("document", "want at most 33554432 bytes")
	}
	return out, err
}

// DecodeRunContext reads run_context.v1 strictly: unknown, duplicate or differently-cased keys, bad UTF-8, lone surrogates,
// nulls, trailing bytes, over-deep or over-long input, and everything that Validate refuses, are errors. They name a path
// and a rule, never a value or a foreign key.
func DecodeRunContext(doc []byte) (RunContext, error) {
	if len(doc) > MaxContextBytes {
		return RunContext{}, contextError("document", "want at most 33554432 bytes")
	}
	r := newStrictReader(doc, contextError)
	var c RunContext
	if err := r.context("", &c); err != nil {
		return RunContext{}, err
	}
	if err := r.end(); err != nil {
		return RunContext{}, err
	}
	if err := c.Validate(); err != nil {
		return RunContext{}, err
	}
	return c, nil
}

func (r *strictReader) context(path string, c *RunContext) error {
	return r.object(path,
		key{"schema", false, r.constant(SchemaRunContext)},
		key{"run", false, r.text(&c.Run)},
		key{"recipe", false, r.text(&c.Recipe)},
		key{"profile", false, word(r, profileNames, &c.Profile)},
		key{"placement", true, word(r, placementNames, &c.Placement)},
		key{"trigger", false, r.text(&c.Trigger)},
		key{"instruction", false, r.text(&c.Instruction)},
		key{"scaffold", true, r.text(&c.Scaffold)},
		key{"limits", false, r.limits(&c.Limits)},
		key{"elements", false, func(path string) error {
			c.Elements = []Element{}
			return r.array(path, MaxElements, func(path string) error {
				var e Element
				err := r.element(path, &e)
				c.Elements = append(c.Elements, e)
				return err
			})
		}})
}

func (r *strictReader) limits(l *Limits) func(string) error {
	return func(path string) error {
		return r.object(path,
			key{"context_message_max_bytes", false, r.whole(&l.MessageMaxBytes)},
			key{"context_max_bytes", false, r.whole(&l.ContextMaxBytes)})
	}
}

func (r *strictReader) element(path string, e *Element) error {
	return r.object(path, append(r.gathered(e), key{"trust", false, word(r, trustNames, &e.Trust)})...)
}

// gathered are the members of an element without its trust.
func (r *strictReader) gathered(e *Element) []key {
	return []key{
		{"id", false, r.text(&e.ID)},
		{"author", false, func(path string) error {
			return r.object(path,
				key{"id", false, r.text(&e.Author.ID)},
				key{"kind", false, word(r, kindNames, &e.Author.Kind)},
				key{"name", false, r.text(&e.Author.Name)})
		}},
		{"origin", false, word(r, originNames, &e.Origin)},
		{"role", false, word(r, roleNames, &e.Role)},
		{"media_type", false, r.text(&e.MediaType)},
		{"field", true, r.text(&e.Field)},
		{"parent", true, r.text(&e.Parent)},
		{"text", false, r.text(&e.Text)},
		{"truncated_bytes", false, r.whole(&e.TruncatedBytes)},
	}
}
