package shape

import (
	"encoding/binary"
	"math/big"
	"math/rand/v2"
)

// Sample draws a value, each of Count with the same probability.
func (s *Shape) Sample(rng *rand.Rand) *Value {
	p := sampler{rng: rng, v: newValue(s, 64)}
	p.node(s.root, 0)
	return p.v
}

type sampler struct {
	rng *rand.Rand
	v   *Value
}

// below draws uniformly from [0, n), n > 0, by rejection.
func (p *sampler) below(n *big.Int) *big.Int {
	bits := n.BitLen()
	buf := make([]byte, 8*((bits+63)/64))
	for {
		for i := 0; i < len(buf); i += 8 {
			binary.BigEndian.PutUint64(buf[i:], p.rng.Uint64())
		}
		x := new(big.Int).SetBytes(buf)
		if x.Rsh(x, uint(8*len(buf)-bits)); x.Cmp(n) < 0 {
			return x
		}
	}
}

// size draws k from [lo, hi] with weight w(k).
func (p *sampler) size(lo, hi int, w func(k int) *big.Int) int {
	sum := new(big.Int)
	weights := make([]*big.Int, 0, hi-lo+1)
	for k := lo; k <= hi; k++ {
		x := w(k)
		weights = append(weights, x)
		sum.Add(sum, x)
	}
	r := p.below(sum)
	for i, x := range weights {
		if r.Cmp(x) < 0 {
			return lo + i
		}
		r.Sub(r, x)
	}
	return hi
}

// runs draws a length with weight base^k. Lengths are tried from the longest, which has nearly all the weight.
func (p *sampler) runs(n *node, base *big.Int, lo, hi int) int {
	r := p.below(n.values)
	x := new(big.Int).Set(n.peak)
	for k := hi; k > lo; k-- {
		if r.Cmp(x) < 0 {
			return k
		}
		r.Sub(r, x)
		x.Quo(x, base)
	}
	return lo
}

func (p *sampler) node(n *node, at int32) {
	switch n.form {
	case formEnum, formBool, formInt:
		p.v.cells[at].n = int32(p.rng.IntN(n.choices()))
	case formSet:
		total := n.item.choices()
		k := p.size(n.minItems, n.setMax(), func(k int) *big.Int { return new(big.Int).Binomial(int64(total), int64(k)) })
		p.subset(total, k, at)
	case formString:
		p.text(n, at)
	case formList:
		k := p.runs(n, n.item.values, n.minItems, n.maxItems)
		first := p.v.block(k, 0)
		p.v.cells[at].n, p.v.cells[at].first = int32(k), first
		for i := range int32(k) {
			p.v.cells[first+i].next = first + i + 1
			p.node(n.item, first+i)
		}
	case formObject:
		first := p.v.block(len(n.fields), absent)
		p.v.cells[at].n, p.v.cells[at].first = 0, first
		for i, f := range n.fields {
			if f.optional {
				if n := f.value.all(); p.below(n.Add(n, big.NewInt(1))).Sign() == 0 {
					continue
				}
			}
			p.node(f.value, first+int32(i))
		}
	default:
		panic("shape: a form beyond the closed list")
	}
}

// subset draws k of n without replacement (selection sampling: Knuth, The Art of Computer Programming 2, 3.4.2 S).
func (p *sampler) subset(n, k int, at int32) {
	first := p.v.block(k, 0)
	p.v.cells[at].n, p.v.cells[at].first = int32(k), first
	for ord, got := 0, 0; got < k; ord++ {
		if p.rng.IntN(n-ord) < k-got {
			p.v.cells[first+int32(got)] = cell{n: int32(ord), next: first + int32(got) + 1}
			got++
		}
	}
}

func (p *sampler) text(n *node, at int32) {
	if n.dfa != nil {
		p.v.setText(at, string(n.dfa.draw(p.below)))
		return
	}
	k := p.runs(n, big.NewInt(int64(alphabetSize)), n.minLen, n.maxLen)
	s := make([]rune, k)
	for i := range s {
		s[i] = letter(p.rng.IntN(alphabetSize))
	}
	p.v.setText(at, string(s))
}

// draw picks a value of the automaton by its rank.
func (d *dfa) draw(below func(*big.Int) *big.Int) []byte {
	var s []byte
	q := 0
	r := below(d.counts[0])
	for {
		if d.accept[q] {
			if r.Sign() == 0 {
				return s
			}
			r.Sub(r, big.NewInt(1))
		}
		w := len(d.letters)
		for k := 1; k < w; k++ {
			to := d.next[q*w+k]
			if to < 0 {
				continue
			}
			m := new(big.Int).Mul(big.NewInt(int64(len(d.letters[k]))), d.counts[to])
			if r.Cmp(m) >= 0 {
				r.Sub(r, m)
				continue
			}
			i, rest := new(big.Int).QuoRem(r, d.counts[to], new(big.Int))
			s = append(s, d.letters[k][i.Int64()])
			q, r = int(to), rest
			break
		}
	}
}

// Largest is a value whose canonical encoding takes MaxBytes.
func (s *Shape) Largest() *Value {
	v := newValue(s, s.maxBytes)
	v.largest(s.root, 0)
	return v
}

func (v *Value) largest(n *node, at int32) {
	switch n.form {
	case formEnum, formBool, formInt:
		v.cells[at].n = n.longestChoices(1)[0]
	case formSet:
		k := n.setMax()
		first := v.block(k, 0)
		v.cells[at].n, v.cells[at].first = int32(k), first
		for i, ord := range n.item.longestChoices(k) {
			v.cells[first+int32(i)] = cell{n: ord, next: first + int32(i) + 1}
		}
	case formString:
		if n.dfa != nil {
			v.setText(at, string(n.dfa.largest()))
			return
		}
		s := make([]rune, n.maxLen)
		for i := range s {
			s[i] = 0x10000
		}
		v.setText(at, string(s))
	case formList:
		first := v.block(n.maxItems, 0)
		v.cells[at].n, v.cells[at].first = int32(n.maxItems), first
		for i := range int32(n.maxItems) {
			v.cells[first+i].next = first + i + 1
			v.largest(n.item, first+i)
		}
	case formObject:
		first := v.block(len(n.fields), 0)
		v.cells[at].n, v.cells[at].first = 0, first
		for i, f := range n.fields {
			v.largest(f.value, first+int32(i))
		}
	default:
		panic("shape: a form beyond the closed list")
	}
}
