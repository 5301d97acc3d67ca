// Package htmltext turns HTML into the text that a person would read of it.
//
// The threat is a document that says one thing to a reader and another to
// whatever reads it for them. So what a reader would not see is left out and
// counted: comments, templates, and text that CSS, in the element or in the
// document's own sheets, or an attribute hides. What is in attributes alone, as
// a title or an alternative text, is no text.
//
// Not promised: that nothing hidden is left. No layout is computed, no script
// runs, pictures and sheets elsewhere are not looked at, and a sheet is
// followed up to a bound of work. The text is data whichever it is.
package htmltext

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Text is the text of an HTML document or fragment in UTF-8: paragraphs with an
// empty line between, lists with "- ", quotes with "> ", cells with a tab
// between. hidden counts the characters that were left out because a reader
// would not see them, white space apart; scripts and style sheets are no text
// and are not counted. A document that is nested deeper than 512 elements is
// all hidden: no browser shows it as it is written.
func Text(document []byte) (text string, hidden int) {
	root, err := html.ParseWithOptions(bytes.NewReader(document), html.ParseOptionEnableScripting(false))
	if err != nil {
		return "", letters(string(document))
	}
	w := walk{sheet: sheetOf(root)}
	w.node(root, initial)
	return strings.TrimRight(w.out.String(), " \t\n"), w.hidden
}

// maxQuote is how many marks a quoted line has at most, so that nesting does
// not multiply a text.
const maxQuote = 8

// walk is one pass over a document.
type walk struct {
	sheet  sheet
	out    strings.Builder
	hidden int
	lines  int  // line feeds due before the next text
	space  bool // a space is due before the next text
	begun  bool // the line has text
	quote  int  // depth of quotes
	quoted int  // and of the last line
}

// letters counts the characters of a text that are no white space.
func letters(s string) int {
	n := 0
	for _, r := range s {
		if !unicode.IsSpace(r) {
			n++
		}
	}
	return n
}

func (w *walk) node(n *html.Node, s style) {
	switch n.Type {
	case html.CommentNode:
		w.hidden += letters(n.Data)
		return
	case html.TextNode:
		if s.unseen() {
			w.hidden += letters(n.Data)
		} else {
			w.text(n.Data, s.pre)
		}
		return
	case html.ElementNode:
		switch n.DataAtom {
		case atom.Script, atom.Style, atom.Title, atom.Iframe, atom.Object:
			return
		case atom.Template, atom.Noscript, atom.Noframes, atom.Datalist:
			s.gone = true
		case atom.Br:
			w.end(s)
			return
		}
		s = w.sheet.of(n, s)
	}
	before, after := around(n)
	if s.gone {
		before, after = 0, 0
	}
	w.lines = max(w.lines, before)
	quoted := n.DataAtom == atom.Blockquote
	if quoted {
		w.quote++
	}
	if !s.unseen() {
		switch n.DataAtom {
		case atom.Li:
			w.text("- ", true)
		case atom.Td, atom.Th:
			if w.begun && w.lines == 0 {
				w.out.WriteByte('\t')
				w.space = false
			}
		}
	}
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		w.node(c, s)
	}
	if quoted {
		w.quote--
	}
	w.lines = max(w.lines, after)
}

// end ends a line; two in a row leave an empty one.
func (w *walk) end(s style) {
	if !s.unseen() {
		w.lines = min(w.lines+1, 2)
	}
}

// around is how many line feeds stand before and after an element's text.
func around(n *html.Node) (before, after int) {
	if n.Type != html.ElementNode {
		return 0, 0
	}
	switch n.DataAtom {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Dl, atom.Pre, atom.Blockquote,
		atom.Table, atom.Figure, atom.Hr, atom.Fieldset:
		return 2, 2
	case atom.Div, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main, atom.Aside,
		atom.Nav, atom.Address, atom.Form, atom.Center, atom.Figcaption, atom.Details, atom.Summary, atom.Caption, atom.Body,
		atom.Textarea, atom.Option, atom.Legend:
		return 1, 1
	}
	return 0, 0
}

// text writes a text: white space becomes one space, unless it is kept.
func (w *walk) text(s string, keep bool) {
	for s != "" {
		at := strings.IndexFunc(s, blank)
		if at < 0 {
			w.word(s)
			return
		}
		if at > 0 {
			w.word(s[:at])
			s = s[at:]
		}
		r, n := utf8.DecodeRuneInString(s)
		s = s[n:]
		switch {
		case !keep:
			w.space = true
		case r == '\n':
			w.lines = min(w.lines+1, 3)
		case r == '\t':
			w.word("\t")
		case r != '\r':
			w.word(" ")
		}
	}
}

// blank is the white space of HTML, and the no-break space.
func blank(r rune) bool {
	switch r {
	case ' ', '\t', '\n', '\r', '\f', '\u00a0':
		return true
	}
	return false
}

// word writes what has no white space, after the line feeds and the space that
// are due.
func (w *walk) word(s string) {
	if w.out.Len() == 0 {
		w.lines, w.space = 0, false
		w.quoteMark()
	}
	if w.lines > 0 {
		for i := range w.lines {
			if i > 0 {
				w.out.WriteString(strings.Repeat(">", min(w.quote, w.quoted)))
			}
			w.out.WriteByte('\n')
		}
		w.lines, w.space, w.begun = 0, false, false
		w.quoteMark()
	}
	if w.space && w.begun {
		w.out.WriteByte(' ')
	}
	w.space, w.begun = false, true
	w.out.WriteString(s)
}

func (w *walk) quoteMark() {
	w.quoted = min(w.quote, maxQuote)
	w.out.WriteString(strings.Repeat("> ", w.quoted))
}
