package rules

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"decant.dev/extract"
)

// quoteRules is a compiled Quotation.
type quoteRules struct {
	field int
	rules []Sentence
}

// quoteBytes is how much of each part is looked through for a quote.
const quoteBytes = 16 << 10

// quote finds the first sentence of the first rule that has one.
func (x *Extractor) quote(s *scan, q *quoteRules) verdict {
	v := verdict{label: -1}
	f := &x.fields[q.field]
	for _, r := range q.rules {
		for i := 0; i < len(s.pieces); i++ {
			p := s.pieces[i]
			if p.place&r.Where == 0 {
				continue
			}
			// Inline code and addresses are parts of a sentence, though not of prose.
			text := s.elements[p.element].Text
			end := p.end
			if p.place == Prose {
				if p.start > 0 && text[p.start-1] != '\n' {
					continue // in the middle of a line
				}
				end = sentenceEnd(text, p.end)
			}
			at, n := find(text[:end], p.start, min(end, p.start+quoteBytes), r.Min, f)
			if n == 0 {
				continue
			}
			v.raw = appendString(nil, text[at:at+n])
			v.steps = []extract.Step{{
				Field: f.name, Rule: r.ID, Confidence: 100, Element: s.elements[p.element].ID, Offset: at, Length: n,
			}}
			return v
		}
	}
	return v
}

// sentenceEnd is the end of the line in which a span of prose ends, or the comment that follows it there.
func sentenceEnd(text string, end int) int {
	if end == 0 || text[end-1] == '\n' {
		return end
	}
	stop := lineEnd(text, end, len(text))
	if n := strings.Index(text[end:stop], "<!--"); n >= 0 {
		return end + n
	}
	return stop
}

// find is the offset and length of the first sentence that fits.
func find(text string, from, to, least int, f *field) (at, n int) {
	for from < to {
		end := lineEnd(text, from, len(text))
		for start := from; start < end; {
			stop := sentence(text[:end], start)
			a, b := trim(text, start, stop)
			if part := text[a:b]; wordy(part) && utf8.RuneCountInString(part) >= least && f.fits(part) {
				return a, b - a
			}
			start = stop
		}
		from = end
	}
	return 0, 0
}

// sentence is the end of the sentence that starts at; a full stop ends one only before a blank and something that is not
// lower case.
func sentence(line string, at int) int {
	for i := at; i < len(line); {
		r, n := utf8.DecodeRuneInString(line[i:])
		i += n
		switch r {
		case '。', '！', '？', '।', '؟':
			return i
		case '.', '!', '?', '…':
			rest := strings.TrimLeft(line[i:], " ")
			if len(rest) == len(line[i:]) {
				continue
			}
			if next, _ := utf8.DecodeRuneInString(rest); !unicode.IsLower(next) {
				return i
			}
		}
	}
	return len(line)
}

// trim takes blanks and the marks of lists, headings, tables and emphasis off both ends.
func trim(text string, a, b int) (int, int) {
	part := text[a:b]
	left := strings.TrimLeft(part, " \t\r\n#*-+>|=_")
	if item, ok := numbered(left); ok {
		left = item
	}
	a = b - len(left)
	return a, a + len(strings.TrimRight(left, " \t\r\n*|_"))
}

// numbered takes "1. " off.
func numbered(s string) (string, bool) {
	if s == "" {
		return s, false
	}
	if _, ok := listItem(s); !ok || !isDigit(s[0]) {
		return s, false
	}
	return strings.TrimLeft(s, "0123456789.) \t\r\n"), true
}

// wordy reports that a part is more than marks, numbers and addresses: it has two words with letters in them.
func wordy(part string) bool {
	words, in := 0, false
	for _, r := range part {
		switch {
		case unicode.In(r, unspaced...):
			words++
		case unicode.IsLetter(r):
			if !in {
				words++
			}
			in = true
		case r == ' ':
			in = false
		}
		if words >= 2 {
			return true
		}
	}
	return false
}
