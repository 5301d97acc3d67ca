package shape

import (
	"math"
	"math/big"
)

// Bits is how much one structure can say, in bits. The exact numbers are Count, SkeletonCount and Fillings: compare
// those with a limit; round these only to print them.
type Bits struct {
	Decide float64 // log2 of the skeletons (choices, presence, list lengths) and terminal codes: what can steer a plan
	Carry  float64 // log2 of the fillings of the largest skeleton: what can be carried to a sink
	Total  float64 // log2 of all values
}

// Count is the number of values.
func (s *Shape) Count() *big.Int { return new(big.Int).Set(s.count) }

// SkeletonCount is the number of skeletons, without terminal codes.
func (s *Shape) SkeletonCount() *big.Int { return new(big.Int).Set(s.skels) }

// Fillings is the number of values of the skeleton that has the most.
func (s *Shape) Fillings() *big.Int { return new(big.Int).Set(s.fills) }

// Bits is the capacity of one run that ends in a structure or in one of codes terminal codes.
func (s *Shape) Bits(codes int) Bits {
	decide := new(big.Int).Add(s.skels, big.NewInt(int64(max(codes, 0))))
	return Bits{Decide: Log2(decide), Carry: Log2(s.fills), Total: Log2(s.count)}
}

// Log2 is the binary logarithm of n, to the precision of a float64; -Inf for n < 1.
func Log2(n *big.Int) float64 {
	if n.Sign() < 1 {
		return math.Inf(-1)
	}
	mant := new(big.Float)
	exp := new(big.Float).SetInt(n).MantExp(mant)
	m, _ := mant.Float64()
	return float64(exp) + math.Log2(m)
}

// Field is one field of a shape, for a reader of the audit.
type Field struct {
	Name     string // schema path: version, items[].id
	Kind     Kind
	Optional bool
	Values   *big.Int // number of values of one instance, absence included
	Bits     float64  // Log2 of Values
	Labels   []string // the labels of an enum or of a set of an enum, in order; nil otherwise
	Min, Max int64    // the range of an integer; the number of items of a list or set; the characters of a text
	About    string   // the author's description
}

// Fields lists every field, outer before inner, in the order of the Go struct. The values of the fields at the top
// multiply to Count.
func (s *Shape) Fields() []Field {
	var list []Field
	var object func(n *node)
	var inner func(n *node)
	object = func(n *node) {
		for _, i := range n.byOrder {
			f := n.fields[i]
			list = append(list, f.describe())
			inner(f.value)
		}
	}
	inner = func(n *node) {
		switch n.form {
		case formObject:
			object(n)
		case formList:
			list = append(list, field{value: n.item}.describe())
			inner(n.item)
		default: // a leaf has nothing inside
		}
	}
	object(s.root)
	return list
}

func (f field) describe() Field {
	n := f.value
	out := Field{Name: n.path, Kind: n.kind, Optional: f.optional, Values: n.all(), About: n.about}
	if f.optional {
		out.Values.Add(out.Values, big.NewInt(1))
	}
	out.Bits = Log2(out.Values)
	switch n.form {
	case formEnum:
		out.Labels = append([]string(nil), n.labels...)
	case formInt:
		out.Min, out.Max = n.lo, n.hi
	case formSet:
		out.Labels = append([]string(nil), n.item.labels...)
		out.Min, out.Max = int64(n.minItems), int64(n.setMax())
	case formList:
		out.Min, out.Max = int64(n.minItems), int64(n.maxItems)
	case formString:
		out.Min, out.Max = int64(n.minLen), int64(n.maxLen)
	default: // a boolean and an object have no range
	}
	return out
}

// powers is the sum of base^k for k from lo to hi.
func powers(base *big.Int, lo, hi int) *big.Int {
	if hi < lo {
		return new(big.Int)
	}
	if base.Cmp(big.NewInt(1)) == 0 {
		return big.NewInt(int64(hi - lo + 1))
	}
	if base.Sign() == 0 { // no value of the item: only the empty list
		return big.NewInt(int64(1 - min(lo, 1)))
	}
	// (base^(hi+1) - base^lo) / (base - 1)
	sum := new(big.Int).Exp(base, big.NewInt(int64(hi+1)), nil)
	sum.Sub(sum, new(big.Int).Exp(base, big.NewInt(int64(lo)), nil))
	return sum.Quo(sum, new(big.Int).Sub(base, big.NewInt(1)))
}

// subsets is the sum of the binomials (n over k) for k from lo to hi.
func subsets(n, lo, hi int) *big.Int {
	sum, c := new(big.Int), big.NewInt(1)
	for k := 0; k <= hi; k++ {
		if k >= lo {
			sum.Add(sum, c)
		}
		c.Mul(c, big.NewInt(int64(n-k)))
		c.Quo(c, big.NewInt(int64(k+1)))
	}
	return sum
}
