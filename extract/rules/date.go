package rules

import (
	"strings"
	"time"
)

// dateBytes is the longest text, in bytes, that is tried as a date.
const dateBytes = 48

// wordByte is 1 for ASCII letters and 2 for digits.
var wordByte = func() (t [256]byte) {
	for c := range 256 {
		switch {
		case isLetter(byte(c)):
			t[c] = 1
		case isDigit(byte(c)):
			t[c] = 2
		}
	}
	return t
}()

// dates are the places of a text where a date stands in one of a rule's layouts, as the rule's format writes it. A window
// starts where a number or a name starts, and has as many words as the layout.
func (x *Extractor) dates(s *scan, t *tokenRules, r *tokenRule) []candidate {
	var list []candidate
	tries := 0
	for i := range s.pieces {
		p := &s.pieces[i]
		if p.place&r.Where == 0 {
			continue
		}
		text := s.elements[p.element].Text
		for at := p.start; at < p.end; {
			if wordByte[text[at]] == 0 {
				at++
				continue
			}
			for _, layout := range r.Layouts {
				if wordByte[layout[0]] != wordByte[text[at]] || !resembles(text[at:p.end], layout) {
					continue
				}
				if tries++; tries > maxCandidates {
					return list
				}
				if c, ok := x.date(text[:p.end], at, layout, t, r); ok {
					c.piece = i
					list = append(list, c)
					break
				}
			}
			for at < p.end && wordByte[text[at]] != 0 {
				at++
			}
		}
	}
	return list
}

// resembles is a quick look: a name where the layout has one, or a number followed by what follows it in the layout.
func resembles(text, layout string) bool {
	if isLetter(layout[0]) {
		if len(text) < 3 {
			return false
		}
		switch string([]byte{text[0] | 0x20, text[1] | 0x20, text[2] | 0x20}) {
		case "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
			"mon", "tue", "wed", "thu", "fri", "sat", "sun":
			return true
		default:
			return false
		}
	}
	n, m := 0, 0
	for n < len(text) && n <= 4 && isDigit(text[n]) {
		n++
	}
	for m < len(layout) && isDigit(layout[m]) {
		m++
	}
	return 0 < n && n <= 4 && n < len(text) && m < len(layout) && text[n] == layout[m]
}

func (x *Extractor) date(text string, at int, layout string, t *tokenRules, r *tokenRule) (candidate, bool) {
	text = text[:min(len(text), at+dateBytes)]
	end := at
	for n := strings.Count(layout, " "); ; n-- {
		for end < len(text) && text[end] > ' ' {
			end++
		}
		if n == 0 || end == len(text) || text[end] != ' ' {
			break
		}
		end++
	}
	part := strings.TrimRight(text[at:end], ".,;:!?)]\"'*_")
	when, err := time.Parse(layout, part)
	if err != nil {
		return candidate{}, false
	}
	v := when.Format(r.Format)
	return candidate{start: at, end: at + len(part), value: v}, x.fields[t.field].fits(v)
}
