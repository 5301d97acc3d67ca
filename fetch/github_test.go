package fetch

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"decant.dev/events"
	"decant.dev/fence"
	"decant.dev/internal/inputs"
	"decant.dev/pipeline"
	"github.com/go-json-experiment/json"
	"github.com/google/go-github/v82/github"
)

const (
	issueBody = `{"action":"opened","issue":{"number":7,"title":"zebra title","user":{"id":11,"login":"stripes","type":"User"},
		"labels":[{"name":"zebra label"},{"name":"other"}],"milestone":{"title":"zebra milestone"},"body":"zebra body"},
		"repository":{"full_name":"octo-org/sample"},"sender":{"id":11,"type":"User"}}`
	commentBody = `{"action":"created","issue":{"number":7,"title":"zebra title","user":{"id":11,"login":"stripes","type":"User"},"body":"zebra body"},
		"comment":{"user":{"id":12,"login":"mane","type":"User"},"body":"/triage bug"},
		"repository":{"full_name":"octo-org/sample"},"sender":{"id":12,"type":"User"}}`
)

// delivered gives the envelope's parts that GitHubIssues reads, as the
// ingress derives them from the body.
func delivered(t testing.TB, event string, body []byte) pipeline.Envelope {
	t.Helper()
	d, err := events.GitHubDelivery(event, body)
	if err != nil {
		t.Fatal(err)
	}
	return pipeline.Envelope{Source: d.Source, Actor: d.Actor, Channel: d.Channel, Target: d.Target}
}

func swap(t testing.TB, body string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(body, pairs[i]) {
			t.Fatalf("want %q in the body", pairs[i])
		}
		body = strings.ReplaceAll(body, pairs[i], pairs[i+1])
	}
	return body
}

func codeOf(t testing.TB, err error) pipeline.Code {
	t.Helper()
	if err == nil {
		return pipeline.OK
	}
	var f *pipeline.Fault
	if !errors.As(err, &f) || !f.Code.Known() {
		t.Fatalf("want a fault with a code of the list, got %T: %v", err, err)
	}
	for _, foreign := range []string{"zebra", "stripes", "mane", "octo-org"} {
		if strings.Contains(err.Error(), foreign) {
			t.Errorf("the error repeats foreign text: %v", err)
		}
	}
	return f.Code
}

// brief renders what a test compares of elements.
func brief(elements []fence.Element) (lines []string) {
	for _, e := range elements {
		lines = append(lines, fmt.Sprintf("%s %s/%s %s %s%s %s=%s", e.ID, e.Author.ID, e.Author.Kind, e.Author.Name, e.Origin, e.Role, e.Field, e.Text))
	}
	return lines
}

// movedBody is the issue as it is delivered to the repository that somebody
// else than its author transferred it to.
func movedBody(t testing.TB) string {
	return swap(t, issueBody, `"sender":{"id":11`, `"sender":{"id":99`)
}

// Of an issue that its author opened nobody else's words are read, since a
// recipe's label rests on it.
func TestIssueElementsAreOldestFirstEachWithItsAuthor(t *testing.T) {
	t.Parallel()
	b, err := GitHubIssues(delivered(t, "issues", []byte(issueBody)), []byte(issueBody))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"e1 github:11/person stripes record_fielduser title=zebra title",
		"e2 github:11/person stripes messageuser =zebra body",
	}
	if got := brief(b.Elements); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if b.Message != "e2" || !b.Created || b.Voice {
		t.Errorf("got message %q, created %v, voice %v", b.Message, b.Created, b.Voice)
	}
	for _, e := range b.Elements {
		if e.Trust != 0 || (e.MediaType == "text/markdown") != (e.Origin == fence.OriginMessage) {
			t.Errorf("%s: got trust %v, media type %s", e.ID, e.Trust, e.MediaType)
		}
	}
	moved := []byte(movedBody(t))
	b, err = GitHubIssues(delivered(t, "issues", moved), moved)
	if err != nil {
		t.Fatal(err)
	}
	want = append(want,
		"e3 github:unknown/import  record_fielduser label=zebra label",
		"e4 github:unknown/import  record_fielduser label=other",
		"e5 github:unknown/import  record_fielduser milestone=zebra milestone",
	)
	if got := brief(b.Elements); !slices.Equal(got, want) || b.Message != "e2" || b.Created || b.Voice {
		t.Errorf("moved: got\n%s\nmessage %q, created %v, voice %v", strings.Join(got, "\n"), b.Message, b.Created, b.Voice)
	}
	b, err = GitHubIssues(delivered(t, "issue_comment", []byte(commentBody)), []byte(commentBody))
	if err != nil {
		t.Fatal(err)
	}
	want = []string{
		"e1 github:11/person stripes record_fielduser title=zebra title",
		"e2 github:11/person stripes messageuser =zebra body",
		"e3 github:12/person mane messageuser =/triage bug",
	}
	if got := brief(b.Elements); !slices.Equal(got, want) || b.Message != "e3" || !b.Created || !b.Voice {
		t.Errorf("got\n%s\nmessage %q, created %v, voice %v", strings.Join(got, "\n"), b.Message, b.Created, b.Voice)
	}
}

