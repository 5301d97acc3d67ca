package extractors

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"decant.dev/extract"
	"decant.dev/extract/rules"
	"decant.dev/extract/shape"
	"decant.dev/fence"
)

// tampered is the rules extractor with its candidate replaced by what the
// source says: rules by themselves can neither hang nor answer nonsense.
type tampered struct {
	*rules.Extractor
	source *Source
}

func (x tampered) Extract(ctx context.Context, r extract.Request) (extract.Answer, error) {
	a, err := x.Extractor.Extract(ctx, r)
	if err != nil {
		return a, err
	}
	turn := x.source.Ask(extract.Correction(r.Broken) + r.Prompt.Data())
	switch turn.Manner {
	case Answers:
		a.Candidate = []byte(turn.Text)
		return a, nil
	default:
		return a, errors.New("out of order")
	}
}

func reportRules(s *shape.Shape) *rules.Extractor {
	return rules.Must(s, rules.Set{
		Sources: []rules.Source{{Origin: fence.OriginMessage}},
		Choices: []rules.Choice{
			{Field: "kind", Default: "feature", Rules: []rules.Rule{rules.Weigh("kind.wrong", "bug", 30, rules.Text, rules.Words("wrong"))}},
			{Field: "severity", Default: "1"},
		},
		Quotes: []rules.Quotation{{Field: "quote", Rules: []rules.Sentence{{ID: "quote.first", Where: rules.Prose, Min: 4}}}},
	})
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, outside := range []bool{false, true} {
		t.Run(fmt.Sprintf("outside a bubble %t", outside), func(t *testing.T) {
			t.Parallel()
			Test(t, Kit{
				New: func(_ *testing.T, s *shape.Shape, source *Source) extract.Extractor {
					return tampered{reportRules(s), source}
				},
				Shows: []Manner{Answers, Cut, Refuses, Nothing, Denies, Fails, Endless}, Attempts: 1, Outside: outside,
			})
		})
	}
}

// The rules themselves read the suite's report, and are accepted.
func TestRulesByThemselves(t *testing.T) {
	t.Parallel()
	s, err := shape.Of[Report]()
	if err != nil {
		t.Fatal(err)
	}
	h := extract.Handler{Shapes: map[string]*shape.Shape{"report": s}, Extractors: map[string]extract.Extractor{"report": reportRules(s)}}
	out := h.Extract(t.Context(), extract.Input{Recipe: "report", Run: runID, Object: object(t, fence.PlacementUser)})
	if out.Code != "" || string(out.Structure) != `{"kind":"bug","quote":"In 1.2.3 ALPHA went wrong.","severity":1}` {
		t.Errorf("got %q, %s", out.Code, out.Structure)
	}
}

// mutant is an in-process extractor with one fault.
type mutant struct {
	source   *Source
	mends    bool // takes the value out of the prose around it
	tells    bool // its errors quote the answer
	deaf     bool // does not say what was wrong
	stays    bool // remembers an answer for the next run
	stubborn bool // asks again what was denied
	endless  bool // waits as long as the source does
	last     *string
}

func (mutant) Name() string { return "mutant" }

func (x mutant) Extract(ctx context.Context, r extract.Request) (extract.Answer, error) {
	shown := r.Prompt.Data()
	if !x.deaf {
		shown = extract.Correction(r.Broken) + shown
	}
	for range 2 {
		turn := x.source.Ask(shown)
		text := turn.Text
		switch {
		case turn.Manner == Hangs && x.endless:
			time.Sleep(time.Hour)
			return extract.Answer{}, errors.New("gave up late")
		case turn.Manner == Denies && x.stubborn:
			continue
		case turn.Manner != Answers && x.tells:
			return extract.Answer{}, errors.New(text)
		case turn.Manner != Answers:
			return extract.Answer{}, errors.New("no answer")
		}
		if from, to := strings.Index(text, "{"), strings.LastIndex(text, "}"); x.mends && from >= 0 && from < to {
			text = text[from : to+1]
		}
		if x.stays && *x.last != "" {
			text = *x.last
		}
		*x.last = text
		return extract.Answer{Candidate: []byte(text)}, nil
	}
	return extract.Answer{}, errors.New("denied")
}

// The suite finds each fault, and finds nothing where there is none.
func TestSuiteFindsMutants(t *testing.T) {
	t.Parallel()
	s, err := shape.Of[Report]()
	if err != nil {
		t.Fatal(err)
	}
	for name, m := range map[string]mutant{
		"": {}, "mends": {mends: true}, "tells": {tells: true}, "deaf": {deaf: true}, "stays": {stays: true}, "stubborn": {stubborn: true}, "endless": {endless: true},
	} {
		t.Run("mutant "+name, func(t *testing.T) {
			t.Parallel()
			k := Kit{Attempts: 1, Total: time.Minute, New: func(_ *testing.T, _ *shape.Shape, source *Source) extract.Extractor {
				m := m
				m.source, m.last = source, new(string)
				return m
			}}
			found := 0
			for _, c := range k.cases() {
				if c.needs == Late {
					continue
				}
				synctest.Test(t, func(t *testing.T) { found += len(k.judge(t, s, c, object(t, fence.PlacementUser))) })
			}
			if (found > 0) != (name != "") {
				t.Errorf("%d faults found", found)
			}
		})
	}
}

func TestMannersHaveNames(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{Manner(0).String(): true, Manner(-1).String(): true, Manner(99).String(): true}
	if len(seen) != 1 {
		t.Errorf("want one name for what is no manner, got %v", seen)
	}
	for _, m := range Manners() {
		if seen[m.String()] {
			t.Errorf("manner %d has no name of its own", m)
		}
		seen[m.String()] = true
	}
}
