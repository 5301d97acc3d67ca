package render

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"decant.dev/act/plan"
)

// Markdown renders a text as one code span of GitHub's Markdown.
//
// In a code span nothing of CommonMark or of its GitHub extensions is live,
// and GitHub makes no mention, reference, commit link, own autolink, emoji or
// mathematics of what stands in one. A backslash would not do: GitHub looks
// for these in the text that the Markdown has become, where "\@name" is
// "@name" again. An invisible character between would do, and would be one
// more thing that readers cannot see and that copying takes along.
//
// The span's marks are the shortest run of backticks that the text does not
// hold, so that backticks stay as they are. The line begins with a backtick,
// so no command stands at its start. Template expressions, the commands of a
// runner's log, and a colour that GitHub would paint are broken by an escape.
// An empty text is ⟦⟧.
//
// A reader has the text back by taking the span's content and calling Undo.
// Among constants use Template: what stands around a span can open it up.
func Markdown(s string) string { return span(spanText(s, carries), 0) }

func spanText(s string, live func(spot) bool) string {
	if s == "" {
		return "⟦⟧"
	}
	v := visible(s, hiddenOnPage, live)
	if colour.MatchString(v) {
		v = escaped(rune(v[0])) + v[1:]
	}
	return v
}

// colour is what GitHub paints a sample of where it is all that a code span
// holds (GitHub Docs, "Basic writing and formatting syntax", colors).
var colour = regexp.MustCompile(`(?i)^(#[0-9a-f]{3,8}|(rgb|hsl)a?\([^)]*\))$`)

// span encloses content, which is one line and not empty, in marks that are
// longer than taken. CommonMark takes one space from either end of a span
// that has one at both, so two are added where that would take the text's own
// and where a backtick would touch a mark.
func span(content string, taken int) string {
	n := taken + 1
	for runs := runsOf(content); slices.Contains(runs, n); {
		n++
	}
	marks := strings.Repeat("`", n)
	first, last := content[0], content[len(content)-1]
	if first == '`' || last == '`' || first == ' ' && last == ' ' && strings.Trim(content, " ") != "" {
		content = " " + content + " "
	}
	return marks + content + marks
}

// runsOf lists the lengths of the runs of backticks in s.
func runsOf(s string) (lengths []int) {
	n := 0
	for i := range len(s) + 1 {
		switch {
		case i < len(s) && s[i] == '`':
			n++
		case n > 0:
			if !slices.Contains(lengths, n) {
				lengths = append(lengths, n)
			}
			n = 0
		}
	}
	return lengths
}

// Template renders a comment of constants in the author's own Markdown, which
// stand as they are, and foreign pieces, each a code span. Two spans that
// would touch have a space between them.
//
// A constant can open what a code span does not close: HTML, a link's target,
// mathematics, a code span of its own, a table. So a backtick, a bar or a
// dollar in a foreign piece is escaped where any constant could pair with it,
// marks are longer than any run of backticks in a constant, and it is an error, which
// names the constant's fault, for a foreign piece to stand
//
//   - right before a backtick, and right after anything but a space, a mark
//     of emphasis and one of ( " > : , ; and opening quotation marks: a
//     backslash would undo the span, and to some parsers "a`b@c.d`" is mail;
//   - in one paragraph with "<", "$" or a bracket, but for complete links in
//     one constant, the box of a task and the head of an alert;
//   - at the end of an address of the web, or in one of mail;
//
// and for any constant of such a template to hold what outlasts a blank line:
// an open HTML comment, other declarations, pre, script, style and textarea,
// and "$$".
func Template(pieces []plan.Piece) (string, error) {
	var sb strings.Builder
	foreign := false
	for _, p := range pieces {
		foreign = foreign || p.Foreign
		sb.WriteString(p.Text)
	}
	if !foreign {
		return sb.String(), nil
	}
	var constants strings.Builder // each foreign piece as one NUL
	for _, p := range pieces {
		switch {
		case p.Foreign:
			constants.WriteByte(0)
		case strings.ContainsAny(p.Text, "\x00\r"):
			return "", errors.New("template: want constants without NUL and carriage return")
		default:
			constants.WriteString(p.Text)
		}
	}
	around := constants.String()
	if err := hold(around); err != nil {
		return "", err
	}
	// A backslash can shorten a run, so every length up to the longest is taken.
	taken := slices.Max(append(runsOf(around), 0))
	pairs := ""
	if taken > 0 {
		pairs += "`"
	}
	if strings.Contains(around, "$") {
		pairs += "$"
	}
	if strings.Contains(around, "|") || strings.Contains(around, ":-") || strings.Contains(around, "-:") {
		pairs += "|"
	}
	live := func(p spot) bool { return carries(p) || p.r <= '~' && strings.ContainsRune(pairs, p.r) }
	sb.Reset()
	touching := false
	for _, p := range pieces {
		switch {
		case p.Text == "" && !p.Foreign:
			continue
		case !p.Foreign:
			sb.WriteString(p.Text)
		default:
			if touching {
				sb.WriteByte(' ')
			}
			sb.WriteString(span(spanText(p.Text, live), taken))
		}
		touching = p.Foreign
	}
	return sb.String(), nil
}

var (
	blankLine = regexp.MustCompile(`\n[ \t]*\n`)
	complete  = regexp.MustCompile(`\[[^\[\]\n\x00]*\]\([^()<>\s\x00]*\)|(?m:^[ \t>]*(?:[-*+]|[0-9]{1,9}[.)])[ \t]+\[[ xX]\][ \t])|(?m:^[ \t]*>[ \t]*\[![A-Z]+\][ \t]*$)`)
	meets     = regexp.MustCompile("[^\\s\x00(\"“‘«>:,;*_~][*_~]*\x00|\x00`")
	address   = regexp.MustCompile(`(?i)(?:://|www\.|mailto:|xmpp:|@)[^\s\x00]*\x00|\x00[^\s\x00]*@`)
	comment   = regexp.MustCompile(`<!--[^<>\x00-]*(?:-[^<>\x00-]+)*-->`)
	outlasts  = regexp.MustCompile(`(?i)<[!?]|<(?:pre|script|style|textarea)\b|\$\$`)
)

// hold reports what in the constants reaches over a foreign piece, a NUL.
func hold(around string) error {
	// A comment ends where it says, whatever blank lines it holds.
	around = comment.ReplaceAllString(around, "<x>")
	if f := outlasts.FindString(around); f != "" {
		return fmt.Errorf("template: constant holds %q: want nothing that outlasts a paragraph beside a handle", f)
	}
	if f := meets.FindString(around); f != "" {
		return fmt.Errorf("template: a constant meets a handle with %.64q: want a space between", strings.Trim(f, "\x00"))
	}
	if address.MatchString(around) {
		return errors.New("template: a handle is part of an address: want a space between")
	}
	for _, paragraph := range blankLine.Split(around, -1) {
		if !strings.Contains(paragraph, "\x00") {
			continue
		}
		left := complete.ReplaceAllString(paragraph, "")
		if i := strings.IndexAny(left, "<$[]"); i >= 0 {
			return fmt.Errorf("template: constant holds %q in a handle's paragraph: want it in a paragraph of its own", left[i])
		}
	}
	return nil
}
