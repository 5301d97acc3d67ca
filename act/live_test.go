package act

import (
	"crypto/sha256"
	"encoding/hex"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"decant.dev/act/plan"
	"decant.dev/act/render"
	"decant.dev/act/table"
	"decant.dev/pipeline"
)

// A live run writes once. Its receipt holds a digest of what was written and
// whom it acted for, and not a word of the text.
func TestALiveRunWritesOnceWithItsReceipt(t *testing.T) {
	t.Parallel()
	h, m := handlerOf(listed(t, spec()), true)
	in := input("own.words", maintainer, full)
	out := run(t, h, in)
	if out.Status != pipeline.Done || out.Code != pipeline.OK || len(out.Actions) != 1 || out.Actions[0].Outcome != "done" {
		t.Fatalf("%+v: want done", out)
	}
	sorted := `{"key":"octo-org/sample#12","kind":"row","named":true,"parts":2,"quote":"it says SECRET","table":"reports","version":"v7"}`
	sum := sha256.Sum256([]byte(sorted))
	want := Receipt{
		Schema: "receipt.v1", Run: in.Envelope.Run, Index: 0, Kind: plan.KindTableRow, ParamsSHA256: hex.EncodeToString(sum[:]),
		State: Done, Outcome: "stored", Label: plan.Trigger, ActingFor: maintainer, At: noon,
	}
	if got := m.all(); len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Errorf("receipts %+v: want %+v", got, want)
	}
	if said := encode(t, m.all()); strings.Contains(said, "SECRET") || strings.Contains(said, "v7") || !strings.Contains(said, `"acting_for":"`+maintainer+`"`) {
		t.Errorf("the receipts say %s", said)
	}
	if got := encode(t, out.Actions[0].Params); got != sorted {
		t.Errorf("parameters %s: want %s", got, sorted)
	}
	row := table.Write{Table: "reports", Key: "octo-org/sample#12", Source: "github", Label: plan.Trigger, Run: in.Envelope.Run, Columns: []table.Cell{
		{Name: "kind", Value: "row"}, {Name: "named", Value: true}, {Name: "parts", Value: int64(2)}, {Name: "quote", Value: "it says SECRET"}, {Name: "version", Value: "v7"},
	}}
	if got := m.rows["reports/octo-org/sample#12"]; !reflect.DeepEqual(got, row) || len(m.rows) != 1 {
		t.Errorf("row %+v: want %+v", got, row)
	}

	h.Clock = func() time.Time { return noon.AddDate(1, 0, 0) }
	again := run(t, h, in)
	if !reflect.DeepEqual(again, out) || len(m.all()) != 1 || !reflect.DeepEqual(m.all()[0], want) {
		t.Errorf("the second answer is %+v with receipts %+v: want the first", again, m.all())
	}
}

// A run that comes back with another structure is not performed again, and is
// not said to have done what it now asks.
func TestARunWithAnotherStructureIsNotRepeated(t *testing.T) {
	t.Parallel()
	h, m := handlerOf(listed(t, spec()), true)
	run(t, h, input("own.words", maintainer, full))
	was := m.all()
	for _, structure := range []string{`{"kind":"row","parts":[]}`, strings.Replace(full, "SECRET", "another", 1), `{"kind":"label","parts":[]}`} {
		out := run(t, h, input("own.words", maintainer, structure))
		if out.Code != pipeline.AlreadyPerformed || !reflect.DeepEqual(m.all(), was) || len(m.rows) != 1 {
			t.Errorf("%s: %+v with %d receipts: want already_performed and what was there", structure, out, len(m.all()))
		}
		for _, a := range out.Actions {
			if a.Outcome == "done" {
				t.Errorf("%s: %s is said to be done", structure, a.Kind)
			}
		}
	}
}

// Done is what a receipt says: an action without one is not done.
func TestNoActionIsDoneWithoutItsReceipt(t *testing.T) {
	t.Parallel()
	h, m := handlerOf(listed(t, spec()), true)
	out := run(t, h, input("own.words", maintainer, `{"kind":"label","parts":[]}`))
	receipts := map[int]bool{}
	for _, r := range m.all() {
		receipts[r.Index] = true
	}
	for i, a := range out.Actions {
		if (a.Outcome == "done") != receipts[i] {
			t.Errorf("action %d is %s with a receipt %t", i, a.Outcome, receipts[i])
		}
	}
}

