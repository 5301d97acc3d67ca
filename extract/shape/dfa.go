package shape

import (
	"encoding/binary"
	"math/big"
	"regexp/syntax"
	"slices"
)

// dfa is an acyclic automaton over classes of printable ASCII. State 0 starts; once trimmed, every state leads to an
// accepting one, so its language is finite and its paths are its values, each once: counting on it is exact, where
// counting on the syntax tree would count an ambiguous value twice.
type dfa struct {
	class   [256]uint8 // 0 for bytes that no value has
	letters [][]byte   // of each class; class 0 has none
	next    []int32    // state*len(letters)+class → state, or -1
	accept  []bool
	counts  []*big.Int // values from each state on; set by trim
	bytes   []int      // of the longest value from each state on, once escaped; set by trim
	minLen  int        // characters of the shortest and longest value; set by trim
	maxLen  int
}

func (d *dfa) states() int { return len(d.accept) }

func (d *dfa) step(q int32, c byte) int32 { return d.next[int(q)*len(d.letters)+int(d.class[c])] }

// match reports whether b is a value.
func (d *dfa) match(b []byte) bool {
	q := int32(0)
	for _, c := range b {
		if q = d.step(q, c); q < 0 {
			return false
		}
	}
	return d.accept[q]
}

func (d *dfa) count() *big.Int { return d.counts[0] }

func (d *dfa) longest() int { return d.bytes[0] }

// has reports whether some value contains c.
func (d *dfa) has(c byte) bool {
	k := int(d.class[c])
	for q := range d.accept {
		if k > 0 && d.next[q*len(d.letters)+k] >= 0 {
			return true
		}
	}
	return false
}

// newDFA cuts printable ASCII into classes that no instruction tells apart. Signs that JSON escapes are classes of their
// own, so that all letters of a class take the same bytes.
func newDFA(prog *syntax.Prog) *dfa {
	var cut [lastChar + 2]bool
	cut[firstChar], cut['"'], cut['"'+1], cut['\\'], cut['\\'+1] = true, true, true, true, true
	for _, in := range prog.Inst {
		for i, r := range in.Rune {
			hi := i%2 == 1 || len(in.Rune) == 1
			if i%2 == 0 {
				cut[r] = true
			}
			if hi {
				cut[r+1] = true
			}
		}
	}
	d := &dfa{letters: [][]byte{nil}}
	for c := firstChar; c <= lastChar; c++ {
		if cut[c] {
			d.letters = append(d.letters, nil)
		}
		k := len(d.letters) - 1
		d.class[c] = uint8(k)
		d.letters[k] = append(d.letters[k], byte(c))
	}
	return d
}

func (d *dfa) add(accept bool) int32 {
	d.accept = append(d.accept, accept)
	for range d.letters {
		d.next = append(d.next, -1)
	}
	return int32(len(d.accept) - 1)
}

// subset is the powerset construction, nil beyond the caps.
func subset(prog *syntax.Prog) *dfa {
	d := newDFA(prog)
	ids := map[string]int32{}
	var sets [][]uint32
	work := 0
	mark := make([]int, len(prog.Inst)) // round in which an instruction was last reached
	round := 0
	var set []uint32
	var reach func(pc uint32)
	reach = func(pc uint32) {
		if mark[pc] == round {
			return
		}
		mark[pc] = round
		work++
		switch in := &prog.Inst[pc]; in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			reach(in.Out)
			reach(in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			reach(in.Out)
		case syntax.InstMatch, syntax.InstRune, syntax.InstRune1:
			set = append(set, pc)
		default: // fail, and what bounded refused
		}
	}
	intern := func() int32 {
		slices.Sort(set)
		key := make([]byte, 0, 4*len(set))
		accept := false
		for _, pc := range set {
			key = binary.LittleEndian.AppendUint32(key, pc)
			accept = accept || prog.Inst[pc].Op == syntax.InstMatch
		}
		if id, ok := ids[string(key)]; ok {
			return id
		}
		id := d.add(accept)
		ids[string(key)] = id
		sets = append(sets, slices.Clone(set))
		return id
	}
	round++
	reach(uint32(prog.Start))
	intern()
	for q := 0; q < len(sets); q++ {
		for k := 1; k < len(d.letters); k++ {
			set = set[:0]
			round++
			for _, pc := range sets[q] {
				work++
				if in := &prog.Inst[pc]; in.Op != syntax.InstMatch && in.MatchRune(rune(d.letters[k][0])) {
					reach(in.Out)
				}
			}
			if len(set) > 0 {
				d.next[q*len(d.letters)+k] = intern()
			}
			if len(sets) > maxStates || work > maxWork {
				return nil
			}
		}
	}
	return d
}

