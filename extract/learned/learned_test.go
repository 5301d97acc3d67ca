package learned

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"decant.dev/extract"
	"decant.dev/extract/rules"
	"decant.dev/extract/shape"
)

// fixed is a base that answers the same each time.
type fixed struct {
	candidate string
	steps     []extract.Step
	err       error
	digest    string
	wants     bool
}

func (*fixed) Name() string         { return "fixed" }
func (*fixed) RuleIDs() []string    { return []string{"base.kind", rules.RuleCommand} }
func (x *fixed) Digest() string     { return x.digest }
func (x *fixed) WantsContext() bool { return x.wants }
func (x *fixed) Extract(context.Context, extract.Request) (extract.Answer, error) {
	return extract.Answer{Candidate: []byte(x.candidate), Steps: slices.Clone(x.steps), Usage: extract.Usage{InputTokens: 7}}, x.err
}

func over(tb testing.TB, base extract.Extractor, o Options) (*Extractor, *shape.Shape) {
	tb.Helper()
	s := shapeOf[ticket](tb)
	x, err := Over(s, base, smallModel(tb), o)
	if err != nil {
		tb.Fatal(err)
	}
	return x, s
}

func decode(tb testing.TB, s *shape.Shape, a extract.Answer) map[string]any {
	tb.Helper()
	v, err := s.Decode(a.Candidate)
	if err != nil {
		tb.Fatalf("candidate: %v", err)
	}
	var out map[string]any
	if err := json.Unmarshal(v.Encode(), &out); err != nil {
		tb.Fatal(err)
	}
	return out
}

func TestTheModelDecidesItsFieldsAndTheBaseTheOthers(t *testing.T) {
	t.Parallel()
	base := &fixed{candidate: `{"kind":"talk","level":1,"note":"kept"}`, steps: []extract.Step{
		{Field: "kind", Rule: "base.kind", Confidence: 40}, {Field: "note", Rule: "base.kind", Confidence: 60},
	}}
	x, s := over(t, base, Options{})
	a, err := x.Extract(context.Background(), extract.Request{Context: titled("crash of the lamp", "the lamp broken on level2 urgenttrue"), Shape: s})
	if err != nil {
		t.Fatal(err)
	}
	got := decode(t, s, a)
	if got["kind"] != "fault" || got["level"] != 2.0 || got["urgent"] != true || got["note"] != "kept" {
		t.Errorf("got %v, want the model's kind, level and urgent, and the base's note", got)
	}
	if a.Usage.InputTokens != 7 {
		t.Errorf("got usage %+v, want the base's", a.Usage)
	}
	var rulesOf []string
	for _, st := range a.Steps {
		rulesOf = append(rulesOf, st.Field+"="+st.Rule)
		if st.Field != "note" && (st.Confidence < 34 || st.Confidence > 100) {
			t.Errorf("%s: got confidence %d, want that of the likeliest choice", st.Field, st.Confidence)
		}
	}
	if want := "note=base.kind kind=learned.kind level=learned.level urgent=learned.urgent"; strings.Join(rulesOf, " ") != want {
		t.Errorf("got steps %v, want %s", rulesOf, want)
	}
	filtered := extract.VocabularyOf(x, s).Filter(extract.Trace{Steps: a.Steps})
	if len(filtered.Steps) != len(a.Steps) {
		t.Errorf("the vocabulary keeps %d of %d steps", len(filtered.Steps), len(a.Steps))
	}
}

// A person who holds trigger has the last word, not the model.
func TestACommandStandsOverTheModel(t *testing.T) {
	t.Parallel()
	base := &fixed{candidate: `{"kind":"talk","level":1}`, steps: []extract.Step{{Field: "kind", Rule: rules.RuleCommand, Confidence: 100}}}
	x, s := over(t, base, Options{})
	a, err := x.Extract(context.Background(), extract.Request{Context: titled("crash of the lamp", "broken crash wrong level2")})
	if err != nil {
		t.Fatal(err)
	}
	if got := decode(t, s, a); got["kind"] != "talk" || got["level"] != 2.0 {
		t.Errorf("got %v, want the commanded kind and the model's level", got)
	}
	if a.Steps[0] != base.steps[0] {
		t.Errorf("got step %+v, want the command's", a.Steps[0])
	}
}

func TestBelowTheThresholdTheBaseStands(t *testing.T) {
	t.Parallel()
	base := &fixed{candidate: `{"kind":"talk","level":1}`, steps: []extract.Step{{Field: "kind", Rule: "base.kind", Confidence: 40}}}
	request := extract.Request{Context: titled("crash of the lamp", "the lamp broken on level2 urgenttrue")}
	sure, s := over(t, base, Options{})
	a, err := sure.Extract(context.Background(), request)
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range a.Steps {
		at, _ := over(t, base, Options{Threshold: st.Confidence})
		above, _ := over(t, base, Options{Threshold: min(st.Confidence+1, 100)})
		b, err1 := at.Extract(context.Background(), request)
		c, err2 := above.Extract(context.Background(), request)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if !slices.Contains(b.Steps, st) {
			t.Errorf("%s: at its own confidence %d the model's answer is gone", st.Field, st.Confidence)
		}
		if st.Confidence < 100 && slices.Contains(c.Steps, st) {
			t.Errorf("%s: above its confidence %d the model's answer stands", st.Field, st.Confidence)
		}
	}
	none, _ := over(t, base, Options{Threshold: 100})
	b, err := none.Extract(context.Background(), extract.Request{Context: titled("", "")})
	if err != nil || decode(t, s, b)["kind"] != "talk" || !slices.Equal(b.Steps, base.steps) {
		t.Errorf("got %s with %v, %v: want the base's answer untouched", b.Candidate, b.Steps, err)
	}
}

