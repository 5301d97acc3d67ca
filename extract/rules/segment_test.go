package rules

import (
	"strings"
	"testing"
)

// checkSpans fails unless the spans cover the text in order without overlap.
func checkSpans(t *testing.T, text string, spans []Span) {
	t.Helper()
	at := 0
	for i, s := range spans {
		if s.Start != at || s.End <= s.Start {
			t.Fatalf("span %d is [%d,%d): want it to start at %d and to hold something", i, s.Start, s.End, at)
		}
		if s.Kind.String() == "invalid" {
			t.Fatalf("span %d has an invalid kind", i)
		}
		at = s.End
	}
	if at != len(text) {
		t.Fatalf("spans end at %d: want %d", at, len(text))
	}
}

func TestSpansNameWhatAReaderSees(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"prose", "It stops.\nThen it starts.", "prose(It stops.\nThen it starts.)"},
		{"atx heading", "# Steps\nclick", "heading(# Steps\n)prose(click)"},
		{"two headings stay two", "# A\n# B\n", "heading(# A\n)heading(# B\n)"},
		{"hash without a blank is prose", "#12 is related", "prose(#12 is related)"},
		{"bold line is a heading", "**Expected**\nwork", "heading(**Expected**\n)prose(work)"},
		{"bold line with colon", "__Expected:__\nwork", "heading(__Expected:__\n)prose(work)"},
		{"bold words are prose", "**one** and **two**", "prose(**one** and **two**)"},
		{"short line with colon is a heading", "Steps to follow:\n1. go", "heading(Steps to follow:\n)prose(1. go)"},
		{"long line with colon is prose", strings.Repeat("long ", 20) + ":", "prose(" + strings.Repeat("long ", 20) + ":)"},
		{"fence", "a\n```go\nx := 1\n```\nb", "prose(a\n)code(```go\nx := 1\n```\n)prose(b)"},
		{"fence with tildes holds backticks", "~~~\n```\n~~~\nb", "code(~~~\n```\n~~~\n)prose(b)"},
		{"shorter fence does not close", "````\n```\n````\nb", "code(````\n```\n````\n)prose(b)"},
		{"fence never closed", "```\nx", "code(```\nx)"},
		{"indented code after a blank line", "a\n\n    x = 1\n\nb", "prose(a\n\n)code(    x = 1\n\n)prose(b)"},
		{"indented line in a paragraph is prose", "a\n    b", "prose(a\n    b)"},
		{"indented line in a list is prose", "- a\n\n    b", "prose(- a\n\n    b)"},
		{"quoted reply", "> you said\n> so\nno", "quote(> you said\n> so\n)prose(no)"},
		{"comment in a line", "a<!-- hidden -->b", "prose(a)comment(<!-- hidden -->)prose(b)"},
		{"comment over lines", "a\n<!-- one\ntwo -->\nb", "prose(a\n)comment(<!-- one\ntwo -->\n)prose(b)"},
		{"comment never closed", "a\n<!-- x\ny", "prose(a\n)comment(<!-- x\ny)"},
		{"comment in code is code", "```\n<!-- x\n```\nb", "code(```\n<!-- x\n```\n)prose(b)"},
		{"inline code", "call `f()` now", "prose(call )inline(`f()`)prose( now)"},
		{"double backticks", "a ``x ` y`` b", "prose(a )inline(``x ` y``)prose( b)"},
		{"backtick alone", "a ` b", "prose(a ` b)"},
		{"address", "see https://example.com/bug?x=1, then", "prose(see )link(https://example.com/bug?x=1,)prose( then)"},
		{"no address", "ratio 1://2", "prose(ratio 1://2)"},
		{"link", "a [word](https://example.com/x) b", "prose(a [word])link((https://example.com/x))prose( b)"},
		{"tag", "a <b>x</b>", "prose(a )markup(<b>)prose(x)markup(</b>)"},
		{"less than", "a < b and c > d", "prose(a < b and c > d)"},
		{"form left empty", "### Logs\n\n_No response_\n", "heading(### Logs\n\n)boilerplate(_No response_\n)"},
		{"check box", "- [x] I have read it\n- item", "boilerplate(- [x] I have read it\n)prose(- item)"},
		{"marker alone", "1. \n2. go", "boilerplate(1. \n)prose(2. go)"},
		{"rule", "a\n\n---\nb", "prose(a\n\n)markup(---\n)prose(b)"},
		{"carriage returns", "# A\r\nb\r\n", "heading(# A\r\n)prose(b\r\n)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			spans := AppendSpans(nil, tt.text)
			checkSpans(t, tt.text, spans)
			var got strings.Builder
			for _, s := range spans {
				got.WriteString(s.Kind.String() + "(" + tt.text[s.Start:s.End] + ")")
			}
			if got.String() != tt.want {
				t.Errorf("got  %q\nwant %q", got.String(), tt.want)
			}
		})
	}
}

func TestAppendSpansLeavesWhatWasThere(t *testing.T) {
	t.Parallel()
	before := []Span{{SpanProse, 0, 7}}
	got := AppendSpans(before, "x")
	if len(got) != 2 || got[0] != before[0] {
		t.Fatalf("got %v: want the given span and a new one", got)
	}
}

func TestSpanKindZeroIsInvalid(t *testing.T) {
	t.Parallel()
	if got := SpanKind(0).String(); got != "invalid" {
		t.Errorf("zero kind is %q", got)
	}
}

func FuzzAppendSpans(f *testing.F) {
	for _, s := range []string{
		"", "\n", "# a\n\nb", "```\nx\n```", "~~~", "> q\n\n    code", "<!-- a\n--> b `c` <d> [e](f) g://h", "`` ` ```", "- [ ] a\n1. \n_No response_",
		"\xff`\xfe<\x00", "a:\r\n**b**\r\n===\n", "](](](", "<<<<!-->-->", "http://", "\t\tx",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spans := AppendSpans(nil, text)
		checkSpans(t, text, spans)
		if again := AppendSpans(nil, text); len(again) != len(spans) {
			t.Fatal("a second pass cuts otherwise")
		}
	})
}

// hostile texts are made to cost more than one pass: runs that never close, each of another length.
var hostile = map[string]string{
	"ticks":    strings.Repeat("`a``b```c````d", 1<<14),
	"tags":     strings.Repeat("<a", 1<<16),
	"parens":   strings.Repeat("](", 1<<16),
	"comments": strings.Repeat("<!-- -->", 1<<14),
	"openers":  strings.Repeat("<!--", 1<<15),
	"schemes":  strings.Repeat("a://", 1<<15),
	"quotes":   strings.Repeat("> \n", 1<<15),
	"stops":    strings.Repeat("A. ", 1<<15),
	"versions": strings.Repeat("1.2.", 1<<15),
	"crash":    strings.Repeat("crash ", 1<<15),
	"blanks":   strings.Repeat(" ", 1<<17),
}

func BenchmarkAppendSpans(b *testing.B) {
	text := report(16 << 10)
	b.SetBytes(int64(len(text)))
	var spans []Span
	for b.Loop() {
		spans = AppendSpans(spans[:0], text)
	}
}
