package shape

import (
	"bytes"
	"testing"
)

func TestMutantsDoNotTouchTheDocumentAndAreOfEveryKind(t *testing.T) {
	t.Parallel()
	s := must[report](t)
	doc := s.Sample(rng(5)).Encode()
	before := bytes.Clone(doc)
	kinds, refused, candidates := map[string]bool{}, 0, 0
	r := rng(6)
	for range 2000 {
		out, kind := s.Mutate(r, doc)
		kinds[kind] = true
		if _, err := s.Decode(out); err != nil {
			refused++
		} else if _, err := s.DecodeCanonical(out); err != nil {
			candidates++
		}
	}
	if !bytes.Equal(doc, before) {
		t.Error("the document was changed")
	}
	if len(kinds) != len(Mutations()) {
		t.Errorf("want %d kinds, got %d", len(Mutations()), len(kinds))
	}
	if refused < 1200 || candidates < 50 {
		t.Errorf("of 2000 mutants %d were refused and %d were candidates in another spelling", refused, candidates)
	}
}

func TestAnyBytesCanBeMutated(t *testing.T) {
	t.Parallel()
	s := must[triage](t)
	r := rng(8)
	for _, doc := range []string{"", "{", "nonsense", `{"a":`, `[1,]`, `{"a" :1}`, "\xff", `{"a":1}x`, `"a`, `[`, `[1 2]`, `{1:2}`, `{"a":1 "b":2}`} {
		if len(outlineOf([]byte(doc)).values) > 0 {
			t.Errorf("%q has an outline", doc)
		}
		for range 200 {
			s.Mutate(r, []byte(doc))
		}
	}
}

func TestOutlineFindsWhatStandsInADocument(t *testing.T) {
	t.Parallel()
	doc := []byte(`{"a":[1,-2,[]],"b":{"c":"x\"y","d":true},"e":{}}`)
	o := outlineOf(doc)
	if len(o.members) != 5 || len(o.objects) != 3 || len(o.arrays) != 2 || len(o.numbers) != 2 || len(o.strings) != 1 || len(o.values) != 8 {
		t.Errorf("got %+v", o)
	}
	for _, x := range o.strings {
		if got := string(doc[x.from:x.to]); got != `"x\"y"` {
			t.Errorf("got %s", got)
		}
	}
}
