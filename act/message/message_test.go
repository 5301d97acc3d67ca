package message

import (
	"bytes"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"decant.dev/act"
	"decant.dev/act/plan"
)

func job(params map[string]any) act.Job {
	run := strings.Repeat("0f", 16)
	return act.Job{Kind: plan.KindQueueSend, Key: act.IdempotencyKey(run, 1), Run: run, Source: "github", Label: plan.Unverified, Params: params, Place: "octo-org/sample#12"}
}

func TestAMessageIsWrittenOneWay(t *testing.T) {
	t.Parallel()
	j := job(map[string]any{"queue": "triage", "quote": "a \"b\"\n<c>", "n": int64(3), "ok": true, "none": nil})
	to, line, err := Encode(j, "queue")
	want := `{"schema":"message.v1","key":"` + j.Key + `","run":"` + j.Run + `","source":"github","label":"unverified","place":"octo-org/sample#12",` +
		`"columns":{"n":3,"none":null,"ok":true,"quote":"a \"b\"\n<c>"}}`
	if err != nil || to != "triage" || string(line) != want {
		t.Errorf("to %s: %s, %v: want %s", to, line, err, want)
	}
}

// One object on one line, read back as it was given; no text begins a line.
func TestAnyColumnsStayOnOneLine(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.MapOfN(rapid.StringMatching(`[a-z]{1,4}`), rapid.String(), 0, 5).Draw(t, "texts")
		params := map[string]any{"queue": "q"}
		for name, text := range texts {
			params[name] = text
		}
		params["queue"] = "q"
		delete(texts, "queue")
		j := job(params)
		_, line, err := Encode(j, "queue")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsAny(line, "\n\r") || !bytes.HasPrefix(line, Begins(j.Key)) {
			t.Fatalf("written as %q", line)
		}
		var m Message
		if err := json.Unmarshal(line, &m, json.RejectUnknownMembers(true)); err != nil || len(m.Columns) != len(texts) {
			t.Fatalf("read back as %+v, %v", m, err)
		}
		for name, text := range texts {
			if m.Columns[name] != text {
				t.Fatalf("column %s came back as %q: want %q", name, m.Columns[name], text)
			}
		}
	})
}

func TestWhatIsNoMessageIsRefusedWithoutItsValue(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*act.Job){
		"no address":     func(j *act.Job) { delete(j.Params, "queue") },
		"a path":         func(j *act.Job) { j.Params["queue"] = "../SECRET" },
		"a number":       func(j *act.Job) { j.Params["queue"] = int64(1) },
		"no key":         func(j *act.Job) { j.Key = "" },
		"a key of words": func(j *act.Job) { j.Key = `SECRET","x":"` },
		"no run":         func(j *act.Job) { j.Run = "SECRET" },
		"a float":        func(j *act.Job) { j.Params["x"] = 1.5 },
		"an object":      func(j *act.Job) { j.Params["x"] = map[string]any{"SECRET": 1} },
		"bad UTF-8":      func(j *act.Job) { j.Params["x"] = "SECRET\xff" },
		"too long":       func(j *act.Job) { j.Params["x"] = strings.Repeat("SECRET", 50_000) },
	} {
		j := job(map[string]any{"queue": "q"})
		change(&j)
		if to, line, err := Encode(j, "queue"); err == nil || to != "" || line != nil || strings.Contains(err.Error(), "SECRET") {
			t.Errorf("%s: %s %s %v: want a refusal without the value", name, to, line, err)
		}
	}
}
