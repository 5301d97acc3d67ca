package shape

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

func TestLargestTakesExactlyMaxBytes(t *testing.T) {
	t.Parallel()
	check := func(t fataler, s *Shape) {
		doc := s.Largest().Encode()
		if len(doc) != s.MaxBytes() {
			t.Fatalf("want %d bytes, got %d: %s", s.MaxBytes(), len(doc), doc)
		}
		if _, err := s.DecodeCanonical(doc); err != nil {
			t.Fatalf("the largest value is none: %v\n%s", err, doc)
		}
	}
	check(t, must[triage](t))
	check(t, must[report](t))
	rapid.Check(t, func(t *rapid.T) { check(t, anyShape(t)) })
}

// TestSamplesAreUniform draws 200 for each value of some small shapes: the chi-square statistic with k-1 degrees of freedom
// has mean k-1 and variance 2(k-1); six deviations are far beyond chance, and the seed is fixed.
func TestSamplesAreUniform(t *testing.T) {
	t.Parallel()
	for _, s := range []*Shape{
		must[struct {
			A *bool    `json:"a,omitempty"`
			B []string `json:"b" jsonschema:"maxItems=2,uniqueItems=true,enum=x,enum=y,enum=z"`
		}](t),
		must[struct {
			A []int `json:"a" jsonschema:"minItems=1,maxItems=3,minimum=1,maximum=3"`
		}](t),
		must[struct {
			A Token `json:"a" jsonschema:"pattern=^(?:a|ab|b)(?:b|c)?[0-3]?$"`
		}](t),
		must[struct {
			A *struct {
				B *Text `json:"b,omitempty" jsonschema:"pattern=^[ab]{0\\,3}$"`
			} `json:"a,omitempty"`
		}](t),
	} {
		k := int(s.Count().Int64())
		n := 200 * k
		seen := map[string]int{}
		r := rng(11)
		for range n {
			seen[string(s.Sample(r).Encode())]++
		}
		chi := 0.0
		for _, c := range seen {
			chi += float64((c-200)*(c-200)) / 200
		}
		chi += float64(k-len(seen)) * 200
		if limit := float64(k-1) + 6*math.Sqrt(2*float64(k-1)); len(seen) != k || chi > limit {
			t.Errorf("%s: want %d values drawn alike, got %d with chi-square %.1f over %.1f", s.JSONSchema(), k, len(seen), chi, limit)
		}
	}
}

func TestLongTextsAreDrawnOfEveryLengthThatMatters(t *testing.T) {
	t.Parallel()
	s := must[struct {
		A Text `json:"a" jsonschema:"minLength=2,maxLength=50"`
	}](t)
	r := rng(3)
	for range 50 {
		if n := len([]rune(string(s.Sample(r).text))); n < 49 || n > 50 {
			t.Errorf("a length of %d has no weight beside 50", n)
		}
	}
}
