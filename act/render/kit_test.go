package render

import (
	"bufio"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"decant.dev/internal/inputs"
)

// sample is one line of the corpus.
type sample struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	B64  []byte `json:"b64"`
}

func corpus(tb testing.TB, name string) (samples []sample) {
	tb.Helper()
	f, err := os.Open(inputs.Path(tb, "attacks", name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			tb.Fatal(err)
		}
		if s.B64 != nil {
			s.Text = string(s.B64)
		}
		samples = append(samples, s)
	}
	if err := lines.Err(); err != nil {
		tb.Fatal(err)
	}
	return samples
}

// tokens are the words of a text as a token could hold them: without spaces,
// at most 40 bytes, a few of each text.
func tokens(s string) (words []string) {
	for _, w := range strings.Fields(s) {
		if len(w) > 40 {
			w = w[:40]
		}
		if words = append(words, w); len(words) == 4 {
			break
		}
	}
	return words
}

// attacks are constructs of one place or another, each to be text everywhere.
var attacks = []string{
	"", " ", "  ", "`", "``", "```", "````\n```", " a", "a ", " a ", "`a", "a`", " ` ", "a`` b``` c`d", "~~~", "```sh\nrm\n```",
	"@someone", "cc @octo-org/team and @a", "#12", "GH-12", "octo-org/sample#12", "octo-org/sample@0123456789abcdef0123456789abcdef01234567",
	"0123456789abcdef0123456789abcdef01234567", "0123456", "https://example.com/x?a=b", "www.example.com", "a@example.com", "<https://example.com>",
	"mailto:a@example.com", "xmpp:a@example.com/b", "[a](https://example.com \"close this\")", "[go](javascript%3Aalert(1))", "[a]: https://example.com",
	"[a][b]", "![a](https://example.com/i.png)", "<img src=x onerror=alert(1)>", "<!-- hidden", "-->", "</details>", "<script>alert(1)</script>",
	"\n- a\n- b", "# head", "> quote", "a | b | c", "|---|---|", "\\|a\\|", "1. a", "a\n===", "***", "/close", "  /approve\n/lgtm", "\n/assign @a",
	"::set-output name=a::b", "  ::add-mask::x", "##[error]x", "##vso[task.setvariable]x", "##teamcity[x]", "a ##[group]", "###[x]",
	"${{ github.token }}", "{{ 7*7 }}", "{% include x %}", "${x}", "#{x}", "<%= x %>", "{{{x}}}", "$${{x}}", "{#x#}",
	"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", " =1", "\"=1", "'=1", "\" '=1", "a;=1", "a,\"=1", "a\t=1", "a|=cmd|' /C calc'!A0", "＝1", "“=1",
	"\x1b[31mred\x1b[0m", "\x1b]8;;https://example.com\aclick\x1b]8;;\a", "\u202egnp.exe", "a\u200bb", "\u2066x\u2069", "\U000E0049\U000E0047", "\u2800\u3164",
	":tada:", ":+1:", "$x$", "$$x$$", "$`x`$", "[^1]", "[^1]: note", "&lt;b&gt;", "&#64;someone", "&commat;someone", "JIRA-123", "#ff00ff", "#fff", "rgb(1,2,3)", "hsl(0, 1%, 2%)",
	"two\nlines", "two\r\nlines", "two\u2028lines", "two\u0085lines", "two\vlines\f", "\x00", "\xff\xfe", "\xe2\x9f", "⟦", "⟧", "⟦U+202E⟧", "⟦⟧", "\ufffd", "\ufeff",
	"می\u200cخواهم", "👨\u200d👩\u200d👧", "1\uFE0F\u20E3", "☃\uFE0F", "क्\u200dष", "\u200d\u200d\u200d", "a\u200cb", "\U000E0100", "<@U123>", "<!channel>", "javascript:alert(1)",
	"\\", "\\`", "a\\", "[x", "](https://example.com)", ")", "*a*", "_a_", "~a~", "</code>@a", "`@a`", "`` @a ``", "` | @a | `",
}

// every calls f with each attack and, where it is here, with the corpus: its
// texts, and their words as tokens.
func every(t *testing.T, f func(t testing.TB, s string)) {
	t.Helper()
	for _, s := range attacks {
		f(t, s)
	}
	t.Run("corpus", func(t *testing.T) {
		samples := corpus(t, "payloads.jsonl")
		if len(samples) != 2697 {
			t.Fatalf("%d attack texts: want 2697", len(samples))
		}
		for _, s := range append(samples, corpus(t, "benign.jsonl")...) {
			f(t, s.Text)
			for _, w := range tokens(s.Text) {
				f(t, w)
			}
		}
	})
}

func fuzzed(f *testing.F, check func(t testing.TB, s string)) {
	for _, s := range attacks {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { check(t, s) })
}

// oneLine fails where the written text is more than a line, or holds what
// controls, hides or reorders. It is written from Unicode's properties; a
// joiner or a selector must have something visible on either side.
func oneLine(t testing.TB, s string) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Fatalf("an invalid byte in %q", s)
	}
	var before rune
	for i, r := range s {
		next, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		switch {
		case r == '\u200C' || r == '\u200D':
			if before <= unicode.MaxLatin1 || next <= unicode.MaxLatin1 || unicode.Is(unicode.Cf, before) || unicode.Is(unicode.Cf, next) {
				t.Fatalf("%U hides in %+q", r, s)
			}
		case r == '\uFE0E' || r == '\uFE0F':
			if !unicode.IsSymbol(before) && next != '\u20E3' {
				t.Fatalf("%U hides in %+q", r, s)
			}
		case unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
			t.Fatalf("%U survives: %+q", r, s)
		}
		before = r
	}
}

var (
	expression = regexp.MustCompile(`\$\{|#\{|\{\{|\{%|\{#|<%`)
	logCommand = regexp.MustCompile(`^\s*::|##[A-Za-z]*\[`)
)

// noCommand fails where a template or a runner's log would make a command of
// a line.
func noCommand(t testing.TB, s string) {
	t.Helper()
	if f := expression.FindString(s); f != "" {
		t.Fatalf("%q opens an expression in %+q", f, s)
	}
	if f := logCommand.FindString(s); f != "" {
		t.Fatalf("%q is a command in %+q", f, s)
	}
}

// back fails where a reader does not get the text back from what was shown.
func back(t testing.TB, shown, want string) {
	t.Helper()
	if got, ok := Undo(shown); !ok || got != want {
		t.Fatalf("%+q is read back as %+q, %v: want %+q", shown, got, ok, want)
	}
}
