package extract

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"decant.dev/fence"
)

// silent is an extractor that names no rules.
type silent struct{ Extractor }

func (silent) Name() string { return "silent" }

// Whatever a trace says, what is left of it is of the vocabulary and within
// bounds; and what was so from the beginning is kept as it was.
func TestFilterKeepsTheVocabularyOnly(t *testing.T) {
	t.Parallel()
	v := VocabularyOf(&scripted{}, findings(t))
	fields, rules := []string{"kind", "note", "quote", "also"}, []string{"word"}
	words := []string{strings.Repeat("0a", 32), strings.Repeat("0A", 32), strings.Repeat("0a", 33), "kind", "quote", "word", "", "SECRETWORD", "KIND", "kind ", "e1", "e1/q2", "scripted", "e123456", "e1\n", "é1", "(root)"}
	numbers := []int{0, 1, 99, 100, 101, -1, 1 << 26, 1<<26 + 1, 1 << 40, 1 << 30, 1<<30 + 1}
	honest := func(s Step) bool {
		return slices.Contains(fields, s.Field) && slices.Contains(rules, s.Rule) && slices.Contains([]string{"", "e1", "e1/q2"}, s.Element) &&
			s.Confidence >= 0 && s.Confidence <= 100 && s.Offset >= 0 && s.Offset <= 1<<26 && s.Length >= 0 && s.Length <= 1<<26
	}
	rapid.Check(t, func(rt *rapid.T) {
		word, number := rapid.SampledFrom(words), rapid.SampledFrom(numbers)
		in := Trace{
			Extractor: word.Draw(rt, "extractor"),
			Usage:     Usage{number.Draw(rt, "input"), number.Draw(rt, "output"), number.Draw(rt, "read"), number.Draw(rt, "written"), int64(number.Draw(rt, "cost"))},
			Prompt:    Counted{word.Draw(rt, "digest"), number.Draw(rt, "included"), number.Draw(rt, "truncated"), number.Draw(rt, "dropped")},
		}
		for range rapid.IntRange(0, 4).Draw(rt, "refused") {
			in.Refused = append(in.Refused, Refused{number.Draw(rt, "bytes"), word.Draw(rt, "sha256")})
		}
		in.Stage = word.Draw(rt, "stage")
		var want []Step
		for range rapid.IntRange(0, 8).Draw(rt, "steps") {
			s := Step{word.Draw(rt, "field"), word.Draw(rt, "rule"), number.Draw(rt, "confidence"), word.Draw(rt, "element"), number.Draw(rt, "offset"), number.Draw(rt, "length")}
			if rapid.Bool().Draw(rt, "honest") {
				s = Step{"kind", "word", 50, "e1", 3, 4}
			}
			in.Steps = append(in.Steps, s)
			if honest(s) {
				want = append(want, s)
			}
		}
		out := v.Filter(in)
		digest := strings.Repeat("0a", 32)
		for _, r := range out.Refused {
			if r.Bytes < 0 || r.Bytes > 1<<26 || r.SHA256 != digest {
				rt.Fatalf("refused %+v", r)
			}
		}
		if len(out.Refused) > MaxTurns || out.Stage != "" || out.Prompt.SHA256 != "" && out.Prompt.SHA256 != digest {
			rt.Fatalf("got %+v", out)
		}
		if out.Extractor != "scripted" || !reflect.DeepEqual(out.Steps, want) {
			rt.Fatalf("got %+v\nwant %+v", out, want)
		}
		for _, n := range []int{out.Usage.InputTokens, out.Usage.OutputTokens, out.Usage.CacheReadTokens, out.Usage.CacheWriteTokens, int(out.Usage.Microdollars)} {
			if n < 0 || n > 1<<30 {
				rt.Fatalf("usage %+v", out.Usage)
			}
		}
		for _, n := range []int{out.Prompt.Included, out.Prompt.Truncated, out.Prompt.Dropped} {
			if n < 0 || n > fence.MaxElements {
				rt.Fatalf("prompt %+v", out.Prompt)
			}
		}
		if again := v.Filter(out); !reflect.DeepEqual(again, out) {
			rt.Fatalf("filtered twice: %+v, then %+v", out, again)
		}
	})
}

// A trace has at most 256 steps, and those beyond are not looked at.
func TestStepsBeyondTheBoundAreDropped(t *testing.T) {
	t.Parallel()
	v := VocabularyOf(&scripted{}, findings(t))
	steps := make([]Step, 300)
	for i := range steps {
		steps[i] = Step{Field: "kind", Rule: "word", Offset: i}
	}
	steps[0].Rule = "SECRETWORD"
	out := v.Filter(Trace{Steps: steps})
	if len(out.Steps) != 255 || out.Steps[0].Offset != 1 || out.Steps[254].Offset != 255 {
		t.Errorf("%d steps are left", len(out.Steps))
	}
}

// The vocabulary is the extractor's rules and the shape's top-level fields,
// as they were when it was made.
func TestVocabularyIsClosed(t *testing.T) {
	t.Parallel()
	x := &scripted{}
	step := func(field, rule string) Trace { return Trace{Steps: []Step{{Field: field, Rule: rule}}} }
	v := VocabularyOf(x, findings(t))
	for _, field := range []string{"kind", "note", "quote", "also"} {
		if len(v.Filter(step(field, "word")).Steps) != 1 {
			t.Errorf("the field %s is not of the vocabulary", field)
		}
	}
	for name, v := range map[string]Vocabulary{"no rules": VocabularyOf(silent{}, findings(t)), "no shape": VocabularyOf(x, nil), "zero": {}} {
		if got := v.Filter(step("kind", "word")); len(got.Steps) > 0 {
			t.Errorf("%s: keeps %+v", name, got.Steps)
		}
	}
}
