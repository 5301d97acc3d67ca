package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// JSON renders a text as one JSON string, quotes included (RFC 8259, section
// 7). All that a page, a log or a template could take for its own is written
// as JSON's own escape, \u003c: controls, what is not printable or leaves no
// mark, <, >, &, both quotes, the backtick, and what opens an expression or a
// command. So a decoder gives the text back as it was, without Undo; only an
// invalid byte, which JSON cannot hold and no text of a shape has, is ⟦0xFF⟧.
func JSON(s string) string {
	if calm(s) {
		return `"` + s + `"`
	}
	var sb strings.Builder
	sb.Grow(len(s) + 16)
	sb.WriteByte('"')
	p := spot{s: s, first: true}
	for p.i < len(s) {
		p.r, p.n = utf8.DecodeRuneInString(s[p.i:])
		kept := false
		switch {
		case p.r == utf8.RuneError && p.n == 1:
			fmt.Fprintf(&sb, "⟦0x%02X⟧", s[p.i])
		case strings.ContainsRune("\"\\<>&'`", p.r) || (p.r < ' ' || p.r > '~') && hiddenOnTerminal(p) || carries(p):
			if p.r > 0xFFFF {
				high, low := utf16.EncodeRune(p.r)
				fmt.Fprintf(&sb, `\u%04x\u%04x`, high, low)
			} else {
				fmt.Fprintf(&sb, `\u%04x`, p.r)
			}
		default:
			sb.WriteString(s[p.i : p.i+p.n])
			kept = true
		}
		p.before = 0
		if kept {
			p.before = p.r
		}
		p.first = p.first && unicode.IsSpace(p.r)
		p.i += p.n
	}
	sb.WriteByte('"')
	return sb.String()
}
