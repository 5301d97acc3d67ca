package learned

import (
	"math"
	"slices"
	"strings"

	"decant.dev/extract/rules"
)

// space is a part of an item that is read by itself: its features are weighed by how rare they are, scaled to length 1, and
// then by the space's weight, so that a long body does not drown a title.
type space uint8

const (
	titleWords   space = iota // 1 to 3 words in a row
	titleRunes                // 2 to 5 runes of a word
	bodyWords                 // words of the whole body, code too
	openingWords              // 1 to 2 words in a row of the first prose
	headings                  // headings, whole and by word
	answers                   // a heading with the line under it, and that line
	questions                 // 1 to 2 words in a row of sentences that ask
	structure                 // what the text is made of: code, pictures, length, first word …
	openingRunes              // 4 runes of a word of the first prose; the one space without copies for groups
	spaceCount
)

// weights are the spaces' shares of a score, set by cross-validation.
var weights = [spaceCount]float32{
	titleWords: 0.85, titleRunes: 1, bodyWords: 1.3, openingWords: 1.2, openingRunes: 0.5,
	headings: 0.7, answers: 1, questions: 0.7, structure: 0.7,
}

// openingBytes of prose are the opening.
const openingBytes = 500

// featureVersion changes whenever the same text would give other features, so that no model meets features that it
// was not trained on.
const featureVersion = "learned.features.v1"

const (
	hashBits = 18 // of a bucket; shared features have 2^hashBits rows, and their copies for groups as many
	buckets  = 1 << hashBits
	rows     = 2 * buckets
)

// document is an item's features before any model: in each space the buckets with how often, at most 255.
type document struct {
	entries []uint32 // bucket<<8 | count
	ends    [spaceCount]uint32
	group   uint64 // hash, 0 for none
}

// reader turns texts into features. It is reused; its memory is bounded by MaxTitle and MaxBody.
type reader struct {
	runes   []rune
	title   []token
	body    []token
	spans   []rules.Span
	picked  []token
	opening []token
	counts  []uint8 // by bucket; all zero between spaces
	doc     document
	cells   []cell
	salt    uint64
	opened  int // first entry of the open space
}

// open begins a space.
func (r *reader) open(s space) {
	r.salt = (uint64(s) + 1) * 0x9e3779b97f4a7c15
	r.opened = len(r.doc.entries)
}

// close ends it: counts take their places beside the buckets.
func (r *reader) close(s space) {
	for i := r.opened; i < len(r.doc.entries); i++ {
		b := r.doc.entries[i]
		r.doc.entries[i] = b<<8 | uint32(r.counts[b])
		r.counts[b] = 0
	}
	r.doc.ends[s] = uint32(len(r.doc.entries))
}

func (r *reader) add(h uint64) {
	h = (h ^ r.salt) * 0xff51afd7ed558ccd
	b := uint32((h ^ h>>32) * 0xc4ceb9fe1a85ec53 >> (64 - hashBits))
	switch n := r.counts[b]; n {
	case 0:
		r.counts[b] = 1
		r.doc.entries = append(r.doc.entries, b)
	case math.MaxUint8:
	default:
		r.counts[b] = n + 1
	}
}

// grams adds all runs of 1 to most tokens.
func (r *reader) grams(list []token, most int) {
	for i := range list {
		h := uint64(hashStart)
		for n := 0; n < most && i+n < len(list); n++ {
			h = mixIn(h, list[i+n].hash)
			r.add(h)
		}
	}
}

// pieces adds all runs of low to high runes of each word, with its ends marked.
func (r *reader) pieces(list []token, low, high int) {
	for _, t := range list {
		n := int(t.to - t.from)
		for i := -1; i < n; i++ {
			h := uint64(hashStart)
			for k := 1; k <= high && i+k <= n+1; k++ {
				c := rune(' ')
				if at := i + k - 1; at >= 0 && at < n {
					c = r.runes[int(t.from)+at]
				}
				h = mixIn(h, uint64(c))
				if k >= low {
					r.add(h)
				}
			}
		}
	}
}

// read gives the features of a text, valid until the next read.
func (r *reader) read(t content) *document {
	if r.counts == nil {
		r.counts = make([]uint8, buckets)
	}
	title, body := clip(t.Title, MaxTitle), clip(t.Body, MaxBody)
	r.runes, r.doc.entries = r.runes[:0], r.doc.entries[:0]
	r.title = r.tokenize(r.title[:0], title)
	r.body = r.tokenize(r.body[:0], body)
	r.spans = rules.AppendSpans(r.spans[:0], body)
	r.doc.group = groupHash(t.Group)

	r.open(titleWords)
	r.grams(r.title, 3)
	r.close(titleWords)
	r.open(titleRunes)
	r.pieces(r.title, 2, 5)
	r.close(titleRunes)
	r.open(bodyWords)
	r.grams(r.body, 1)
	r.close(bodyWords)
	f := r.forms(title, body)
	r.opening = r.prose(r.opening[:0], openingBytes)
	r.open(openingWords)
	r.grams(r.opening, 2)
	r.close(openingWords)
	r.open(headings)
	r.headings()
	r.close(headings)
	r.open(answers)
	r.answers(body)
	r.close(answers)
	r.open(questions)
	r.picked = r.prose(r.picked[:0], len(body))
	r.questions(r.picked)
	r.close(questions)
	r.open(structure)
	r.structure(&f)
	r.close(structure)
	r.open(openingRunes)
	r.pieces(r.opening, 4, 4)
	r.close(openingRunes)
	return &r.doc
}

