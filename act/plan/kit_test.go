package plan

import (
	"testing"

	"decant.dev/extract/shape"
)

// note is a shape with one field of each kind that a plan carries.
type note struct {
	Kind    string       `json:"kind"              jsonschema:"enum=a,enum=b"`
	Version *shape.Token `json:"version,omitempty" jsonschema:"pattern=^v[0-9]{1\\,3}$"`
	Body    *shape.Text  `json:"body,omitempty"    jsonschema:"maxLength=20"`
	Quote   *shape.Quote `json:"quote,omitempty"   jsonschema:"maxLength=20"`
}

const fullNote = `{"body":"stranger's body","kind":"a","quote":"stranger's quote","version":"v7"}`

func lift[T any](tb testing.TB, structure string) (T, shape.Handles) {
	tb.Helper()
	s, err := shape.Of[T]()
	if err != nil {
		tb.Fatal(err)
	}
	v, err := s.DecodeCanonical([]byte(structure))
	if err != nil {
		tb.Fatal(err)
	}
	t, handles, err := shape.Lift[T](s, v)
	if err != nil {
		tb.Fatal(err)
	}
	return t, handles
}

func fullOf(tb testing.TB) (note, shape.Handles) { tb.Helper(); return lift[note](tb, fullNote) }

func target() Ref { return NewTarget("", nil).Ref() }

func outcomeOf(tb testing.TB, actions ...Action) Outcome {
	tb.Helper()
	o, err := NewOutcome(actions)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

func row(columns ...Column) TableRow {
	return TableRow{Table: "notes", Key: target(), Columns: columns}
}
