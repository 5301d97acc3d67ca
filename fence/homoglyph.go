package fence

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// homoglyphs maps code points whose compatibility decomposition is not the letter itself.
var homoglyphs = func() map[rune]byte {
	m := make(map[rune]byte)
	for letter, shapes := range map[byte]string{
		'd': "ᎠꭰᗞᗪꓓꓒᴅԀԁᏧᑯđĐÐƉƊɖɗꝹꝺ",
		'a': "АаΑαᎪꭺᗅꓮᴀɑ⍺ⱭⲀⲁΛᗄ∀ӐӑÅȺ𐊠𖽀𝚲",
		't': "ТтΤτᎢꭲꓔᴛ⟙⊤┬ⲦⲧŦŧƬƭƮʈ𐊗𐌕𖼊🝨",
		'o': "ОоΟοσՕօסهഠဝ〇०০੦૦௦౦೦൦๐໐၀߀ᴏᴑꬽჿⲞⲟØøɵꓳ𐊒𐊫𐐄𐐬",
		'k': "КкΚκᏦꓗᴋⲔⲕᛕĸҚқҜҝҞҟҠҡӃӄƘƙ",
		'e': "ЕеΕεᎬꭼꓰᴇⴹ⋿єЄҽ℮ꬲɛƐэЭⲈⲉ∈",
		'n': "ΝոռⲚⲛꓠɴᴎпПηиИŋɲƞ𐔓",
		'/': "⁄∕⧸╱⟋〳ノ丿Ⳇ᜵⁁⼃㇓𝈺",
		'=': "᐀⹀゠꓿⩵≡≈：꞉∶:։：﹕︓",
	} {
		for _, r := range shapes {
			m[r] = letter
		}
	}
	return m
}()

// classOf gives the class of a code point in a skeleton, or 0 for what a reader looks over.
func classOf(r rune) byte {
	switch {
	case r == '_' || isSkipped(r):
		return 0
	case r < utf8.RuneSelf:
		return asciiClass(byte(r))
	case strings.ContainsRune(closers, r):
		return '>'
	case openers[r] != 0:
		return '?'
	}
	if c := homoglyphs[r]; c != 0 {
		return c
	}
	switch { // letters in boxes and discs that have no decomposition
	case 0x1F150 <= r && r <= 0x1F169:
		return asciiClass(byte('A' + r - 0x1F150))
	case 0x1F170 <= r && r <= 0x1F189:
		return asciiClass(byte('A' + r - 0x1F170))
	case 0x1F1E6 <= r && r <= 0x1F1FF:
		return asciiClass(byte('A' + r - 0x1F1E6))
	case unicode.IsDigit(r):
		return '0'
	}
	var buf [utf8.UTFMax]byte
	n := utf8.EncodeRune(buf[:], r)
	if d := strings.TrimLeft(string(norm.NFKD.Properties(buf[:n]).Decomposition()), "("); d != "" {
		if base, _ := utf8.DecodeRuneInString(d); base < utf8.RuneSelf {
			return asciiClass(byte(base))
		} else if c := homoglyphs[base]; c != 0 {
			return c
		}
	}
	if unicode.IsLetter(r) {
		return 'x'
	}
	return '?'
}

func asciiClass(c byte) byte {
	switch {
	case 'A' <= c && c <= 'Z':
		return asciiClass(c + 'a' - 'A')
	case strings.IndexByte("datoken/=", c) >= 0:
		return c
	case c == '\\':
		return '/'
	case c == ':':
		return '='
	case c == '>':
		return '>'
	case '0' <= c && c <= '9':
		return '0'
	case 'a' <= c && c <= 'z':
		return 'x'
	default:
		return '?'
	}
}
