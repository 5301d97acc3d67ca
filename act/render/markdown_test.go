package render

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"

	"decant.dev/act/plan"
)

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM, extension.Footnote), goldmark.WithRendererOptions(html.WithUnsafe()))

// page is what GitHub's Markdown makes of a comment, raw HTML included.
func page(t testing.TB, source string) string {
	t.Helper()
	var b bytes.Buffer
	if err := gfm.Convert([]byte(source), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// inCode is what stands in a code span or block: a parser has escaped every <
// of it, so the first end tag is its own.
var inCode = regexp.MustCompile(`(?s)<code[^>]*>.*?</code>`)

// gitHubLive is what GitHub makes of a page's text outside of code: mentions
// of people and teams, references, commits, addresses, emoji, mathematics
// (GitHub Docs: "Basic writing and formatting syntax", "Autolinked references
// and URLs", "Writing mathematical expressions").
var gitHubLive = regexp.MustCompile(`(?i)@[a-z0-9]|#[0-9]|\bgh-[0-9]|\b[0-9a-f]{7,40}\b|https?:|ftp:|www\.|mailto:|xmpp:|:[a-z0-9_+-]+:|\$|\b[a-z]+-[0-9]+\b`)

// checkMarkdown finds one paragraph with one code span, whose content is the
// text, and in the source no command.
func checkMarkdown(t testing.TB, s string) {
	t.Helper()
	out := Markdown(s)
	oneLine(t, out)
	noCommand(t, out)
	source := []byte(out)
	doc := gfm.Parser().Parse(text.NewReader(source))
	p := doc.FirstChild()
	if p == nil || p.NextSibling() != nil || p.Kind() != ast.KindParagraph {
		t.Fatalf("%+q of %+q is no paragraph", out, s)
	}
	code := p.FirstChild()
	if code == nil || code.NextSibling() != nil || code.Kind() != ast.KindCodeSpan {
		t.Fatalf("%+q of %+q is no code span", out, s)
	}
	var content []byte
	for c := code.FirstChild(); c != nil; c = c.NextSibling() {
		content = append(content, c.(*ast.Text).Value(source)...)
	}
	back(t, string(content), s)
	if colourChip.Match(content) {
		t.Fatalf("%+q would be painted", out)
	}
	if left := inCode.ReplaceAllString(page(t, out), ""); left != "<p></p>\n" {
		t.Fatalf("%+q leaves %+q outside of code", out, left)
	}
	if !strings.HasPrefix(out, "`") {
		t.Fatalf("%+q begins a line with a text's own character", out)
	}
}

// colourChip is the list of forms that GitHub documents, each alone in a span.
var colourChip = regexp.MustCompile(`(?i)^\s*(?:#(?:[0-9a-f]{3}){1,2}|rgba?\(.*\)|hsla?\(.*\))\s*$`)

func TestATextIsOneCodeSpanInMarkdown(t *testing.T) { t.Parallel(); every(t, checkMarkdown) }
func FuzzMarkdown(f *testing.F)                     { fuzzed(f, checkMarkdown) }

// said makes pieces of constants, with s where a constant is "…".
func said(s string, parts ...string) (pieces []plan.Piece) {
	for _, p := range parts {
		if p == "…" {
			pieces = append(pieces, plan.Piece{Text: s, Foreign: true})
			continue
		}
		pieces = append(pieces, plan.Piece{Text: p})
	}
	return pieces
}

// templates are what recipes say, with a text at the start, in the middle, at
// the end and in each block.
var templates = [][]string{
	{"…"}, {"You wrote: ", "…"}, {"…", " is not a version."}, {"a ", "…", " b ", "…", " c"}, {"…", "…"}, {"…", "", "…"},
	{"# ", "…", "\n\ntext"}, {"- ", "…", "\n- ", "…"}, {"> ", "…", "\n> more"}, {"1. **", "…", "**\n"}, {"(", "…", ")"},
	{"| a | b |\n|---|---|\n| ", "…", " | ", "…", " |\n"}, {"head\n:-\n", "…", "\n"}, {"    ", "…"}, {"~~~\n", "…", "\n~~~\nafter"}, {"text\n", "…", "\n---\n"},
	{"run `decant doctor`, not ", "…", ", twice"}, {"a ` b ", "…", " c `` d ", "…", " ` e"}, {"```\n", "…", "\n```\n\n", "…"}, {"````\n", "…"},
	{"<!-- ours -->\n\n", "…", "\n\n<details>\n\n", "…", "\n\n</details>"}, {"see [the guide](https://example.org/g) for ", "…"}, {"- [ ] ", "…"}, {"> [!NOTE]\n> ", "…"},
	{"costs $5\n\n", "…", "\n\n$6"}, {"a *", "…", "* b _", "…", "_ ~~", "…", "~~"}, {"line\\\n", "…"}, {"text: \"", "…", "\""},
}

// checkTemplate compares the page with that of an honest text: it differs
// within code only.
func checkTemplate(t testing.TB, s string, parts []string) {
	t.Helper()
	out, err := Template(said(s, parts...))
	honest, err2 := Template(said("honest", parts...))
	if (err == nil) != (err2 == nil) {
		t.Fatalf("%q decides by the text: %v, %v", parts, err, err2)
	}
	if err != nil {
		return
	}
	left, want := inCode.ReplaceAllString(page(t, out), ""), inCode.ReplaceAllString(page(t, honest), "")
	if left != want {
		t.Fatalf("%q with %+q is\n%+q\nwhose page outside of code is\n%+q\nwant\n%+q", parts, s, out, left, want)
	}
	if strings.Contains(want, "honest") {
		t.Fatalf("%q with an honest text stands outside of code: %+q", parts, page(t, honest))
	}
	if lines := strings.Count(strings.Join(parts, ""), "\n"); strings.Count(out, "\n") != lines {
		t.Fatalf("%q has %d lines in %+q", parts, lines, out)
	}
}

func TestATextInATemplateStaysInCode(t *testing.T) {
	t.Parallel()
	for _, parts := range templates {
		if _, err := Template(said("x", parts...)); err != nil {
			t.Errorf("%q: %v", parts, err)
		}
	}
	every(t, func(t testing.TB, s string) {
		n := len(s) % len(templates)
		for i, parts := range templates {
			// Alone, in the middle and at the start, and in one of six others.
			if i < 3 || (i+n)%6 == 0 && len(s) > 40 {
				checkTemplate(t, s, parts)
			}
		}
	})
}

func TestEachAttackInEachTemplateStaysInCode(t *testing.T) {
	t.Parallel()
	for _, parts := range templates {
		for _, s := range attacks {
			checkTemplate(t, s, parts)
		}
	}
}

// What a constant makes live around a text is refused, whatever the text.
func TestATemplateThatOpensATextUpIsRefused(t *testing.T) {
	t.Parallel()
	for _, parts := range [][]string{
		{"\\", "…"}, {"@", "…"}, {"#", "…"}, {"GH-", "…"}, {"@a/", "…"}, {"v", "…"}, {"a*", "…", "*"}, {"`", "…", "`"}, {"…", "`"}, {"[a](", "…", ")"}, {"[", "…", "](https://example.org)"}, {"[a]: ", "…"}, {"![", "…", "](x)"}, {"[^1]: ", "…"},
		{"<a title=\"", "…", "\">"}, {"<div>\n", "…"}, {"<!-- ", "…", " -->"}, {"<!-- a\n\n", "…"}, {"<pre>\n\n", "…"}, {"<script>\n\n", "…"}, {"<?\n\n", "…"},
		{"$", "…", "$"}, {"$$\n\n", "…"}, {"a $ ", "…", " $"}, {"https://example.org/", "…"}, {"www.example.org/", "…"}, {"mailto:a@", "…"}, {"a@b.", "…"},
		{"\x00", "…"}, {"a\r", "…"}, {"<https://example.org/", "…", ">"}, {"[a](https://example.org '", "…", "')"},
	} {
		if out, err := Template(said("x", parts...)); err == nil {
			t.Errorf("%q gave %q", parts, out)
		}
		if _, ok := InMarkdown.Pieces(said("x", parts...)); ok {
			t.Errorf("%q has a place", parts)
		}
	}
}

func TestConstantsStandAsTheyAre(t *testing.T) {
	t.Parallel()
	const own = "<!-- a\n```\n[x]: $$ `"
	if out, err := Template(said("x", own)); err != nil || out != own {
		t.Errorf("got %q, %v", out, err)
	}
	out, err := Template(said("v1.2.3", "Is ", "…", " **fixed**, says `doctor`?"))
	if want := "Is ``v1.2.3`` **fixed**, says `doctor`?"; err != nil || out != want {
		t.Errorf("got %q, %v, want %q", out, err, want)
	}
}

// Whatever constants a recipe has, they are refused or the text stays in code.
func FuzzTemplate(f *testing.F) {
	for i, parts := range templates {
		f.Add(strings.Join(parts[:min(1, len(parts)-1)], ""), attacks[i*3], "after", "")
	}
	for _, s := range []string{"|a|\n|-|\n|", "<b>", "[a](b)", "`", "\\", "~~~\n", "<!-- a -->", "$", ":-\n", "* ", "\t", "https://a/"} {
		f.Add(s, "` | @a <i> [x](y) $", s, s)
	}
	f.Fuzz(func(t *testing.T, before, s, between, after string) {
		if strings.Contains(before+between+after, "…") || strings.Contains(before+between+after, "honest") || strings.Contains(before+between+after, "code") {
			return // a constant that looks like the test's own marks
		}
		checkTemplate(t, s, []string{before, "…", between, "…", after})
	})
}

// The scanner of what GitHub adds to CommonMark finds each of its constructs
// in plain text, and nothing where Template wrote it.
func TestNothingOfGitHubsOwnIsLive(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"@a", "@a/b", "#1", "GH-1", "a/b#1", "0123456789abcdef0123456789abcdef01234567", "https://a", "www.a", "mailto:a@b", ":tada:", "$x$", "JIRA-1"} {
		if !gitHubLive.MatchString(s) {
			t.Errorf("the scanner does not find %q", s)
		}
	}
	every(t, func(t testing.TB, s string) {
		out, err := Template(said(s, "You wrote ", "…", " and ", "…"))
		if err != nil {
			t.Fatal(err)
		}
		left := inCode.ReplaceAllString(page(t, out), "")
		if f := gitHubLive.FindString(left); f != "" {
			t.Fatalf("%q is live in %+q", f, left)
		}
	})
}
