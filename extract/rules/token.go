package rules

import (
	"bytes"
	"regexp/syntax"
	"strings"

	"decant.dev/extract"
	"github.com/Masterminds/semver/v3"
)

// tokenRules is a compiled Token.
type tokenRules struct {
	field int
	rules []tokenRule
	where Where     // of all rules together
	known [256]bool // bytes that a match can hold, in either case
	need  []byte    // bytes that every match holds
}

type tokenRule struct {
	TokenRule
	near, unlike []nearby
}

// nearby is a folded word that stands before a token.
type nearby struct {
	word   []byte
	prefix bool
}

const (
	maxCandidates = 256 // of one token field in one text
	contextBytes  = 48  // of the line before a match
)

// candidate is a run of known bytes in an element, as the pattern spells it.
type candidate struct {
	piece      int
	start, end int
	value      string
}

// token finds the first candidate of the first rule that has one.
func (x *Extractor) token(s *scan, t *tokenRules) verdict {
	v := verdict{label: -1}
	var plain []candidate
	for i := range t.rules {
		r := &t.rules[i]
		list := plain
		switch {
		case len(r.Layouts) > 0:
			list = x.dates(s, t, r)
		case plain == nil:
			plain = x.candidates(s, t)
			list = plain
		}
		for _, c := range list {
			p := &s.pieces[c.piece]
			if p.place&r.Where == 0 || !r.admits(s, p, c) {
				continue
			}
			v.raw = appendString(nil, c.value)
			v.steps = []extract.Step{{
				Field: x.fields[t.field].name, Rule: r.ID, Confidence: r.Confidence,
				Element: s.elements[p.element].ID, Offset: c.start, Length: c.end - c.start,
			}}
			return v
		}
	}
	return v
}

// candidates are all runs that the shape's pattern takes, in one of their spellings.
func (x *Extractor) candidates(s *scan, t *tokenRules) []candidate {
	list := []candidate{}
	f := &x.fields[t.field]
	for i := range s.pieces {
		p := &s.pieces[i]
		if p.place&t.where == 0 {
			continue
		}
		text := s.elements[p.element].Text
		for at := p.start; at < p.end; {
			start, stop := t.run(text, at, p.end, p.start)
			if start == stop {
				break
			}
			at = stop
			if at-start+1 < f.lo {
				continue
			}
			end := at
			for end > start && !isWord(rune(text[end-1])) {
				end--
			}
			if end-start > f.hi+1 || end-start+1 < f.lo || !t.holds(text[start:end]) || !parted(text, start, end) {
				continue
			}
			if value, ok := f.spell(text[start:end]); ok {
				if list = append(list, candidate{i, start, end, value}); len(list) == maxCandidates {
					return list
				}
			}
		}
	}
	return list
}

// run is the next run of known bytes at or after at, empty at the end. Where every match holds some byte that is neither letter
// nor digit, only runs around that byte are looked at; low is where the piece starts.
func (t *tokenRules) run(text string, at, end, low int) (start, stop int) {
	if len(t.need) > 0 {
		n := strings.IndexByte(text[at:end], t.need[0])
		if n < 0 {
			return end, end
		}
		at += n
		start = at
		for start > low && t.known[text[start-1]] {
			start--
		}
	} else {
		for at < end && !t.known[text[at]] {
			at++
		}
		start = at
	}
	for at < end && t.known[text[at]] {
		at++
	}
	return start, at
}

func (t *tokenRules) holds(run string) bool {
	for _, b := range t.need {
		if strings.IndexByte(run, b) < 0 {
			return false
		}
	}
	return true
}

// spell normalises a run to the pattern: as it stands, in upper or lower case, without or with the v of a version.
func (f *field) spell(run string) (string, bool) {
	bare := strings.TrimLeft(run, "vV")
	for _, v := range [...]string{run, strings.ToUpper(run), strings.ToLower(run), bare, "v" + bare} {
		if f.fits(v) {
			return v, true
		}
	}
	return "", false
}

// parted reports that a run is no part of a longer word or number.
func parted(text string, start, end int) bool {
	if start > 0 {
		if c := text[start-1]; isLetter(c) || isDigit(c) || c == '_' {
			return false
		}
	}
	if end < len(text) {
		if c := text[end]; isLetter(c) || isDigit(c) || c == '_' || c == '%' {
			return false
		}
	}
	return true
}

// admits checks what a rule wants beyond the pattern.
func (r *tokenRule) admits(s *scan, p *piece, c candidate) bool {
	if r.Parts > 0 && strings.Count(c.value, ".")+1 < r.Parts {
		return false
	}
	if r.Semver && !isVersion(c.value) {
		return false
	}
	if len(r.near) == 0 && len(r.unlike) == 0 {
		return true
	}
	text := s.elements[p.element].Text
	before := text[max(0, c.start-contextBytes):c.start]
	before = before[strings.LastIndexAny(before, "\n,;|")+1:]
	var line folded
	line.append(before, 0)
	var head []byte
	if p.head >= 0 {
		head = s.folded.buf[s.regions[p.head].start:s.regions[p.head].end]
	}
	for _, w := range r.unlike {
		if w.in(line.buf) || w.in(head) {
			return false
		}
	}
	for _, w := range r.near {
		if w.in(line.buf) || w.in(head) {
			return true
		}
	}
	return len(r.near) == 0
}

// in reports whether the word stands in folded text.
func (w *nearby) in(buf []byte) bool {
	for from := 0; ; {
		n := bytes.Index(buf[from:], w.word)
		if n < 0 {
			return false
		}
		at := from + n
		if freeBefore(buf, at) && (w.prefix || freeAfter(buf, at+len(w.word))) {
			return true
		}
		from = at + 1
	}
}

// isVersion follows Semantic Versioning 2.0.0, with two liberties: a leading v, and a missing patch.
func isVersion(v string) bool {
	v = strings.TrimLeft(v, "vV")
	if strings.Count(v, ".") == 1 {
		v += ".0"
	}
	_, err := semver.StrictNewVersion(v)
	return err == nil
}

// alphabet gathers the ASCII bytes that a pattern can match, and those besides letters and digits that it must.
func alphabet(re *syntax.Regexp, known *[256]bool) (need []byte) {
	add := func(lo, hi rune) {
		for r := lo; r <= min(hi, 0x7F); r++ {
			known[r] = true
			if isLetter(byte(r)) {
				known[byte(r)^0x20] = true
			}
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		for _, r := range re.Rune {
			add(r, r)
			if r < 0x80 && !isWord(r) {
				need = append(need, byte(r))
			}
		}
	case syntax.OpCharClass:
		for i := 0; i < len(re.Rune); i += 2 {
			add(re.Rune[i], re.Rune[i+1])
		}
	default:
		for _, sub := range re.Sub {
			got := alphabet(sub, known)
			switch re.Op {
			case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
				need = append(need, got...)
			case syntax.OpRepeat:
				if re.Min > 0 {
					need = append(need, got...)
				}
			default: // what may be left out is not needed
			}
		}
	}
	return need
}
