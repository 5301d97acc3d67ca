package learned

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"decant.dev/fence"
)

// own is a body without what it quotes, as fence.SplitQuotes has it: a quoted part comes as an element of its own where
// the author holds trigger, and within the text where not, and a model is to read both alike.
func own(text string) string {
	text = clip(text, MaxBody)
	switch glance(text) {
	case plain:
		return text
	case marked:
		return unmarked(text)
	default:
		text, _ = fence.SplitQuotes(text)
		return text
	}
}

// sight is what a glance at a line or a text finds. It is there for speed: most texts quote nothing, or mark each
// line that they quote.
type sight uint8

const (
	unclear sight = iota // SplitQuotes has to look
	plain                // no quote
	marked               // a line that starts with >, or a text whose quotes are such lines
)

func glance(text string) sight {
	for rest := text; ; {
		n := strings.IndexByte(rest, '<')
		if n < 0 {
			break
		}
		if rest = rest[n+1:]; len(rest) > 1 && rest[0]|0x20 == 'b' && rest[1]|0x20 == 'l' {
			return unclear // <blockquote>
		}
	}
	found, before := plain, ""
	for len(text) > 0 {
		line := text
		if n := strings.IndexByte(text, '\n'); n >= 0 {
			line, text = text[:n], text[n+1:]
		} else {
			text = ""
		}
		switch lineSight(line, before) {
		case plain:
		case marked:
			found = marked
		default:
			return unclear
		}
		before = line
	}
	return found
}

// unmarked leaves out the lines that start with >.
func unmarked(text string) string {
	var sb strings.Builder
	sb.Grow(len(text))
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimLeft(line, " \t\r"), ">") {
			sb.WriteString(line)
		}
	}
	return sb.String()
}

// lineSight looks at both ends of a line, between blanks.
func lineSight(line, before string) sight {
	line = strings.Trim(line, " \t\r")
	if line == "" {
		return plain
	}
	if c := line[0]; c < ' ' || c == 0x7f || c >= utf8.RuneSelf && !speaks(line) {
		return unclear // may be skipped, or be a sign in another spelling
	}
	switch c := line[len(line)-1]; {
	case c < ' ' || c == 0x7f:
		return unclear
	case c >= utf8.RuneSelf:
		if r, _ := utf8.DecodeLastRuneInString(line); !seen(r) {
			return unclear // skipped, with a colon before it, or a colon
		}
	}
	found := plain
	switch c := line[0]; {
	case c == '>':
		found = marked
	case c == '&':
		return unclear
	case c == '-' && len(line) > 8 && line[1] == '-' && line[len(line)-1] == '-' && strings.Trim(line, "-| ") != "":
		return unclear
	case startsHeader(line):
		return unclear
	case c|0x20 == 'b' && len(line) >= 7 && strings.EqualFold(line[:7], "begin f"):
		return unclear
	}
	if line[len(line)-1] == ':' && (attributes(line) || attributes(before)) {
		return unclear
	}
	return found
}

// senders are the names of the header From that begin in ASCII.
var senders = [...]string{"from", "von", "de", "da", "van", "fra", "od", "fr"} // the last for från

func startsHeader(line string) bool {
	line = strings.TrimPrefix(line, "*")
	if line == "" || line[0] >= utf8.RuneSelf {
		return line != ""
	}
	for _, s := range senders {
		if len(line) > len(s) && strings.EqualFold(line[:len(s)], s) {
			rest := line[len(s):]
			if rest = strings.TrimLeft(rest, " \t\r"); rest == "" || rest[0] == ':' || rest[0] >= utf8.RuneSelf {
				return true
			}
		}
	}
	return false
}

// speaks reports whether a line begins with a letter or a symbol that is no sign, and with no header of a mail.
func speaks(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	head := clip(line, 48)
	return seen(r) && r != '＞' && r != '﹥' && !strings.Contains(head, ":") && !strings.Contains(head, "：")
}

// seen reports whether a rune beyond ASCII is surely drawn, and no colon. The fillers of Hangul are letters that are not.
func seen(r rune) bool {
	switch r {
	case '：', 0x115F, 0x1160, 0x3164, 0xFFA0, utf8.RuneError:
		return false
	}
	return unicode.IsLetter(r) || unicode.IsPunct(r) || unicode.IsSymbol(r)
}

// verbs are what an attribution in ASCII has, in lower case.
var verbs = [...]string{"@", "wrote", "schrieb", "skrev", "scritto", "escreveu", "schreef"}

func attributes(line string) bool {
	if len(line) > 1024 {
		return false // longer than any attribution
	}
	for i := 0; i < len(line); i++ {
		if line[i] >= utf8.RuneSelf {
			return true
		}
	}
	line = strings.ToLower(line)
	for _, v := range verbs {
		if strings.Contains(line, v) {
			return true
		}
	}
	return false
}
