// Package replay is the extractor that answers with what was recorded: no
// model is asked, and what comes back is decoded, grounded and looked over for
// a boundary as the first time.
package replay

import (
	"bytes"
	"context"
	"errors"

	"decant.dev/extract"
)

// Extractor answers every question with one recorded structure. It is safe for
// concurrent use.
type Extractor struct{ recorded []byte }

// ErrChanged is returned on a correction turn: what was recorded does not
// decode any more, and there is nothing else to answer.
var ErrChanged = errors.New("replay: what was recorded is no value of the shape any more")

// New answers with a structure as the journal has it, in canonical JSON.
func New(structure []byte) *Extractor { return &Extractor{bytes.Clone(structure)} }

// Name returns "replay".
func (*Extractor) Name() string { return "replay" }

// Extract answers with what was recorded, once a run.
func (x *Extractor) Extract(ctx context.Context, r extract.Request) (extract.Answer, error) {
	if err := ctx.Err(); err != nil {
		return extract.Answer{}, err
	}
	if r.Broken != "" {
		return extract.Answer{}, ErrChanged
	}
	return extract.Answer{Candidate: bytes.Clone(x.recorded)}, nil
}