// What does not decode goes on as it came, so that the correction names what is wrong with it.
func TestACandidateThatIsNoValueIsNotMended(t *testing.T) {
	t.Parallel()
	for _, candidate := range []string{"", "nonsense", `{"kind":"talk"}`, `{"kind":"talk","level":9}`, `{"kind":"talk","level":1,"x":1}`, `{"kind":"talk","level":1} `, "\xff"} {
		x, s := over(t, &fixed{candidate: candidate}, Options{})
		a, err := x.Extract(context.Background(), extract.Request{Context: titled("crash", "crash")})
		if err != nil {
			t.Fatal(err)
		}
		if _, bad := s.Decode([]byte(candidate)); bad != nil && string(a.Candidate) != candidate {
			t.Errorf("%q became %q", candidate, a.Candidate)
		}
	}
	wrong := errors.New("none")
	x, _ := over(t, &fixed{err: wrong}, Options{})
	if _, err := x.Extract(context.Background(), extract.Request{}); !errors.Is(err, wrong) {
		t.Errorf("got %v, want the base's error", err)
	}
	if _, err := x.Extract(context.Background(), extract.Request{Shape: shapeOf[other](t)}); err == nil {
		t.Error("a request for another shape was answered")
	}
}

func TestAModelOfAnotherShapeIsRefusedNamingWhatDiffers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		s    *shape.Shape
		says string
	}{
		"order":     {shapeOf[reordered](t), `field kind: want the choices in the order "wish", "fault", "talk", got "fault", "wish", "talk"`},
		"choices":   {shapeOf[other](t), `field kind: want the choices "fault", "wish", "praise", got "fault", "wish", "talk"`},
		"no field":  {shapeOf[renamed](t), `field "kind": want a field of the shape`},
		"no choice": {shapeOf[carrying](t), `field "kind": want a choice of 2 to 64 values`},
	} {
		if _, err := Over(tc.s, &fixed{}, smallModel(t), Options{}); err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: got %v, want %s", name, err, tc.says)
		}
	}
	s := shapeOf[ticket](t)
	for name, err := range map[string]error{
		"no shape":  second(Over(nil, &fixed{}, smallModel(t), Options{})),
		"no base":   second(Over(s, nil, smallModel(t), Options{})),
		"no model":  second(Over(s, &fixed{}, nil, Options{})),
		"threshold": second(Over(s, &fixed{}, smallModel(t), Options{Threshold: 101})),
		"negative":  second(Over(s, &fixed{}, smallModel(t), Options{Threshold: -1})),
	} {
		if err == nil {
			t.Errorf("%s: want an error", name)
		}
	}
	for _, file := range [][]byte{nil, smallModel(t).Bytes()} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("Must: want a panic")
				}
			}()
			Must(shapeOf[other](t), &fixed{}, file, Options{})
		}()
	}
	if Must(s, &fixed{}, smallModel(t).Bytes(), Options{}) == nil {
		t.Error("want an extractor")
	}
}

func second(_ *Extractor, err error) error { return err }

// Whatever an answer depends on is in the digest: the model, the options, the base.
func TestDigestTellsWhatAnswersDependOn(t *testing.T) {
	t.Parallel()
	s := shapeOf[ticket](t)
	fewer, _, err := Train(s, ticketSpec, tickets(117))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for name, tc := range map[string]struct {
		base *fixed
		m    *Model
		o    Options
	}{
		"plain":     {&fixed{digest: "a"}, smallModel(t), Options{}},
		"base":      {&fixed{digest: "b"}, smallModel(t), Options{}},
		"threshold": {&fixed{digest: "a"}, smallModel(t), Options{Threshold: 1}},
		"group":     {&fixed{digest: "a"}, smallModel(t), Options{Group: "north"}},
		"model":     {&fixed{digest: "a"}, fewer, Options{}},
	} {
		x, err := Over(s, tc.base, tc.m, tc.o)
		if err != nil {
			t.Fatal(err)
		}
		if was, ok := seen[x.Digest()]; ok {
			t.Errorf("%s and %s have one digest", name, was)
		}
		seen[x.Digest()] = name
		if again, _ := Over(s, tc.base, tc.m, tc.o); again.Digest() != x.Digest() || x.Name() != "learned" {
			t.Errorf("%s: want the same digest again", name)
		}
	}
	x, _ := over(t, &fixed{wants: true}, Options{})
	y, _ := over(t, &fixed{}, Options{})
	if !extract.WantsContext(x) || extract.WantsContext(y) {
		t.Error("want the base's wish for a context")
	}
}
