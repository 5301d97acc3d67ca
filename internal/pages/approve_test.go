package pages

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"decant.dev/internal/inputs"
	"decant.dev/pipeline/approval"
)

const (
	run    = "0123456789abcdef0123456789abcdef"
	person = "github:44"
)

var (
	noon    = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	binding = strings.Repeat("ab", 32)
)

// table is a Desk with one question.
type table struct {
	card   Card
	record approval.Record
	asks   bool
	fail   error
	given  []approval.Answer
	refuse error
}

func (d *table) Card(context.Context, string) (Card, approval.Record, bool, error) {
	return d.card, d.record, d.asks, d.fail
}

func (d *table) Give(_ context.Context, _, b, p string, a approval.Answer) (approval.Record, error) {
	if d.refuse != nil {
		return d.record, d.refuse
	}
	if b != d.record.Binding || p != person {
		return d.record, errors.New("another question or person")
	}
	d.given = append(d.given, a)
	r := d.record
	r.State = map[approval.Answer]approval.State{approval.Approve: approval.Approved, approval.Deny: approval.Denied}[a]
	return r, nil
}

func desk(t *testing.T) (*table, *Approvals, string) {
	t.Helper()
	key, _, err := approval.NewLinkKey()
	if err != nil {
		t.Fatal(err)
	}
	d := &table{asks: true, card: Card{
		Run: run, Recipe: "issues", Target: "octo-org/sample#12", Label: "unverified", Asked: noon, Expires: noon.Add(time.Hour),
		Fields:  []Field{{"kind", "spam", false}, {"quote", "buy <b>now</b>", true}},
		Actions: []Action{{Kind: "github.close", Decision: "ask", Reasons: []string{"policy_ask"}, Params: []Field{{"reason", "not_planned", false}}}},
	}}
	d.record = approval.Record{Question: approval.Question{Run: run, Binding: binding, Recipe: "issues", Channel: "github:octo-org/sample", Wanted: 1}, State: approval.Waiting, Asked: noon, Expires: noon.Add(time.Hour)}
	a := &Approvals{Links: key, Desk: d, Clock: func() time.Time { return noon.Add(time.Minute) }}
	return d, a, key.Path(approval.Link{Run: run, Binding: binding, Person: person, Expires: d.record.Expires})
}

func (d *table) ask(t *testing.T, a *Approvals, method, path, form string) (int, string) {
	t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(form))
	if form != "" {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	a.ServeHTTP(w, r)
	for name, want := range map[string]string{"Cache-Control": "no-store", "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff"} {
		if got := w.Header().Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	b, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	return w.Code, string(b)
}

// Whatever is sent but a POST with one of the two answers decides nothing; of
// a scanner that opens every link of a mail there is no trace.
func TestOnlyAPostDecides(t *testing.T) {
	t.Parallel()
	d, a, path := desk(t)
	for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "QUERY", "POST"} {
		for _, form := range []string{"", "answer=", "answer=yes", "answer=Approve", "other=approve", "answer=approve%00", strings.Repeat("x", 2<<10) + "=1&answer=approve"} {
			at := path
			if method != "POST" {
				at += "&answer=approve" // in the address it is part of no link
			}
			d.ask(t, a, method, at, form)
			d.ask(t, a, method, path, form)
		}
	}
	if len(d.given) > 0 {
		t.Fatalf("%v was decided", d.given)
	}
	if code, _ := d.ask(t, a, "POST", path+"&answer=approve", ""); code == 200 || len(d.given) > 0 {
		t.Errorf("an answer in the address was taken: %d", code)
	}
	for _, said := range []approval.Answer{approval.Approve, approval.Deny} {
		if code, body := d.ask(t, a, "POST", path, "answer="+string(said)); code != 200 || d.given[len(d.given)-1] != said || strings.Contains(body, "<form") {
			t.Errorf("%s: %d, %v", said, code, d.given)
		}
	}
}

