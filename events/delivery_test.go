package events

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"decant.dev/internal/inputs"
	"decant.dev/pipeline"
	"github.com/google/go-github/v82/github"
)

const (
	openedBody = `{"action":"opened","issue":{"number":7,"user":{"id":11,"type":"User"},"title":"zebra","body":null},
		"repository":{"full_name":"octo-org/sample"},"sender":{"id":11,"type":"User"}}`
	commentBody = `{"action":"created","issue":{"number":7,"user":null},"comment":{"user":{"id":12,"type":"User"},"body":"zebra"},
		"repository":{"full_name":"octo-org/sample"},"sender":{"id":12,"type":"User"}}`
	pingBody = `{"zen":"zebra","hook_id":1,"hook":{"type":"Repository"},"sender":{"id":11,"type":"User"}}`
)

// swap replaces each old by the new after it, each of which must be there.
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

func TestGitHubDeliveryTakesWhatTheEnvelopeNeeds(t *testing.T) {
	t.Parallel()
	for _, event := range []string{"issues", "issues.opened"} {
		d, err := GitHubDelivery(event, []byte(openedBody))
		if err != nil {
			t.Fatal(err)
		}
		if d.Source != "github" || d.Event != "issues.opened" || d.Channel != "github:octo-org/sample" || string(d.Body) != openedBody ||
			d.Actor != (pipeline.Actor{ID: "github:11", Kind: pipeline.Person}) ||
			d.Target != (pipeline.Target{Event: "issues.opened", Repository: "octo-org/sample", Number: 7}) {
			t.Errorf("got %+v", d)
		}
		for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
			if got := fmt.Sprintf(verb, d); strings.Contains(got, "zebra") || !strings.Contains(got, "github:11") {
				t.Errorf("%s: got %q", verb, got)
			}
		}
	}
	d, err := GitHubDelivery("issue_comment", []byte(commentBody))
	if err != nil || d.Event != "issue_comment.created" || d.Actor.ID != "github:12" {
		t.Errorf("got %v, %v", d, err)
	}
	d, err = GitHubDelivery("issues", []byte(swap(t, openedBody, "opened", "edited", `{"id":11,"type":"User"},"title"`, `null,"title"`)))
	if err != nil || d.Event != "issues.edited" {
		t.Errorf("an issue whose author is gone, edited by another: got %v, %v", d, err)
	}
}

func TestActorsKind(t *testing.T) { // hermes-agent#8820: the signature says who sent it, the body who acts
	t.Parallel()
	const viaOther, via = `"performed_via_github_app":{"id":1}`, `"performed_via_github_app":null`
	for name, tc := range map[string]struct {
		body string
		kind pipeline.ActorKind
	}{
		"user":                        {openedBody, pipeline.Person},
		"user, no app":                {swap(t, openedBody, `"number"`, via+`,"number"`), pipeline.Person},
		"user through an app":         {swap(t, openedBody, `"number"`, viaOther+`,"number"`), pipeline.App},
		"app of an unexpected kind":   {swap(t, openedBody, `"number"`, `"performed_via_github_app":false,"number"`), pipeline.App},
		"bot":                         {swap(t, openedBody, `"User"`, `"Bot"`), pipeline.App},
		"organization":                {swap(t, openedBody, `"User"`, `"Organization"`), pipeline.Import},
		"mannequin":                   {swap(t, openedBody, `"User"`, `"Mannequin"`), pipeline.Import},
		"type of tomorrow":            {swap(t, openedBody, `"User"`, `"user"`), pipeline.Import},
		"comment by hand":             {swap(t, commentBody, `"number"`, viaOther+`,"number"`), pipeline.Person},
		"comment through an app":      {swap(t, commentBody, `"body"`, viaOther+`,"body"`), pipeline.App},
		"sender is not the author":    {swap(t, openedBody, `"sender":{"id":11,"type":"User"}`, `"sender":{"id":99,"type":"Bot"}`), pipeline.App},
		"edit of what an app created": {swap(t, openedBody, "opened", "edited", `"number"`, viaOther+`,"number"`), pipeline.App},
	} {
		event := "issues"
		if strings.Contains(name, "comment") {
			event = "issue_comment"
		}
		d, err := GitHubDelivery(event, []byte(tc.body))
		if err != nil || d.Actor.Kind != tc.kind {
			t.Errorf("%s: got %q, %v, want %q", name, d.Actor.Kind, err, tc.kind)
		}
	}
}

