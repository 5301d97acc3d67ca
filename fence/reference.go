package fence

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// symbol decodes the code point at the start of s, or the character reference there, however often its & is escaped.
func symbol(s string) (rune, int) {
	if s[0] == '&' {
		if r, n := reference(s); n > 0 {
			return r, n
		}
	}
	return utf8.DecodeRuneInString(s)
}

// named are the references of HTML for the brackets of openers and the characters inside a marker.
var named = map[string]rune{
	"lt": '<', "LT": '<', "Lt": '≪', "ll": '≪', "Ll": '⋘', "laquo": '«', "lsaquo": '‹', "lang": '⟨', "langle": '⟨',
	"LeftAngleBracket": '⟨', "Lang": '⟪', "sol": '/', "bsol": '\\', "equals": '=', "nbsp": ' ', "ensp": ' ', "emsp": ' ',
	"thinsp": ' ', "Tab": '\t', "NewLine": '\n', "gt": '>', "GT": '>', "raquo": '»', "Rang": '⟫', "rang": '⟩',
	"shy": 0xAD, "zwj": zwj, "zwnj": zwnj,
}

// reference decodes &lt; &#60; &#x3C; and &amp;lt; at the start of s; n is 0 where none stands there.
func reference(s string) (r rune, n int) {
	i := 1
	for strings.HasPrefix(s[i:], "amp;") {
		i += len("amp;")
	}
	end := i
	for end < len(s) && end < i+20 && (isAlnum(s[end]) || end == i && s[end] == '#') {
		end++
	}
	body := s[i:end]
	if end < len(s) && s[end] == ';' {
		end++
	}
	if digits, ok := strings.CutPrefix(body, "#"); ok {
		return numeric(digits), end
	}
	if r, ok := named[body]; ok {
		return r, end
	}
	return 0, 0
}

// numeric reads the digits of a character reference; U+FFFD stands for what is none.
func numeric(digits string) rune {
	base, rest := rune(10), digits
	if strings.HasPrefix(digits, "x") || strings.HasPrefix(digits, "X") {
		base, rest = 16, digits[1:]
	}
	r := rune(0)
	for i := range len(rest) {
		d := rune(strings.IndexByte("0123456789abcdef", rest[i]|0x20))
		if rest[i] <= '9' {
			d = rune(rest[i]) - '0'
		}
		if d < 0 || d >= base {
			return utf8.RuneError
		}
		if r = r*base + d; r > unicode.MaxRune {
			return utf8.RuneError
		}
	}
	if rest == "" {
		return utf8.RuneError
	}
	return r
}
