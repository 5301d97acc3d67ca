package shape

import (
	"bytes"
	"reflect"
	"testing"
)

// TestAFormBeyondTheClosedListIsDeniedEverywhere: the zero form has no value, no bound and no spelling.
func TestAFormBeyondTheClosedListIsDeniedEverywhere(t *testing.T) {
	t.Parallel()
	n := &node{path: "x"}
	if n.all().Sign() != 0 || n.skeletons().Sign() != 0 || n.fillings().Sign() != 0 || n.choices() != 0 || n.maxBytes() <= MaxStructure {
		t.Error("it can be counted")
	}
	if !bytes.Contains(n.appendSchema(nil), []byte(`"not":{}`)) || !bytes.Contains((&projector{}).node(nil, n, false), []byte(`"not":{}`)) {
		t.Error("its schema accepts something")
	}
	s := &Shape{root: n, maxBytes: 99, cellHint: 1, goType: reflect.TypeFor[triage]()}
	for _, doc := range []string{"null", "{}", "[]", "1", `""`, "true"} {
		if _, err := s.Decode([]byte(doc)); err == nil {
			t.Errorf("%s was decoded", doc)
		}
	}
	if v := newValue(s, 0); len(v.Encode()) != 0 || len(n.appendChoice(nil, 0)) != 0 {
		t.Error("it can be encoded")
	}
	s.Skeletons(func(Skeleton) bool { t.Error("it has a skeleton"); return false })
	for name, f := range map[string]func(){
		"lift":    func() { _, _, _ = Lift[triage](s, newValue(s, 0)) },
		"sample":  func() { s.Sample(rng(1)) },
		"largest": func() { s.Largest() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s goes on", name)
				}
			}()
			f()
		}()
	}
}