func TestNeededPartsAreNeverMissingNullOrOutOfBounds(t *testing.T) { // cve-lite-cli#917
	t.Parallel()
	for name, pairs := range map[string][]string{
		"issue null":           {`{"number":7,"user":{"id":11,"type":"User"},"title":"zebra","body":null}`, `null`},
		"issue a list":         {`{"number":7,"user":{"id":11,"type":"User"},"title":"zebra","body":null}`, `[1]`},
		"issue empty":          {`{"number":7,"user":{"id":11,"type":"User"},"title":"zebra","body":null}`, `{}`},
		"user null":            {`{"id":11,"type":"User"},"title"`, `null,"title"`},
		"user a string":        {`{"id":11,"type":"User"},"title"`, `"zebra","title"`},
		"user without id":      {`{"id":11,"type":"User"},"title"`, `{"type":"User"},"title"`},
		"number null":          {`7`, `null`},
		"number zero":          {`7`, `0`},
		"number negative":      {`7`, `-7`},
		"number a fraction":    {`7`, `7.5`},
		"number with exponent": {`7`, `7e0`},
		"number a string":      {`7`, `"7"`},
		"number beyond int32":  {`7`, `2147483648`},
		"number beyond int64":  {`7`, `99999999999999999999`},
		"sender null":          {`"sender":{"id":11,"type":"User"}`, `"sender":null`},
		"sender missing":       {`,"sender":{"id":11,"type":"User"}`, ``},
		"sender id null":       {`"sender":{"id":11`, `"sender":{"id":null`},
		"sender id a string":   {`"sender":{"id":11`, `"sender":{"id":"11"`},
		"sender type missing":  {`"sender":{"id":11,"type":"User"}`, `"sender":{"id":11}`},
		"sender type null":     {`"sender":{"id":11,"type":"User"}`, `"sender":{"id":11,"type":null}`},
		"repository null":      {`{"full_name":"octo-org/sample"}`, `null`},
		"repository a list":    {`{"full_name":"octo-org/sample"}`, `["zebra"]`},
		"repository unnamed":   {`"octo-org/sample"`, `null`},
		"repository with path": {`"octo-org/sample"`, `"octo-org/sample/zebra"`},
		"repository alone":     {`"octo-org/sample"`, `"zebra"`},
		"repository with line": {`"octo-org/sample"`, `"octo-org/sample\n"`},
		"action null":          {`"opened"`, `null`},
		"action empty":         {`"opened"`, `""`},
		"action a number":      {`"opened"`, `1`},
		"action missing":       {`"action":"opened",`, ``},
		"keys in another case": {`"issue"`, `"Issue"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := GitHubDelivery("issues", []byte(swap(t, openedBody, pairs...)))
			want(t, err, pipeline.BodyMisfit, "zebra")
		})
	}
	for name, pairs := range map[string][]string{
		"comment null":      {`{"user":{"id":12,"type":"User"},"body":"zebra"}`, `null`},
		"comment user null": {`{"id":12,"type":"User"},"body"`, `null,"body"`},
		"issue null":        {`{"number":7,"user":null}`, `null`},
	} {
		_, err := GitHubDelivery("issue_comment", []byte(swap(t, commentBody, pairs...)))
		t.Log(name)
		want(t, err, pipeline.BodyMisfit, "zebra")
	}
}

func TestTheBodyDecidesTheKindAndTheHeaderMustAgree(t *testing.T) {
	t.Parallel()
	bodies := map[string]string{"issues": openedBody, "issue_comment": commentBody, "ping": pingBody, "push": `{"ref":"zebra","commits":[]}`}
	events := append(github.MessageTypes(), "issues.opened", "issue_comment.created")
	for kind, body := range bodies {
		for _, event := range events {
			name, _, _ := strings.Cut(event, ".")
			wanted := pipeline.BodyMisfit
			switch {
			case name == kind && kind == "ping":
				wanted = pipeline.Ping
			case name == kind && ours(kind):
				wanted = pipeline.OK
			case !ours(name) && kind == "push":
				wanted = pipeline.UnhandledEvent
			}
			if _, err := GitHubDelivery(event, []byte(body)); code(t, err) != wanted {
				t.Errorf("body of kind %s as %s: got %v, want %q", kind, event, err, wanted)
			}
		}
		for _, event := range []string{"sub_issues", "issue_dependencies", "zebra", "Issues", "", ".", "issues\n", "../zebra", strings.Repeat("zebra", 1000)} {
			_, err := GitHubDelivery(event, []byte(body))
			want(t, err, pipeline.UnhandledEvent, "zebra")
		}
	}
	_, err := GitHubDelivery("issues.edited", []byte(openedBody))
	want(t, err, pipeline.BodyMisfit)
	_, err = GitHubDelivery("issues.", []byte(openedBody))
	want(t, err, pipeline.BodyMisfit)
}

func TestUnhandledIsNeverFailed(t *testing.T) { // aws-github-runner#2210
	t.Parallel()
	for _, action := range []string{"reopened", "transferred", "deleted", "closed", "labeled", "pinned", "typed", "zebra", "Opened", "not a word \U0001f993"} {
		// An action that is not handled needs nothing else of the body.
		_, err := GitHubDelivery("issues", fmt.Appendf(nil, `{"action":%q,"issue":null}`, action))
		want(t, err, pipeline.UnhandledEvent, "zebra")
	}
	for _, action := range []string{"edited", "deleted", "pinned"} {
		_, err := GitHubDelivery("issue_comment", []byte(swap(t, commentBody, "created", action)))
		want(t, err, pipeline.UnhandledEvent)
	}
	_, err := GitHubDelivery("issue_comment", []byte(swap(t, commentBody, `"number"`, `"pull_request":{"url":"zebra"},"number"`)))
	want(t, err, pipeline.UnhandledEvent, "zebra")
	_, err = GitHubDelivery("issue_comment", []byte(swap(t, commentBody, `"number"`, `"pull_request":null,"number"`)))
	want(t, err, pipeline.OK)
	for _, event := range github.MessageTypes() {
		if !ours(event) && !documented(event) {
			t.Errorf("%s: want it listed", event)
		}
	}
}

func TestBodiesOutOfBoundsAreRefused(t *testing.T) {
	t.Parallel()
	nested := func(n int) string {
		return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	for name, body := range map[string]string{
		"empty":               ``,
		"null":                `null`,
		"list":                `[` + openedBody + `]`,
		"string":              `"zebra"`,
		"not JSON":            `zebra`,
		"cut":                 openedBody[:len(openedBody)-1],
		"trailing":            openedBody + `zebra`,
		"twice":               openedBody + openedBody,
		"form":                `payload=%7B%22zebra%22%7D`,
		"too deep":            nested(MaxDepth),
		"10,000 brackets":     nested(10_000),
		"10,000 open":         strings.Repeat("[", 10_000),
		"10,000 objects":      strings.Repeat(`{"a":`, 10_000),
		"million brackets":    nested(1_000_000),
		"duplicate at top":    swap(t, openedBody, `"sender"`, `"sender":{"id":12,"type":"User"},"sender"`),
		"duplicate escaped":   swap(t, openedBody, `"sender"`, `"s\u0065nder":{"id":12,"type":"User"},"sender"`),
		"duplicate within":    swap(t, openedBody, `"number":7`, `"number":7,"number":8`),
		"duplicate elsewhere": swap(t, openedBody, `"title"`, `"reactions":{"zebra":1,"zebra":2},"title"`),
		"bad UTF-8":           swap(t, openedBody, "zebra", "zebra\xff"),
		"bad UTF-8 in a key":  swap(t, openedBody, `"title"`, "\"zebra\xc0\xaf\""),
		"overlong UTF-8":      swap(t, openedBody, "zebra", "\xc1\xba"),
		"lone surrogate":      swap(t, openedBody, "zebra", `\ud800`),
		"bad number":          swap(t, openedBody, `7`, `07`),
		"NaN":                 swap(t, openedBody, `7`, `NaN`),
		"single quotes":       `{'zebra':1}`,
		"comma at the end":    `{"zebra":1,}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := GitHubDelivery("issues", []byte(body))
			want(t, err, pipeline.MalformedBody, "zebra")
			_, err = GitHubDelivery("push", []byte(body))
			want(t, err, pipeline.MalformedBody, "zebra")
		})
	}
	_, err := GitHubDelivery("push", []byte(nested(MaxDepth-1)))
	want(t, err, pipeline.UnhandledEvent)
	members := func(n int) []byte { return fmt.Appendf(nil, `{"a":[%s{}]}`, strings.Repeat(`{":":1},`, n)) }
	_, err = GitHubDelivery("push", members(MaxKeys-1))
	want(t, err, pipeline.UnhandledEvent)
	_, err = GitHubDelivery("push", members(MaxKeys))
	want(t, err, pipeline.MalformedBody)
	_, err = GitHubDelivery("push", make([]byte, MaxBodyBytes+1))
	want(t, err, pipeline.BodyTooLarge)
}

