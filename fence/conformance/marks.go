package conformance

import (
	"math"
	"slices"
	"strings"
)

// Bounds of a token, in bits. Two tokens can share a digit or two at their ends by chance, so that the part that was seen to
// differ may be shorter than the token.
const (
	wantBits      = 64
	wantDiffering = 40
	leastDigits   = 4 // fewer differing characters are no token but a number or a word
)

// token is a piece of an answer that is another one in the next answer to the same context.
type token struct {
	text string
	bits float64 // of the whole; 0 if too little of it was seen to differ
}

// endsRun reports whether a rune can be no part of a token.
func endsRun(r rune) bool {
	return !('0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || r == '_' || r == '-')
}

// tokensOf gives the pieces of a that differ from b, an answer to the same context, and occur in a at least twice.
func tokensOf(a, b answer, input string) []token {
	ours, theirs := a.parts(), b.parts()
	if len(ours) != len(theirs) {
		return nil
	}
	var found []token
	for i := range ours {
		mine, other := between(ours[i], theirs[i])
		x, y := strings.FieldsFunc(mine, endsRun), strings.FieldsFunc(other, endsRun)
		if len(x) != len(y) {
			continue
		}
		for j, run := range x {
			t, ok := differing(run, y[j])
			if !ok || strings.Contains(input, t.text) || slices.ContainsFunc(found, func(f token) bool { return f.text == t.text }) {
				continue
			}
			if strings.Count(strings.Join(ours, "\n"), t.text) >= 2 {
				found = append(found, t)
			}
		}
	}
	return found
}

// between leaves out of two parts what they begin and end with alike, down to a blank: texts can be long.
func between(a, b string) (string, string) {
	n := min(len(a), len(b))
	from, tail := 0, 0
	for from < n && a[from] == b[from] {
		from++
	}
	for tail < n-from && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	from = strings.LastIndexByte(a[:from], ' ') + 1
	if gap := strings.IndexByte(a[len(a)-tail:], ' '); gap >= 0 {
		tail -= gap
	} else {
		tail = 0
	}
	return a[from : len(a)-tail], b[from : len(b)-tail]
}

// differing gives the part of a run that differs from its counterpart, widened by its neighbours of the same alphabet.
func differing(run, other string) (token, bool) {
	from, end := 0, len(run)
	for from < end && from < len(other) && run[from] == other[from] {
		from++
	}
	for tail := 1; end > from && len(other)-tail >= from && run[end-1] == other[len(other)-tail]; tail++ {
		end--
	}
	if end-from < leastDigits {
		return token{}, false
	}
	alphabet, each := alphabetOf(run[from:end] + other[from:max(from, len(other)-(len(run)-end))]) // one alone may hold no letter by chance
	seen := float64(end-from) * each
	for from > 0 && strings.IndexByte(alphabet, run[from-1]) >= 0 {
		from--
	}
	for end < len(run) && strings.IndexByte(alphabet, run[end]) >= 0 {
		end++
	}
	t := token{run[from:end], float64(end-from) * each}
	if seen < wantDiffering {
		t.bits = 0
	}
	return t, true
}

const (
	digits = "0123456789"
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// alphabetOf gives the smallest usual alphabet of s, and the bits of one character.
func alphabetOf(s string) (string, float64) {
	for _, a := range []string{digits, digits + "abcdef", digits + "ABCDEF", digits + lower, digits + upper, digits + lower + upper} {
		if strings.Trim(s, a) == "" {
			return a, math.Log2(float64(len(a)))
		}
	}
	return digits + lower + upper + "_-", 6
}

// span is a piece of a part, in bytes.
type span struct{ from, end int }

// marked is one part with its blocks.
type marked struct {
	text    string
	markers []span // occurrences of tokens, in order
	blocks  []span // what stands between the tokens of two markers
	paired  bool   // every opening marker has its closing one
}

// mark finds the blocks of a part.
func mark(text string, tokens []token) marked {
	m := marked{text: text, paired: true}
	var names []string
	for at := 0; at < len(text); {
		next, name := len(text), ""
		for _, t := range tokens {
			if i := strings.Index(text[at:], t.text); i >= 0 && at+i < next {
				next, name = at+i, t.text
			}
		}
		if name == "" {
			break
		}
		m.markers = append(m.markers, span{next, next + len(name)})
		names = append(names, name)
		at = next + len(name)
	}
	for i := 0; i < len(names); i += 2 {
		if i+1 == len(names) || names[i] != names[i+1] {
			return marked{text: text, markers: m.markers}
		}
		m.blocks = append(m.blocks, span{m.markers[i].end, m.markers[i+1].from})
	}
	return m
}

// inside reports whether s lies in one block.
func (m marked) inside(s span) bool {
	return slices.ContainsFunc(m.blocks, func(b span) bool { return b.from <= s.from && s.end <= b.end })
}

// touches reports whether s shares a byte with a block.
func (m marked) touches(s span) bool {
	return slices.ContainsFunc(m.blocks, func(b span) bool { return b.from < s.end && s.from < b.end })
}

// find gives the occurrences of s.
func (m marked) find(s string) []span {
	var all []span
	for at := 0; ; {
		i := strings.Index(m.text[at:], s)
		if i < 0 || s == "" {
			return all
		}
		all = append(all, span{at + i, at + i + len(s)})
		at += i + len(s)
	}
}

// outside gives the part with each block blanked and each token replaced.
func (m marked) outside() string {
	var b strings.Builder
	at := 0
	for i, s := range m.markers {
		if i%2 == 0 {
			b.WriteString(m.text[at:s.from])
		}
		b.WriteString("\x00")
		at = s.end
	}
	b.WriteString(m.text[at:])
	return b.String()
}

// plain gives the part with each token replaced.
func (m marked) plain() string {
	var b strings.Builder
	at := 0
	for _, s := range m.markers {
		b.WriteString(m.text[at:s.from])
		b.WriteString("\x00")
		at = s.end
	}
	b.WriteString(m.text[at:])
	return b.String()
}
