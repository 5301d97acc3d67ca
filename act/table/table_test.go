package table

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
)

type note struct {
	Version *shape.Token `json:"version,omitempty" jsonschema:"pattern=^v[0-9]{1\\,3}$"`
	Quote   *shape.Quote `json:"quote,omitempty"   jsonschema:"maxLength=40"`
}

func lift(tb testing.TB, structure string) (note, shape.Handles) {
	tb.Helper()
	s, err := shape.Of[note]()
	if err != nil {
		tb.Fatal(err)
	}
	v, err := s.DecodeCanonical([]byte(structure))
	if err != nil {
		tb.Fatal(err)
	}
	n, handles, err := shape.Lift[note](s, v)
	if err != nil {
		tb.Fatal(err)
	}
	return n, handles
}

func params(tb testing.TB, columns ...plan.Column) []plan.Param {
	tb.Helper()
	p, err := plan.Params(plan.TableRow{Table: "notes", Key: plan.NewTarget("", nil).Ref(), Columns: columns})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

// Every column of the action is written as it is: a text is stored byte for
// byte, and only its reader renders it.
func TestNewWriteResolvesEveryColumn(t *testing.T) {
	t.Parallel()
	n, handles := lift(t, `{"quote":"'); DROP TABLE notes; --\" @target","version":"v7"}`)
	w, err := NewWrite(params(t, plan.Text("b", "@quote"), plan.Int("a", -3), plan.Bool("c", true), plan.Token("d", n.Version),
		plan.Quote("e", n.Quote), plan.Quote("f", nil)), plan.Resolver{Content: handles.Content, Target: "octo-org/sample#12"})
	if err != nil {
		t.Fatal(err)
	}
	want := Write{Table: "notes", Key: "octo-org/sample#12", Columns: []Cell{
		{"a", int64(-3)}, {"b", "@quote"}, {"c", true}, {"d", "v7"}, {"e", `'); DROP TABLE notes; --" @target`}, {"f", nil},
	}}
	if !reflect.DeepEqual(w, want) {
		t.Errorf("%+v: want %+v", w, want)
	}
	if w, err = NewWrite(params(t), plan.Resolver{Target: "x"}); err != nil || len(w.Columns) > 0 {
		t.Errorf("a row without columns: %+v, %v", w, err)
	}
}

// without returns the parameters but those of one name.
func without(p []plan.Param, name string) []plan.Param {
	return slices.DeleteFunc(slices.Clone(p), func(q plan.Param) bool { return q.Name == name })
}

// moved returns the parameters with one in another place.
func moved(p []plan.Param, name string, to plan.Place) []plan.Param {
	p = slices.Clone(p)
	for i := range p {
		if p[i].Name == name {
			p[i].Place = to
		}
	}
	return p
}

// named returns the parameters with one column under another name.
func named(p []plan.Param, from, to string) []plan.Param {
	p = slices.Clone(p)
	for i := range p {
		if p[i].Name == from {
			p[i].Name = to
		}
	}
	return p
}

func TestNewWriteRefuses(t *testing.T) {
	t.Parallel()
	n, handles := lift(t, `{"quote":"SECRET","version":"v7"}`)
	_, others := lift(t, `{"version":"v9"}`)
	whole := params(t, plan.Quote("quote", n.Quote), plan.Text("note", "x"))
	known := plan.Resolver{Content: handles.Content, Target: "octo-org/sample#12"}
	if _, err := NewWrite(whole, known); err != nil {
		t.Fatal(err)
	}
	type refusal struct {
		params   []plan.Param
		resolver plan.Resolver
		says     string
	}
	cases := map[string]refusal{
		"no parameters":               {nil, known, "table and key"},
		"no table":                    {without(whole, "table"), known, "table and key"},
		"no key":                      {without(whole, "key"), known, "table and key"},
		"a key that is content":       {moved(whole, "key", plan.Content), known, "key"},
		"a table that is content":     {moved(whole, "table", plan.Content), known, "table and key"},
		"a key of no place":           {moved(whole, "key", 0), known, "table and key"},
		"an event without a target":   {whole, plan.Resolver{Content: handles.Content}, "table and key"},
		"a handle of another run":     {whole, plan.Resolver{Content: others.Content, Target: "x"}, "quote"},
		"a handle without its source": {whole, plan.Resolver{Content: shape.Handles{}.Content, Target: "x"}, "quote"},
	}
	for _, r := range Reserved() {
		cases["a column named "+r] = refusal{named(whole, "note", r), known, r}
	}
	for name, c := range cases {
		w, err := NewWrite(c.params, c.resolver)
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %v: want a refusal that names %s", name, err, c.says)
		}
		if !reflect.DeepEqual(w, Write{}) {
			t.Errorf("%s: %+v beside the error", name, w)
		}
	}
}

// Every field that a ledger keeps beside the columns has a reserved name, so
// that no recipe writes over the source or the label of a row.
func TestEveryFieldOfARowIsReserved(t *testing.T) {
	t.Parallel()
	for i := range reflect.TypeFor[Write]().NumField() {
		name := strings.ToLower(reflect.TypeFor[Write]().Field(i).Name)
		if name != "table" && name != "columns" && !slices.Contains(Reserved(), name) {
			t.Errorf("column %s is not reserved", name)
		}
	}
	Reserved()[0] = "changed"
	if slices.Contains(Reserved(), "changed") {
		t.Error("a caller changed the list")
	}
}
