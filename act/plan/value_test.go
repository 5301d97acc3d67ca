package plan

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"

	"decant.dev/extract/shape"
	"pgregory.net/rapid"
)

func TestValueSpelling(t *testing.T) {
	t.Parallel()
	n, _ := fullOf(t)
	for _, c := range []struct {
		value Value
		want  string
	}{
		{Value{}, `null`},
		{Column{}.Value, `null`},
		{Text("c", "").Value, `""`},
		{Text("c", "plain").Value, `"plain"`},
		{Text("c", "@version").Value, `"@@version"`},
		{Text("c", "@@").Value, `"@@@"`},
		{Text("c", "a@b").Value, `"a@b"`},
		{Text("c", "null").Value, `"null"`},
		{Text("c", "\"\\\n\x00<é\u2028").Value, `"\"\\\n\u0000<é` + "\u2028" + `"`},
		{Int("c", 0).Value, `0`},
		{Int("c", -17).Value, `-17`},
		{Int("c", maxInt).Value, `9007199254740991`},
		{Bool("c", true).Value, `true`},
		{Bool("c", false).Value, `false`},
		{Token("c", nil).Value, `null`},
		{Carried("c", nil).Value, `null`},
		{Quote("c", nil).Value, `null`},
		{Token("c", n.Version).Value, `"@version"`},
		{Carried("c", n.Body).Value, `"@body"`},
		{Quote("c", n.Quote).Value, `"@quote"`},
		{target().value(), `"@target"`},
		{Template{}.v, `null`},
		{Say().v, `[]`},
		{Say("@version").v, `["@@version"]`},
		{Say("for ", target(), ": ", n.Version, n.Body, n.Quote).v, `["for ","@target",": ","@version","@body","@quote"]`},
		{Say(*n.Version, *n.Body, *n.Quote).v, `["@version","@body","@quote"]`},
	} {
		if got := string(c.value.AppendJSON([]byte("> "))); got != "> "+c.want {
			t.Errorf("spelt %s: want %s", got, c.want)
		}
		if !c.value.valid() || !c.value.exact() {
			t.Errorf("%s is refused", c.want)
		}
	}
}

// piece is a part of a value as this test draws it; unlike Value it is
// comparable and shares no code with it.
type piece struct{ what, text string }

func (p piece) part(n note) any {
	switch p.what {
	case "version":
		return n.Version
	case "body":
		return n.Body
	case "quote":
		return n.Quote
	case "target":
		return target()
	}
	return p.text
}

func (p piece) content() string {
	switch p.what {
	case "version":
		return "v7"
	case "body":
		return "stranger's body"
	case "quote":
		return "stranger's quote"
	case "target":
		return "place"
	}
	return p.text
}

type drawn struct {
	form   string
	n      int
	pieces [3]piece
	count  int
}

func drawValue(t *rapid.T, name string) drawn {
	handles := []string{"version", "body", "quote", "target"}
	texts := rapid.OneOf(rapid.SampledFrom([]string{"", "@", "@@", "@version", "@@version", "@target", "null", "0", "true", `["a"]`}), rapid.StringOfN(rapid.Rune(), 0, 3, -1))
	one := rapid.Custom(func(t *rapid.T) piece {
		if rapid.Bool().Draw(t, "handle") {
			return piece{what: rapid.SampledFrom(handles).Draw(t, "which")}
		}
		return piece{text: texts.Draw(t, "text")}
	})
	d := drawn{form: rapid.SampledFrom([]string{"null", "int", "bool", "one", "template"}).Draw(t, name+" form")}
	switch d.form {
	case "int":
		d.n = rapid.IntRange(-2, 2).Draw(t, name)
	case "bool":
		d.n = rapid.IntRange(0, 1).Draw(t, name)
	case "one":
		d.count, d.pieces[0] = 1, one.Draw(t, name)
	case "template":
		d.count = rapid.IntRange(0, len(d.pieces)).Draw(t, name+" parts")
		for i := range d.count {
			d.pieces[i] = one.Draw(t, name)
		}
	}
	return d
}

