package mail

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"decant.dev/fence"
	"decant.dev/internal/inputs"
	"decant.dev/pipeline"
)

// read is the elements of a mail, or its code.
func read(raw string) (map[string]string, []fence.Element, pipeline.Code) {
	b, err := Elements(pipeline.Envelope{}, []byte(raw))
	var fault *pipeline.Fault
	if errors.As(err, &fault) {
		return nil, nil, fault.Code
	}
	texts := map[string]string{}
	for _, e := range b.Elements {
		name := e.Field
		if name == "" {
			name = e.Origin.String()
		}
		texts[name] += e.Text
	}
	return texts, b.Elements, pipeline.OK
}

func crlf(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }

// Every text of a mail that a sender chooses is in an element, unverified, and
// in one of its own: openclaw#90402, thane#1559.
func TestEveryLeafOfAMailIsAnElementOfNobody(t *testing.T) {
	t.Parallel()
	const raw = `From: "Our own team <leaf-name>" <help@shop.example>
Reply-To: leaf-reply@example.com
Authentication-Results: shop.example; dmarc=pass
Subject: =?utf-8?q?leaf-subj=C3=A9ct?=
Content-Type: multipart/mixed; boundary=o

--o
Content-Type: text/plain; charset=iso-8859-1

leaf-body caf` + "\xe9" + `

On Fri, 20 Nov 2026 10:00, someone <a@b.example> wrote:
> leaf-quote
--o
Content-Type: text/plain; name="leaf-file-name.txt"
Content-Disposition: attachment; filename="leaf-file-name.txt"

leaf-content
--o
Content-Type: application/pdf
Content-Disposition: attachment; filename="leaf-pdf"

%PDF leaf-hidden-in-pdf
--o--
`
	texts, elements, code := read(crlf(raw))
	if code != pipeline.OK {
		t.Fatal(code)
	}
	for name, leaf := range map[string]string{
		FieldFrom: "leaf-name", FieldReplyTo: "leaf-reply", "mail_header": "leaf-subjéct", "mail_body": "leaf-body café", "history": "leaf-quote",
		FieldFileName: "leaf-file-name.txt", "file": "leaf-content",
	} {
		if !strings.Contains(texts[name], leaf) {
			t.Errorf("%s: got %q, want %q in it", name, texts[name], leaf)
		}
	}
	for _, e := range elements {
		if e.Trust != fence.TrustUnverified || e.Author.Kind != fence.KindImport || e.Author.ID != Author {
			t.Errorf("%s is by %+v, %s", e.ID, e.Author, e.Trust)
		}
		if strings.Contains(e.Text, "leaf-hidden-in-pdf") || strings.Contains(e.Text, "dmarc") {
			t.Errorf("%s holds %q", e.ID, e.Text)
		}
	}
	if last := elements[len(elements)-1]; last.Origin != fence.OriginMailBody || strings.Contains(last.Text, "leaf-quote") {
		t.Errorf("the own words are %s %q", last.Origin, last.Text)
	}
}

func TestHTMLIsReadAsAReaderWould(t *testing.T) {
	t.Parallel()
	const html = "Subject: a\nContent-Type: text/html\n\n<p>seen</p><p style='display:none'>unseen</p><!-- unseen -->"
	texts, _, _ := read(crlf(html))
	if !strings.Contains(texts["mail_body"], "seen") || strings.Contains(texts["mail_body"], "unseen") || texts[FieldHidden] == "" {
		t.Errorf("got %q, %q hidden", texts["mail_body"], texts[FieldHidden])
	}
	both := "Subject: a\nContent-Type: multipart/alternative; boundary=o\n\n--o\nContent-Type: text/plain\n\nplain\n--o\nContent-Type: text/html\n\n<p>rich</p>\n--o--\n"
	if texts, _, _ := read(crlf(both)); strings.TrimSpace(texts["mail_body"]) != "plain" {
		t.Errorf("got %q, want the plain text", texts["mail_body"])
	}
}

