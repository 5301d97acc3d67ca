// Package cascade asks a model only where an earlier extractor is not sure.
//
// The first extractor is asked about every run. Its answer stands where its
// confidence reaches the threshold for every choice; otherwise the second is
// asked, and its answer counts whole. Confidence is what the first extractor
// says of itself: whoever takes that over decides which of the two answers,
// and no more.
package cascade

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"decant.dev/extract"
	"decant.dev/extract/shape"
)

// Config says when the first answer stands.
type Config struct {
	Threshold int            // the confidence that each choice needs, 1 to 100
	Fields    map[string]int // thresholds of single choices in its place, 0 to 100; with 0 any answer stands
}

// Extractor is a cascade of two. It is used by one goroutine at a time, as its
// parts are.
type Extractor struct {
	shape       *shape.Shape
	needs       map[string]int // by choice
	first, then extract.Extractor
	digest      string
	asked       string // the run that then was last asked about
}

var _ interface {
	extract.Wrapping
	extract.Digested
} = (*Extractor)(nil)

// New makes a cascade for a shape. It is an error where a threshold is out of
// its bounds or names a field that is no choice, or where the two extractors
// bear one name: `decant runs --stats` could not tell them apart.
func New(s *shape.Shape, c Config, first, then extract.Extractor) (*Extractor, error) {
	switch {
	case s == nil || first == nil || then == nil:
		return nil, errors.New("cascade: want a shape and two extractors")
	case first.Name() == then.Name():
		return nil, fmt.Errorf("cascade: two extractors of the name %.64q: want two that can be told apart", first.Name())
	case c.Threshold < 1 || c.Threshold > 100:
		return nil, fmt.Errorf("cascade: threshold %d: want 1 to 100", c.Threshold)
	}
	x := &Extractor{shape: s, needs: map[string]int{}, first: first, then: then}
	for _, f := range s.Fields() {
		if f.Kind == shape.KindChoice {
			x.needs[topmost(f.Name)] = c.Threshold
		}
	}
	for name, need := range c.Fields {
		if _, ok := x.needs[name]; !ok {
			return nil, fmt.Errorf("cascade: field %.64q: want one of the choices %v", name, slices.Sorted(maps.Keys(x.needs)))
		}
		if need < 0 || need > 100 {
			return nil, fmt.Errorf("cascade: field %s: threshold %d: want 0 to 100", name, need)
		}
		x.needs[name] = need
	}
	h := sha256.New()
	fmt.Fprintf(h, "decant cascade v1\n%s\n%s\n%s\n", s.Digest(), extract.DigestOf(first), extract.DigestOf(then))
	for _, name := range slices.Sorted(maps.Keys(x.needs)) {
		fmt.Fprintln(h, name, x.needs[name])
	}
	x.digest = hex.EncodeToString(h.Sum(nil))
	return x, nil
}

// topmost is the field of the shape that a path leads into, which is what steps
// name.
func topmost(path string) string {
	if end := strings.IndexAny(path, "[."); end >= 0 {
		return path[:end]
	}
	return path
}

// Must is New for a recipe's own constants: it panics where New has an error.
func Must(s *shape.Shape, c Config, first, then extract.Extractor) *Extractor {
	x, err := New(s, c, first, then)
	if err != nil {
		panic(err)
	}
	return x
}

// Name returns "cascade".
func (*Extractor) Name() string { return "cascade" }

// Parts lists both extractors, the first one first.
func (x *Extractor) Parts() []extract.Extractor { return []extract.Extractor{x.first, x.then} }

// Digest identifies the shape, the thresholds and both extractors.
func (x *Extractor) Digest() string { return x.digest }

// Extract asks the first extractor, and the second where the first has no
// answer that stands. A correction is always the second's to give; where the
// answer that was refused is the first's, the second is asked afresh.
func (x *Extractor) Extract(ctx context.Context, r extract.Request) (extract.Answer, error) {
	if r.Broken == "" {
		x.asked = ""
		a, err := x.first.Extract(ctx, r)
		if err == nil && x.stands(a) {
			a.Stage = x.first.Name()
			return a, nil
		}
		if ctx.Err() != nil {
			return extract.Answer{}, ctx.Err()
		}
	} else if x.asked != r.Context.Run {
		r.Broken = ""
	}
	x.asked = r.Context.Run
	a, err := x.then.Extract(ctx, r)
	a.Stage = x.then.Name()
	return a, err
}

// stands reports whether every choice was decided with the confidence that it
// needs. A choice that no step speaks of was decided by nobody.
func (x *Extractor) stands(a extract.Answer) bool {
	least := map[string]int{}
	for _, s := range a.Steps {
		if was, ok := least[s.Field]; !ok || s.Confidence < was {
			least[s.Field] = s.Confidence
		}
	}
	for field, need := range x.needs {
		if least[field] < need {
			return false
		}
	}
	return true
}
