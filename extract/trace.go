package extract

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"decant.dev/extract/shape"
	"decant.dev/fence"
)

// Trace is what an extractor says of how it came to its answer. It is closed:
// words come from the extractor's own vocabulary, the rest are small numbers.
// The orchestrator journals it and never shows it to act.
type Trace struct {
	Extractor string  `json:"extractor"`
	Steps     []Step  `json:"steps,omitempty"`
	Usage     Usage   `json:"usage,omitzero"`
	Prompt    Counted `json:"prompt,omitzero"`
}

// Counted says how much of the context the prompt showed.
type Counted struct {
	Included  int `json:"included"`  // elements shown, whole or cut
	Truncated int `json:"truncated"` // of these, elements that were cut
	Dropped   int `json:"dropped"`   // elements left out
}

// Ruled is implemented by extractors whose steps name rules of a fixed list.
type Ruled interface {
	// RuleIDs lists every id that a step may name.
	RuleIDs() []string
}

// Digested is implemented by extractors whose answers depend on more than
// their name: rules, a model, a threshold.
type Digested interface {
	// Digest identifies all that the answers depend on.
	Digest() string
}

// DigestOf identifies an extractor, as a recipe's digest has it.
func DigestOf(x Extractor) string {
	if d, ok := x.(Digested); ok {
		return x.Name() + ":" + d.Digest()
	}
	return x.Name()
}

// Vocabulary is the closed list of words that a trace may hold.
type Vocabulary struct {
	extractor string
	fields    []string
	rules     []string
}

// Bounds of a trace.
const (
	maxSteps  = 256
	maxOffset = 1 << 26
)

// VocabularyOf returns the words that traces of this extractor for this shape
// may hold.
func VocabularyOf(x Extractor, s *shape.Shape) Vocabulary {
	v := Vocabulary{extractor: x.Name()}
	if r, ok := x.(Ruled); ok {
		v.rules = slices.Clone(r.RuleIDs())
	}
	if s == nil {
		return v
	}
	for _, f := range s.Fields() {
		name, _, _ := strings.Cut(f.Name, "[")
		name, _, _ = strings.Cut(name, ".")
		if !slices.Contains(v.fields, name) {
			v.fields = append(v.fields, name)
		}
	}
	return v
}

// Filter returns the part of a trace that is within the vocabulary: a step
// with a foreign word or a number out of bounds is left out.
func (v Vocabulary) Filter(t Trace) Trace {
	out := Trace{Extractor: v.extractor, Usage: t.Usage.bounded(), Prompt: t.Prompt.bounded()}
	for _, s := range t.Steps[:min(len(t.Steps), maxSteps)] {
		if slices.Contains(v.fields, s.Field) && slices.Contains(v.rules, s.Rule) && s.bounded() {
			out.Steps = append(out.Steps, s)
		}
	}
	return out
}

func (s Step) bounded() bool {
	within := func(n, limit int) bool { return n >= 0 && n <= limit }
	return within(s.Confidence, 100) && within(s.Offset, maxOffset) && within(s.Length, maxOffset) && elementID.MatchString(s.Element)
}

// elementID is the form of the ids that fetch gives to elements, and of the
// quotes that the fence splits from them.
var elementID = regexp.MustCompile(`^([a-z][0-9]{1,5}(/q[0-9]{1,5})?)?$`)

func (c Counted) bounded() Counted {
	return Counted{clamp(c.Included, fence.MaxElements), clamp(c.Truncated, fence.MaxElements), clamp(c.Dropped, fence.MaxElements)}
}

func clamp[N int | int64](n, most N) N { return max(0, min(n, most)) }

func traceOf(x Extractor, a Answer, used Usage, p fence.Prompt) Trace {
	t := Trace{Extractor: x.Name(), Steps: a.Steps, Usage: used}
	t.Prompt = Counted{Included: len(p.Included()), Truncated: len(p.Truncated()), Dropped: len(p.Dropped())}
	return t
}

// ruleOf names the rule that a candidate broke, for the correction turn.
func ruleOf(err error) string {
	var d *shape.DecodeError
	if errors.As(err, &d) {
		return d.Path + ": " + d.Rule.String()
	}
	return "structure"
}
