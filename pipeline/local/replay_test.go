package local

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"decant.dev/extract"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// recordedRun is a run as the journal and the prompts have it.
func recordedRun(t *testing.T, e *Engine, body []byte) (store.Entry, []byte) {
	t.Helper()
	r := e.Deliver(context.Background(), delivery(t, body))[0]
	entry, found, err := e.Journal().Get(context.Background(), r.Run, e.Mode())
	if err != nil || !found {
		t.Fatalf("run %s %s: found %t, %v", r.Status, r.Reason, found, err)
	}
	object, _, err := e.Prompt(context.Background(), r.Run, e.Mode())
	if err != nil {
		t.Fatal(err)
	}
	return entry, object
}

// A run replays the same, staged and live, as often as one likes, by the engine
// that made it and by another, and leaves nothing behind.
func TestARunReplaysBitForBit(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		dir := t.TempDir()
		e := openEngine(t, Config{Dir: dir, Live: live})
		entry, object := recordedRun(t, e, payload(31, "The exporter crashes", report, 4000))
		before := snapshot(t, dir)
		staged := openEngine(t, Config{Dir: dir})
		for _, by := range []*Engine{staged, staged, e} {
			r, err := by.Replay(context.Background(), entry, object)
			if err != nil || !r.Same || !reflect.DeepEqual(r.Replayed, []string{ReplayedDecode, ReplayedExtract, ReplayedAct}) {
				t.Errorf("live %t: got %+v, %v", live, r, err)
			}
		}
		if r, err := staged.Replay(context.Background(), entry, nil); err != nil || !r.Same || !reflect.DeepEqual(r.Replayed, []string{ReplayedAct}) {
			t.Errorf("live %t, without its prompt: got %+v, %v", live, r, err)
		}
		again, _, err := e.Journal().Get(context.Background(), entry.Run, entry.Mode)
		if err != nil || !reflect.DeepEqual(again, entry) {
			t.Errorf("live %t: the journal has %+v, %v; want %+v", live, again, err, entry)
		}
		if after := snapshot(t, dir); !reflect.DeepEqual(after, before) {
			t.Errorf("live %t: a replay changed %v to %v", live, before, after)
		}
	}
}

