package cascade

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/internal/conformance/extractors"
)

type finding struct {
	Kind  string       `json:"kind"  jsonschema:"enum=bug,enum=feature"`
	Level int          `json:"level" jsonschema:"minimum=0,maximum=3"`
	Name  *shape.Token `json:"name,omitempty" jsonschema:"pattern=^[a-z]{3}$"`
	Parts []struct {
		Side string `json:"side" jsonschema:"enum=left,enum=right"`
	} `json:"parts" jsonschema:"maxItems=2"`
}

func findings(tb testing.TB) *shape.Shape {
	tb.Helper()
	s, err := shape.Of[finding]()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// part is an extractor whose answers and needs are given.
type part struct {
	name  string
	ask   func(extract.Request) (extract.Answer, error)
	asked []extract.Request
	wants bool
}

func (p *part) Name() string { return p.name }
func (p *part) Extract(_ context.Context, r extract.Request) (extract.Answer, error) {
	p.asked = append(p.asked, r)
	return p.ask(r)
}
func (p *part) RuleIDs() []string     { return []string{p.name + ".rule", "shared"} }
func (p *part) Hosts() []string       { return []string{p.name + ":443"} }
func (p *part) Environment() []string { return []string{strings.ToUpper(p.name) + "_KEY"} }
func (p *part) Worst(n int) int64     { return int64(n) }
func (p *part) WantsContext() bool    { return p.wants }
func (p *part) Digest() string        { return "of " + p.name }

func says(name, candidate string, steps ...extract.Step) *part {
	return &part{name: name, ask: func(extract.Request) (extract.Answer, error) {
		return extract.Answer{Candidate: []byte(candidate), Steps: steps, Usage: extract.Usage{InputTokens: 7}}, nil
	}}
}

func step(field string, confidence int) extract.Step {
	return extract.Step{Field: field, Rule: "shared", Confidence: confidence}
}

func request(run string) extract.Request {
	return extract.Request{Context: fence.RunContext{Run: run}}
}

// Exactly where every choice reaches what it needs, the first answer stands and
// the model is not asked: the table is drawn, and judged by a rule of its own.
func TestTheFirstAnswerStandsWhereEveryChoiceIsSure(t *testing.T) {
	t.Parallel()
	s := findings(t)
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Threshold: rapid.IntRange(1, 100).Draw(t, "threshold"), Fields: map[string]int{}}
		need := map[string]int{"kind": c.Threshold, "level": c.Threshold, "parts": c.Threshold}
		for name := range need {
			if rapid.Bool().Draw(t, name) {
				c.Fields[name] = rapid.IntRange(0, 100).Draw(t, name+" needs")
				need[name] = c.Fields[name]
			}
		}
		var steps []extract.Step
		sure := map[string]bool{}
		for name, n := range need {
			sure[name] = n == 0
		}
		for name, n := range need {
			for i := range rapid.IntRange(0, 2).Draw(t, name+" steps") {
				confidence := rapid.IntRange(0, 100).Draw(t, "confidence")
				steps = append(steps, step(name, confidence))
				sure[name] = confidence >= n && (sure[name] || i == 0)
			}
		}
		steps = append(steps, step("name", 0)) // a token's confidence is nothing to the cascade
		first, then := says("first", "1", steps...), says("then", "2")
		a, err := Must(s, c, first, then).Extract(t.Context(), request("r1"))
		want := sure["kind"] && sure["level"] && sure["parts"]
		if err != nil || (string(a.Candidate) == "1") != want || (len(then.asked) == 0) != want || a.Stage != map[bool]string{true: "first", false: "then"}[want] {
			t.Fatalf("needs %v, steps %v: got %q by %s, %v", need, steps, a.Candidate, a.Stage, err)
		}
	})
}

func TestACorrectionIsTheModels(t *testing.T) {
	t.Parallel()
	s := findings(t)
	sure := []extract.Step{step("kind", 100), step("level", 100), step("parts", 100)}
	for name, tc := range map[string]struct {
		first  *part
		broken string // what the model is told in the second turn
	}{
		"of the first's answer": {says("first", "1", sure...), ""},
		"of its own":            {says("first", "1"), "kind: enum"},
	} {
		then := says("then", "2")
		x := Must(s, Config{Threshold: 50}, tc.first, then)
		if _, err := x.Extract(t.Context(), request("r1")); err != nil {
			t.Fatal(err)
		}
		r := request("r1")
		r.Broken = "kind: enum"
		a, err := x.Extract(t.Context(), r)
		if err != nil || a.Stage != "then" || len(tc.first.asked) != 1 || then.asked[len(then.asked)-1].Broken != tc.broken {
			t.Errorf("%s: got %+v, %v; the model was told %q", name, a, err, then.asked[len(then.asked)-1].Broken)
		}
	}
}