// Each reason why a link answers nothing has a page of its own, and none
// decides.
func TestARefusedLinkSaysWhy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*table, *Approvals, string) string
		status int
		says   string
		post   bool
	}{
		"forged":         {func(_ *table, _ *Approvals, p string) string { return p + "0" }, 403, "not one of ours", true},
		"of another run": {func(_ *table, _ *Approvals, p string) string { return strings.Replace(p, "0123", "3210", 1) }, 403, "not one of ours", true},
		"expired": {func(_ *table, a *Approvals, p string) string {
			a.Clock = func() time.Time { return noon.Add(time.Hour) }
			return p
		}, 410, "expired", true},
		"changed":         {func(d *table, _ *Approvals, p string) string { d.record.Binding = strings.Repeat("cd", 32); return p }, 409, "has changed", true},
		"not asked":       {func(d *table, _ *Approvals, p string) string { d.asks = false; return p }, 404, "does not wait", true},
		"out of order":    {func(d *table, _ *Approvals, p string) string { d.fail = errors.New("SECRETWORD"); return p }, 503, "Try again", true},
		"answered":        {func(d *table, _ *Approvals, p string) string { d.record.State = approval.Used; return p }, 410, "has its answer", false},
		"too late":        {func(d *table, _ *Approvals, p string) string { d.record.Expires = noon; return p }, 410, "Nobody answered in time", false},
		"used twice":      {func(d *table, _ *Approvals, p string) string { d.refuse = approval.Answered; return p }, 410, "has its answer", true},
		"lost permission": {func(d *table, _ *Approvals, p string) string { d.refuse = approval.WrongPerson; return p }, 403, "may not answer", true},
		"same person":     {func(d *table, _ *Approvals, p string) string { d.refuse = approval.SamePerson; return p }, 409, "has answered", true},
		"late answer":     {func(d *table, _ *Approvals, p string) string { d.refuse = approval.TooLate; return p }, 410, "in time", true},
		"changed between": {func(d *table, _ *Approvals, p string) string { d.refuse = approval.OtherThing; return p }, 409, "changed since", true},
		"not recorded":    {func(d *table, _ *Approvals, p string) string { d.refuse = errors.New("SECRETWORD"); return p }, 503, "Try again", true},
	} {
		d, a, path := desk(t)
		path = tc.change(d, a, path)
		method, form := "GET", ""
		if tc.post {
			method, form = "POST", "answer=approve"
		}
		code, body := d.ask(t, a, method, path, form)
		if code != tc.status || !strings.Contains(body, tc.says) || strings.Contains(body, "SECRETWORD") || strings.Contains(body, "<form") || len(d.given) > 0 {
			t.Errorf("%s: got %d %q, given %v; want %d and %q", name, code, body, d.given, tc.status, tc.says)
		}
	}
}

// elements are the tags of a page with their attributes, and its text.
func elements(t *testing.T, page string) (tags []string, text string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch n.Type {
		case html.ElementNode:
			tag := n.Data
			for _, a := range n.Attr {
				tag += " " + a.Key + "=" + a.Val
			}
			tags = append(tags, tag)
		case html.TextNode:
			if n.Parent.Data != "style" {
				text += n.Data
			}
		case html.CommentNode:
			tags = append(tags, "comment")
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(root)
	return tags, text
}

// Each attack text, wherever one can stand, is text of the page and nothing
// else: the page has the elements that it has with a harmless one.
func TestNoTextIsMoreThanText(t *testing.T) {
	t.Parallel()
	d, a, path := desk(t)
	show := func(text string) string {
		d.card.Fields[1].Value = text
		d.card.Actions[0].Params[0] = Field{"body", "before " + text + " after", true}
		code, page := d.ask(t, a, "GET", path, "")
		if code != http.StatusOK {
			t.Fatalf("got %d", code)
		}
		return page
	}
	plain, _ := elements(t, show("harmless"))
	if !strings.Contains(strings.Join(plain, "\n"), "dd class=stranger") {
		t.Fatalf("no text is marked as a stranger's: %q", plain)
	}
	tried := 0
	for _, text := range append([]string{`</dd><script>alert(1)</script>`, `"><form action="https://evil.example">`, "<!--", "{{.Run}}", "</style><style>*{display:none}", "]]>", "&lt;b&gt;", "\x00<b>"}, inputs.Texts(t, "payloads.jsonl")...) {
		tried++
		tags, shown := elements(t, show(text))
		if strings.Join(tags, "\n") != strings.Join(plain, "\n") {
			t.Fatalf("text %d changed the page: %q", tried, tags)
		}
		want := strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
		if !strings.Contains(shown, want) && !strings.ContainsAny(text, "\x00\uFFFD") {
			t.Fatalf("text %d is not shown whole", tried)
		}
	}
	t.Logf("%d texts", tried)
}

func TestALinkInAnAddressIsAQuery(t *testing.T) {
	t.Parallel()
	_, _, path := desk(t)
	if u, err := url.Parse(path); err != nil || len(u.Query()) != 4 || u.Path != "/approve/"+run {
		t.Errorf("%s, %v", path, err)
	}
}
