package extract

import (
	"crypto/sha256"
	"encoding/hex"
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
	Extractor string    `json:"extractor"`
	Stage     string    `json:"stage,omitempty"` // the part that answered, where the extractor has several
	Steps     []Step    `json:"steps,omitempty"`
	Usage     Usage     `json:"usage,omitzero"`
	Prompt    Counted   `json:"prompt,omitzero"`
	Refused   []Refused `json:"refused,omitempty"` // answers that did not decode, in order
}

// Refused is all that is kept of an answer that did not decode.
type Refused struct {
	Bytes  int    `json:"bytes"`
	SHA256 string `json:"sha256"` // in lower-case hex
}

// Counted says how much of the context the prompt showed.
type Counted struct {
	SHA256    string `json:"sha256,omitempty"` // of the prompt object, in lower-case hex
	Included  int    `json:"included"`         // elements shown, whole or cut
	Truncated int    `json:"truncated"`        // of these, elements that were cut
	Dropped   int    `json:"dropped"`          // elements left out
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
	stages    []string
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
	v.rules = each(x, func(part Extractor) []string {
		if r, ok := part.(Ruled); ok {
			return r.RuleIDs()
		}
		return nil
	})
	for _, part := range parts(x)[1:] {
		v.stages = append(v.stages, part.Name())
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
	if slices.Contains(v.stages, t.Stage) {
		out.Stage = t.Stage
	}
	for _, r := range t.Refused[:min(len(t.Refused), MaxTurns)] {
		if r.Bytes >= 0 && r.Bytes <= maxOffset && digestForm.MatchString(r.SHA256) {
			out.Refused = append(out.Refused, r)
		}
	}
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

// digestForm is a SHA-256 digest in lower-case hex.
var digestForm = regexp.MustCompile(`^[0-9a-f]{64}$`)

func (c Counted) bounded() Counted {
	if !digestForm.MatchString(c.SHA256) {
		c.SHA256 = ""
	}
	return Counted{c.SHA256, clamp(c.Included, fence.MaxElements), clamp(c.Truncated, fence.MaxElements), clamp(c.Dropped, fence.MaxElements)}
}

func clamp[N int | int64](n, most N) N { return max(0, min(n, most)) }

func traceOf(x Extractor, a Answer, used Usage, p fence.Prompt, object []byte) Trace {
	t := Trace{Extractor: x.Name(), Stage: a.Stage, Steps: a.Steps, Usage: used}
	t.Prompt = Counted{SHA256: DigestOfBytes(object), Included: len(p.Included()), Truncated: len(p.Truncated()), Dropped: len(p.Dropped())}
	return t
}

// DigestOfBytes is the SHA-256 digest of b in lower-case hex, as a trace has it.
func DigestOfBytes(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// ruleOf names the rule that a candidate broke, for the correction turn.
func ruleOf(err error) string {
	var d *shape.DecodeError
	if errors.As(err, &d) {
		return d.Path + ": " + d.Rule.String()
	}
	return "structure"
}
