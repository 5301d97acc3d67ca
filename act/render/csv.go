package render

import (
	"strings"
	"unicode"
)

// CSV renders a text as one cell, always in quotes (RFC 4180, section 2),
// without the comma that separates it from the next.
//
// A cell is one line: line breaks and other controls are escapes. A program
// takes a cell for a formula that begins with =, +, - or @, also in their
// full-width forms and also after spaces and quotes (OWASP, "CSV Injection"),
// and some split at semicolons, tabs or bars whatever the file meant: such a
// character at the start of the text or after a separator is an escape. An
// apostrophe in front, as is often advised, is dropped again when the sheet is
// saved, and helps at the start only.
//
// A reader parses the CSV and calls Undo.
func CSV(s string) string {
	begins := true
	v := visible(s, hiddenOnPage, func(p spot) bool {
		if strings.ContainsRune("=+-@＝＋－＠﹦﹢﹣﹫−", p.r) && begins {
			begins = false
			return true
		}
		switch {
		case strings.ContainsRune(",;|\t，；｜", p.r):
			begins = true
		case unicode.IsSpace(p.r) || strings.ContainsRune("\"'`", p.r) || unicode.In(p.r, unicode.Pi, unicode.Pf):
		default:
			begins = false
		}
		return carries(p)
	})
	return `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
}
