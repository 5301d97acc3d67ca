package shape

import (
	"slices"
	"unicode/utf8"
)

// interval is a closed range of scalar values.
type interval struct{ lo, hi rune }

// alphabet is what a text may hold when its field names no smaller one: all scalar values without controls (C0, DEL, C1;
// so a text is one line), line and paragraph separators, bidi controls, tag characters and noncharacters. The list is
// ours, and so is independent of any version of Unicode's tables: unassigned code points are in it.
var alphabet = buildAlphabet()

// excluded holds no two that overlap; the pairs of noncharacters at the end of each plane are added by buildAlphabet.
var excluded = []interval{
	{0x00, 0x1F}, {0x7F, 0x9F}, // controls
	{0x061C, 0x061C}, {0x200E, 0x200F}, {0x202A, 0x202E}, {0x2066, 0x2069}, // bidi controls
	{0x2028, 0x2029},   // line and paragraph separator
	{0xD800, 0xDFFF},   // surrogates are no scalar values
	{0xFDD0, 0xFDEF},   // noncharacters
	{0xE0000, 0xE007F}, // tag characters
}

// out reports whether r may not stand in a text. It is the definition; the decoder and the counting follow from it.
func out(r rune) bool {
	if r < 0 || r > utf8.MaxRune || r&0xFFFE == 0xFFFE {
		return true
	}
	for _, x := range excluded {
		if x.lo <= r && r <= x.hi {
			return true
		}
	}
	return false
}

// buildAlphabet is the complement of what is excluded, from the ends of the ranges alone: a process pays microseconds.
func buildAlphabet() []interval {
	gaps := append([]interval(nil), excluded...)
	for plane := rune(0); plane <= utf8.MaxRune>>16; plane++ {
		gaps = append(gaps, interval{plane<<16 | 0xFFFE, plane<<16 | 0xFFFF})
	}
	slices.SortFunc(gaps, func(x, y interval) int { return int(x.lo - y.lo) })
	var list []interval
	from := rune(0)
	for _, g := range gaps {
		if from < g.lo {
			list = append(list, interval{from, g.lo - 1})
		}
		from = g.hi + 1
	}
	return list
}

// alphabetSize is the number of characters: 1,111,791.
var alphabetSize = func() int {
	n := 0
	for _, x := range alphabet {
		n += int(x.hi-x.lo) + 1
	}
	return n
}()

// letter is the i-th character of the alphabet, i in [0, alphabetSize).
func letter(i int) rune {
	for _, x := range alphabet {
		n := int(x.hi-x.lo) + 1
		if i < n {
			return x.lo + rune(i)
		}
		i -= n
	}
	return -1
}

// alphabetPattern is the alphabet as a class that Go's regexp and ECMA-262 (with its u flag) read alike: the ends of the
// intervals stand for themselves.
var alphabetPattern = func() string {
	b := []byte("^[")
	for _, x := range alphabet {
		b = utf8.AppendRune(b, x.lo)
		b = append(b, '-')
		b = utf8.AppendRune(b, x.hi)
	}
	return string(append(b, "]*$"...))
}()