func TestAbsentBodyIsNoElement(t *testing.T) {
	t.Parallel()
	for _, body := range []string{`null`, `""`} {
		doc := []byte(swap(t, issueBody, `"zebra body"`, body))
		b, err := GitHubIssues(delivered(t, "issues", doc), doc)
		if err != nil || b.Message != "" || len(b.Elements) != 1 {
			t.Errorf("%s: got %v, %v", body, brief(b.Elements), err)
		}
	}
}

func TestAuthorsAreNeverMoreThanThePayloadProves(t *testing.T) {
	t.Parallel()
	const user = `"user":{"id":11,"login":"stripes","type":"User"}`
	for name, tc := range map[string]struct {
		pairs  []string
		author string
	}{
		"ghost":        {[]string{user, `"user":null`}, "github:ghost/import"},
		"no user":      {[]string{user, `"assignee":null`}, "github:ghost/import"},
		"bot":          {[]string{user, `"user":{"id":11,"type":"Bot"}`}, "github:11/app"},
		"organization": {[]string{user, `"user":{"id":11,"type":"Organization"}`}, "github:11/import"},
		"mannequin":    {[]string{user, `"user":{"id":11,"type":"Mannequin"}`}, "github:11/import"},
		"no type":      {[]string{user, `"user":{"id":11}`}, "github:11/import"},
		"via an app":   {[]string{user, user + `,"performed_via_github_app":{"id":3}`}, "github:11/app"},
		"via no app":   {[]string{user, user + `,"performed_via_github_app":null`}, "github:11/person"},
	} {
		doc := []byte(swap(t, commentBody, tc.pairs...))
		b, err := GitHubIssues(delivered(t, "issue_comment", doc), doc)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, e := range b.Elements[:2] {
			if got := fmt.Sprintf("%s/%s", e.Author.ID, e.Author.Kind); got != tc.author {
				t.Errorf("%s: got %s, want %s", name, got, tc.author)
			}
		}
	}
}

