package attack

import (
	"maps"
	"slices"
	"testing"

	"decant.dev/act"
	"decant.dev/act/plan"
)

const judgedList = `{"schema":"outcomes.v1","recipe":"r","shape":"s","policy":"p","outcomes":7,
"actions":{
"github.label 1":{"decision":"auto","address":{"issue":"@target","label":{"oneof":["bug","@@bug"]}},"content":{}},
"table.row 1":{"decision":"auto","address":{"key":"@target","table":"notes"},"content":{"kind":{"oneof":["a","b"]},"body":{"oneof":["@body",null]},"n":{"oneof":[1,2]},"yes":{"oneof":[false,true]}}},
"table.row 2":{"decision":"auto","address":{"key":"@target","table":"notes"},"content":{"item":["id: ","@items[1].id"]}}},
"classes":[{"outcomes":1,"actions":["table.row 1","github.label 1"]},{"outcomes":1,"actions":["table.row 2"]}]}`

const judgedStructure = `{"body":"<b>& said","items":[{"id":"x1"},{"id":"y2"}]}`

const judgedPlace = "octo-org/attacked#7"

func stored(i int, kind plan.Kind, params map[string]any) act.Receipt {
	return act.Receipt{Index: i, Kind: kind, ParamsSHA256: digest(params), Label: plan.Unverified, ActingFor: "github:7001"}
}

// honestWrite is a row and a label as the list has them.
func honestWrite() written {
	params := map[string]any{"key": judgedPlace, "table": "notes", "kind": "b", "body": "<b>& said", "n": 2, "yes": true}
	return written{
		place: judgedPlace, actor: stranger, structure: []byte(judgedStructure),
		receipts: []act.Receipt{stored(0, "table.row", params), stored(1, "github.label", map[string]any{"issue": judgedPlace, "label": "@bug"})},
		rows: []row{{"notes", map[string]any{
			"key": judgedPlace, "source": "github", "label": "unverified", "run": "r", "kind": "b", "body": "<b>& said", "n": int64(2), "yes": int64(1), "of_another_action": nil,
		}}},
	}
}

// The judge takes what the list has, whole or in part, and nothing that
// differs from it in any one thing.
func TestJudge(t *testing.T) {
	t.Parallel()
	list, err := readList([]byte(judgedList))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		change func(*written)
		holds  bool
	}{
		"all":         {func(*written) {}, true},
		"nothing":     {func(w *written) { *w = written{} }, true},
		"a part":      {func(w *written) { w.receipts = w.receipts[:1] }, true},
		"label alone": {func(w *written) { w.receipts, w.rows = w.receipts[1:], nil }, true},
		"a row that was replaced": {func(w *written) {
			w.rows = nil
		}, true},
		"a template": {func(w *written) {
			w.receipts = []act.Receipt{stored(0, "table.row", map[string]any{"key": judgedPlace, "table": "notes", "item": "id: y2"})}
			w.rows[0].columns = map[string]any{"key": judgedPlace, "label": "unverified", "item": "id: y2"}
		}, true},
		"a template of another item": {func(w *written) {
			w.receipts = []act.Receipt{stored(0, "table.row", map[string]any{"key": judgedPlace, "table": "notes", "item": "id: x1"})}
			w.rows[0].columns = map[string]any{"key": judgedPlace, "label": "unverified", "item": "id: x1"}
		}, false},
		"trusted, and trigger": {func(w *written) { trustedWrite(w, plan.Trigger) }, true},
		"trusted, and lower":   {func(w *written) { trustedWrite(w, plan.Unverified) }, true},
		"trusted, and system":  {func(w *written) { trustedWrite(w, plan.System) }, false},
		"a higher label":       {func(w *written) { w.receipts[0].Label = plan.Trigger }, false},
		"for another person":   {func(w *written) { w.receipts[1].ActingFor = "github:1" }, false},
		"no structure":         {func(w *written) { w.structure = nil }, false},
		"another target":       {func(w *written) { w.place = "octo-org/attacked#8" }, false},
		"another kind":         {func(w *written) { w.receipts[1].Kind = "github.close" }, false},
		"another index":        {func(w *written) { w.receipts[1].Index = 0 }, false},
		"an index beyond":      {func(w *written) { w.receipts[1].Index = 2 }, false},
		"another label": {func(w *written) {
			w.receipts[1].ParamsSHA256 = digest(map[string]any{"issue": judgedPlace, "label": "@@bug"})
		}, false},
		"another value":         {func(w *written) { w.rows[0].columns["kind"] = "c" }, false},
		"another listed value":  {func(w *written) { w.rows[0].columns["kind"] = "a" }, false},
		"another text":          {func(w *written) { w.rows[0].columns["body"] = "said" }, false},
		"a column more":         {func(w *written) { w.rows[0].columns["more"] = "x" }, false},
		"a row more":            {func(w *written) { w.rows = append(w.rows, w.rows[0]) }, false},
		"a row without receipt": {func(w *written) { w.receipts = w.receipts[1:] }, false},
		"another table":         {func(w *written) { w.rows[0].table = "others" }, false},
		"another row's key":     {func(w *written) { w.rows[0].columns["key"] = "octo-org/attacked#8" }, false},
		"a row's other label":   {func(w *written) { w.rows[0].columns["label"] = "system" }, false},
	} {
		w := honestWrite()
		w.rows = slices.Clone(w.rows)
		w.rows[0].columns = maps.Clone(w.rows[0].columns)
		c.change(&w)
		if why := list.judge(w); (why == "") != c.holds {
			t.Errorf("%s: %q: want it to hold %t", name, why, c.holds)
		}
	}
}

func trustedWrite(w *written, l plan.Label) {
	w.actor = trusted
	for i := range w.receipts {
		w.receipts[i].Label, w.receipts[i].ActingFor = l, "github:7002"
	}
	w.rows[0].columns["label"] = l.String()
}

func TestReadListRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "{}", "null", "[]", judgedList + "{}", `{"classes":[{"actions":["x 1"]}]}`} {
		if _, err := readList([]byte(s)); err == nil {
			t.Errorf("%.20q was read", s)
		}
	}
}

// A product too large to be tried proves nothing, and so holds nothing.
func TestAProductTooLargeIsOffTheList(t *testing.T) {
	t.Parallel()
	values := make([]any, 300)
	for i := range values {
		values[i] = "v"
	}
	a := reviewedAction{kind: "github.label", params: map[string][]any{"a": values, "b": values}}
	if a.hasDigest(digest(map[string]any{"a": "v", "b": "v"}), judgedPlace, nil) {
		t.Error("90,000 choices were tried")
	}
}
