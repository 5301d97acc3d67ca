package shape

import (
	"errors"
	"testing"

	"pgregory.net/rapid"
)

// stricter are the rules for what a schema cannot see, or what encoding/json mends in silence before the oracle looks.
var stricter = map[Rule]bool{
	RuleDuplicateKey: true, RuleNumber: true, RuleLength: true, RuleUTF8: true, RuleSurrogate: true,
}

// agree checks one document with both: what Decode takes the oracle takes, and what only the oracle takes has a reason
// that no schema can see.
func agree(t interface{ Errorf(string, ...any) }, s *Shape, check func([]byte) bool, doc []byte, kind string) (taken bool) {
	v, err := s.Decode(doc)
	if kind == "huge_exponent" {
		if err == nil {
			t.Errorf("a huge exponent was taken: %s", doc)
		}
		return false // the oracle would work on it for 43 ms, refused or not
	}
	want := check(doc)
	if err == nil {
		if !want || !check(v.Encode()) {
			t.Errorf("%s: the oracle refuses %s", kind, doc)
		}
		return true
	}
	var e *DecodeError
	if !errors.As(err, &e) || want && !stricter[e.Rule] {
		t.Errorf("%s: the oracle takes what was refused by %v\n%s\n%s", kind, err, doc, s.JSONSchema())
	}
	return false
}

func TestOracleAgreesOnSampledAndMutatedDocuments(t *testing.T) {
	t.Parallel()
	n := 4000
	if underRace || testing.Short() {
		n = 300 // the oracle is the slow part; the full number runs without the detector
	}
	for _, s := range []*Shape{must[triage](t), must[report](t)} {
		schema := compileOracle(t, s.JSONSchema())
		check := func(doc []byte) bool { return accepts(schema, doc) }
		r := rng(7)
		kinds := map[string]int{}
		for range n {
			doc := s.Sample(r).Encode()
			if !agree(t, s, check, doc, "sampled") {
				t.Fatalf("a sampled document was refused: %s", doc)
			}
			for range 3 {
				mutant, kind := s.Mutate(r, doc)
				agree(t, s, check, mutant, kind)
				kinds[kind]++
			}
		}
		for _, k := range Mutations() {
			if kinds[k] == 0 {
				t.Errorf("no mutant of the kind %s", k)
			}
		}
		if t.Failed() {
			return
		}
	}
}

func TestOracleAgreesOnRandomShapes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := anyShape(t)
		schema := compileOracle(t, s.JSONSchema())
		check := func(doc []byte) bool { return accepts(schema, doc) }
		r := rng(rapid.Uint64().Draw(t, "seed"))
		for range 5 {
			doc := s.Sample(r).Encode()
			if !agree(t, s, check, doc, "sampled") {
				t.Fatalf("a sampled document was refused: %s", doc)
			}
			mutant, kind := s.Mutate(r, doc)
			agree(t, s, check, mutant, kind)
		}
	})
}
