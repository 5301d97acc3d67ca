package plan

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
)

// ListSchema is the schema field of an outcome list.
const ListSchema = "outcomes.v1"

// MaxListBytes is the largest outcome list that is read. A longer one could
// not be reviewed.
const MaxListBytes = 4 << 20

// ErrEmptyList is returned by DecodeList for a list that has not been written
// yet: no bytes, or the JSON value {}.
var ErrEmptyList = errors.New("outcome list is empty: want one written by decant audit --write")

// List is the outcomes that were listed for review: exact products of sets of
// parameter values, grouped in classes. A List is immutable and safe for
// concurrent use.
type List struct {
	Recipe string // the recipe's name
	Shape  string // digest of the shape that the list was made for
	Policy string // digest of the policy table that the list shows

	count   *big.Int
	entries []entry          // sorted and distinct; each stands in a class
	classes []class          // sorted and distinct; no two admit the same outcome
	index   map[string][]int // signature → classes
}

// class is a sequence of entries: it admits the product of what they admit.
type class struct {
	signature string
	entries   []int // places in List.entries
}

// entry is an action with a set of values for each parameter, and what policy
// decides of it. One entry may stand in many classes, and is spelt once.
type entry struct {
	kind   Kind
	row    Row
	params []factor
	spelt  string // its JSON, without kind
}

// factor is one parameter with the values that it may have, whatever the
// others have.
type factor struct {
	name   string
	place  Place
	values []string // sorted canonical JSON, at least one
}

// BuildList makes the list of a set of outcomes. Equal outcomes count once;
// the classes admit these outcomes and no other.
func BuildList(recipe, shapeDigest string, policy Policy, outcomes []Outcome) *List {
	groups := map[string]*group{}
	seen := map[string]bool{}
	var buf []byte
	for _, o := range outcomes {
		buf = o.AppendKey(buf[:0])
		if seen[string(buf)] {
			continue
		}
		seen[string(buf)] = true
		buf = o.appendSignature(buf[:0])
		g := groups[string(buf)]
		if g == nil {
			g = newGroup(o)
			groups[string(buf)] = g
		}
		g.add(o)
	}
	var drafts []draft
	for sig, g := range groups {
		for _, b := range g.factor() {
			drafts = append(drafts, g.draft(sig, b, policy))
		}
	}
	l := &List{Recipe: recipe, Shape: shapeDigest, Policy: policy.Digest()}
	l.finish(drafts)
	return l
}

// draft is a class whose entries stand in no list yet.
type draft struct {
	signature string
	entries   []entry
}

// finish sorts entries and classes and builds what is derived from them.
func (l *List) finish(drafts []draft) {
	at := map[string]int{} // entry → place
	for _, d := range drafts {
		for _, e := range d.entries {
			if k := e.key(); !has(at, k) {
				at[k] = 0
				l.entries = append(l.entries, e)
			}
		}
	}
	slices.SortFunc(l.entries, func(a, b entry) int {
		return cmp.Or(strings.Compare(string(a.kind), string(b.kind)), strings.Compare(a.spelt, b.spelt))
	})
	for i, e := range l.entries {
		at[e.key()] = i
	}
	for _, d := range drafts {
		c := class{signature: d.signature, entries: make([]int, 0, len(d.entries))}
		for _, e := range d.entries {
			c.entries = append(c.entries, at[e.key()])
		}
		l.classes = append(l.classes, c)
	}
	slices.SortFunc(l.classes, func(a, b class) int { return slices.Compare(a.entries, b.entries) })
	l.count = new(big.Int)
	l.index = make(map[string][]int, len(l.classes))
	for i, c := range l.classes {
		l.count.Add(l.count, l.size(c))
		l.index[c.signature] = append(l.index[c.signature], i)
	}
}

func has[K comparable, V any](m map[K]V, k K) bool { _, ok := m[k]; return ok }

func (e entry) key() string { return string(e.kind) + " " + e.spelt }

// Outcomes returns the exact number of outcomes on the list.
func (l *List) Outcomes() *big.Int { return new(big.Int).Set(l.count) }

// Classes returns the number of classes.
func (l *List) Classes() int { return len(l.classes) }

// Admits reports whether one class of the list admits the outcome: the same
// kinds in the same order, with each parameter's value one of the class's.
func (l *List) Admits(o Outcome) bool {
	if l == nil {
		return false
	}
	for _, i := range l.index[o.signature()] {
		if l.admits(l.classes[i], o) {
			return true
		}
	}
	return false
}

func (l *List) admits(c class, o Outcome) bool {
	for i, at := range c.entries {
		for j, p := range l.entries[at].params {
			if _, ok := slices.BinarySearch(p.values, o.Actions[i].values[j]); !ok {
				return false
			}
		}
	}
	return true
}

// size is the number of outcomes of a class.
func (l *List) size(c class) *big.Int {
	n := big.NewInt(1)
	for _, at := range c.entries {
		for _, p := range l.entries[at].params {
			n.Mul(n, big.NewInt(int64(len(p.values))))
		}
	}
	return n
}

// Digest identifies a policy table.
func (p Policy) Digest() string {
	h := sha256.New()
	for _, k := range p.Kinds() {
		fmt.Fprintf(h, "%s", k)
		for _, l := range Labels() {
			fmt.Fprintf(h, " %s", p[k].For(l))
		}
		fmt.Fprintln(h)
	}
	return hex.EncodeToString(h.Sum(nil))
}