func TestHostileBodiesCostLittleMemory(t *testing.T) { // not parallel: it counts allocations
	keys := func(n int) string {
		var b strings.Builder
		b.WriteString(`{"k":0`)
		for i := range n {
			fmt.Fprintf(&b, `,"%d":0`, i)
		}
		return b.String() + `}`
	}
	for name, tc := range map[string]struct {
		body  string
		limit uint64
	}{
		"million brackets":    {strings.Repeat("[", 1_000_000), 64 << 10},
		"4 MB of brackets":    {strings.Repeat(`[{},`, 1<<20), 64 << 10},
		"long number":         {`{"a":` + strings.Repeat("9", 4_000_000) + `}`, 64 << 10},
		"long issue number":   {swap(t, openedBody, `7`, strings.Repeat("9", 4_000_000)), 64 << 10},
		"long title":          {swap(t, openedBody, "zebra", strings.Repeat("z", 4_000_000)), 64 << 10},
		"380,000 keys":        {keys(380_000), 64 << 10},
		"as many as allowed":  {keys(MaxKeys - 1), 16 << 20},
		"quotes, backslashes": {`{"a":"` + strings.Repeat(`\"`, 2_000_000) + `"}`, 64 << 10},
	} {
		body := []byte(tc.body)
		if len(body) > MaxBodyBytes {
			t.Fatalf("%s: want a body within the limit", name)
		}
		got := allocated(func() { GitHubDelivery("issues", body) })
		t.Logf("%s: %d bytes for a body of %d", name, got, len(tc.body))
		if got > tc.limit {
			t.Errorf("%s: allocated %d bytes, want at most %d", name, got, tc.limit)
		}
	}
}

