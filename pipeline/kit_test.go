package pipeline

import (
	"math/rand/v2"
	"testing"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
)

// note is a small shape with one field of each kind.
type note struct {
	Kind    string       `json:"kind"              jsonschema:"enum=a,enum=b,enum=c"`
	Version *shape.Token `json:"version,omitempty" jsonschema:"pattern=^v[0-9]{1\\,3}$"`
	Body    *shape.Text  `json:"body,omitempty"    jsonschema:"maxLength=20"`
	Quote   *shape.Quote `json:"quote,omitempty"   jsonschema:"maxLength=20"`
}

const noteSkeletons = 3 * 2 * 2 * 2

func keep(n note, at plan.Target) []plan.Action {
	return []plan.Action{plan.TableRow{Table: "notes", Key: at.Ref(), Columns: []plan.Column{
		plan.Text("kind", n.Kind), plan.Token("version", n.Version), plan.Carried("body", n.Body), plan.Quote("quote", n.Quote),
	}}}
}

func noteSpec() Spec[note] {
	return Spec[note]{Name: "notes", Plan: keep, Policy: plan.Policy{plan.KindTableRow: plan.Always(plan.Auto)}, MaxDecide: 8, MaxCarry: 1000}
}

// listed builds a spec with the list that its own audit writes.
func listed[T any](tb testing.TB, s Spec[T]) *Recipe {
	tb.Helper()
	list, breaches := Build(s).Enumerate()
	if len(breaches) > 0 {
		tb.Fatalf("breaches: %v", breaches)
	}
	s.Outcomes = list.Encode()
	return Build(s)
}

func decode(tb testing.TB, r *Recipe, structure string) *shape.Value {
	tb.Helper()
	v, err := r.Shape().DecodeCanonical([]byte(structure))
	if err != nil {
		tb.Fatal(err)
	}
	return v
}

func rules(breaches []Violation) []string {
	out := make([]string, 0, len(breaches))
	for _, b := range breaches {
		out = append(out, b.Rule)
	}
	return out
}

func newRand() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }
