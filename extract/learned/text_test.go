package learned

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/internal/inputs"
	"decant.dev/pipeline"
)

// issueOf is the part of a payload that a CSV export has.
type issueOf struct {
	Action     string `json:"action"`
	Repository struct {
		FullName string `json:"full_name"`
	} `json:"repository"`
	Issue *struct {
		Number int64   `json:"number"`
		Title  string  `json:"title"`
		Body   *string `json:"body"`
	} `json:"issue"`
}

// served is what fetch makes of a payload.
func served(tb testing.TB, payload []byte) ([]fence.Element, bool) {
	tb.Helper()
	var p issueOf
	if err := json.Unmarshal(payload, &p); err != nil || p.Issue == nil {
		return nil, false
	}
	bundle, err := fetch.GitHubIssues(pipeline.Envelope{
		Actor:  pipeline.Actor{ID: "github:1", Kind: pipeline.Person},
		Target: pipeline.Target{Event: "issues." + p.Action, Repository: p.Repository.FullName, Number: p.Issue.Number},
	}, payload)
	return bundle.Elements, err == nil
}

var issueModel = &Model{columns: []string{"title", "body"}}

// same says whether a payload's elements give the text that a row with its title and body gives.
func same(tb testing.TB, payload []byte) bool {
	tb.Helper()
	elements, ok := served(tb, payload)
	if !ok {
		return false
	}
	var p issueOf
	if err := json.Unmarshal(payload, &p); err != nil {
		tb.Fatal(err)
	}
	cells := []string{p.Issue.Title, ""}
	if p.Issue.Body != nil {
		cells[1] = *p.Issue.Body
	}
	trained := issueModel.textOf(elementsOf(issueModel.columns, cells))
	if got := issueModel.textOf(elements); got != trained {
		tb.Errorf("a row gives %d and %d bytes, the event %d and %d", len(trained.Title), len(trained.Body), len(got.Title), len(got.Body))
	}
	// The author may hold trigger: then the quoted parts stand in elements of their own.
	for i := range elements {
		if elements[i].Origin == fence.OriginMessage {
			own, quotes := fence.SplitQuotes(elements[i].Text)
			elements[i].Text = own
			for _, q := range quotes {
				elements = append(elements, fence.Element{Origin: fence.OriginImported, Parent: elements[i].ID, Text: q})
			}
		}
	}
	if got := issueModel.textOf(elements); got != trained {
		tb.Errorf("a row gives %d bytes of body, a trusted author's event %d", len(trained.Body), len(got.Body))
	}
	return true
}

func TestARowReadsLikeItsEvent(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "plain", "> quoted\nown", "On 3 May, Ann <a@example.com> wrote:\n> hello\n\nown words", "own\n-----Original Message-----\nFrom: a",
		"<blockquote>x</blockquote>\n\nown", "\u200b> hidden sign\nown", "日本語の本文：\n> 引用\n続き",
	} {
		payload, err := json.Marshal(map[string]any{
			"action": "opened", "repository": map[string]any{"full_name": "octo-org/sample"}, "sender": map[string]any{"id": 1, "type": "User"},
			"issue": map[string]any{"number": 7, "title": "The title: here", "body": body, "user": map[string]any{"id": 1, "type": "User"}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if !same(t, payload) {
			t.Errorf("%.20q: fetch refused it", body)
		}
	}
}

func TestARowReadsLikeItsEventForGitHubsSamples(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(inputs.Path(t, "data", "github"), "issues.*.json"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		payload, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if same(t, payload) {
			n++
		}
	}
	if n == 0 {
		t.Errorf("none of %d samples was read", len(files))
	}
}

func TestTextIsTheFirstFieldOfEachColumnAndNothingOfOurOwn(t *testing.T) {
	t.Parallel()
	m := &Model{columns: []string{"subject", "summary", "body"}, group: "box"}
	field := func(name, text string, trust fence.Trust) fence.Element {
		return fence.Element{Origin: fence.OriginRecordField, Field: name, Text: text, Trust: trust}
	}
	message := func(text string, trust fence.Trust) fence.Element {
		return fence.Element{Origin: fence.OriginMessage, Text: text, Trust: trust}
	}
	got := m.textOf([]fence.Element{
		field("subject", "ours", fence.TrustSelf), field("subject", "first", fence.TrustUnverified), field("subject", "second", fence.TrustUnverified),
		message("ours too", fence.TrustSelf), message("the message", fence.TrustUnverified), message("later", fence.TrustTrigger),
		{Origin: fence.OriginFile, Field: "summary", Text: "a file"}, field("summary", "the summary", fence.TrustUnverified), field("box", "north", fence.TrustUnverified),
	})
	if want := (content{"first", "the summary\n\nthe message", "north"}); got != want {
		t.Errorf("want %+v, got %+v", want, got)
	}
	if got := (&Model{columns: []string{"body"}}).textOf(nil); got != (content{}) {
		t.Errorf("of no elements: %+v", got)
	}
	long := strings.Repeat("x", 64<<10)
	if got := m.textOf([]fence.Element{field("subject", long, 0), field("summary", long, 0), message(long, 0)}); len(got.Title) != MaxTitle || len(got.Body) != MaxBody {
		t.Errorf("got %d and %d bytes, want %d and %d", len(got.Title), len(got.Body), MaxTitle, MaxBody)
	}
}