func (d drawn) value(n note) Value {
	switch d.form {
	case "int":
		return Int("c", d.n).Value
	case "bool":
		return Bool("c", d.n == 1).Value
	case "one":
		switch p := d.pieces[0]; p.what {
		case "version":
			return Token("c", n.Version).Value
		case "body":
			return Carried("c", n.Body).Value
		case "quote":
			return Quote("c", n.Quote).Value
		case "target":
			return target().value()
		default:
			return Text("c", p.text).Value
		}
	case "template":
		var parts []any
		for _, p := range d.pieces[:d.count] {
			parts = append(parts, p.part(n))
		}
		return Say(parts...).v
	}
	return Value{}
}

func (d drawn) resolved() any {
	switch d.form {
	case "int":
		return int64(d.n)
	case "bool":
		return d.n == 1
	case "null":
		return nil
	}
	s := ""
	for _, p := range d.pieces[:d.count] {
		s += p.content()
	}
	return s
}

// A list spells two values alike only where they are the same value, in JSON
// that is already canonical, and a sink gets each as it was written.
func TestSpellingTellsValuesApart(t *testing.T) {
	t.Parallel()
	n, handles := fullOf(t)
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawValue(t, "a"), drawValue(t, "b")
		ja, jb := string(a.value(n).AppendJSON(nil)), string(b.value(n).AppendJSON(nil))
		if (a == b) != (ja == jb) {
			t.Fatalf("%+v is spelt %s, %+v is spelt %s", a, ja, b, jb)
		}
		if !json.Valid([]byte(ja)) {
			t.Fatalf("%s is not JSON", ja)
		}
		if c, err := canonical([]byte(ja)); err != nil || c != ja {
			t.Fatalf("%s is not canonical: want %s (%v)", ja, c, err)
		}
		got, ok := a.value(n).Resolve(Resolver{Content: handles.Content, Target: "place"})
		if !ok || !reflect.DeepEqual(got, a.resolved()) {
			t.Fatalf("%s resolves to %#v, %t: want %#v", ja, got, ok, a.resolved())
		}
	})
}

// A handle of another structure, of a skeleton or of nothing has no content,
// and then the whole value has none.
func TestResolveWantsContentBehindEachHandle(t *testing.T) {
	t.Parallel()
	n, _ := fullOf(t)
	_, other := lift[note](t, `{"kind":"b"}`)
	for name, v := range map[string]Value{
		"handle": Quote("c", n.Quote).Value, "template": Say("before ", n.Quote).v, "zero ref": Ref{}.value(),
		"nothing": handle(shape.Handle{}), "absent": Say("x", (*shape.Text)(nil)).v,
	} {
		for source, content := range map[string]func(shape.Handle) (string, bool){"another structure": other.Content, "a skeleton": shape.Handles{}.Content} {
			if got, ok := v.Resolve(Resolver{Content: content, Target: "place"}); ok || got != nil {
				t.Errorf("%s from %s resolves to %v", name, source, got)
			}
		}
	}
}

func TestHandlesYieldsTheStructuresHandlesInOrder(t *testing.T) {
	t.Parallel()
	n, _ := fullOf(t)
	v := Say("x", n.Quote, target(), n.Version, n.Quote).v
	var paths []string
	for h := range v.Handles {
		paths = append(paths, h.Path())
	}
	if want := []string{"quote", "version", "quote"}; !reflect.DeepEqual(paths, want) {
		t.Errorf("handles %v: want %v", paths, want)
	}
	for range v.Handles {
		break // must not panic
	}
}

func TestConstantsThatJSONCannotKeepAreNotExact(t *testing.T) {
	t.Parallel()
	for name, v := range map[string]Value{
		"above": constantInt(maxInt + 1), "below": constantInt(-maxInt - 1), "least": constantInt(math.MinInt64), "most": constantInt(math.MaxInt64),
		"bytes": Text("c", "a\xffb").Value, "template": Say("fine", "\xc0\x80").v, "surrogate": Text("c", "\xed\xa0\x80").Value,
	} {
		if v.exact() {
			t.Errorf("%s: %s passes", name, v.AppendJSON(nil))
		}
	}
}
