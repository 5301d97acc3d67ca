// Package learned is an extractor for choices, trained from the user's own history: a linear model over hashed words.
//
// A model is one part of a structure. Over puts it on top of another extractor, usually the rules, which decides all
// other fields. Training and serving read a text by the same function, so that they cannot differ.
//
// The threat is a text that wants to be misread, and a file that is no model. A text can do what any text can: move the
// answer among the choices of the field. What is read of it is bounded, and the time is linear in that. A file is read
// strictly, with memory bounded by its own length and a constant, and whatever its bytes are, the answer is a model or an error.
//
// Not promised: that an answer is true, or that the checksum says who made a file: it tells accidents, not forgers. Training is
// a function of its rows and their order, to the byte on one architecture; on another the last bit of a weight may differ.
package learned

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/extract"
	"decant.dev/extract/rules"
	"decant.dev/extract/shape"
)

// RulePrefix stands before a field's name in the id of the rule that a step of the model has.
const RulePrefix = "learned."

// Options say when the model's answer counts. The zero value lets it always.
type Options struct {
	Threshold int    // least confidence, 0 to 100, at which the model's answer replaces the base's
	Group     string // group that every run belongs to; empty: that of the element named as the model's group column
}

// Extractor lets a model decide its fields and another extractor all others. One goroutine at a time may use it.
type Extractor struct {
	base    extract.Extractor
	model   *Model
	options Options
	shape   *shape.Shape
	fields  []shapeChoice
	reader  reader
}

var (
	_ extract.Wrapping = (*Extractor)(nil)
	_ extract.Ruled    = (*Extractor)(nil)
	_ extract.Digested = (*Extractor)(nil)
)

// Over lets the model decide its fields of the shape, and base the others. The error says what differs between the model
// and the shape: a field that is none or no choice, other choices, another order.
func Over(s *shape.Shape, base extract.Extractor, m *Model, o Options) (*Extractor, error) {
	switch {
	case s == nil || base == nil || m == nil:
		return nil, errors.New("learned: want a shape, a base and a model")
	case o.Threshold < 0 || o.Threshold > 100:
		return nil, fmt.Errorf("learned: threshold %d: want 0 to 100", o.Threshold)
	}
	x := &Extractor{base: base, model: m, options: o, shape: s}
	for i := range m.fields {
		f, err := m.fields[i].fits(s)
		if err != nil {
			return nil, fmt.Errorf("learned: %w", err)
		}
		x.fields = append(x.fields, f)
	}
	return x, nil
}

// Must is Over for a model that is part of the program, as its file has it; it panics on an error.
func Must(s *shape.Shape, base extract.Extractor, file []byte, o Options) *Extractor {
	m, err := Read(file)
	if err != nil {
		panic(err.Error())
	}
	x, err := Over(s, base, m, o)
	if err != nil {
		panic(err.Error())
	}
	return x
}

// Name is "learned".
func (x *Extractor) Name() string { return "learned" }

// Parts is the base: what it needs, costs and may say is this extractor's too.
func (x *Extractor) Parts() []extract.Extractor { return []extract.Extractor{x.base} }

// RuleIDs is every rule of the base, and one for each field of the model.
func (x *Extractor) RuleIDs() []string {
	var ids []string
	if r, ok := x.base.(extract.Ruled); ok {
		ids = slices.Clone(r.RuleIDs())
	}
	for i := range x.model.fields {
		ids = append(ids, RulePrefix+x.model.fields[i].name)
	}
	return ids
}

// Digest identifies the model, the options and the base.
func (x *Extractor) Digest() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "learned.v1\n%s\n%d\n%q\n%s", x.model.Checksum(), x.options.Threshold, x.options.Group, extract.DigestOf(x.base)))
	return hex.EncodeToString(sum[:])
}

// Extract asks the base and puts the model's choices in the place of the base's. Three things stand as the base gave them: a
// field that a person's command decided, one of which the model is less sure than the threshold, and a candidate that is no value of the
// shape (the decoder is to name what is wrong with it). The error is the base's.
func (x *Extractor) Extract(ctx context.Context, r extract.Request) (extract.Answer, error) {
	a, err := x.base.Extract(ctx, r)
	if err != nil {
		return extract.Answer{}, err
	}
	if r.Shape != nil && r.Shape.Digest() != x.shape.Digest() {
		return extract.Answer{}, errors.New("learned: a request for another shape: want the one that Over was given")
	}
	value, err := x.shape.Decode(a.Candidate)
	if err != nil {
		return a, nil
	}
	t := x.model.textOf(r.Context.Elements)
	if x.options.Group != "" {
		t.Group = x.options.Group
	}
	p := x.model.predict(&x.reader, t)
	members := map[string][]byte{}
	for i := range p {
		f := &x.fields[i]
		if p[i].confidence < x.options.Threshold || commanded(a.Steps, f.name) {
			continue
		}
		members[f.name] = f.raw(p[i].label)
		a.Steps = append(slices.DeleteFunc(slices.Clone(a.Steps), func(s extract.Step) bool { return s.Field == f.name }),
			extract.Step{Field: f.name, Rule: RulePrefix + f.name, Confidence: p[i].confidence})
	}
	if len(members) > 0 {
		if a.Candidate, err = replace(value.Encode(), members); err != nil {
			return extract.Answer{}, err
		}
	}
	return a, nil
}

func commanded(steps []extract.Step, field string) bool {
	return slices.ContainsFunc(steps, func(s extract.Step) bool { return s.Field == field && s.Rule == rules.RuleCommand })
}

// replace sets members of a canonical object; the result has its keys in another order where a member is new.
func replace(object []byte, members map[string][]byte) ([]byte, error) {
	d := jsontext.NewDecoder(bytes.NewReader(object))
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	out := []byte{'{'}
	add := func(name string, raw []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out, _ = jsontext.AppendQuote(out, name) // names of the shape are UTF-8
		out = append(append(out, ':'), raw...)
	}
	done := map[string]bool{}
	for d.PeekKind() == '"' {
		t, err := d.ReadToken()
		if err != nil {
			return nil, err
		}
		name := t.String()
		raw, err := d.ReadValue()
		if err != nil {
			return nil, err
		}
		if m, ok := members[name]; ok {
			raw, done[name] = m, true
		}
		add(name, raw)
	}
	var left []string
	for name := range members {
		if !done[name] {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	for _, name := range left {
		add(name, members[name])
	}
	return append(out, '}'), nil
}