func TestEveryRealPayloadIsADeliveryOrIgnored(t *testing.T) {
	t.Parallel()
	handled := map[string]bool{"issues.opened": true, "issues.edited": true, "issue_comment.created": true}
	files := payloads(t)
	if len(files) != 35 {
		t.Errorf("got %d payloads, want 35", len(files))
	}
	for path, event := range files {
		name := filepath.Base(path)
		parts := strings.Split(name, ".")
		body := read(t, path)
		given := bytes.Clone(body)
		d, err := GitHubDelivery(event, body)
		wanted := pipeline.UnhandledEvent
		switch {
		case event == "ping":
			wanted = pipeline.Ping
		case handled[parts[0]+"."+parts[1]]:
			wanted = pipeline.OK
			if d.Event != parts[0]+"."+parts[1] {
				t.Errorf("%s: got %s", name, d.Event)
			}
			checkEnvelope(t, d)
		}
		if c := code(t, err); c != wanted {
			t.Errorf("%s: got %v, want %q", name, err, wanted)
		}
		if !bytes.Equal(body, given) {
			t.Errorf("%s: the body was written to", name)
		}
		if typed := parts[0] + "." + parts[1]; len(parts) > 2 && handled[typed] {
			if _, err := GitHubDelivery(typed, body); err != nil {
				t.Errorf("%s as %s: %v", name, typed, err)
			}
		}
	}
}

