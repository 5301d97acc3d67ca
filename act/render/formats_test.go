package render

import (
	stdcsv "encoding/csv"
	stdjson "encoding/json"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
)

func checkCSV(t testing.TB, s string) {
	t.Helper()
	cell := CSV(s)
	oneLine(t, cell)
	rows, err := stdcsv.NewReader(strings.NewReader("before," + cell + ",after\n" + cell + ",,\n")).ReadAll()
	if err != nil || len(rows) != 2 || len(rows[0]) != 3 || rows[0][0] != "before" || rows[0][2] != "after" || rows[0][1] != rows[1][0] {
		t.Fatalf("%+q does not stay in its cell: %+q, %v", cell, rows, err)
	}
	back(t, rows[0][1], s)
	noCommand(t, rows[0][1])
	if f := formula.FindString(rows[0][1]); f != "" {
		t.Fatalf("%q may be a formula in %+q", f, rows[0][1])
	}
}

// formula is what a spreadsheet may calculate: at the start of the cell or of
// what another program would take for one.
var formula = regexp.MustCompile("(?:^|[,;|\t])[\\s\\p{Z}\"'`]*[=+\\-@＝＋－＠]")

func TestACellStaysOneCellAndIsNoFormula(t *testing.T) { t.Parallel(); every(t, checkCSV) }
func FuzzCSV(f *testing.F)                             { fuzzed(f, checkCSV) }

func checkJSON(t testing.TB, s string) {
	t.Helper()
	doc := JSON(s)
	oneLine(t, doc)
	noCommand(t, doc)
	var got string
	if err := stdjson.Unmarshal([]byte(doc), &got); err != nil {
		t.Fatalf("%+q: %v", doc, err)
	}
	if strings.ContainsAny(doc[1:len(doc)-1], "\"<>&'`") {
		t.Fatalf("%+q could leave a string or a page's script", doc)
	}
	if utf8.ValidString(s) {
		if got != s {
			t.Fatalf("%+q is read back as %+q: want %+q", doc, got, s)
		}
	} else if !strings.Contains(got, "⟦0x") {
		t.Fatalf("%+q does not show the invalid byte of %+q", doc, s)
	}
}

func TestAStringIsReadBackAsItWas(t *testing.T) { t.Parallel(); every(t, checkJSON) }
func FuzzJSON(f *testing.F)                     { fuzzed(f, checkJSON) }

// checkHTML parses a page that holds the text in an element and in attributes
// of both quotes, and finds just that.
func checkHTML(t testing.TB, s string) {
	t.Helper()
	out := HTML(s)
	oneLine(t, out)
	noCommand(t, out)
	if strings.ContainsAny(out, "<>\"'`=") {
		t.Fatalf("%+q holds markup", out)
	}
	z := html.NewTokenizer(strings.NewReader(`<p title="` + out + `" lang='` + out + `'>` + out + `</p>`))
	if z.Next() != html.StartTagToken {
		t.Fatalf("%+q: want a start tag", out)
	}
	tag := z.Token()
	if len(tag.Attr) != 2 || tag.Attr[0].Key != "title" || tag.Attr[1].Key != "lang" || tag.Attr[0].Val != tag.Attr[1].Val {
		t.Fatalf("%+q leaves its attribute: %+q", out, tag)
	}
	back(t, tag.Attr[0].Val, s)
	noCommand(t, tag.Attr[0].Val)
	text := ""
	next := z.Next()
	if next == html.TextToken {
		text = z.Token().Data
		next = z.Next()
	}
	if text != tag.Attr[0].Val || next != html.EndTagToken || z.Next() != html.ErrorToken {
		t.Fatalf("%+q is more than the text %+q", out, text)
	}
	doc, err := html.Parse(strings.NewReader("<p>" + out + "</p>"))
	if err != nil {
		t.Fatal(err)
	}
	elements := 0
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode {
			elements++
		}
	}
	if elements != 4 {
		t.Fatalf("%d elements of %+q: want html, head, body and p", elements, out)
	}
}

func TestHTMLIsTextAndAttributeOnly(t *testing.T) { t.Parallel(); every(t, checkHTML) }
func FuzzHTML(f *testing.F)                       { fuzzed(f, checkHTML) }

func checkTerminal(t testing.TB, s string) {
	t.Helper()
	line := Terminal(s)
	oneLine(t, line)
	if strings.ContainsAny(line, "\u200C\u200D") || logCommand.MatchString(line) {
		t.Fatalf("%+q holds a joiner or a command", line)
	}
	back(t, line, s)
}

func TestALineOfATerminalDoesNothing(t *testing.T) { t.Parallel(); every(t, checkTerminal) }
func FuzzTerminal(f *testing.F)                    { fuzzed(f, checkTerminal) }

// plainLive is what chats, mail readers and trackers make of plain text.
var plainLive = regexp.MustCompile(`(?i)@[\pL\pN_]|://|www\.|(?:javascript|vbscript|data|mailto|xmpp|tel|file):\S|(?:^|[^\pL\pN])#[\pL\pN_]|#\d|<[\pL!@#/?]|^\s*[/!.][\pL\pN]|:[a-z0-9_+-]{1,40}:|&[\pL#]`)

func checkPlain(t testing.TB, s string) {
	t.Helper()
	line := Plain(s)
	oneLine(t, line)
	noCommand(t, line)
	if f := plainLive.FindString(line); f != "" {
		t.Fatalf("%q may be live in %+q", f, line)
	}
	back(t, line, s)
}

func TestPlainTextHoldsNothingThatProgramsFollow(t *testing.T) { t.Parallel(); every(t, checkPlain) }
func FuzzPlain(f *testing.F)                                   { fuzzed(f, checkPlain) }

func TestUndoRefusesWhatNoRendererWrites(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"⟦", "⟦x⟧", "⟦U+202E", "⟦U+202e⟧", "⟦U+0⟧", "⟦U+D800⟧", "⟦U+110000⟧", "⟦U+FFFFFFFFF⟧", "⟦0x41⟧", "⟦0xff⟧", "⟦0x100⟧", "⟦U+⟧", "⟦0x⟧"} {
		if got, ok := Undo(s); ok {
			t.Errorf("%q gave %q", s, got)
		}
	}
}
