package shape

import "unicode/utf8"

// space skips the white space of RFC 8259.
func (d *decoder) space() {
	for d.i < len(d.b) && d.b[d.i] <= ' ' {
		switch d.b[d.i] {
		case ' ', '\t', '\n', '\r':
			d.i++
		default:
			return
		}
	}
}

func (d *decoder) take(c byte) bool {
	if d.i < len(d.b) && d.b[d.i] == c {
		d.i++
		return true
	}
	return false
}

// comma takes a comma and the white space after it.
func (d *decoder) comma() bool {
	if !d.take(',') {
		return false
	}
	d.space()
	return true
}

// raw reads a string that is compared with names of our own. Without escapes it is a part of the input, where bytes that
// are no UTF-8 equal none of them.
func (d *decoder) raw() ([]byte, Rule) {
	from := d.i + 1
	for i := from; i < len(d.b); i++ {
		switch c := d.b[i]; {
		case c == '"':
			d.i = i + 1
			return d.b[from:i], 0
		case c == '\\':
			var r Rule
			d.keys, r = d.unquote(d.keys[:0], nil)
			return d.keys, r
		case c < ' ':
			return nil, RuleSyntax
		}
	}
	return nil, RuleSyntax
}

// text reads the content of a token, text or quote into cell at.
func (d *decoder) text(n *node, at int32) Rule {
	from := len(d.v.text)
	text, r := d.unquote(d.v.text, n)
	if r != 0 {
		return r
	}
	d.v.text = text
	c := &d.v.cells[at]
	c.n, c.first = int32(from), int32(len(text)-from)
	return 0
}

// unquote reads a string at d.i and appends its content. With a node, the content must be a value of it; that is checked
// on the way, so that the content is looked at once.
func (d *decoder) unquote(dst []byte, n *node) ([]byte, Rule) {
	b := d.b
	i, from, chars := d.i+1, len(dst), 0
	for {
		run := i
		for i < len(b) && plainByte[b[i]] {
			i++
		}
		dst = append(dst, b[run:i]...)
		chars += i - run
		if i >= len(b) {
			return dst, RuleSyntax
		}
		var r rune
		size := 1
		switch c := b[i]; {
		case c == '"':
			d.i = i + 1
			return dst, n.check(dst[from:], chars)
		case c < ' ':
			return dst, RuleSyntax
		case c == '\\':
			var rule Rule
			if r, size, rule = escape(b[i:]); rule != 0 {
				return dst, rule
			}
		default:
			if r, size = utf8.DecodeRune(b[i:]); r == utf8.RuneError && size == 1 {
				return dst, RuleUTF8
			}
		}
		if n != nil && n.dfa == nil && out(r) {
			return dst, RuleAlphabet
		}
		dst = utf8.AppendRune(dst, r)
		chars++
		i += size
	}
}

// check is the bound of a string node over its content.
func (n *node) check(content []byte, chars int) Rule {
	switch {
	case n == nil:
		return 0
	case n.dfa != nil:
		if !n.dfa.match(content) {
			return RulePattern
		}
		return 0
	case chars < n.minLen || chars > n.maxLen:
		return RuleTextLength
	default:
		return 0
	}
}

// plainByte holds for printable ASCII that stands for itself in JSON and in every alphabet.
var plainByte = func() (t [256]bool) {
	for c := ' '; c < 0x7F; c++ {
		t[c] = c != '"' && c != '\\'
	}
	return t
}()

// escape reads one escape, a pair of surrogates as one, and returns its character and its length in bytes.
func escape(b []byte) (r rune, size int, rule Rule) {
	if len(b) < 2 {
		return 0, 0, RuleSyntax
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2, 0
	case 'b':
		return '\b', 2, 0
	case 'f':
		return '\f', 2, 0
	case 'n':
		return '\n', 2, 0
	case 'r':
		return '\r', 2, 0
	case 't':
		return '\t', 2, 0
	case 'u':
	default:
		return 0, 0, RuleSyntax
	}
	r, ok := hex4(b[2:])
	switch {
	case !ok:
		return 0, 0, RuleSyntax
	case r < 0xD800 || r > 0xDFFF:
		return r, 6, 0
	case r >= 0xDC00 || len(b) < 12 || b[6] != '\\' || b[7] != 'u':
		return 0, 0, RuleSurrogate
	}
	low, ok := hex4(b[8:])
	if !ok || low < 0xDC00 || low > 0xDFFF {
		return 0, 0, RuleSurrogate
	}
	return (r-0xD800)<<10 + (low - 0xDC00) + 0x10000, 12, 0
}

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