// snapshot counts what act wrote.
func snapshot(t *testing.T, dir string) map[string]int {
	t.Helper()
	counts := map[string]int{}
	l, err := store.OpenLedger(filepath.Join(dir, "act"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	rows, err := l.Rows(context.Background(), "triage")
	if err != nil {
		t.Fatal(err)
	}
	counts["rows"] = len(rows)
	return counts
}

// What another version of the recipe recorded is told from what this one
// decides: each kind of difference by its name, without a word of a text.
func TestAReplayTellsWhatWouldBeOtherwise(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Config{})
	entry, object := recordedRun(t, e, payload(32, "The exporter crashes", report+"\n\nSECRETWORD is what I saw in version 2.4.1 today.", 4000))
	change := func(old, new string) func(*store.Entry) {
		return func(x *store.Entry) {
			t.Helper()
			if !bytes.Contains(x.Structure, []byte(old)) {
				t.Fatalf("the structure has no %s: %s", old, x.Structure)
			}
			x.Structure = bytes.Replace(bytes.Clone(x.Structure), []byte(old), []byte(new), 1)
		}
	}
	drop := func(name string) func(*store.Entry) {
		return func(x *store.Entry) {
			var fields map[string]any
			if err := json.Unmarshal(x.Structure, &fields); err != nil || fields[name] == nil {
				t.Fatalf("the structure has no %s (%v)", name, err)
			}
			delete(fields, name)
			x.Structure, _ = json.Marshal(fields, json.Deterministic(true))
		}
	}
	for name, tc := range map[string]struct {
		change func(*store.Entry)
		want   []string // what each difference begins with
	}{
		"another kind":            {change(`"kind":"bug"`, `"kind":"feature"`), []string{`field kind|"feature"|"bug"`, `action 0 table.row kind|"bug"|"feature"`, `action 1 github.label label|"bug"|"feature"`}},
		"no version":              {drop("version"), []string{"field version|absent|present", `action 0 table.row version|"2.4.1"|null`}},
		"another quote":           {change(`"quote":"`, `"quote":"x`), []string{"decode|a value of the shape|ungrounded", "field quote|present|another", `action 0 table.row quote|"`}},
		"a label that is no more": {change(`"kind":"bug"`, `"kind":"crash"`), []string{"decode|a value of the shape|none of it", `field kind|"crash"|"bug"`, "reason|an outcome|not_canonical"}},
		"a field that is no more": {change(`{`, `{"also":1,`), []string{"decode|a value of the shape|none of it", "field also|present|no field of the shape", "reason|an outcome|not_canonical"}},
		"another spelling":        {change(`{`, `{ `), []string{"decode|canonical|spelt otherwise"}},
		"another decision":        {func(x *store.Entry) { x.Actions = bytes.Replace(x.Actions, []byte(`"auto"`), []byte(`"ask"`), 1) }, []string{"action 0 table.row decision|ask|auto"}},
		"one action less":         {func(x *store.Entry) { x.Actions = []byte("[]") }, []string{"actions|0|", "action 0|none|table.row", "action 1|none|github.label"}},
		"a higher label":          {func(x *store.Entry) { x.Label = "trigger" }, []string{"label|trigger|unverified"}},
		"it was refused":          {func(x *store.Entry) { x.Structure, x.Actions, x.Code = nil, nil, pipeline.Undecodable }, []string{"extract|undecodable|a structure"}},
		"another prompt": {func(x *store.Entry) {
			x.Trace = bytes.Replace(x.Trace, []byte(extract.DigestOfBytes(object)), bytes.Repeat([]byte("0"), 64), 1)
		}, []string{"prompt|0000"}},
		"an unknown recipe": {func(x *store.Entry) { x.Recipe = "gone" }, []string{"recipe|built in|not built in"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := entry
			x.Actions, x.Trace = bytes.Clone(entry.Actions), bytes.Clone(entry.Trace)
			tc.change(&x)
			r, err := e.Replay(context.Background(), x, object)
			if err != nil || r.Same {
				t.Fatalf("got %+v, %v", r, err)
			}
			var got []string
			for _, d := range r.Differences {
				got = append(got, d.What+"|"+d.Was+"|"+d.Is)
				if !strings.HasPrefix(d.What, "action ") && strings.Contains(d.Was+d.Is, "SECRETWORD") {
					t.Errorf("tells of a text: %+v", d)
				}
			}
			for i, want := range tc.want {
				if i >= len(got) || !strings.HasPrefix(got[i], want) {
					t.Fatalf("got %q, want %q", got, tc.want)
				}
			}
		})
	}
}

func TestNothingRecordedIsToldSo(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Config{})
	entry, _ := recordedRun(t, e, payload(33, "The exporter crashes", report, 4000))
	entry.Structure = nil
	if _, err := e.Replay(context.Background(), entry, nil); !errors.Is(err, ErrNothingRecorded) {
		t.Errorf("got %v", err)
	}
}

// An undecodable answer leaves its size and its digest in the journal, and none
// of its words anywhere in the state directory.
func TestTheJournalKeepsSizeAndDigestOfNonsense(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	answer := "NONSENSEWORD that is no structure"
	e := openEngine(t, Config{Dir: dir}, nonsensePipeline())
	r := e.Deliver(context.Background(), delivery(t, payload(34, "title", report, 2000)))[0]
	entry, _, err := e.Journal().Get(context.Background(), r.Run, e.Mode())
	if err != nil || r.Reason != pipeline.Undecodable {
		t.Fatalf("%s, %v", r.Reason, err)
	}
	var trace extract.Trace
	if err := json.Unmarshal(entry.Trace, &trace); err != nil {
		t.Fatal(err)
	}
	one := extract.Refused{Bytes: len(answer), SHA256: extract.DigestOfBytes([]byte(answer))}
	if !reflect.DeepEqual(trace.Refused, []extract.Refused{one, one}) || trace.Prompt.SHA256 == "" {
		t.Errorf("the journal has %+v", trace)
	}
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte("NONSENSEWORD")) {
			t.Errorf("%s keeps the answer", path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

func nonsensePipeline() Pipeline {
	return notePipeline("nonsense", says{"NONSENSEWORD that is no structure"})
}
