package fence

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

// lineMark starts every line of a block's content.
const lineMark = "┃ "

// form is how line ends are written.
type form uint8

const (
	_        form = iota
	formLF        // every LF starts a marked line; every CR is escaped
	formCRLF      // every LF has a CR before it, which is left out; any other CR is escaped
	formLine      // one line: LF and CR are escaped
)

// formOf chooses between LF and CRLF for a block.
func formOf(text string) form {
	if first := strings.IndexByte(text, '\n'); first < 1 || text[first-1] != '\r' {
		return formLF
	}
	if strings.Count(text, "\n") != strings.Count(text, "\r\n") {
		return formLF
	}
	return formCRLF
}

// action is what the byte loop does with a byte below 0x80.
type action uint8

const (
	pass    action = iota // copied
	feed                  // LF
	control               // escaped
	opener                // < or &: copied unless it starts a look-alike marker
)

var ascii = func() (t [128]action) {
	for c := range 0x20 {
		t[c] = control
	}
	t['\t'], t['\n'], t[0x7F] = pass, feed, control
	t['<'], t['&'] = opener, opener
	return t
}()

// plain has a bit for each code point of the BMP that is copied wherever it stands. Surrogates have none, nor has what
// would be an overlong form, so a decoder needs to check the continuation bits only.
var plain = func() *[1024]uint64 {
	var t [1024]uint64
	for i := range t {
		t[i] = ^uint64(0)
	}
	clear := func(lo, hi rune) {
		for r := lo; r <= hi && r <= 0xFFFF; r++ {
			t[r>>6] &^= 1 << (r & 63)
		}
	}
	clear(0, 0x7F) // in two bytes an overlong form
	clear(0xD800, 0xDFFF)
	for _, spans := range [][]span{ignorable, deceptive} {
		for _, s := range spans {
			clear(s.lo, s.hi)
		}
	}
	for r := range openers {
		clear(r, r)
	}
	return &t
}()

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special gives a word whose lowest set bit marks the first of eight bytes that needs a look: below 0x20, above 0x7E, <
// or &. (Borrows make false marks, but only above a true one.)
func special(x uint64) uint64 {
	lt, amp, del := x^('<'*ones), x^('&'*ones), x^(0x7F*ones)
	return (x | (x-0x20*ones)&^x | (lt-ones)&^lt | (amp-ones)&^amp | (del-ones)&^del) & highs
}

func load64(s string, i int) uint64 {
	b := s[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// appendEscaped appends s to dst in the given form. It copies runs of bytes that need nothing, and looks at the rest.
func appendEscaped(dst []byte, s string, f form) []byte {
	var look lookalike
	from, i := 0, 0 // s[from:i] is to be copied
	for i < len(s) {
		for i+8 <= len(s) {
			if m := special(load64(s, i)); m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				break
			}
			i += 8
		}
		if i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			if i = skipPlain(s, i); i == len(s) || s[i] < utf8.RuneSelf {
				continue
			}
			r, size := utf8.DecodeRuneInString(s[i:])
			switch {
			case r == utf8.RuneError && size == 1:
				dst = appendByte(append(dst, s[from:i]...), s[i])
				from = i + 1
			case r == blackFlag:
				size += flagLen(s[i+size:])
			case mustEscape(&look, s, i, r, size):
				dst = appendRune(append(dst, s[from:i]...), r)
				from = i + size
			}
			i += size
			continue
		}
		switch ascii[c] {
		case feed:
			switch f {
			case formLF:
				dst = append(append(dst, s[from:i]...), "\n"+lineMark...)
			case formCRLF:
				dst = append(append(dst, s[from:i-1]...), "\n"+lineMark...)
			case formLine:
				dst = appendRune(append(dst, s[from:i]...), '\n')
			}
			from = i + 1
		case control:
			if c == '\r' && f == formCRLF && i+1 < len(s) && s[i+1] == '\n' {
				break // left out with its LF
			}
			dst = appendRune(append(dst, s[from:i]...), rune(c))
			from = i + 1
		case opener:
			if !quickReject(s, i) && look.markerAt(s, i) {
				dst = appendRune(append(dst, s[from:i]...), rune(c))
				from = i + 1
			}
		case pass:
		}
		i++
	}
	return append(dst, s[from:]...)
}