// A first extractor that fails is not sure; a model that fails is no answer.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := findings(t)
	fails := func(name string) *part {
		return &part{name: name, ask: func(extract.Request) (extract.Answer, error) { return extract.Answer{}, errors.New("no") }}
	}
	if a, err := Must(s, Config{Threshold: 50}, fails("first"), says("then", "2")).Extract(t.Context(), request("r")); err != nil || a.Stage != "then" {
		t.Errorf("got %+v, %v", a, err)
	}
	if _, err := Must(s, Config{Threshold: 50}, says("first", "1"), fails("then")).Extract(t.Context(), request("r")); err == nil {
		t.Error("an unsure answer stood in for the model's")
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	then := says("then", "2")
	if _, err := Must(s, Config{Threshold: 50}, fails("first"), then).Extract(over, request("r")); err == nil || len(then.asked) > 0 {
		t.Error("the model was asked after the end")
	}
}

// What the parts need, cost and may say is the cascade's too, also one within
// another.
func TestACascadeNeedsWhatItsPartsNeed(t *testing.T) {
	t.Parallel()
	s := findings(t)
	a, b, c := says("a", ""), says("b", ""), says("c", "")
	b.wants = true
	x := Must(s, Config{Threshold: 50}, a, Must(s, Config{Threshold: 60}, b, c))
	if got := extract.HostsOf(x); !slices.Equal(got, []string{"a:443", "b:443", "c:443"}) {
		t.Errorf("hosts %v", got)
	}
	if got := extract.EnvironmentOf(x); !slices.Equal(got, []string{"A_KEY", "B_KEY", "C_KEY"}) {
		t.Errorf("environment %v", got)
	}
	if got := extract.WorstOf(x, 100); got != 300 {
		t.Errorf("worst %d, want 300", got)
	}
	if !extract.WantsContext(x) || extract.WantsContext(Must(s, Config{Threshold: 50}, a, c)) {
		t.Error("wants a context where no part does, or none where one does")
	}
	in := extract.Trace{Stage: "c"}
	for _, rule := range []string{"a.rule", "b.rule", "c.rule", "shared", "other"} {
		in.Steps = append(in.Steps, extract.Step{Field: "kind", Rule: rule})
	}
	if out := extract.VocabularyOf(x, s).Filter(in); out.Stage != "c" || len(out.Steps) != 4 || out.Extractor != "cascade" {
		t.Errorf("got %+v", out)
	}
	in.Stage = "other"
	if out := extract.VocabularyOf(x, s).Filter(in); out.Stage != "" {
		t.Errorf("stage %q", out.Stage)
	}
}

func TestTheDigestIsOfAllThatDecides(t *testing.T) {
	t.Parallel()
	s := findings(t)
	seen := map[string]int{}
	for i, x := range []*Extractor{
		Must(s, Config{Threshold: 50}, says("a", ""), says("b", "")),
		Must(s, Config{Threshold: 51}, says("a", ""), says("b", "")),
		Must(s, Config{Threshold: 50, Fields: map[string]int{"kind": 0}}, says("a", ""), says("b", "")),
		Must(s, Config{Threshold: 50}, says("b", ""), says("a", "")),
		Must(s, Config{Threshold: 50}, says("a", ""), says("c", "")),
	} {
		if before, twice := seen[x.Digest()]; twice {
			t.Errorf("%d and %d have one digest", before, i)
		}
		seen[x.Digest()] = i
	}
}

func TestWhatIsNoCascadeIsRefused(t *testing.T) {
	t.Parallel()
	s, a, b := findings(t), says("a", ""), says("b", "")
	for want, f := range map[string]func() (*Extractor, error){
		"a shape":       func() (*Extractor, error) { return New(nil, Config{Threshold: 50}, a, b) },
		"two":           func() (*Extractor, error) { return New(s, Config{Threshold: 50}, a, nil) },
		"told apart":    func() (*Extractor, error) { return New(s, Config{Threshold: 50}, a, a) },
		"threshold 0":   func() (*Extractor, error) { return New(s, Config{}, a, b) },
		"threshold 101": func() (*Extractor, error) { return New(s, Config{Threshold: 101}, a, b) },
		"[kind level parts]": func() (*Extractor, error) {
			return New(s, Config{Threshold: 50, Fields: map[string]int{"name": 50}}, a, b)
		},
		"field kind": func() (*Extractor, error) {
			return New(s, Config{Threshold: 50, Fields: map[string]int{"kind": 101}}, a, b)
		},
	} {
		if _, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q named", err, want)
		}
	}
}

// behind is an extractor with the suite's source behind it.
type behind struct{ source *extractors.Source }

func (behind) Name() string { return "behind" }
func (x behind) Extract(_ context.Context, r extract.Request) (extract.Answer, error) {
	if turn := x.source.Ask(extract.Correction(r.Broken) + r.Prompt.Data()); turn.Manner == extractors.Answers {
		return extract.Answer{Candidate: []byte(turn.Text)}, nil
	}
	return extract.Answer{}, errors.New("out of order")
}

// A cascade whose first extractor is never sure passes the suite as the model
// behind it does.
func TestConforms(t *testing.T) {
	t.Parallel()
	extractors.Test(t, extractors.Kit{
		New: func(_ *testing.T, s *shape.Shape, source *extractors.Source) extract.Extractor {
			return Must(s, Config{Threshold: 50}, says("unsure", ""), behind{source})
		},
		Shows: []extractors.Manner{extractors.Answers, extractors.Cut, extractors.Refuses, extractors.Nothing, extractors.Denies, extractors.Fails, extractors.Endless}, Attempts: 1,
	})
}
