package fence

import (
	"strings"
	"unicode/utf8"
)

// Zero-width and bidi characters stay where a script needs them; the characters beside one decide that:
//
//   - ZWNJ and ZWJ between two letters or marks of one cursive or conjunct-forming script (UAX #31 and RFC 5892 appendix A
//     allow less, but Persian is written with ZWNJ after any letter), ZWJ also after such a letter at a word's end;
//   - ZWJ between two emoji, with or without VS16; VS15 and VS16 after a pictograph; VS16 in a keycap (UTS #51);
//   - the tags of the three valid subdivision flags;
//   - ZWSP between letters of scripts without spaces between words (UAX #14);
//   - LRM, RLM and ALM directly beside a right-to-left letter, alone (UAX #9 calls them implicit marks);
//   - the variation selectors and the vowel separator of Mongolian after its letters.
//
// Embeddings, overrides and isolates are escaped everywhere: a model reads text in its logical order, and a person who
// approves must see the same.

// betweenArabic reports whether the three bytes at s[i] stand between two letters of the Arabic block's first rows, which
// is where ZWNJ is in nearly every Persian word that has one; mustEscape decides the same more slowly.
func betweenArabic(s string, i int) bool {
	if i < 2 || i+5 > len(s) {
		return false
	}
	return isArabicPair(s[i-2], s[i-1]) && isArabicPair(s[i+3], s[i+4])
}

// isArabicPair reports whether two bytes encode U+0620 to U+064A or U+0671 to U+06D3.
func isArabicPair(a, b byte) bool {
	if a&0xFC != 0xD8 || b&0xC0 != 0x80 {
		return false
	}
	return isArabicLetter(rune(a&0x1F)<<6 | rune(b&0x3F))
}

// mustEscape decides about a valid code point that is not plain, by what stands around it.
func mustEscape(look *lookalike, s string, i int, r rune, size int) bool {
	switch {
	case isNonCharacter(r) || in(deceptive, r):
		return true
	case !in(ignorable, r):
		return openers[r] != 0 && look.markerAt(s, i)
	}
	prev, n := utf8.DecodeLastRuneInString(s[:i])
	if n == 0 {
		prev = -1
	}
	next, n := utf8.DecodeRuneInString(s[i+size:])
	if n == 0 {
		next = -1
	}
	switch r {
	case zwnj:
		return !joined(prev, next)
	case zwj:
		return !joined(prev, next) && !(scriptOf(prev).joins() && !in(ignorable, next)) && !emojiJoined(s[:i], next)
	case zwsp:
		return !scriptOf(prev).unspaced() || !scriptOf(next).unspaced()
	case lrm, rlm, alm:
		beside := scriptOf(prev).rightToLeft() || scriptOf(next).rightToLeft()
		return !beside || in(ignorable, prev) || in(ignorable, next)
	case vs15:
		return !in(pictographic, prev)
	case vs16:
		digit := '0' <= prev && prev <= '9' || prev == '#' || prev == '*'
		return !in(pictographic, prev) && (!digit || next != keycap)
	case 0x180B, 0x180C, 0x180D, 0x180F:
		return scriptOf(prev) != mongolian || in(ignorable, next)
	case 0x180E:
		return scriptOf(prev) != mongolian || scriptOf(next) != mongolian
	default:
		return true
	}
}

// joined reports whether a joiner stands between two letters or marks of one script that it shapes.
func joined(prev, next rune) bool {
	s := scriptOf(prev)
	return s.joins() && s == scriptOf(next)
}

// emojiJoined reports whether ZWJ binds two emoji: before is what precedes it.
func emojiJoined(before string, next rune) bool {
	prev, n := utf8.DecodeLastRuneInString(before)
	if prev == vs16 {
		prev, _ = utf8.DecodeLastRuneInString(before[:len(before)-n])
	}
	return isEmoji(prev) && isEmoji(next)
}

// flagLen gives the length of the tags of a valid subdivision flag at the start of s, or 0.
func flagLen(s string) int {
	for _, tags := range flagTags {
		if strings.HasPrefix(s, tags) {
			return len(tags)
		}
	}
	return 0
}
