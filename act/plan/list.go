package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
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
	classes []class
	index   map[string][]int // signature → classes
}

type class struct {
	signature string
	actions   []classAction
	decisions []map[Label]Decision
}

type classAction struct {
	kind   Kind
	params []classParam
}

type classParam struct {
	name   string
	place  Place
	values []string // sorted canonical JSON, at least one
}

// BuildList makes the list of a set of outcomes. Equal outcomes count once;
// the classes admit these outcomes and no other.
func BuildList(recipe, shapeDigest string, policy Policy, outcomes []Outcome) *List {
	groups := map[string]*group{}
	seen := map[string]bool{}
	for _, o := range outcomes {
		sig := o.signature()
		k := o.key(sig)
		if seen[k] {
			continue
		}
		seen[k] = true
		g := groups[sig]
		if g == nil {
			g = newGroup(o)
			groups[sig] = g
		}
		g.add(o)
	}
	l := &List{Recipe: recipe, Shape: shapeDigest, Policy: policy.Digest()}
	for sig, g := range groups {
		for _, b := range g.factor() {
			l.classes = append(l.classes, g.class(sig, b, policy))
		}
	}
	l.finish()
	return l
}

// finish sorts the classes and builds what is derived from them.
func (l *List) finish() {
	slices.SortFunc(l.classes, func(a, b class) int { return bytes.Compare(a.appendJSON(nil), b.appendJSON(nil)) })
	l.count = new(big.Int)
	l.index = make(map[string][]int, len(l.classes))
	for i, c := range l.classes {
		l.count.Add(l.count, c.count())
		l.index[c.signature] = append(l.index[c.signature], i)
	}
}

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
		if l.classes[i].admits(o) {
			return true
		}
	}
	return false
}

func (c class) admits(o Outcome) bool {
	for i, a := range c.actions {
		for j, p := range a.params {
			if _, ok := slices.BinarySearch(p.values, o.Actions[i].values[j]); !ok {
				return false
			}
		}
	}
	return true
}

func (c class) count() *big.Int {
	n := big.NewInt(1)
	for _, a := range c.actions {
		for _, p := range a.params {
			n.Mul(n, big.NewInt(int64(len(p.values))))
		}
	}
	return n
}

// Encode writes the list as it is reviewed: one action a line, sorted.
func (l *List) Encode() []byte {
	var b []byte
	b = append(b, "{\n  \"schema\": \""+ListSchema+"\",\n  \"recipe\": "...)
	b = appendString(b, l.Recipe)
	b = append(b, ",\n  \"shape\": "...)
	b = appendString(b, l.Shape)
	b = append(b, ",\n  \"policy\": "...)
	b = appendString(b, l.Policy)
	b = append(b, ",\n  \"outcomes\": "...)
	b = append(b, l.count.String()...)
	b = append(b, ",\n  \"classes\": ["...)
	for i, c := range l.classes {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n    "...)
		b = c.appendJSON(b)
	}
	if len(l.classes) > 0 {
		b = append(b, "\n  "...)
	}
	return append(b, "]\n}\n"...)
}

func (c class) appendJSON(b []byte) []byte {
	b = append(b, `{"outcomes": `...)
	b = append(b, c.count().String()...)
	b = append(b, `, "actions": [`...)
	for i, a := range c.actions {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, "\n      {\"kind\": "...)
		b = appendString(b, string(a.kind))
		b = append(b, `, "decision": {`...)
		for j, l := range Labels() {
			if j > 0 {
				b = append(b, ", "...)
			}
			b = append(b, `"`+l.String()+`": "`+c.decisions[i][l].String()+`"`...)
		}
		b = append(b, '}')
		for _, place := range []Place{Address, Content} {
			b = append(b, `, "`+placeName(place)+`": {`...)
			first := true
			for _, p := range a.params {
				if p.place != place {
					continue
				}
				if !first {
					b = append(b, ", "...)
				}
				first = false
				b = appendString(b, p.name)
				b = append(b, ": "...)
				b = p.appendJSON(b)
			}
			b = append(b, '}')
		}
		b = append(b, '}')
	}
	if len(c.actions) > 0 {
		b = append(b, "\n    "...)
	}
	return append(b, "]}"...)
}

func (p classParam) appendJSON(b []byte) []byte {
	if len(p.values) == 1 {
		return append(b, p.values[0]...)
	}
	b = append(b, `{"oneof": [`...)
	for i, v := range p.values {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = append(b, v...)
	}
	return append(b, "]}"...)
}

