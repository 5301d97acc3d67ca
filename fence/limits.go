package fence

import (
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// freeNameBytes of a display name do not count towards ContextMaxBytes and are never cut; GitHub allows 255.
const freeNameBytes = 256

// shown says how much of one element a prompt shows.
type shown struct {
	index      int // of the element in the context
	text, name int // bytes of each, from their start
}

// fit chooses what of the elements is shown, oldest first: of each at most MessageMaxBytes (a name has at least
// freeNameBytes), of all together at most ContextMaxBytes. What does not fit is left out from the oldest on; the oldest that fits in part is cut. Cuts fall on
// grapheme boundaries. The voice, at index skip (or -1), is not among them.
func fit(elements []Element, l Limits, skip int) []shown {
	left := l.ContextMaxBytes
	var out []shown
	for i := len(elements) - 1; i >= 0; i-- {
		if i == skip {
			continue
		}
		e := elements[i]
		s := shown{i, cut(e.Text, l.MessageMaxBytes), cut(e.Author.Name, max(l.MessageMaxBytes, freeNameBytes))}
		size := s.text + max(0, s.name-freeNameBytes)
		if size > left {
			s.name = cut(e.Author.Name, min(s.name, freeNameBytes))
			if s.text = cut(e.Text, min(s.text, left)); s.text > 0 {
				out = append(out, s)
			}
			break
		}
		left -= size
		out = append(out, s)
	}
	for a, b := 0, len(out)-1; a < b; a, b = a+1, b-1 {
		out[a], out[b] = out[b], out[a]
	}
	return out
}

// cut gives the last grapheme boundary of s (UAX #29) at or before limit bytes.
func cut(s string, limit int) int {
	if len(s) <= limit {
		return len(s)
	}
	at := restart(s, limit)
	for state, rest := -1, s[at:]; rest != ""; {
		var cluster string
		cluster, rest, _, state = uniseg.FirstGraphemeClusterInString(rest, state)
		if at+len(cluster) > limit {
			break
		}
		at += len(cluster)
	}
	return at
}

// restart gives a place at or before limit that is a grapheme boundary whatever stands before it: between two code
// points that take part in no rule of UAX #29. It is 0 where there is none.
func restart(s string, limit int) int {
	at := limit
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		next, _ := utf8.DecodeRuneInString(s[at:])
		if isIsolated(r) && isIsolated(next) {
			return at
		}
		at -= size
	}
	return 0
}

func isIsolated(r rune) bool {
	if r < utf8.RuneSelf {
		return r >= ' ' && r != 0x7F
	}
	return unicode.IsLetter(r) && r != 0xFF9E && r != 0xFF9F &&
		unicode.In(r, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hebrew, unicode.Arabic, unicode.Han,
			unicode.Hiragana, unicode.Katakana)
}