func groupHash(name string) uint64 {
	if name == "" {
		return 0
	}
	name = clip(name, MaxName)
	h := uint64(hashStart)
	for i := 0; i < len(name); i++ {
		h = mixIn(h, uint64(name[i]))
	}
	return h | 1
}

// prose appends the tokens of the first limit bytes of prose.
func (r *reader) prose(dst []token, limit int) []token {
	k := 0
	for _, s := range r.spans {
		end := s.End
		if s.Kind == rules.SpanProse {
			end = min(end, s.Start+limit)
			limit -= end - s.Start
		}
		for ; k < len(r.body) && int(r.body[k].at) < s.End; k++ {
			if s.Kind == rules.SpanProse && int(r.body[k].at) >= s.Start && int(r.body[k].at) < end {
				dst = append(dst, r.body[k])
			}
		}
		if limit <= 0 {
			break
		}
	}
	return dst
}

// within is the tokens of a byte range, the first of which is at or after k.
func (r *reader) within(k, start, end int) (from, to int) {
	for from = k; from < len(r.body) && int(r.body[from].at) < start; from++ {
	}
	for to = from; to < len(r.body) && int(r.body[to].at) < end; to++ {
	}
	return from, to
}

func sequence(list []token) uint64 {
	h := uint64(hashStart)
	for _, t := range list {
		h = mixIn(h, t.hash)
	}
	return h
}

func (r *reader) headings() {
	const whole = 0x5bd1e995
	k := 0
	for _, s := range r.spans {
		if s.Kind == rules.SpanHeading {
			from, to := r.within(k, s.Start, s.End)
			r.add(sequence(r.body[from:to]) ^ whole)
			for _, t := range r.body[from:to] {
				r.add(t.hash)
			}
			k = to
		}
	}
}

// answerBytes bounds a line that answers a heading, as forms have it.
const answerBytes = 60

func (r *reader) answers(body string) {
	const alone = 0x1b873593
	var head uint64
	k := 0
	for _, s := range r.spans {
		switch s.Kind {
		case rules.SpanHeading:
			from, to := r.within(k, s.Start, s.End)
			head, k = sequence(r.body[from:to])|1, to
		case rules.SpanBoilerplate:
			if head != 0 {
				r.add(mixIn(head, '-'))
				head = 0
			}
		case rules.SpanProse:
			if head == 0 {
				continue
			}
			line := strings.TrimLeft(body[s.Start:s.End], " \t\r\n")
			if line == "" {
				continue
			}
			start := s.End - len(line)
			if n := strings.IndexByte(line, '\n'); n >= 0 {
				line = line[:n]
			}
			if len(line) <= answerBytes {
				from, to := r.within(k, start, start+len(line))
				said := sequence(r.body[from:to])
				r.add(mixIn(head, said))
				r.add(said ^ alone)
				k = to
			}
			head = 0
		case rules.SpanCode:
			head = 0
		default:
		}
	}
}

func (r *reader) questions(list []token) {
	asks := mixIn(hashStart, '?')
	for i := 0; i < len(list); {
		end, found := i, false
		for end < len(list) && (end == i || !list[end].parted) {
			found = found || list[end].hash == asks
			end++
		}
		if found {
			r.grams(list[i:end], 2)
		}
		i = end
	}
}

// cell is one feature of an item under a model: a row of its weights, and a value.
type cell struct {
	row   uint32
	value float32
}

// rarity is a feature's weight by the number of rows that it stands in, in steps of 1/16; 0 for one that stands in fewer than two.
func rarity(n, of int) uint8 {
	if n < 2 {
		return 0
	}
	return uint8(min(255, math.Round(16*(1+math.Log(float64(of+1)/float64(n+1))))))
}

// damped is 1 + the logarithm of a count, so that repeating a word gains little.
var damped = func() (t [256]float32) {
	for n := 1; n < len(t); n++ {
		t[n] = float32(1 + math.Log(float64(n)))
	}
	return t
}()

// The row and value of what every item has.
const (
	biasRow   = 0
	biasValue = 0.55
)

// appendCells weighs a document's features. An item of a known group has most of them twice: the copy's row is the group's own.
func appendCells(dst []cell, d *document, rarities []uint8, known []uint64) []cell {
	dst = append(dst, cell{biasRow, biasValue})
	start, from := len(dst), uint32(0)
	for s, end := range d.ends {
		if space(s) == openingRunes {
			dst = appendCopies(dst, start, d.group, known)
		}
		first, sum := len(dst), float32(0)
		for _, e := range d.entries[from:end] {
			q := rarities[e>>8]
			if q == 0 {
				continue
			}
			v := damped[e&0xff] * float32(q)
			sum += float32(v * v)
			dst = append(dst, cell{e >> 8, v})
		}
		from = end
		if sum > 0 {
			scale := weights[s] / float32(math.Sqrt(float64(sum)))
			for i := first; i < len(dst); i++ {
				dst[i].value *= scale
			}
		}
	}
	return dst
}

func appendCopies(dst []cell, start int, group uint64, known []uint64) []cell {
	if _, ok := slices.BinarySearch(known, group); !ok || group == 0 {
		return dst
	}
	salt := uint32(group >> 32)
	for _, c := range dst[start:] {
		dst = append(dst, cell{buckets | (c.row*0x9e3779b1^salt)&(buckets-1), c.value})
	}
	return dst
}
