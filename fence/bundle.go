package fence

import (
	"fmt"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// SchemaBundle names the format of a bundle.
const SchemaBundle = "bundle.v1"

// Bundle is what fetch gathered for one run: a run's context without trust, and without the event. Trust is a matter of
// the moment in which the context is read, so a bundle has no place for it; who acted, and where, is the envelope's to say.
type Bundle struct {
	Run         string // as RunContext.Run
	Recipe      string
	Profile     Profile
	Placement   Placement // zero: the profile's default
	Instruction string    // never blank: it is the voice as soon as nobody else may be
	Scaffold    string
	Limits      Limits
	Message     string    // id of the element that the event is about, or empty
	Created     bool      // the event is the creation of that message
	Voice       bool      // the recipe's intake says that a person's message is the voice
	Elements    []Element // oldest first; their Trust is neither stored nor looked at
}

type wireGathered struct {
	ID             string     `json:"id"`
	Author         wireAuthor `json:"author"`
	Origin         Origin     `json:"origin"`
	Role           Role       `json:"role"`
	MediaType      string     `json:"media_type"`
	Field          string     `json:"field,omitzero"`
	Parent         string     `json:"parent,omitzero"`
	Text           string     `json:"text"`
	TruncatedBytes int        `json:"truncated_bytes"`
}

type wireBundle struct {
	Schema      string         `json:"schema"`
	Run         string         `json:"run"`
	Recipe      string         `json:"recipe"`
	Profile     Profile        `json:"profile"`
	Placement   Placement      `json:"placement,omitzero"`
	Instruction string         `json:"instruction"`
	Scaffold    string         `json:"scaffold,omitzero"`
	Limits      wireLimits     `json:"limits"`
	Message     string         `json:"message"`
	Created     bool           `json:"created"`
	Voice       bool           `json:"voice"`
	Elements    []wireGathered `json:"elements"`
}

// Validate reports the first rule that b breaks, as a path and a rule, without any value: those of a run's context that do
// not depend on trust, and that Message is an element. The kinds are [ErrContext] and [ErrElement].
func (b Bundle) Validate() error {
	least := RunContext{
		Run: b.Run, Recipe: b.Recipe, Profile: b.Profile, Placement: b.Placement, Instruction: b.Instruction,
		Scaffold: b.Scaffold, Limits: b.Limits, Elements: make([]Element, len(b.Elements)),
	}
	found := b.Message == ""
	for i, e := range b.Elements {
		e.Trust = TrustUnverified
		least.Elements[i] = e
		found = found || e.ID == b.Message
	}
	if err := least.Validate(); err != nil {
		return err
	}
	if !found {
		return contextError("message", "want the id of an element, or nothing")
	}
	return nil
}

// Encode gives b in canonical JSON (RFC 8785). It refuses a bundle that is not valid, one with text that is not UTF-8, and
// one over MaxContextBytes.
func (b Bundle) Encode() ([]byte, error) {
	if err := b.Validate(); err != nil {
		return nil, err
	}
	w := wireBundle{SchemaBundle, b.Run, b.Recipe, b.Profile, b.Placement, b.Instruction, b.Scaffold, wireLimits(b.Limits),
		b.Message, b.Created, b.Voice, make([]wireGathered, len(b.Elements))}
	for i, e := range b.Elements {
		if !utf8.ValidString(e.Text) || !utf8.ValidString(e.Author.Name) {
			return nil, contextError(fmt.Sprintf("elements[%d]", i), "want UTF-8")
		}
		w.Elements[i] = wireGathered{e.ID, wireAuthor(e.Author), e.Origin, e.Role, e.MediaType, e.Field, e.Parent, e.Text,
			e.TruncatedBytes}
	}
	out, err := canonical(w)
	if err == nil && len(out) > MaxContextBytes {
		return nil, contextError("document", "want at most 33554432 bytes")
	}
	return out, err
}

// DecodeBundle reads a bundle as strictly as DecodeRunContext does a context. A member "trust" is unknown, and so an error.
func DecodeBundle(doc []byte) (Bundle, error) {
	if len(doc) > MaxContextBytes {
		return Bundle{}, contextError("document", "want at most 33554432 bytes")
	}
	r := newStrictReader(doc, contextError)
	var b Bundle
	err := r.object("",
		key{"schema", false, r.constant(SchemaBundle)},
		key{"run", false, r.text(&b.Run)},
		key{"recipe", false, r.text(&b.Recipe)},
		key{"profile", false, word(r, profileNames, &b.Profile)},
		key{"placement", true, word(r, placementNames, &b.Placement)},
		key{"instruction", false, r.text(&b.Instruction)},
		key{"scaffold", true, r.text(&b.Scaffold)},
		key{"limits", false, r.limits(&b.Limits)},
		key{"message", false, r.text(&b.Message)},
		key{"created", false, r.truth(&b.Created)},
		key{"voice", false, r.truth(&b.Voice)},
		key{"elements", false, func(path string) error {
			b.Elements = []Element{}
			return r.array(path, MaxElements, func(path string) error {
				var e Element
				err := r.object(path, r.gathered(&e)...)
				b.Elements = append(b.Elements, e)
				return err
			})
		}})
	if err == nil {
		err = r.end()
	}
	if err == nil {
		err = b.Validate()
	}
	if err != nil {
		return Bundle{}, err
	}
	return b, nil
}

// truth gives a reader of true or false into dst.
func (r *strictReader) truth(dst *bool) func(string) error {
	return func(path string) error {
		t, err := r.dec.ReadToken()
		switch {
		case err != nil:
			return r.fail(path, wellFormed)
		case t.Kind() != jsontext.KindTrue && t.Kind() != jsontext.KindFalse:
			return r.fail(path, "want true or false")
		}
		*dst = t.Bool()
		return nil
	}
}