// checkEnvelope reports an accepted delivery that no envelope could hold.
func checkEnvelope(t testing.TB, d Delivery) {
	t.Helper()
	sum := sha256.Sum256(d.Body)
	e := pipeline.Envelope{
		Schema: pipeline.EnvelopeSchema, Recipe: "issues", Source: d.Source, RecipeDigest: strings.Repeat("0", 64),
		BodySHA256: fmt.Sprintf("%x", sum), Actor: d.Actor, Channel: d.Channel, Target: d.Target,
		Received: time.Unix(1, 0), Run: pipeline.RunID("issues", d.Source, sum),
	}
	if err := e.Check(); err != nil {
		t.Errorf("accepted a delivery beyond the envelope: %v", err)
	}
	if d.Event != d.Target.Event || d.Channel != "github:"+d.Target.Repository || d.Target.Number == 0 {
		t.Errorf("the delivery's parts disagree: %v", d)
	}
}

func FuzzGitHubDelivery(f *testing.F) {
	for _, body := range []string{openedBody, commentBody, pingBody, `{"action":"opened","issue":{"number":1e0}}`, `{"issue":null,"comment":[{}]}`, "{\"a\":\"\xff\"}"} {
		for _, event := range []string{"issues", "issue_comment", "ping", "push", "issues.opened", ""} {
			f.Add(event, []byte(body))
		}
	}
	f.Fuzz(func(t *testing.T, event string, body []byte) {
		given := bytes.Clone(body)
		d, err := GitHubDelivery(event, body)
		if !bytes.Equal(given, body) {
			t.Fatal("the body was written to")
		}
		switch code(t, err) {
		case pipeline.OK:
			checkEnvelope(t, d)
			if !bytes.Equal(d.Body, given) {
				t.Fatal("want the bytes as received")
			}
			if !json.Valid(body) {
				t.Fatal("accepted what is not JSON")
			}
		case pipeline.Ping, pipeline.UnhandledEvent, pipeline.BodyMisfit:
			if !json.Valid(body) {
				t.Fatal("read what is not JSON")
			}
			fallthrough
		case pipeline.MalformedBody, pipeline.BodyTooLarge:
			if d.Body != nil {
				t.Fatal("want nothing beside an error")
			}
		default:
			t.Fatalf("unexpected code: %v", err)
		}
	})
}

// BenchmarkGitHubDelivery reads a payload of GitHub's own size, beside what
// go-github's types cost on the same bytes.
func BenchmarkGitHubDelivery(b *testing.B) {
	body := read(b, inputs.Path(b, "data", "github", "issues.opened.json"))
	b.Run("pick", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			if _, err := GitHubDelivery("issues", body); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("go-github-by-encoding-json", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			var e github.IssuesEvent
			if err := json.Unmarshal(body, &e); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// "Opened" of an issue that somebody else than its author transferred in is no
// creation by the actor, and has a name of its own.
func TestTransferredIssueIsMoved(t *testing.T) {
	t.Parallel()
	moved := strings.Replace(openedBody, `"sender":{"id":11`, `"sender":{"id":12`, 1)
	if moved == openedBody {
		t.Fatal("the sender was not changed: the test would prove nothing")
	}
	d, err := GitHubDelivery("issues", []byte(moved))
	if err != nil || d.Event != "issues.moved" || d.Target.Event != "issues.moved" || d.Actor.ID != "github:12" {
		t.Errorf("got %v, %v, want issues.moved by the sender", d, err)
	}
}
