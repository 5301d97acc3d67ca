package learned

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/internal/conformance/extractors"
)

// behind is a base with the suite's source behind it.
type behind struct{ source *extractors.Source }

func (behind) Name() string { return "behind" }
func (x behind) Extract(_ context.Context, r extract.Request) (extract.Answer, error) {
	if turn := x.source.Ask(extract.Correction(r.Broken) + r.Prompt.Data()); turn.Manner == extractors.Answers {
		return extract.Answer{Candidate: []byte(turn.Text)}, nil
	}
	return extract.Answer{}, errors.New("out of order")
}

// Over a base that is answered badly a model mends nothing: every case ends as
// the base's does.
func TestConforms(t *testing.T) {
	t.Parallel()
	s, err := shape.Of[extractors.Report]()
	if err != nil {
		t.Fatal(err)
	}
	var rows []Row
	for i := range 40 {
		word := []string{"crash", "please"}[i%2]
		rows = append(rows, Row{Text: []string{fmt.Sprintf("%s %d", word, i), word + " of the lamp"}, Labels: []string{[]string{"bug", "feature"}[i%2]}})
	}
	m, _, err := Train(s, Spec{Fields: []string{"kind"}, Text: []string{"title", "body"}, Folds: 2}, rows)
	if err != nil {
		t.Fatal(err)
	}
	extractors.Test(t, extractors.Kit{
		New: func(_ *testing.T, s *shape.Shape, source *extractors.Source) extract.Extractor {
			x, err := Over(s, behind{source}, m, Options{Threshold: 100}) // the base's kind stands
			if err != nil {
				t.Fatal(err)
			}
			return x
		},
		Shows: []extractors.Manner{extractors.Answers, extractors.Cut, extractors.Refuses, extractors.Nothing, extractors.Denies, extractors.Fails, extractors.Endless}, Attempts: 1,
	})
}