// within keeps the values of minLen to maxLen characters (a negative maxLen is none), nil beyond the cap.
func (d *dfa) within(minLen, maxLen int) *dfa {
	if maxLen < 0 {
		maxLen = maxProg // longer than any value
	}
	out := &dfa{class: d.class, letters: d.letters}
	type at struct {
		q int32
		n int
	}
	ids := map[at]int32{}
	var list []at
	intern := func(x at) int32 {
		if id, ok := ids[x]; ok {
			return id
		}
		id := out.add(d.accept[x.q] && x.n >= minLen)
		ids[x] = id
		list = append(list, x)
		return id
	}
	intern(at{0, 0})
	w := len(d.letters)
	for i := 0; i < len(list); i++ {
		x := list[i]
		for k := 1; k < w && x.n < maxLen; k++ {
			if to := d.next[int(x.q)*w+k]; to >= 0 {
				id := intern(at{to, x.n + 1})
				out.next[i*w+k] = id
			}
		}
		if len(list) > maxStates {
			return nil
		}
	}
	return out
}

// trim drops what leads to no value, counts, and returns nil for an empty language.
func (d *dfa) trim() *dfa {
	w := len(d.letters)
	n := d.states()
	d.counts = make([]*big.Int, n)
	d.bytes = make([]int, n)
	short, long := make([]int, n), make([]int, n)
	var visit func(q int32)
	visit = func(q int32) {
		if d.counts[q] != nil {
			return
		}
		c := new(big.Int)
		d.counts[q] = c // the automaton has no cycle, so no visit comes back here before the end
		best, lo, hi := 0, maxProg, 0
		if d.accept[q] {
			c.SetInt64(1)
			lo = 0
		}
		for k := 1; k < w; k++ {
			to := d.next[int(q)*w+k]
			if to < 0 {
				continue
			}
			visit(to)
			if d.counts[to].Sign() == 0 {
				d.next[int(q)*w+k] = -1
				continue
			}
			m := big.NewInt(int64(len(d.letters[k])))
			c.Add(c, m.Mul(m, d.counts[to]))
			best = max(best, escapedLen(d.letters[k][0])+d.bytes[to])
			lo, hi = min(lo, short[to]+1), max(hi, long[to]+1)
		}
		d.bytes[q], short[q], long[q] = best, lo, hi
	}
	visit(0)
	if d.counts[0].Sign() == 0 {
		return nil
	}
	d.minLen, d.maxLen = short[0], long[0]
	return d
}

// largest is a value that takes the most bytes.
func (d *dfa) largest() []byte {
	var s []byte
	w := len(d.letters)
	for q := 0; d.bytes[q] > 0; {
		for k := 1; k < w; k++ {
			c := d.letters[k][0]
			if to := d.next[q*w+k]; to >= 0 && escapedLen(c)+d.bytes[to] == d.bytes[q] {
				s, q = append(s, c), int(to)
				break
			}
		}
	}
	return s
}

func escapedLen(c byte) int {
	if c == '"' || c == '\\' {
		return 2
	}
	return 1
}

// isPower reports whether n is 2^k.
func isPower(n *big.Int, k uint) bool {
	return n.Cmp(new(big.Int).Lsh(big.NewInt(1), k)) == 0
}
