package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// spot is one rune of a text, as a rule of escaping sees it.
type spot struct {
	s      string
	i      int  // where r begins
	r      rune // the rune
	n      int  // its bytes
	before rune // the rune before as it was written, 0 at the start and after an escape
	first  bool // nothing but spaces stands before r
}

// rest is what follows the rune.
func (p spot) rest() string { return p.s[p.i+p.n:] }

// visible writes s on one line: an invalid byte as ⟦0xFF⟧, and as ⟦U+202E⟧
// each rune that controls, hides or reorders, ⟦ itself, and each that a place
// wants escaped. Undo is its inverse, whatever the place wants.
func visible(s string, hidden, live func(spot) bool) string {
	if calm(s) {
		return s
	}
	var sb strings.Builder
	sb.Grow(len(s) + 16)
	p := spot{s: s, first: true}
	for p.i < len(s) {
		p.r, p.n = utf8.DecodeRuneInString(s[p.i:])
		switch {
		case p.r == utf8.RuneError && p.n == 1:
			fmt.Fprintf(&sb, "⟦0x%02X⟧", s[p.i])
			p.before = 0
		case p.r == '⟦' || (p.r < ' ' || p.r > '~') && hidden(p) || live(p):
			sb.WriteString(escaped(p.r))
			p.before = 0
		default:
			sb.WriteString(s[p.i : p.i+p.n])
			p.before = p.r
		}
		p.first = p.first && unicode.IsSpace(p.r)
		p.i += p.n
	}
	return sb.String()
}

func escaped(r rune) string { return fmt.Sprintf("⟦U+%04X⟧", r) }

// calm reports whether s holds only letters, digits and spaces of ASCII, and
// marks that no place escapes.
func calm(s string) bool {
	for i := range len(s) {
		if !calmBytes[s[i]] {
			return false
		}
	}
	return true
}

var calmBytes = func() (t [256]bool) {
	for _, c := range "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _?()" {
		t[c] = true
	}
	return t
}()

// Undo gives the text back that a place shows, once the place's own format is
// decoded: it undoes each ⟦…⟧. It reports false for what no renderer writes.
func Undo(s string) (string, bool) {
	var sb strings.Builder
	for {
		before, rest, found := strings.Cut(s, "⟦")
		sb.WriteString(before)
		if !found {
			return sb.String(), true
		}
		word, after, closed := strings.Cut(rest, "⟧")
		s = after
		digits, isRune := strings.CutPrefix(word, "U+")
		if !isRune {
			digits = strings.TrimPrefix(word, "0x")
		}
		n, err := strconv.ParseUint(digits, 16, 32)
		switch {
		case word == "" && closed: // an empty text in Markdown
		case !closed || err != nil:
			return "", false
		case isRune && n <= unicode.MaxRune && utf8.ValidRune(rune(n)) && escaped(rune(n)) == "⟦"+word+"⟧":
			sb.WriteRune(rune(n))
		case !isRune && n >= utf8.RuneSelf && n <= 0xFF && fmt.Sprintf("0x%02X", n) == word:
			sb.WriteByte(byte(n))
		default:
			return "", false
		}
	}
}

// hiddenOnPage reports whether a page would not show the rune, or would let it
// reorder others: what Unicode does not call printable (categories L, M, N, P
// and S), but for spaces, and what is drawn as nothing, but for the joiners
// and selectors of an honest script or emoji.
func hiddenOnPage(p spot) bool {
	switch {
	case unicode.Is(unicode.Zs, p.r):
		return false
	case p.r == '\u200C' || p.r == '\u200D':
		next, _ := utf8.DecodeRuneInString(p.rest())
		return !joins(p.before, p.r, next)
	case p.r == '\uFE0E' || p.r == '\uFE0F':
		return !styles(p.before) && !(keycap(p.before) && strings.HasPrefix(p.rest(), "\u20E3"))
	}
	return !unicode.IsPrint(p.r) || invisible(p.r)
}

// hiddenOnTerminal is hiddenOnPage without the exceptions for joiners and for
// spaces other than ASCII's, on which terminals differ.
func hiddenOnTerminal(p spot) bool {
	if p.r == '\uFE0E' || p.r == '\uFE0F' {
		return !unicode.IsSymbol(p.before)
	}
	return !unicode.IsPrint(p.r) || invisible(p.r)
}

// invisible reports whether a rune that counts as printable is drawn as
// nothing: fillers, joiners, selectors, and the empty Braille pattern.
func invisible(r rune) bool {
	return r == '\u2800' || unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// styles reports whether a selector may ask for the coloured or the plain form
// of what stands before it.
func styles(before rune) bool { return unicode.IsSymbol(before) }

func keycap(r rune) bool { return r >= '0' && r <= '9' || r == '#' || r == '*' }

// joins reports whether a joiner stands where writing needs it: between two
// letters or marks of a script that is joined, or, the zero-width joiner,
// between the parts of an emoji.
func joins(before, r, after rune) bool {
	if unicode.In(before, joined...) && unicode.In(after, joined...) {
		return true
	}
	return r == '\u200D' && after > unicode.MaxLatin1 && unicode.Is(unicode.So, after) &&
		(before == '\uFE0F' || before >= 0x1F3FB && before <= 0x1F3FF || before > unicode.MaxLatin1 && unicode.Is(unicode.So, before))
}

// joined are the scripts in whose words joiners change what is read (The
// Unicode Standard, sections 9.2 and 12.1, and UAX 31, section 2.3).
var joined = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mongolian, unicode.Nko, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati,
	unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

// opens reports whether the rune would open an expression of a template
// language, "${", "#{", "{{", "{%", "{#" or "<%", with what was written before
// it.
func opens(p spot) bool {
	switch p.before {
	case '$':
		return p.r == '{'
	case '#':
		return p.r == '{'
	case '{':
		return p.r == '{' || p.r == '%' || p.r == '#'
	case '<':
		return p.r == '%'
	}
	return false
}

// commands reports whether the rune would begin a command to a runner that
// reads the line in its log: "::name::" where nothing but spaces stands before
// it, and "##[name]", "##vso[…]" and "##teamcity[…]" anywhere (actions/runner,
// ActionCommand.cs; the logging commands of Azure Pipelines; the service
// messages of TeamCity).
func commands(p spot) bool {
	switch p.r {
	case ':':
		return p.first && strings.HasPrefix(p.rest(), ":")
	case '#':
		if p.before != '#' {
			return false
		}
		word := p.rest()
		word = word[:min(len(word), 16)]
		return strings.HasPrefix(strings.TrimLeft(strings.ToLower(word), "abcdefghijklmnopqrstuvwxyz"), "[")
	}
	return false
}

// carries holds for every place: no template expression, no command.
func carries(p spot) bool { return p.r <= '~' && (opens(p) || commands(p)) }
