package sinks

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/act/message"
	"decant.dev/act/plan"
	"decant.dev/act/queue"
)

// both answers of act about one action: as it is staged, and as it is live.
func both(t *testing.T, s act.Sink, action func(plan.Target) plan.Action) (staged, live act.Output) {
	t.Helper()
	r := recipe(t, action)
	in := act.Input{Envelope: envelope("staged"), Structure: []byte(`{"kind":"go"}`)}
	for _, isLive := range []bool{false, true} {
		h := handler(r, s, action(plan.NewTarget(event, nil)).Kind(), &ledger{}, func() time.Time { return noon }, func(string) {})
		h.Live = isLive
		h.Admit(t.Context(), act.AdmitInput{Envelope: in.Envelope})
		staged, live = live, h.Act(t.Context(), in)
	}
	if staged.Actions[0].Outcome != "staged" || live.Actions[0].Outcome != "done" {
		t.Fatalf("%+v, then %+v", staged, live)
	}
	return staged, live
}

// What a dry run shows of a comment is what is sent, byte for byte; behind it
// stands the marker and nothing else.
func TestACommentIsSentAsItWasStaged(t *testing.T) {
	t.Parallel()
	g := NewGitHub(t)
	staged, live := both(t, githubSink(t, g, 0), func(at plan.Target) plan.Action {
		return plan.GitHubComment{Issue: at.Ref(), Body: plan.Say("on ", at.Ref(), ":\n\n> a <b> & \"c\" 🙂\t\n")}
	})
	body, _ := staged.Actions[0].Params["body"].(string)
	sent := g.Comments[len(g.Comments)-1].Body
	rest, ok := strings.CutPrefix(sent, body)
	if !ok || body == "" || markers.ReplaceAllString(rest, "") != "\n\n" || !reflect.DeepEqual(staged.Actions[0].Params, live.Actions[0].Params) {
		t.Errorf("sent %q: want %q and a marker", sent, body)
	}
	if len(g.Bodies) != 1 {
		t.Errorf("%d requests wrote: want one, of the live run", len(g.Bodies))
	}
}

// What a dry run shows of a message are the columns that are sent.
func TestAMessageIsSentAsItWasStaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := queue.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	staged, _ := both(t, s, func(plan.Target) plan.Action {
		return plan.QueueSend{Queue: "triage", Columns: []plan.Column{plan.Text("kind", "bug \"x\"\n"), plan.Bool("new", true), plan.Token("version", nil)}}
	})
	b, err := os.ReadFile(filepath.Join(dir, "triage.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	var m message.Message
	if err := json.Unmarshal(b, &m); err != nil {
		t.Fatal(err)
	}
	delete(staged.Actions[0].Params, "queue")
	if !reflect.DeepEqual(m.Columns, staged.Actions[0].Params) || m.Label != plan.Unverified || m.Source != "github" || m.Place != "octo-org/sample#12" {
		t.Errorf("sent %s: want the columns %v, with source, label and place", b, staged.Actions[0].Params)
	}
}