func TestMailsOutOfBoundsAreUnreadable(t *testing.T) {
	t.Parallel()
	var nest strings.Builder
	for range maxBoundaries + 1 {
		nest.WriteString("Content-Type: multipart/mixed; boundary=o\n\n--o\n")
	}
	for name, raw := range map[string]string{
		"nothing": "", "no header": "\n\n", "an empty mail": "From: a@b.example\n\n", "too large": "Subject: a\n\n" + strings.Repeat("a", MaxBytes),
		"large headers": "Subject: a\nX: " + strings.Repeat("a", maxHeader) + "\n\nb", "a nest": nest.String(),
	} {
		if _, elements, code := read(crlf(raw)); code != pipeline.Unreadable || elements != nil {
			t.Errorf("%s: got %q and %d elements", name, code, len(elements))
		}
	}
	many := "Subject: a\nContent-Type: multipart/mixed; boundary=o\n\n" + strings.Repeat("--o\nContent-Type: text/plain\nContent-Disposition: attachment; filename=f\n\nx\n", maxFiles+7) + "--o--\n"
	if texts, _, code := read(crlf(many)); code != pipeline.OK || texts[FieldLeft] != "7" {
		t.Errorf("many files: got %q, %s left out", code, texts[FieldLeft])
	}
	large := "Subject: a\nContent-Type: multipart/mixed; boundary=o\n\n--o\nContent-Type: text/plain; charset=utf-8\nContent-Disposition: attachment; filename=f\n\n" +
		strings.Repeat("é", maxFile) + "\n--o--\n"
	_, elements, _ := read(crlf(large))
	for _, e := range elements {
		if e.Origin == fence.OriginFile && (len(e.Text) > maxFile || len(e.Text)+e.TruncatedBytes < 2*maxFile || !strings.HasSuffix(e.Text, "é")) {
			t.Errorf("kept %d bytes of a file and left %d", len(e.Text), e.TruncatedBytes)
		}
	}
}

// Of each real mail, what became of it, as a table.
func TestRealMails(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(inputs.Path(t, "data", "mail"), "*.raw"))
	if err != nil || len(files) < 40 {
		t.Fatalf("want mails, got %d (%v)", len(files), err)
	}
	unreadable := 0
	for _, path := range files {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		texts, elements, code := read(string(raw))
		if code != pipeline.OK {
			unreadable++
		}
		t.Logf("%-60s %10s %2d elements, body of %5d bytes, %s hidden", filepath.Base(path), code, len(elements), len(texts["mail_body"]), texts[FieldHidden])
		validates(t, elements)
	}
	if unreadable > 2 {
		t.Errorf("%d of %d mails are unreadable", unreadable, len(files))
	}
}

// validates holds elements against what a context takes.
func validates(t *testing.T, elements []fence.Element) {
	t.Helper()
	if len(elements) == 0 {
		return
	}
	c := fence.RunContext{Run: "r", Recipe: "inbox", Profile: fence.ProfileIntake, Instruction: "Sort this.",
		Limits: fence.Limits{MessageMaxBytes: 1 << 14, ContextMaxBytes: 1 << 16}, Elements: elements}
	if err := c.Validate(); err != nil {
		t.Errorf("elements that no context takes: %v", err)
	}
}

func FuzzElements(f *testing.F) {
	f.Add([]byte("Subject: a\r\n\r\nb"))
	f.Add([]byte("Subject: =?utf-8?q?a?=\r\nContent-Type: multipart/mixed; boundary=o\r\n\r\n--o\r\nContent-Type: text/html\r\n\r\n<p>b\r\n--o--\r\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_, elements, code := read(string(raw))
		if code != pipeline.OK && code != pipeline.Unreadable {
			t.Fatalf("got %q", code)
		}
		if len(elements) < 4096 {
			validates(t, elements)
		}
	})
}
