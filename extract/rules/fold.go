package rules

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// folded is text made comparable: lower case by simple folding (Unicode's CaseFolding.txt, statuses C and S), runs of blanks
// and line ends as one space, typographic apostrophes as '. marks leads back to the source: it has an entry wherever the
// distance between the two changes.
type folded struct {
	buf   []byte
	marks []mark
	wide  bool // it holds more than ASCII
}

type mark struct{ buf, src int }

// foldLow holds the folding of what has case below the scripts without it.
var foldLow = func() (t [0x590]rune) {
	for r := range t {
		t[r] = foldRune(rune(r))
	}
	return t
}()

// foldASCII also maps the blanks to a space; the other controls stay.
var foldASCII = func() (t [utf8.RuneSelf]byte) {
	for c := range t {
		t[c] = byte(unicode.ToLower(rune(c)))
	}
	t['\t'], t['\n'], t['\r'], t['\v'], t['\f'] = ' ', ' ', ' ', ' ', ' '
	return t
}()

func foldRune(r rune) rune {
	low := r
	for x := unicode.SimpleFold(r); x != r; x = unicode.SimpleFold(x) {
		low = min(low, x)
	}
	return unicode.ToLower(low)
}

func fold(r rune) rune {
	switch {
	case int(r) < len(foldLow):
		if r == 0xA0 {
			return ' '
		}
		return foldLow[r]
	case r == 0x2018 || r == 0x2019 || r == 0x02BC:
		return '\''
	case 0x2000 <= r && r <= 0x200A || r == 0x202F || r == 0x3000:
		return ' '
	case r < 0x10A0, 0x3000 <= r && r < 0xA640, 0xAC00 <= r && r < 0xD800: // scripts without case
		return r
	default:
		return foldRune(r)
	}
}

// append adds src, whose first byte is at offset base of the source. Blanks next to blanks are dropped also across calls.
func (f *folded) append(src string, base int) {
	if src == "" {
		return
	}
	f.mark(base)
	buf := slices.Grow(f.buf, len(src))
	space := len(buf) > 0 && buf[len(buf)-1] == ' '
	dropped := false
	for i := 0; i < len(src); {
		if c := src[i]; c < utf8.RuneSelf {
			c = foldASCII[c]
			i++
			if c == ' ' && space {
				dropped = true
				continue
			}
			if dropped {
				f.marks = append(f.marks, mark{len(buf), base + i - 1})
				dropped = false
			}
			space = c == ' '
			buf = append(buf, c)
			for i < len(src) && foldASCII[src[i]&0x7F] > ' ' && src[i] < utf8.RuneSelf {
				buf = append(buf, foldASCII[src[i]&0x7F])
				i, space = i+1, false
			}
			continue
		}
		f.wide = true
		r, n := utf8.DecodeRuneInString(src[i:])
		if r == utf8.RuneError && n == 1 {
			buf, space, i = append(buf, src[i]), false, i+1
			f.marks, dropped = append(f.marks, mark{len(buf) - 1, base + i - 1}), false
			continue
		}
		to := fold(r)
		if to == ' ' && space {
			i, dropped = i+n, true
			continue
		}
		at := len(buf)
		buf = utf8.AppendRune(buf, to)
		if dropped {
			f.marks = append(f.marks, mark{at, base + i})
			dropped = false
		}
		i, space = i+n, to == ' '
		if len(buf)-at != n && i < len(src) {
			f.marks = append(f.marks, mark{len(buf), base + i})
		}
	}
	f.buf = buf
}

func (f *folded) mark(src int) { f.marks = append(f.marks, mark{len(f.buf), src}) }

// source is the offset in the source of the byte at buffer position pos, which is at least the first mark's.
func (f *folded) source(pos int) int {
	lo, hi := 0, len(f.marks)
	for lo < hi {
		if m := (lo + hi) / 2; f.marks[m].buf <= pos {
			lo = m + 1
		} else {
			hi = m
		}
	}
	m := f.marks[lo-1]
	return m.src + pos - m.buf
}

// foldString folds a word of a rule.
func foldString(s string) string {
	var f folded
	f.append(s, 0)
	return string(f.buf)
}

// isWord reports whether r can stand inside a word.
func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '_' || '0' <= r && r <= '9' || isLetter(byte(r))
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// unspaced are scripts that write words without spaces between them, and Hangul, whose particles follow a word at once.
var unspaced = []*unicode.RangeTable{
	unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar, unicode.Hangul,
}

// bounded reports whether a word boundary is wanted beside r, the first or last character of a rule's word.
func bounded(r rune) bool {
	return isWord(r) && (r < utf8.RuneSelf || !unicode.In(r, unspaced...))
}

// freeBefore and freeAfter report whether a position in folded text is no inside of a word.
func freeBefore(buf []byte, at int) bool {
	if at == 0 {
		return true
	}
	if c := buf[at-1]; c < utf8.RuneSelf {
		return !isWord(rune(c))
	}
	r, _ := utf8.DecodeLastRune(buf[:at])
	return !isWord(r)
}

func freeAfter(buf []byte, at int) bool {
	if at == len(buf) {
		return true
	}
	if c := buf[at]; c < utf8.RuneSelf {
		return !isWord(rune(c))
	}
	r, _ := utf8.DecodeRune(buf[at:])
	return !isWord(r)
}