func TestAnEditByAnotherPersonIsNobodysWord(t *testing.T) {
	t.Parallel()
	for sender, author := range map[string]string{"11": "github:11", "99": GitHubUnknown} {
		doc := []byte(swap(t, issueBody, `"opened"`, `"edited"`, `"sender":{"id":11`, `"sender":{"id":`+sender))
		b, err := GitHubIssues(delivered(t, "issues", doc), doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range b.Elements[:2] {
			if e.Author.ID != author {
				t.Errorf("edited by %s: got %s, want %s", sender, e.Author.ID, author)
			}
		}
		if b.Created || b.Voice || b.Message != "e2" {
			t.Errorf("edited by %s: got message %q, created %v, voice %v", sender, b.Message, b.Created, b.Voice)
		}
	}
}

func TestOnlyACommandOfOnesOwnIsAVoice(t *testing.T) {
	t.Parallel()
	for text, wanted := range map[string]pipeline.Code{
		"/triage":                      pipeline.OK,
		"/triage bug":                  pipeline.OK,
		"/triage\r\nzebra":             pipeline.OK,
		"\n  /triage\tbug":             pipeline.OK,
		"> zebra\n\n/triage bug":       pipeline.OK,
		"":                             pipeline.NoCommand,
		"zebra":                        pipeline.NoCommand,
		"zebra /triage":                pipeline.NoCommand,
		"zebra\n/triage":               pipeline.NoCommand,
		"/triaged":                     pipeline.NoCommand,
		"/triage-all":                  pipeline.NoCommand,
		"/triage\u00a0bug":             pipeline.NoCommand,
		"/Triage":                      pipeline.NoCommand,
		"//triage":                     pipeline.NoCommand,
		"\u200b/triage":                pipeline.NoCommand,
		"> /triage bug":                pipeline.NoCommand,
		"> /triage bug\n\nzebra":       pipeline.NoCommand,
		"`/triage`":                    pipeline.NoCommand,
		"/triage " + longText(256<<10): pipeline.TriggerTooLarge,
	} {
		quoted, err := stdjson.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		doc := []byte(swap(t, commentBody, `"/triage bug"`, string(quoted)))
		b, err := GitHubIssues(delivered(t, "issue_comment", doc), doc)
		if c := codeOf(t, err); c != wanted {
			t.Errorf("%.40q: got %q, want %q", text, c, wanted)
		}
		if err == nil && b.Elements[2].Text != text {
			t.Errorf("%.40q: got %.40q, want it byte for byte", text, b.Elements[2].Text)
		}
	}
	for name, pairs := range map[string][]string{
		"another's comment": {`"sender":{"id":12`, `"sender":{"id":13`},
		"a ghost's":         {`"sender":{"id":12`, `"sender":{"id":13`, `"type":"User"},"body":"/triage`, `"type":"Mannequin"},"body":"/triage`},
		"a bot's":           {`"type":"User"`, `"type":"Bot"`},
		"through an app":    {`"body":"/triage`, `"performed_via_github_app":{},"body":"/triage`},
	} {
		doc := []byte(swap(t, commentBody, pairs...))
		_, err := GitHubIssues(delivered(t, "issue_comment", doc), doc)
		if c := codeOf(t, err); c != pipeline.NoCommand {
			t.Errorf("%s: got %q, want no_command", name, c)
		}
	}
}

func longText(n int) string { return strings.Repeat("z", n) }

func TestWhatIsMissingOrOfAnotherEventIsUnreadable(t *testing.T) { // cve-lite-cli#917
	t.Parallel()
	env := delivered(t, "issues", []byte(issueBody))
	for name, pairs := range map[string][]string{
		"title null":          {`"zebra title"`, `null`},
		"title missing":       {`"title":"zebra title",`, ``},
		"title a number":      {`"zebra title"`, `1`},
		"issue null":          {`"issue":{`, `"issue":null,"other":{`},
		"issue in upper case": {`"issue"`, `"ISSUE"`},
		"issue twice":         {`"repository"`, `"issue":null,"repository"`},
		"number null":         {`"number":7`, `"number":null`},
		"another number":      {`"number":7`, `"number":8`},
		"another repository":  {`octo-org/sample`, `octo-org/other`},
		"repository null":     {`{"full_name":"octo-org/sample"}`, `null`},
		"another action":      {`"opened"`, `"edited"`},
		"unhandled action":    {`"opened"`, `"closed"`},
		"a comment too":       {`"repository"`, `"comment":{"body":"zebra"},"repository"`},
		"user without id":     {`"id":11,"login"`, `"login"`},
		"user with id zero":   {`"id":11,"login"`, `"id":0,"login"`},
		"user a list":         {`"user":{"id":11,"login":"stripes","type":"User"}`, `"user":[]`},
		"app of another kind": {`"number":7`, `"number":7,"performed_via_github_app":"zebra"`},
		"bad UTF-8":           {`zebra body`, "zebra \xff"},
		"lone surrogate":      {`zebra body`, `\ud800`},
		"trailing bytes":      {`"sender":{"id":11,"type":"User"}}`, `"sender":null}{}`},
		"body a list":         {`"zebra body"`, `["zebra body"]`},
	} {
		b, err := GitHubIssues(env, []byte(swap(t, issueBody, pairs...)))
		if c := codeOf(t, err); c != pipeline.Unreadable || b.Elements != nil {
			t.Errorf("%s: got %q (%v), %d elements, want unreadable", name, c, err, len(b.Elements))
		}
	}
	moved := movedBody(t)
	for name, pairs := range map[string][]string{
		"label null":         {`{"name":"other"}`, `null`},
		"label without name": {`{"name":"other"}`, `{}`},
		"milestone without":  {`{"title":"zebra milestone"}`, `{}`},
	} {
		b, err := GitHubIssues(delivered(t, "issues", []byte(moved)), []byte(swap(t, moved, pairs...)))
		if c := codeOf(t, err); c != pipeline.Unreadable || b.Elements != nil {
			t.Errorf("%s: got %q (%v), %d elements, want unreadable", name, c, err, len(b.Elements))
		}
	}
	for _, body := range []string{"", "null", "[]", "{}", "zebra", strings.Repeat("[", 10_000)} {
		_, err := GitHubIssues(env, []byte(body))
		if c := codeOf(t, err); c != pipeline.Unreadable {
			t.Errorf("%.10s: got %q, want unreadable", body, c)
		}
	}
}

// sampleDelivery reads one of the sample events in ../events.
func sampleDelivery(t *testing.T, name string) events.Delivery {
	t.Helper()
	file, err := os.Open(filepath.Join("..", "events", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	h, err := events.ReadEvent(file)
	if err != nil {
		t.Fatal(err)
	}
	d, _, err := events.ReceiveGitHub(h, events.Secrets{Current: events.NewSecret(events.SampleSecret)})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// granted lets one person trigger on one channel.
type granted struct{ person, channel string }

func (g granted) HoldsTrigger(_ context.Context, person, channel string) (bool, error) {
	return g.person == person && g.channel == channel, nil
}

func TestSamplesAreMarkedByWhoWroteThem(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct {
		trigger bool
		trusts  string
	}{
		"github-issue-opened.json":            {false, "unverified unverified"},
		"github-issue-opened-maintainer.json": {false, "authorized trigger"},
		"github-issue-comment-command.json":   {true, "unverified unverified unverified trigger"},
		"github-issue-edited.json":            {false, "unverified unverified unverified"},
	} {
		d := sampleDelivery(t, name)
		b, err := GitHubIssues(pipeline.Envelope{Source: d.Source, Actor: d.Actor, Channel: d.Channel, Target: d.Target}, d.Body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		marked, trigger := fence.Mark(t.Context(), granted{"github:5210934", d.Channel}, fence.Turn{
			Channel: d.Channel, Actor: fence.Author{ID: d.Actor.ID, Kind: fence.KindPerson},
			Message: b.Message, Created: b.Created, WantVoice: b.Voice,
		}, b.Elements)
		var trusts []string
		for _, e := range marked {
			trusts = append(trusts, e.Trust.String())
		}
		if got := strings.Join(trusts, " "); got != want.trusts || (trigger != "") != want.trigger {
			t.Errorf("%s: got %s, trigger %q, want %s", name, got, trigger, want.trusts)
		}
	}
}

// realPayloads lists the real payloads beside the repository.
func realPayloads(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(inputs.Path(t, "data", "github"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("want payloads, got %d (%v)", len(files), err)
	}
	return files
}

func TestEveryRealDeliveryIsReadable(t *testing.T) {
	t.Parallel()
	read := 0
	for _, path := range realPayloads(t) {
		name := filepath.Base(path)
		body, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		event, _, _ := strings.Cut(name, ".")
		d, err := events.GitHubDelivery(event, body)
		if err != nil {
			continue // ignored: events tells
		}
		read++
		b, err := GitHubIssues(pipeline.Envelope{Source: d.Source, Actor: d.Actor, Channel: d.Channel, Target: d.Target}, body)
		wanted := pipeline.OK
		if event == "issue_comment" {
			wanted = pipeline.NoCommand
		}
		if c := codeOf(t, err); c != wanted {
			t.Errorf("%s: got %q (%v), want %q", name, c, err, wanted)
		}
		if err == nil && (len(b.Elements) == 0 || b.Elements[0].Field != "title") {
			t.Errorf("%s: want the title first", name)
		}
	}
	if read != 10 {
		t.Errorf("got %d deliveries, want 10", read)
	}
}

func FuzzGitHubIssues(f *testing.F) {
	f.Add("issues", []byte(issueBody))
	f.Add("issue_comment", []byte(commentBody))
	f.Add("issues", []byte(strings.Replace(issueBody, "zebra body", `> a\n\n\ud83e\udd93`, 1)))
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		d, err := events.GitHubDelivery(event, body)
		if err != nil {
			return
		}
		b, err := GitHubIssues(pipeline.Envelope{Source: d.Source, Actor: d.Actor, Channel: d.Channel, Target: d.Target}, body)
		if err != nil {
			var fault *pipeline.Fault
			if !errors.As(err, &fault) || fault.Code != pipeline.Unreadable && fault.Code != pipeline.NoCommand && fault.Code != pipeline.TriggerTooLarge {
				t.Fatalf("unexpected error: %v", err)
			}
			return
		}
		elements, trigger := fence.Mark(t.Context(), granted{d.Actor.ID, d.Channel}, fence.Turn{
			Channel: d.Channel, Actor: fence.Author{ID: d.Actor.ID, Kind: fence.KindPerson},
			Message: b.Message, Created: b.Created, WantVoice: b.Voice,
		}, b.Elements)
		c := fence.RunContext{
			Run: "r", Recipe: "issues", Profile: fence.ProfileIntake, Trigger: trigger, Instruction: "Triage this.",
			Limits: fence.Limits{MessageMaxBytes: 1 << 14, ContextMaxBytes: 1 << 16}, Elements: elements,
		}
		if err := c.Validate(); err != nil && len(elements) <= 4096 {
			t.Fatalf("elements that no context takes: %v", err)
		}
	})
}

// BenchmarkGitHubIssues compares ways to decode one issues.opened payload.
func BenchmarkGitHubIssues(b *testing.B) {
	var body []byte
	for _, path := range realPayloads(b) {
		if filepath.Base(path) == "issues.opened.json" {
			var err error
			if body, err = os.ReadFile(path); err != nil {
				b.Fatal(err)
			}
		}
	}
	env := delivered(b, "issues", body)
	for _, way := range []struct {
		name   string
		decode func() error
	}{
		{"elements", func() error { _, err := GitHubIssues(env, body); return err }},
		{"go-github-by-go-json-experiment", func() error { return json.Unmarshal(body, new(github.IssuesEvent)) }},
		{"go-github-by-encoding-json", func() error { return stdjson.Unmarshal(body, new(github.IssuesEvent)) }},
	} {
		b.Run(way.name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if err := way.decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
