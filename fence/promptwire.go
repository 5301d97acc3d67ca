package fence

import (
	"errors"
	"fmt"
)

type wireCut struct {
	ID    string `json:"id"`
	Bytes int    `json:"bytes"`
}

type wireFlat struct {
	System []string `json:"system"`
	User   string   `json:"user"`
}

type wirePrompt struct {
	Schema    string    `json:"schema"`
	Preamble  string    `json:"preamble"`
	Data      string    `json:"data"`
	Voice     string    `json:"voice"`
	Placement Placement `json:"placement"`
	Digest    string    `json:"boundary_sha256"`
	Included  []string  `json:"included"`
	Truncated []wireCut `json:"truncated"`
	Dropped   []string  `json:"dropped"`
	Flat      wireFlat  `json:"flat"`
}

// Encode gives p as prompt.v1 in canonical JSON.
func (p Prompt) Encode() ([]byte, error) {
	if p.voice == "" {
		return nil, ErrNoPrompt
	}
	cuts := make([]wireCut, len(p.truncated))
	for i, c := range p.truncated {
		cuts[i] = wireCut(c)
	}
	return canonical(wirePrompt{SchemaPrompt, p.Preamble(), p.data, p.voice, p.placement, p.boundary.Digest(),
		p.Included(), cuts, p.Dropped(), wireFlat{p.System(), p.User()}})
}

// ErrForeignPrompt is the kind of every error about a prompt.v1 that another program made.
var ErrForeignPrompt = errors.New("invalid prompt")

// ForeignPrompt is prompt.v1 as another program claims to have made it: nothing about it is known but its form. It is for
// judging adapters.
type ForeignPrompt struct {
	Preamble, Data, Voice string
	Placement             Placement
	BoundaryDigest        string
	Included, Dropped     []string
	Truncated             []Cut
	System                []string // flat.system
	User                  string   // flat.user
}

// DecodeForeignPrompt reads prompt.v1 strictly; the form only.
func DecodeForeignPrompt(doc []byte) (ForeignPrompt, error) {
	fail := func(path, rule string) error { return fmt.Errorf("%w: %s: %s", ErrForeignPrompt, path, rule) }
	if len(doc) > 2*MaxContextBytes {
		return ForeignPrompt{}, fail("document", "want at most 67108864 bytes")
	}
	r := newStrictReader(doc, fail)
	var p ForeignPrompt
	err := r.object("",
		key{"schema", false, r.constant(SchemaPrompt)},
		key{"preamble", false, r.text(&p.Preamble)},
		key{"data", false, r.text(&p.Data)},
		key{"voice", false, r.text(&p.Voice)},
		key{"placement", false, word(r, placementNames, &p.Placement)},
		key{"boundary_sha256", false, r.text(&p.BoundaryDigest)},
		key{"included", false, r.texts(&p.Included, MaxElements)},
		key{"truncated", false, func(path string) error {
			p.Truncated = []Cut{}
			return r.array(path, MaxElements, func(path string) error {
				var c Cut
				err := r.object(path, key{"id", false, r.text(&c.ID)}, key{"bytes", false, r.whole(&c.Bytes)})
				p.Truncated = append(p.Truncated, c)
				return err
			})
		}},
		key{"dropped", false, r.texts(&p.Dropped, MaxElements)},
		key{"flat", false, func(path string) error {
			return r.object(path, key{"system", false, r.texts(&p.System, 8)}, key{"user", false, r.text(&p.User)})
		}})
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return ForeignPrompt{}, err
	}
	return p, nil
}

// Foreign gives p in the form of a prompt by another program, so that both can be judged alike.
func (p Prompt) Foreign() ForeignPrompt {
	return ForeignPrompt{p.Preamble(), p.data, p.voice, p.placement, p.boundary.Digest(), p.Included(), p.Dropped(),
		p.Truncated(), p.System(), p.User()}
}

// texts gives a reader of at most limit strings into dst.
func (r *strictReader) texts(dst *[]string, limit int) func(string) error {
	return func(path string) error {
		*dst = []string{}
		return r.array(path, limit, func(path string) error {
			var s string
			err := r.text(&s)(path)
			*dst = append(*dst, s)
			return err
		})
	}
}
