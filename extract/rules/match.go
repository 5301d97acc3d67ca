package rules

import (
	"math"
	"regexp"
	"sync"
	"unicode/utf8"

	"github.com/coregx/ahocorasick"
)

// The cost of a set on a text is bounded by these.
const (
	chunkBytes   = 32 << 10 // folded text searched at once, which bounds the list of matches
	patternTries = 16       // windows that one pattern is tried on
	windowBefore = 96
	windowAfter  = 160
	windowAlone  = 512 // of a title or heading, for a pattern without words
)

// leaf is a matcher that looks at text.
type leaf struct {
	where   Where
	section bool
	re      *regexp.Regexp // nil: the words are all
	alone   bool           // the pattern has no words
	heads   []nearby       // if any, one of them stands in the heading above
}

// use is one leaf's interest in a word.
type use struct {
	leaf   int
	prefix bool
}

// lexicon is words of a set in one automaton, built on first use.
type lexicon struct {
	words []string // folded, distinct
	uses  [][]use
	index map[string]int
	ends  [][2]bool // by word: a boundary is wanted before, after
	most  int       // bytes of the longest word
	once  sync.Once
	auto  *ahocorasick.Automaton
}

// add registers a folded word; it reports whether there is a word at all.
func (l *lexicon) add(word string, u use) bool {
	if word == "" {
		return false
	}
	i, ok := l.index[word]
	if !ok {
		if l.index == nil {
			l.index = map[string]int{}
		}
		i = len(l.words)
		l.index[word] = i
		l.words, l.uses = append(l.words, word), append(l.uses, nil)
		first, _ := utf8.DecodeRuneInString(word)
		last, _ := utf8.DecodeLastRuneInString(word)
		l.ends = append(l.ends, [2]bool{bounded(first), bounded(last)})
		l.most = max(l.most, len(word))
	}
	l.uses[i] = append(l.uses[i], u)
	return true
}

// automaton is nil where there are no words. Build fails on an empty list only.
func (l *lexicon) automaton() *ahocorasick.Automaton {
	l.once.Do(func() {
		if len(l.words) > 0 {
			l.auto, _ = ahocorasick.NewBuilder().AddStrings(l.words).Build()
		}
	})
	return l.auto
}

// learn registers a word of a rule; it reports whether there is one. Words beyond ASCII, and words that are looked for in titles
// only, have automata of their own: most text has none of the first and is none of the second, and the table of what is
// left stays small.
func (x *Extractor) learn(word string, u use) bool {
	switch {
	case !isASCII(word):
		return x.foreign.add(word, u)
	case x.leaves[u.leaf].where == Title:
		return x.titles.add(word, u)
	default:
		return x.plain.add(word, u)
	}
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// search finds the words of a lexicon in one pass over the folded text from region at up to position limit, and tries the
// patterns that they call for.
func (x *Extractor) search(s *scan, l *lexicon, at, limit int) {
	auto := l.automaton()
	if auto == nil {
		return
	}
	buf, low := s.folded.buf, s.regions[at].start
	for done := low; done < limit; {
		start, end := max(low, done-l.most), min(done+chunkBytes, limit)
		for _, m := range auto.FindAllOverlapping(buf[start:end]) {
			from, to := start+m.Start, start+m.End
			if to <= done {
				continue // found in the chunk before
			}
			ends := l.ends[m.PatternID]
			if ends[0] && !freeBefore(buf, from) {
				continue
			}
			whole := !ends[1] || freeAfter(buf, to)
			for s.regions[at].end < from {
				at++
			}
			for _, u := range l.uses[m.PatternID] {
				if whole || u.prefix {
					x.note(s, u.leaf, hit{true, at, from, to})
				}
			}
		}
		done = end
	}
}

// match looks for all words and for the patterns that stand alone.
func (x *Extractor) match(s *scan) {
	if len(s.regions) == 0 {
		return
	}
	x.search(s, &x.plain, 0, len(s.folded.buf))
	if s.folded.wide {
		x.search(s, &x.foreign, 0, len(s.folded.buf))
	}
	for i, r := range s.regions {
		if r.place == Title {
			x.search(s, &x.titles, i, r.end)
		}
	}
	for i, l := range x.leaves {
		if !l.alone {
			continue
		}
		for j, r := range s.regions {
			if r.place&l.where != 0 && !s.hits[i].ok {
				s.try(i, l.re, j, r.start, min(r.end, r.start+windowAlone))
			}
		}
	}
}

// note records a word for a leaf, if it stands where the leaf looks.
func (x *Extractor) note(s *scan, i int, h hit) {
	if s.hits[i].ok {
		return
	}
	l, r := &x.leaves[i], &s.regions[h.region]
	place := r.place
	if h.from < r.open {
		place |= Opening
	}
	switch {
	case place&l.where == 0, l.section && !r.filled, len(l.heads) > 0 && !s.under(r, l.heads):
	case l.re == nil:
		s.hits[i] = h
	case s.tries[i] < patternTries:
		s.tries[i]++
		s.try(i, l.re, h.region, max(r.start, h.from-windowBefore), min(r.end, h.to+windowAfter))
	}
}

// under reports whether a region stands under a heading that has one of the words.
func (s *scan) under(r *region, heads []nearby) bool {
	if r.head < 0 {
		return false
	}
	h := &s.regions[r.head]
	for i := range heads {
		if heads[i].in(s.folded.buf[h.start:h.end]) {
			return true
		}
	}
	return false
}

func (s *scan) try(i int, re *regexp.Regexp, region, from, to int) {
	if loc := re.FindIndex(s.folded.buf[from:to]); loc != nil {
		s.hits[i] = hit{true, region, from + loc[0], from + loc[1]}
	}
}

// node is a compiled matcher.
type node struct {
	op      op
	leaf    int
	feature Feature
	field   int
	value   int
	subs    []node
}

// eval answers a condition from what was found, and where that was if it was somewhere.
func (x *Extractor) eval(s *scan, n *node, done []verdict) (bool, hit) {
	switch n.op {
	case opWords, opSection, opAnswer, opPattern:
		return s.hits[n.leaf].ok, s.hits[n.leaf]
	case opHas:
		return s.features[n.feature], hit{}
	case opFound:
		return done[n.field].raw != nil, hit{}
	case opIs:
		return done[n.field].label == n.value, hit{}
	case opNot:
		ok, _ := x.eval(s, &n.subs[0], done)
		return !ok, hit{}
	case opAll:
		var first hit
		for i := range n.subs {
			ok, h := x.eval(s, &n.subs[i], done)
			if !ok {
				return false, hit{}
			}
			if !first.ok {
				first = h
			}
		}
		return true, first
	case opAny:
		for i := range n.subs {
			if ok, h := x.eval(s, &n.subs[i], done); ok {
				return true, h
			}
		}
		return false, hit{}
	default:
		return false, hit{}
	}
}

// pow2 is 2^20 * 2^(-i/10).
var pow2 = [10]uint64{1048576, 978356, 912838, 851708, 794672, 741455, 691802, 645474, 602249, 561918}

// share is the chance in percent that the i-th of some values is the right one, if the sums are tenths of a bit of
// independent evidence and all were equally likely before. It is integer arithmetic, equal on every machine.
func share(sums []int, i int) int {
	best := math.MinInt
	for _, s := range sums {
		best = max(best, s)
	}
	weigh := func(s int) uint64 { return pow2[(best-s)%10] >> min((best-s)/10, 63) }
	var all uint64
	for _, s := range sums {
		all += weigh(s)
	}
	return int(100 * weigh(sums[i]) / all)
}
