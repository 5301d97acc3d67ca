package render

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain renders a text as one line for a place without markup: a message in a
// queue, a chat. Such a place has no means to mark text as text, yet programs
// that show it make links, mentions and commands of what looks like one. So
// the character that makes it look so is an escape:
//
//   - @ before a letter or a digit: a mention, an address of mail;
//   - : before // and in a scheme that acts (javascript:, data:, mailto: and
//     their like), the dot of www., and : that begins the name of an emoji;
//   - # before a letter or a digit, where a word begins;
//   - < before a letter or one of ! @ # / ?, a mention or a tag in chats;
//   - / ! and . where the text begins, before a letter: a command;
//   - & that begins a character reference;
//   - what opens a template's expression or a command to a runner.
//
// A reader calls Undo.
func Plain(s string) string { return visible(s, hiddenOnPage, livePlain) }

func livePlain(p spot) bool {
	if p.r > unicode.MaxLatin1 {
		return p.r == '＠' || p.r == '＃'
	}
	next, _ := utf8.DecodeRuneInString(p.rest())
	word := next != utf8.RuneError && (unicode.IsLetter(next) || unicode.IsDigit(next) || next == '_')
	switch p.r {
	case '@':
		return word
	case ':':
		return scheme(p) || strings.HasPrefix(p.rest(), "//") || shortcode(p.rest()) || carries(p)
	case '.':
		return p.first && word || len(p.s[:p.i]) >= 3 && strings.EqualFold(p.s[p.i-3:p.i], "www")
	case '#':
		return word && !(unicode.IsLetter(p.before) || unicode.IsDigit(p.before)) || word && unicode.IsDigit(next) || carries(p)
	case '<':
		return word || strings.ContainsRune("!@#/?", next)
	case '/', '!':
		return p.first && word
	case '&':
		return word || next == '#'
	}
	return carries(p)
}

// scheme reports whether the colon ends a scheme that is live without "//".
func scheme(p spot) bool {
	for _, name := range []string{"javascript", "vbscript", "data", "mailto", "xmpp", "tel", "file"} {
		if at := p.i - len(name); at >= 0 && strings.EqualFold(p.s[at:p.i], name) {
			next, n := utf8.DecodeRuneInString(p.rest())
			return n > 0 && next != ' '
		}
	}
	return false
}

// shortcode reports whether a colon before s begins the name of an emoji,
// which is letters, digits, _, + and -, at most 40 of them.
func shortcode(s string) bool {
	name, _, found := strings.Cut(s[:min(len(s), 41)], ":")
	return found && name != "" && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789_+-") == ""
}