func placeName(p Place) string {
	if p == Address {
		return "address"
	}
	return "content"
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

type listWire struct {
	Schema   string      `json:"schema"`
	Recipe   string      `json:"recipe"`
	Shape    string      `json:"shape"`
	Policy   string      `json:"policy"`
	Outcomes jsonNumber  `json:"outcomes"`
	Classes  []classWire `json:"classes"`
}

type classWire struct {
	Outcomes jsonNumber   `json:"outcomes"`
	Actions  []actionWire `json:"actions"`
}

type actionWire struct {
	Kind     Kind                      `json:"kind"`
	Decision map[Label]Decision        `json:"decision"`
	Address  map[string]jsontext.Value `json:"address"`
	Content  map[string]jsontext.Value `json:"content"`
}

type jsonNumber = jsontext.Value

// DecodeList reads a list strictly. A list that was edited by hand so that
// its counts no longer fit is refused.
func DecodeList(b []byte) (*List, error) {
	if t := bytes.TrimSpace(b); len(t) == 0 || string(t) == "{}" {
		return nil, ErrEmptyList
	}
	if len(b) > MaxListBytes {
		return nil, fmt.Errorf("outcome list of %d bytes: want at most %d", len(b), MaxListBytes)
	}
	var w listWire
	if err := json.Unmarshal(b, &w, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("outcome list is malformed: want what decant audit --write writes: %w", err)
	}
	if w.Schema != ListSchema {
		return nil, fmt.Errorf("outcome list: schema %.64q: want %q", w.Schema, ListSchema)
	}
	if w.Classes == nil {
		return nil, errors.New("outcome list: classes: want a list")
	}
	l := &List{Recipe: w.Recipe, Shape: w.Shape, Policy: w.Policy}
	for i, cw := range w.Classes {
		c, err := cw.class()
		if err != nil {
			return nil, fmt.Errorf("outcome list: class %d: %w", i, err)
		}
		if c.count().String() != string(cw.Outcomes) {
			return nil, fmt.Errorf("outcome list: class %d says %s outcomes and has %s", i, cw.Outcomes, c.count())
		}
		if i > 0 && bytes.Compare(l.classes[i-1].appendJSON(nil), c.appendJSON(nil)) >= 0 {
			return nil, fmt.Errorf("outcome list: class %d: want distinct classes in order", i)
		}
		l.classes = append(l.classes, c)
	}
	l.finish()
	if l.count.String() != string(w.Outcomes) {
		return nil, fmt.Errorf("outcome list says %s outcomes and has %s", w.Outcomes, l.count)
	}
	return l, nil
}

func (cw classWire) class() (class, error) {
	var c class
	var sig []byte
	if cw.Actions == nil {
		return c, errors.New("actions: want a list")
	}
	for _, aw := range cw.Actions {
		if !aw.Kind.Known() {
			return c, fmt.Errorf("kind %.64q: want one of %v", string(aw.Kind), AllKinds())
		}
		for _, l := range Labels() {
			if d := aw.Decision[l]; d != Auto && d != Ask && d != Never {
				return c, fmt.Errorf("%s: decision: want auto, ask or never for %s", aw.Kind, l)
			}
		}
		if aw.Address == nil || aw.Content == nil {
			return c, fmt.Errorf("%s: want an address and a content", aw.Kind)
		}
		a := classAction{kind: aw.Kind}
		sig = append(sig, aw.Kind...)
		for _, m := range []struct {
			place  Place
			params map[string]jsontext.Value
		}{{Address, aw.Address}, {Content, aw.Content}} {
			names := make([]string, 0, len(m.params))
			for n := range m.params {
				names = append(names, n)
			}
			slices.Sort(names)
			for _, n := range names {
				if !IsName(n) {
					return c, fmt.Errorf("%s: parameter %.64q: want %s", aw.Kind, n, NameForm)
				}
				values, err := factorValues(m.params[n])
				if err != nil {
					return c, fmt.Errorf("%s: parameter %.64q: %w", aw.Kind, n, err)
				}
				a.params = append(a.params, classParam{n, m.place, values})
				sig = append(sig, ' ', "?ac"[m.place])
				sig = append(sig, n...)
			}
		}
		sig = append(sig, '\n')
		c.actions = append(c.actions, a)
		c.decisions = append(c.decisions, aw.Decision)
	}
	c.signature = string(sig)
	return c, nil
}

// factorValues reads a constant, a handle template, or {"oneof": [...]}.
func factorValues(v jsontext.Value) ([]string, error) {
	if v.Kind() != '{' {
		s, err := canonical(v)
		return []string{s}, err
	}
	var oneof struct {
		OneOf []jsontext.Value `json:"oneof"`
	}
	if err := json.Unmarshal(v, &oneof, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("want a value or {\"oneof\": [...]}: %w", err)
	}
	if len(oneof.OneOf) < 2 {
		return nil, fmt.Errorf("oneof of %d values: want at least 2", len(oneof.OneOf))
	}
	values := make([]string, 0, len(oneof.OneOf))
	for _, o := range oneof.OneOf {
		s, err := canonical(o)
		if err != nil {
			return nil, err
		}
		values = append(values, s)
	}
	if !slices.IsSorted(values) || len(slices.Compact(slices.Clone(values))) != len(values) {
		return nil, errors.New("oneof: want distinct values in order")
	}
	return values, nil
}

func canonical(v jsontext.Value) (string, error) {
	if v.Kind() == '{' {
		return "", errors.New("an object: want a constant, a handle or a template")
	}
	c := v.Clone()
	if err := c.Canonicalize(); err != nil {
		return "", err
	}
	return string(c), nil
}
