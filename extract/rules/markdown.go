package rules

import "strings"

// indexFrom is the index of b at or after i, or the text's length.
func indexFrom(text string, i int, b byte) int {
	if n := strings.IndexByte(text[i:], b); n >= 0 {
		return i + n
	}
	return len(text)
}

func run(text string, i int) int {
	n := 1
	for i+n < len(text) && text[i+n] == text[i] {
		n++
	}
	return n
}

// closingRun is the end of the next run of exactly n backticks, or 0.
func closingRun(text string, i, n int) int {
	for {
		k := strings.IndexByte(text[i:], '`')
		if k < 0 {
			return 0
		}
		i += k
		m := run(text, i)
		i += m
		if m == n {
			return i
		}
	}
}

func opensTag(c byte) bool { return c == '/' || c == '!' || isLetter(c) }

func endsLink(c byte) bool {
	return c <= ' ' || c == ')' || c == ']' || c == '>' || c == '"' || c == '`' || c == '<'
}

// schemeStart is the start of a scheme of letters whose :// is at i, or -1.
func schemeStart(text string, low, i int) int {
	if !strings.HasPrefix(text[i:], "://") {
		return -1
	}
	start := i
	for start > low && isLetter(text[start-1]) {
		start--
	}
	if i-start < 2 {
		return -1
	}
	return start
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }

// trimIndent takes leading blanks off; a tab counts four columns.
func trimIndent(line string) (string, int) {
	indent := 0
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case ' ':
			indent++
		case '\t':
			indent += 4
		default:
			return line[i:], indent
		}
	}
	return "", indent
}

// fenceOf splits a line into its opening run of backticks or tildes and what follows.
func fenceOf(body string) (mark byte, n int, rest string) {
	if body == "" || body[0] != '`' && body[0] != '~' {
		return 0, 0, body
	}
	n = run(body, 0)
	return body[0], n, body[n:]
}

// listItem is what follows a list marker.
func listItem(body string) (string, bool) {
	n := 0
	for n < len(body) && n < 4 && isDigit(body[n]) {
		n++
	}
	switch {
	case n > 0 && n < len(body) && (body[n] == '.' || body[n] == ')'):
	case n == 0 && (body[0] == '-' || body[0] == '*' || body[0] == '+'):
	default:
		return body, false
	}
	rest := body[n+1:]
	if rest != "" && rest[0] != ' ' && rest[0] != '\t' {
		return body, false
	}
	return strings.TrimSpace(rest), true
}

// checkBox recognises "[ ] …" and "[x] …".
func checkBox(item string) (string, bool) {
	if len(item) >= 3 && item[0] == '[' && item[2] == ']' && (item[1] == ' ' || item[1]|0x20 == 'x') {
		return item[3:], true
	}
	return item, false
}

// maxHeading is the longest line, in bytes, that a colon or bold makes a heading.
const maxHeading = 72

func isHeading(body string) bool {
	if body[0] == '#' {
		n := run(body, 0)
		return n <= 6 && (n == len(body) || body[n] == ' ' || body[n] == '\t')
	}
	if len(body) > maxHeading {
		return false
	}
	body = strings.TrimRight(body, " \t")
	bare := strings.TrimRight(body, " \t:")
	for _, mark := range [...]string{"**", "__"} {
		inner, opens := strings.CutPrefix(bare, mark)
		inner, closes := strings.CutSuffix(inner, mark)
		if opens && closes && inner != "" && !strings.Contains(inner, mark) {
			return true
		}
	}
	return bare != "" && bare != body
}

// isRule recognises thematic breaks and the underlines of headings.
func isRule(body string) bool {
	c := body[0]
	if c != '-' && c != '=' && c != '*' && c != '_' {
		return false
	}
	n := 0
	for i := 0; i < len(body); i++ {
		switch body[i] {
		case c:
			n++
		case ' ', '\t':
		default:
			return false
		}
	}
	return n >= 3
}

// fillers are what forms and hurried people put where nothing is to be said.
var fillers = map[string]bool{
	"no response": true, "n/a": true, "na": true, "none": true, "nothing": true, "-": true, "n.a.": true, "...": true,
}

// filler reports whether a line says nothing: a form's "_No response_", or a list marker alone.
func filler(line string) bool {
	line = strings.Trim(line, " \t_*.")
	if len(line) > 12 {
		return false
	}
	return line == "" || fillers[strings.ToLower(line)]
}
