package fence

import (
	"unicode"
	"unicode/utf8"
)

// Which code points may stand in a block as they are. Ranges are written out rather than taken from package unicode, so
// that a block looks the same whatever Unicode version the toolchain knows; a test compares them with its tables.

type span struct{ lo, hi rune }

func in(spans []span, r rune) bool {
	lo, hi := 0, len(spans)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch {
		case r < spans[mid].lo:
			hi = mid
		case r > spans[mid].hi:
			lo = mid + 1
		default:
			return true
		}
	}
	return false
}

// ignorable is Default_Ignorable_Code_Point of Unicode (DerivedCoreProperties.txt): code points that are not shown, now or
// by reservation.
var ignorable = []span{
	{0x00AD, 0x00AD}, {0x034F, 0x034F}, {0x061C, 0x061C}, {0x115F, 0x1160}, {0x17B4, 0x17B5}, {0x180B, 0x180F},
	{0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF},
	{0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
}

// deceptive is what is escaped besides: C1 controls with NEL, line and paragraph separators, interlinear annotation, the
// noncharacters of the BMP, and the bracket that opens an escape.
var deceptive = []span{
	{0x0080, 0x009F}, {0x2028, 0x2029}, {escapeOpen, escapeOpen}, {0xFDD0, 0xFDEF}, {0xFFF9, 0xFFFB}, {0xFFFE, 0xFFFF},
}

const (
	escapeOpen  = '⟦' // U+27E6
	escapeClose = '⟧' // U+27E7

	zwsp      = 0x200B
	zwnj      = 0x200C
	zwj       = 0x200D
	lrm       = 0x200E
	rlm       = 0x200F
	alm       = 0x061C
	vs15      = 0xFE0E
	vs16      = 0xFE0F
	keycap    = 0x20E3
	blackFlag = 0x1F3F4
)

func isNonCharacter(r rune) bool { return r&0xFFFE == 0xFFFE || 0xFDD0 <= r && r <= 0xFDEF }

// isSkipped reports whether a reader looks over r: white space, controls, ignorables and marks on the letter before.
func isSkipped(r rune) bool {
	if r < utf8.RuneSelf {
		return r <= ' ' || r == 0x7F
	}
	return in(ignorable, r) || unicode.IsSpace(r) || in(deceptive, r) && r != escapeOpen ||
		unicode.In(r, unicode.Mn, unicode.Me)
}

// script is a family of writing systems in which zero-width characters shape the text.
type script uint8

const (
	noScript script = iota
	arabic          // cursive, right to left
	syriac
	nko
	mandaic
	hebrew // right to left, without joiners
	thaana
	indic // conjuncts: ZWJ and ZWNJ beside a virama
	mongolian
	phagspa
	khmer // no spaces between words: ZWSP
	thai
	lao
	myanmar
	java
	adlam
	rohingya
)

// scripts lists blocks, in order. The Indic blocks count as one family each, by their number, so that a joiner stands
// between letters of one script only.
var scripts = []struct {
	span
	script
}{
	{span{0x0590, 0x05FF}, hebrew}, {span{0x0600, 0x06FF}, arabic}, {span{0x0700, 0x074F}, syriac},
	{span{0x0750, 0x077F}, arabic}, {span{0x0780, 0x07BF}, thaana}, {span{0x07C0, 0x07FF}, nko},
	{span{0x0840, 0x085F}, mandaic}, {span{0x0860, 0x086F}, syriac}, {span{0x0870, 0x08FF}, arabic},
	{span{0x0900, 0x0DFF}, indic}, {span{0x0E00, 0x0E7F}, thai}, {span{0x0E80, 0x0EFF}, lao},
	{span{0x1000, 0x109F}, myanmar}, {span{0x1780, 0x17FF}, khmer}, {span{0x1800, 0x18AF}, mongolian},
	{span{0x1980, 0x1AAF}, thai}, {span{0x1B00, 0x1B7F}, java}, {span{0x1CD0, 0x1CFF}, indic},
	{span{0xA840, 0xA87F}, phagspa}, {span{0xA8E0, 0xA8FF}, indic}, {span{0xA980, 0xA9DF}, java},
	{span{0xA9E0, 0xA9FF}, myanmar}, {span{0xAA60, 0xAA7F}, myanmar}, {span{0xAA80, 0xAADF}, thai},
	{span{0xFB1D, 0xFB4F}, hebrew}, {span{0xFB50, 0xFDCF}, arabic}, {span{0xFDF0, 0xFDFC}, arabic},
	{span{0xFE70, 0xFEFC}, arabic}, {span{0x10D00, 0x10D3F}, rohingya}, {span{0x11000, 0x114DF}, indic},
	{span{0x11580, 0x1183F}, indic}, {span{0x1E900, 0x1E95F}, adlam}, {span{0x1EE00, 0x1EEFF}, arabic},
}

// scriptOf gives the family of a letter or mark; noScript for digits, punctuation and everything else.
func scriptOf(r rune) script {
	if isArabicLetter(r) {
		return arabic
	}
	lo, hi := 0, len(scripts)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		switch {
		case r < scripts[mid].lo:
			hi = mid
		case r > scripts[mid].hi:
			lo = mid + 1
		case in(ignorable, r) || !unicode.IsLetter(r) && !unicode.IsMark(r):
			return noScript
		default:
			return scripts[mid].script
		}
	}
	return noScript
}