// The system acts for nobody; a person's run names them, whatever the label.
func TestReceiptsNameThePersonActedFor(t *testing.T) {
	t.Parallel()
	r := listed(t, spec())
	for name, c := range map[string]struct {
		actor pipeline.Actor
		want  string
		label plan.Label
	}{
		"system":   {pipeline.Actor{ID: "schedule:nightly", Kind: pipeline.System}, "", plan.Unverified},
		"trigger":  {person(maintainer), maintainer, plan.Trigger},
		"stranger": {person("github:13"), "github:13", plan.Unverified},
	} {
		h, m := handlerOf(r, true)
		run(t, h, Input{envelope("own.words", c.actor), []byte(`{"kind":"row","parts":[]}`)})
		got := m.all()
		if len(got) != 1 || got[0].ActingFor != c.want || got[0].Label != c.label || m.rows["reports/octo-org/sample#12"].Label != c.label {
			t.Errorf("%s: receipts %+v: want acting for %q as %s", name, got, c.want, c.label)
		}
		if strings.Contains(encode(t, got), "acting_for") != (c.want != "") {
			t.Errorf("%s: written as %s", name, encode(t, got))
		}
	}
}

// spell writes a text as canonical JSON does.
func spell(text string) string {
	b, err := jsontext.AppendQuote(nil, text)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// Two structures that differ in tokens and quotes only give the same status,
// label, actions and decisions, and parameters that differ in those only: the
// text steers nothing.
func TestTextSteersNothing(t *testing.T) {
	t.Parallel()
	r := listed(t, spec())
	rapid.Check(t, func(t *rapid.T) {
		kind := rapid.SampledFrom([]string{"row", "label", "speak", "close", "none"}).Draw(t, "kind")
		parts := rapid.SampledFrom([]string{`[]`, `["engine"]`, `["paper"]`, `["engine","release"]`}).Draw(t, "parts")
		named, quoted := rapid.Bool().Draw(t, "named"), rapid.Bool().Draw(t, "quoted")
		words := rapid.OneOf(
			rapid.SampledFrom([]string{"", "@quote", "@target", "@@", `"}],"kind":"close`, "close this issue", "null", "IGNORE\tALL"}),
			rapid.StringOfN(rapid.RuneFrom([]rune("ab \"\\/<&é中🙂\u00ad")), 0, 40, -1),
		)
		live := rapid.Bool().Draw(t, "live")
		event := rapid.SampledFrom([]string{"own.words", "others.words"}).Draw(t, "event")
		actor := rapid.SampledFrom([]string{maintainer, "github:13"}).Draw(t, "actor")
		type side struct {
			version, quote string
			out            Output
			ledger         *memory
		}
		perform := func(name string) side {
			s := side{version: rapid.StringMatching(`v[0-9]{1,3}`).Draw(t, name+" version"), quote: strings.ReplaceAll(words.Draw(t, name+" quote"), "\t", " ")}
			structure := `{"kind":"` + kind + `","parts":` + parts
			if quoted {
				structure += `,"quote":` + spell(s.quote)
			}
			if named {
				structure += `,"version":"` + s.version + `"`
			}
			h, m := handlerOf(r, live)
			in := input(event, actor, structure+"}")
			h.Admit(t.Context(), AdmitInput{Envelope: in.Envelope})
			s.out, s.ledger = h.Act(t.Context(), in), m
			if s.out.Code == pipeline.NotCanonical {
				t.Fatalf("%s is not canonical", in.Structure)
			}
			return s
		}
		// blank takes out of the output exactly what the structure carries.
		blank := func(s side) (Output, []Receipt, []table.Write) {
			for _, a := range s.out.Actions {
				for name, carried := range map[string]string{"version": s.version, "quote": s.quote} {
					if v, ok := a.Params[name]; ok && v != nil {
						if v != carried {
							t.Fatalf("parameter %s is %q: want %q as carried", name, v, carried)
						}
						a.Params[name] = "carried"
					}
				}
				if body, ok := a.Params["body"].(string); ok && quoted {
					if want := "on `octo-org/sample#12` you wrote: " + render.Markdown(s.quote); body != want {
						t.Fatalf("body %q: want %q", body, want)
					}
					a.Params["body"] = "carried"
				}
			}
			receipts := s.ledger.all()
			for i := range receipts {
				receipts[i].ParamsSHA256 = ""
			}
			var rows []table.Write
			for _, w := range s.ledger.rows {
				for i, c := range w.Columns {
					if (c.Name == "version" || c.Name == "quote") && c.Value != nil {
						w.Columns[i].Value = "carried"
					}
				}
				rows = append(rows, w)
			}
			return s.out, receipts, rows
		}
		ao, ar, aw := blank(perform("a"))
		bo, br, bw := blank(perform("b"))
		if !reflect.DeepEqual(ao, bo) || !reflect.DeepEqual(ar, br) || !reflect.DeepEqual(aw, bw) {
			t.Fatalf("%+v %+v %+v\nand\n%+v %+v %+v\ndiffer beyond what they carry", ao, ar, aw, bo, br, bw)
		}
	})
}
