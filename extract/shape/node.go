package shape

import (
	"math/big"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"
)

// form is how a node is spelled in JSON. The zero value is invalid.
type form uint8

const (
	formEnum form = iota + 1 // a string of a closed list
	formBool
	formInt
	formSet    // distinct choices, in the enum's order
	formString // token, text or quote
	formList
	formObject
)

// node is the closed representation: everything else (counting, sampling, decoding, encoding, projection) is a walk over
// it, and each walk switches over form with a default that denies.
type node struct {
	form   form
	kind   Kind
	path   string // schema path: items[].id
	about  string // the author's description, for the provider
	goType reflect.Type

	labels  []string // formEnum, in the author's order
	encoded [][]byte // formEnum: each label as canonical JSON
	byLabel map[string]int32

	lo, hi int64 // formInt

	minLen, maxLen int    // formString: characters
	pattern        string // formString: as written, empty without
	plain          bool   // formString: no character needs an escape
	dfa            *dfa   // formString with a pattern

	minItems, maxItems int // formList, formSet
	item               *node

	values *big.Int // all, kept; set by tally
	peak   *big.Int // formString without a pattern, formList: the values of the greatest length; set by tally

	fields  []field // formObject, in canonical order
	byOrder []int   // formObject: indexes into fields in the order of the Go struct
}

// field is one property of an object.
type field struct {
	name     string
	key      []byte // canonical JSON of the name, and a colon
	optional bool
	index    int // of the Go struct's field
	value    *node
}

// saturated caps lengths, so that no product of bounds overflows.
const saturated = 1 << 40

func satMul(a, b int) int {
	if a != 0 && b > saturated/a {
		return saturated
	}
	return min(a*b, saturated)
}

func satAdd(a, b int) int { return min(a+b, saturated) }

// choices is the number of values of a choice that is no set.
func (n *node) choices() int {
	switch n.form {
	case formEnum:
		return len(n.labels)
	case formBool:
		return 2
	case formInt:
		return int(n.hi-n.lo) + 1
	default:
		return 0
	}
}

// setMax is the most items that a set can really hold.
func (n *node) setMax() int { return min(n.maxItems, n.item.choices()) }

// appendChoice appends the canonical JSON of a choice by its ordinal.
func (n *node) appendChoice(dst []byte, ord int32) []byte {
	switch n.form {
	case formEnum:
		return append(dst, n.encoded[ord]...)
	case formBool:
		if ord == 1 {
			return append(dst, "true"...)
		}
		return append(dst, "false"...)
	case formInt:
		return strconv.AppendInt(dst, n.lo+int64(ord), 10)
	default:
		return dst
	}
}

// maxBytes is the length of the longest canonical encoding, saturated.
func (n *node) maxBytes() int {
	switch n.form {
	case formEnum, formBool, formInt:
		return n.choiceLengths(1)
	case formSet:
		return n.item.choiceLengths(n.setMax()) + max(n.setMax()-1, 0) + 2
	case formString:
		if n.dfa != nil {
			return n.dfa.longest() + 2
		}
		return utf8.UTFMax*n.maxLen + 2 // no character of the alphabet takes more, escaped or not
	case formList:
		return satAdd(satMul(n.maxItems, satAdd(n.item.maxBytes(), 1)), 2) - min(n.maxItems, 1)
	case formObject:
		sum := 2 + len(n.fields) - 1
		for _, f := range n.fields {
			sum = satAdd(sum, satAdd(len(f.key), f.value.maxBytes()))
		}
		return sum
	default:
		return saturated
	}
}

// longestChoices are the ordinals of the k longest encodings of a choice, ascending.
func (n *node) longestChoices(k int) []int32 {
	var buf [24]byte
	lens := make([]int, n.choices())
	ords := make([]int32, n.choices())
	for i := range ords {
		ords[i] = int32(i)
		lens[i] = len(n.appendChoice(buf[:0], int32(i)))
	}
	slices.SortStableFunc(ords, func(x, y int32) int { return lens[y] - lens[x] })
	slices.Sort(ords[:k])
	return ords[:k]
}

// choiceLengths is the sum of the k longest encodings of a choice.
func (n *node) choiceLengths(k int) int {
	sum := 0
	for _, ord := range n.longestChoices(k) {
		sum += len(n.appendChoice(nil, ord))
	}
	return sum
}

// cells is the most cells that a value takes, saturated.
func (n *node) cells() int {
	switch n.form {
	case formSet:
		return 1 + n.setMax()
	case formList:
		return satAdd(1, satMul(n.maxItems, n.item.cells()))
	case formObject:
		sum := 1
		for _, f := range n.fields {
			sum = satAdd(sum, f.value.cells())
		}
		return sum
	default:
		return 1
	}
}

// tally counts from the leaves up, so that counting and sampling look up what they need again and again.
func (n *node) tally() {
	for i := range n.fields {
		n.fields[i].value.tally()
	}
	base := big.NewInt(int64(alphabetSize))
	top := n.maxLen
	if n.item != nil {
		n.item.tally()
		base, top = n.item.values, n.maxItems
	}
	n.values = n.all()
	if n.form == formList || n.form == formString && n.dfa == nil {
		n.peak = new(big.Int).Exp(base, big.NewInt(int64(top)), nil)
	}
}

// all is the number of values; the caller may change it.
func (n *node) all() *big.Int {
	if n.values != nil {
		return new(big.Int).Set(n.values)
	}
	switch n.form {
	case formEnum, formBool, formInt:
		return big.NewInt(int64(n.choices()))
	case formSet:
		return subsets(n.item.choices(), n.minItems, n.setMax())
	case formString:
		if n.dfa != nil {
			return new(big.Int).Set(n.dfa.count())
		}
		return powers(big.NewInt(int64(alphabetSize)), n.minLen, n.maxLen)
	case formList:
		return powers(n.item.all(), n.minItems, n.maxItems)
	case formObject:
		return n.product((*node).all, 1)
	default:
		return new(big.Int)
	}
}

// skeletons is the number of values when all tokens, texts and quotes are taken for one.
func (n *node) skeletons() *big.Int {
	switch n.form {
	case formEnum, formBool, formInt, formSet:
		return n.all()
	case formString:
		return big.NewInt(1)
	case formList:
		return powers(n.item.skeletons(), n.minItems, n.maxItems)
	case formObject:
		return n.product((*node).skeletons, 1)
	default:
		return new(big.Int)
	}
}

// fillings is the number of values of the skeleton that has the most.
func (n *node) fillings() *big.Int {
	switch n.form {
	case formEnum, formBool, formInt, formSet:
		return big.NewInt(1)
	case formString:
		return n.all()
	case formList:
		return powers(n.item.fillings(), n.maxItems, n.maxItems)
	case formObject:
		return n.product((*node).fillings, 0)
	default:
		return new(big.Int)
	}
}

// product multiplies over the fields; absence of an optional field adds the given number of values.
func (n *node) product(count func(*node) *big.Int, absent int64) *big.Int {
	p := big.NewInt(1)
	for _, f := range n.fields {
		c := count(f.value)
		if f.optional {
			c.Add(c, big.NewInt(absent))
		}
		p.Mul(p, c)
	}
	return p
}
