// Package rules is an extractor without a model: declarative matchers decide the fields of a shape.
//
// A recipe says on a page which words, patterns, sections and features speak for which value, and where they have to
// stand: in the title, in prose, in code, in what was quoted. Everything is decided by that page alone: no I/O, no clock,
// no chance, one pass over the text. Each field's step names the rule that decided it, and where it matched.
//
// The threat is a text that wants to be misread. What it can do here is use the words that a rule looks for: there is no
// instruction to follow, so it picks among the values of the shape, and nothing else. A rule counts once, so repeating a
// word gains nothing. Only the person who holds trigger can set a field by a command.
//
// Not promised: that a value is true, or that the confidence is calibrated. It is the chance that follows if the weights
// are independent evidence, which they are not quite.
package rules

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"decant.dev/extract"
	"decant.dev/extract/shape"
)

// Ids of rules that are nobody's: a field that no rule decided, and one that the trigger's command decided.
const (
	RuleDefault = "default"
	RuleCommand = "command"
)

// ErrShape means that a request asks for another shape than the one the rules were written for.
var ErrShape = errors.New("rules of another shape: want the shape that New was given")

// Extractor decides by rules. One goroutine at a time may use it.
type Extractor struct {
	digest   string // of the shape
	set      string // of the rules
	ids      []string
	fields   []field
	sources  []Source
	commands []command
	takes    []take
	matches  []match
	tokens   []tokenRules
	quotes   []quoteRules
	choices  []choice
	subsets  []choice
	leaves   []leaf
	wants    Where // parts that leaves look at, and headings
	plain    lexicon
	titles   lexicon // words for titles only
	foreign  lexicon // words beyond ASCII
	scan     scan
}

var (
	_ extract.Extractor = (*Extractor)(nil)
	_ extract.Ruled     = (*Extractor)(nil)
	_ extract.Digested  = (*Extractor)(nil)
)

// New checks a set against its shape. The error names every fault: a field that the shape does not have or that is of another
// kind, one that is decided twice or, though required, not at all, a value that is no value of its field, an id that
// stands twice, a matcher that can never match or that costs too much.
func New(s *shape.Shape, set Set) (*Extractor, error) {
	fields, err := fieldsOf(s)
	if err != nil {
		return nil, err
	}
	x := &Extractor{digest: s.Digest(), set: digestOf(set), fields: fields}
	c := compiler{x: x, ids: map[string]bool{RuleDefault: true, RuleCommand: true}, decided: map[int]bool{}}
	c.set(set)
	if len(c.faults) > 0 {
		return nil, errors.Join(c.faults...)
	}
	x.wants = Heading // an answer's heading, and a token's
	for _, l := range x.leaves {
		x.wants |= l.where
	}
	x.ids = slices.Sorted(maps.Keys(c.ids))
	x.scan.hits, x.scan.tries = make([]hit, len(x.leaves)), make([]int, len(x.leaves))
	return x, nil
}

// Must is New for a set that is part of the program; it panics on an error.
func Must(s *shape.Shape, set Set) *Extractor {
	x, err := New(s, set)
	if err != nil {
		panic("rules: " + err.Error())
	}
	return x
}

// digestOf identifies a set: it is plain data, printed field by field.
func digestOf(set Set) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%+v", set))
	return hex.EncodeToString(sum[:])
}

// Digest identifies the rules: two extractors with equal ones answer alike.
func (x *Extractor) Digest() string { return x.set }

// Name is "rules".
func (x *Extractor) Name() string { return "rules" }

// RuleIDs is every rule that a step can name, sorted: the closed list that a trace is checked against.
func (x *Extractor) RuleIDs() []string { return slices.Clone(x.ids) }

// Extract answers with a candidate and, for every field in the order of the shape, the step that decided it; a set with
// members has a step for each. A second turn gets the same answer. The error is ErrShape or the context's.
func (x *Extractor) Extract(ctx context.Context, r extract.Request) (extract.Answer, error) {
	if err := ctx.Err(); err != nil {
		return extract.Answer{}, err
	}
	if r.Shape != nil && r.Shape.Digest() != x.digest {
		return extract.Answer{}, ErrShape
	}
	s := x.read(r.Context.Elements)
	done := make([]verdict, len(x.fields))
	for i := range done {
		done[i].label = -1
	}
	for i := range x.takes {
		done[x.takes[i].field] = x.take(r.Context.Elements, &x.takes[i])
	}
	for i := range x.matches {
		done[x.matches[i].field] = x.matched(r.Context.Elements, &x.matches[i])
	}
	for i := range x.tokens {
		done[x.tokens[i].field] = x.token(s, &x.tokens[i])
	}
	for i := range x.quotes {
		done[x.quotes[i].field] = x.quote(s, &x.quotes[i])
	}
	x.obey(r.Context, done)
	for i := range x.choices {
		if f := x.choices[i].field; done[f].raw == nil {
			done[f] = x.choose(s, &x.choices[i], done)
		}
	}
	for i := range x.subsets {
		if f := x.subsets[i].field; done[f].raw == nil {
			done[f] = x.subset(s, &x.subsets[i], done)
		}
	}
	return x.answer(done), nil
}

// verdict is what a field came to. A nil raw is absence.
type verdict struct {
	raw   []byte // JSON
	label int    // of a choice, or -1
	steps []extract.Step
}

func (x *Extractor) answer(done []verdict) extract.Answer {
	var a extract.Answer
	out := []byte{'{'}
	for i, f := range x.fields {
		v := done[i]
		if len(v.steps) == 0 {
			v.steps = []extract.Step{{Field: f.name, Rule: RuleDefault}}
		}
		a.Steps = append(a.Steps, v.steps...)
		if v.raw == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(appendString(out, f.name), ':')
		out = append(out, v.raw...)
	}
	a.Candidate = append(out, '}')
	return a
}
