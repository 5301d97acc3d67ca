package shape

import (
	"fmt"
	"regexp/syntax"
	"strings"
)

// flaw is why a pattern is refused and what to write instead.
type flaw struct{ missing, mend string }

const (
	maxPattern = 512     // bytes of a pattern
	firstChar  = 0x20    // patterns match printable ASCII only
	lastChar   = 0x7E    //
	maxStates  = 8192    // of one DFA
	maxProg    = 20000   // instructions of one compiled pattern
	maxWork    = 4 << 20 // instructions looked at while building one DFA
)

// compile turns a pattern into a DFA over printable ASCII. minLen and maxLen bound the characters beside the pattern; a
// negative maxLen is none. A pattern is refused where Go's RE2 and ECMA-262 read it differently, where its meaning
// depends on Unicode's tables, and where its language is not finite.
func compile(pattern string, minLen, maxLen int) (*dfa, *flaw) {
	if len(pattern) > maxPattern {
		return nil, &flaw{fmt.Sprintf("a short pattern: want at most %d bytes, got %d", maxPattern, len(pattern)), "use repeats, or an enum"}
	}
	if f := spelling(pattern); f != nil {
		return nil, f
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, &flaw{"a pattern that parses", "write it in the common part of RE2 and ECMA-262, repeats at most 1000"}
	}
	body, f := anchored(re)
	if f != nil {
		return nil, f
	}
	if f := bounded(body); f != nil {
		return nil, f
	}
	prog, err := syntax.Compile(body.Simplify())
	if err != nil || len(prog.Inst) > maxProg {
		return nil, &flaw{fmt.Sprintf("a small pattern: want at most %d instructions", maxProg), "use smaller repeats"}
	}
	d := subset(prog)
	if d != nil && (minLen > 0 || maxLen >= 0) {
		d = d.within(minLen, maxLen)
	}
	if d == nil {
		return nil, &flaw{fmt.Sprintf("a pattern of at most %d states", maxStates), "use smaller repeats, or alternatives that do not overlap"}
	}
	d = d.trim()
	if d == nil {
		return nil, &flaw{"a value that the pattern and the lengths admit", "widen minLength and maxLength, or mend the pattern"}
	}
	return d, nil
}

// spelling looks at the text of the pattern for what two dialects read differently, which the parsed form hides.
func spelling(p string) *flaw {
	if !strings.HasPrefix(p, "^") || !strings.HasSuffix(p, "$") || strings.HasSuffix(p, `\$`) {
		return &flaw{"anchors: want ^ first and $ last", "write ^(?:…)$ around the whole pattern"}
	}
	class := false
	for i := 0; i < len(p); i++ {
		c := p[i]
		switch {
		case c < firstChar || c > lastChar:
			return &flaw{"a pattern of printable ASCII", "write only printable ASCII; a wider alphabet is a text with maxLength alone"}
		case c == '\\':
			i++
			if i == len(p) || !strings.ContainsRune(`dw.\-+*?()[]{}|^$/`, rune(p[i])) {
				return &flaw{`an escape that all dialects share: want \d, \w or an escaped sign`, `write the class out; \s, \b, \p{…} and \x are refused`}
			}
		case class:
			if c == '[' || c == '&' && strings.HasPrefix(p[i:], "&&") {
				return &flaw{"a plain class", `write the ranges out and escape \[ inside a class`}
			}
			class = c != ']'
		case c == '[':
			class = true
			if strings.HasPrefix(p[i:], "[]") || strings.HasPrefix(p[i:], "[^") {
				return &flaw{"a class that lists its characters", "list what is allowed, not what is not"}
			}
		case c == '(' && strings.HasPrefix(p[i:], "(?") && !strings.HasPrefix(p[i:], "(?:"):
			return &flaw{"a pattern without flags, names and lookaround", "write (?:…) and spell both cases out"}
		case c == '.':
			return &flaw{"a closed class in place of .", `write the characters out, or \. for the sign`}
		case c == '*' || c == '+':
			return &flaw{"a bound on a repeat", "write {0,40} in place of * and {1,40} in place of +"}
		case c == '{':
			n := repeatLen(p[i:])
			if n == 0 {
				return &flaw{"a repeat with both bounds", `write {3} or {1,3}; escape \{ for the sign`}
			}
			i += n - 1
		case c == '}' || c == ']':
			return &flaw{"an escape before a closing sign", `write \} or \]`}
		}
		if i+1 < len(p) && p[i+1] == '?' && !class && (c == '?' || p[i] == '}') && c != '\\' {
			return &flaw{"one repeat at a time", "drop the second ?: a match is of the whole value"}
		}
	}
	return nil
}

// repeatLen is the length of {n} or {n,m} at the start of p, or 0.
func repeatLen(p string) int {
	end := strings.IndexByte(p, '}')
	if end < 2 {
		return 0
	}
	lo, hi, two := strings.Cut(p[1:end], ",")
	if !digits(lo) || two && !digits(hi) {
		return 0
	}
	return end + 1
}

func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// anchored takes ^ and $ off. They must stand at the top: in ^a|b$ each anchors one alternative only.
func anchored(re *syntax.Regexp) (*syntax.Regexp, *flaw) {
	n := len(re.Sub)
	if re.Op != syntax.OpConcat || n < 2 || re.Sub[0].Op != syntax.OpBeginText || re.Sub[n-1].Op != syntax.OpEndText {
		return nil, &flaw{"anchors around the whole pattern", "write ^(?:a|b)$ in place of ^a|b$"}
	}
	return &syntax.Regexp{Op: syntax.OpConcat, Sub: re.Sub[1 : n-1]}, nil
}

// bounded allows only what has a finite language over printable ASCII.
func bounded(re *syntax.Regexp) *flaw {
	switch re.Op {
	case syntax.OpLiteral, syntax.OpCharClass:
		if re.Flags&syntax.FoldCase != 0 {
			return &flaw{"a pattern without flags", "spell both cases out"}
		}
		for _, r := range re.Rune {
			if r < firstChar || r > lastChar {
				return &flaw{"a class within printable ASCII", "list what is allowed"}
			}
		}
		return nil
	case syntax.OpRepeat:
		if re.Max < 0 {
			return &flaw{"a bound on a repeat", "write {1,40} in place of {1,}"}
		}
	case syntax.OpEmptyMatch, syntax.OpCapture, syntax.OpQuest, syntax.OpConcat, syntax.OpAlternate:
	default: // anchors inside, any character, star, plus, word boundaries, no match
		return &flaw{"a pattern of classes, groups and bounded repeats alone", "drop anchors inside, boundaries and unbounded repeats"}
	}
	for _, sub := range re.Sub {
		if f := bounded(sub); f != nil {
			return f
		}
	}
	return nil
}