// Two code points of two, and of three bytes, as they stand in a little-endian word: which bits tell, and what they say.
const (
	pairOfTwo, isPairOfTwo     = 0xC0E0C0E0, 0x80C080C0
	pairOfThree, isPairOfThree = 0xC0C0F0C0C0F0, 0x8080E08080E0
)

// isPlain looks up a code point of the BMP above ASCII.
func isPlain(r uint64) bool { return plain[r>>6&1023]>>(r&63)&1 != 0 }

// skipPlain gives the end of the run of plain code points that starts at i, of any length but ASCII only where one or two
// stand between others. It hands longer runs of ASCII back.
func skipPlain(s string, i int) int {
	for i+8 <= len(s) {
		x := load64(s, i)
		switch {
		case x&0x80 == 0:
			if ascii[x&0x7F] != pass || x&0x808000 == 0 {
				return i
			}
			i++
			continue
		case x&pairOfTwo == isPairOfTwo:
			if !isPlain(x&0x1F<<6|x>>8&0x3F) || !isPlain(x>>10&0x7C0|x>>24&0x3F) {
				break
			}
			i += 4
			continue
		case x&pairOfThree == isPairOfThree:
			r1, r2 := x&0x0F<<12|x>>2&0xFC0|x>>16&0x3F, x>>12&0xF000|x>>26&0xFC0|x>>40&0x3F
			if r1 < 0x800 || r2 < 0x800 || !isPlain(r1) || !isPlain(r2) {
				break
			}
			i += 6
			continue
		}
		next := skipPlainOne(s, i)
		if next == i {
			return i
		}
		i = next
	}
	for i < len(s) {
		next := skipPlainOne(s, i)
		if next == i {
			return i
		}
		i = next
	}
	return i
}

// skipPlainOne gives the end of the plain code point at i, or i if it is not plain.
func skipPlainOne(s string, i int) int {
	c := s[i]
	switch {
	case c < utf8.RuneSelf:
		if ascii[c] == pass {
			return i + 1
		}
	case c < 0xC2: // a stray continuation, or an overlong form
	case c < 0xE0:
		if i+1 < len(s) && s[i+1]&0xC0 == 0x80 && isPlain(uint64(c&0x1F)<<6|uint64(s[i+1]&0x3F)) {
			return i + 2
		}
	case c < 0xF0:
		if i+2 >= len(s) || s[i+1]&0xC0 != 0x80 || s[i+2]&0xC0 != 0x80 {
			return i
		}
		r := uint64(c&0x0F)<<12 | uint64(s[i+1]&0x3F)<<6 | uint64(s[i+2]&0x3F)
		if r >= 0x800 && (isPlain(r) || r == zwnj && betweenArabic(s, i)) {
			return i + 3
		}
	default:
		r, size := utf8.DecodeRuneInString(s[i:])
		if size == 4 && r != blackFlag && !isNonCharacter(r) && !in(ignorable, r) {
			return i + 4
		}
	}
	return i
}

const hexUpper = "0123456789ABCDEF"

// appendRune appends the escape of a code point: ⟦U+202E⟧, four to six digits.
func appendRune(dst []byte, r rune) []byte {
	dst = append(dst, "⟦U+"...)
	digits := 4
	for r>>(4*digits) != 0 {
		digits++
	}
	for d := digits - 1; d >= 0; d-- {
		dst = append(dst, hexUpper[r>>(4*d)&15])
	}
	return append(dst, "⟧"...)
}

// appendByte appends the escape of a byte that is no part of valid UTF-8: ⟦0xFF⟧.
func appendByte(dst []byte, c byte) []byte {
	dst = append(dst, "⟦0x"...)
	dst = append(dst, hexUpper[c>>4], hexUpper[c&15])
	return append(dst, "⟧"...)
}