func isArabicLetter(r rune) bool { return 0x0620 <= r && r <= 0x064A || 0x0671 <= r && r <= 0x06D3 }

// joins reports whether ZWNJ and ZWJ shape text of s: the cursive scripts and those with conjuncts.
func (s script) joins() bool {
	switch s {
	case arabic, syriac, nko, mandaic, indic, mongolian, phagspa, khmer, myanmar, java, adlam, rohingya:
		return true
	case noScript, hebrew, thaana, thai, lao:
		return false
	default:
		return false
	}
}

// unspaced reports whether s writes without spaces between words, so that ZWSP marks where a line may break.
func (s script) unspaced() bool {
	switch s {
	case khmer, thai, lao, myanmar, java:
		return true
	case noScript, arabic, syriac, nko, mandaic, hebrew, thaana, indic, mongolian, phagspa, adlam, rohingya:
		return false
	default:
		return false
	}
}

// rightToLeft reports whether s runs from right to left, so that implicit marks order the neutrals beside it.
func (s script) rightToLeft() bool {
	switch s {
	case arabic, syriac, nko, mandaic, hebrew, thaana, adlam, rohingya:
		return true
	case noScript, indic, mongolian, phagspa, khmer, thai, lao, myanmar, java:
		return false
	default:
		return false
	}
}

// pictographic is Extended_Pictographic of UTS #51 (emoji-data.txt).
var pictographic = []span{
	{0x00A9, 0x00A9}, {0x00AE, 0x00AE}, {0x203C, 0x203C}, {0x2049, 0x2049}, {0x2122, 0x2122}, {0x2139, 0x2139},
	{0x2194, 0x2199}, {0x21A9, 0x21AA}, {0x231A, 0x231B}, {0x2328, 0x2328}, {0x2388, 0x2388}, {0x23CF, 0x23CF},
	{0x23E9, 0x23F3}, {0x23F8, 0x23FA}, {0x24C2, 0x24C2}, {0x25AA, 0x25AB}, {0x25B6, 0x25B6}, {0x25C0, 0x25C0},
	{0x25FB, 0x25FE}, {0x2600, 0x2605}, {0x2607, 0x2612}, {0x2614, 0x2685}, {0x2690, 0x2705}, {0x2708, 0x2712},
	{0x2714, 0x2714}, {0x2716, 0x2716}, {0x271D, 0x271D}, {0x2721, 0x2721}, {0x2728, 0x2728}, {0x2733, 0x2734},
	{0x2744, 0x2744}, {0x2747, 0x2747}, {0x274C, 0x274C}, {0x274E, 0x274E}, {0x2753, 0x2755}, {0x2757, 0x2757},
	{0x2763, 0x2767}, {0x2795, 0x2797}, {0x27A1, 0x27A1}, {0x27B0, 0x27B0}, {0x27BF, 0x27BF}, {0x2934, 0x2935},
	{0x2B05, 0x2B07}, {0x2B1B, 0x2B1C}, {0x2B50, 0x2B50}, {0x2B55, 0x2B55}, {0x3030, 0x3030}, {0x303D, 0x303D},
	{0x3297, 0x3297}, {0x3299, 0x3299}, {0x1F000, 0x1F0FF}, {0x1F10D, 0x1F10F}, {0x1F12F, 0x1F12F},
	{0x1F16C, 0x1F171}, {0x1F17E, 0x1F17F}, {0x1F18E, 0x1F18E}, {0x1F191, 0x1F19A}, {0x1F1AD, 0x1F1E5},
	{0x1F201, 0x1F20F}, {0x1F21A, 0x1F21A}, {0x1F22F, 0x1F22F}, {0x1F232, 0x1F23A}, {0x1F23C, 0x1F23F},
	{0x1F249, 0x1F3FA}, {0x1F400, 0x1F53D}, {0x1F546, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F774, 0x1F77F},
	{0x1F7D5, 0x1F7FF}, {0x1F80C, 0x1F80F}, {0x1F848, 0x1F84F}, {0x1F85A, 0x1F85F}, {0x1F888, 0x1F88F},
	{0x1F8AE, 0x1F8FF}, {0x1F90C, 0x1F93A}, {0x1F93C, 0x1F945}, {0x1F947, 0x1FAFF}, {0x1FC00, 0x1FFFD},
}

// isEmoji reports whether r can be an element of an emoji ZWJ sequence: a pictograph or a skin tone on one.
func isEmoji(r rune) bool { return in(pictographic, r) || 0x1F3FB <= r && r <= 0x1F3FF }

// flagTags are the tag sequences that follow a black flag in the three valid subdivision flags of emoji-sequences.txt
// (England, Scotland, Wales). Any other tag is escaped.
var flagTags = [...]string{
	"\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F",
	"\U000E0067\U000E0062\U000E0073\U000E0063\U000E0074\U000E007F",
	"\U000E0067\U000E0062\U000E0077\U000E006C\U000E0073\U000E007F",
}
