package shape

import (
	"bytes"
	"slices"
	"strings"
)

// Decode reads a candidate: one JSON value (RFC 8259) of at most MaxCandidate bytes, with any white space, escapes and
// order of keys or of a set. It refuses unknown, duplicate and differently-cased keys, nulls, missing fields, bad UTF-8,
// lone surrogates, trailing bytes, and integers in any but their plain spelling. Nesting is that of the shape, since
// nothing else is ever entered. The error is a *DecodeError.
//
// The value has forgotten the spelling: encode it again to pass it on.
func (s *Shape) Decode(b []byte) (*Value, error) { return s.decode(b, false) }

// DecodeProjected reads the answer of a provider that was asked for a Projection: as Decode, but a null stands for the
// absence of an optional field.
func (s *Shape) DecodeProjected(b []byte) (*Value, error) { return s.decode(b, true) }

// DecodeCanonical reads what Encode wrote, and refuses every other spelling, also another order of a set. A phase that
// receives a structure uses this.
func (s *Shape) DecodeCanonical(b []byte) (*Value, error) {
	if len(b) > s.maxBytes {
		return nil, &DecodeError{rootPath, RuleLength}
	}
	v, err := s.decode(b, false)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(v.AppendCanonical(make([]byte, 0, len(b)+8)), b) {
		return nil, &DecodeError{rootPath, RuleCanonical}
	}
	return v, nil
}

// decoder walks the bytes once, led by the shape.
type decoder struct {
	b     []byte
	i     int
	v     *Value
	nulls bool   // null stands for an absent optional field
	path  string // of the innermost node that was refused
	keys  []byte // scratch for keys and labels with escapes
}

func (s *Shape) decode(b []byte, nulls bool) (*Value, error) {
	if len(b) > s.MaxCandidate() {
		return nil, &DecodeError{rootPath, RuleLength}
	}
	d := decoder{b: b, v: newValue(s, min(len(b), s.maxBytes)), nulls: nulls}
	d.space()
	if r := d.value(s.root, 0); r != 0 {
		return nil, &DecodeError{d.path, r}
	}
	d.space()
	if d.i != len(b) {
		return nil, &DecodeError{rootPath, RuleTrailing}
	}
	return d.v, nil
}

// fail notes where a rule was broken, and passes it on.
func (d *decoder) fail(n *node, r Rule) Rule {
	if d.path == "" {
		d.path = n.path
	}
	return r
}

// value decodes into cell at. The zero Rule is success.
func (d *decoder) value(n *node, at int32) Rule {
	if d.i >= len(d.b) {
		return d.fail(n, RuleSyntax)
	}
	var r Rule
	switch c := d.b[d.i]; n.form {
	case formObject:
		if c != '{' {
			return d.fail(n, d.other())
		}
		return d.object(n, at)
	case formSet, formList:
		if c != '[' {
			return d.fail(n, d.other())
		}
		return d.list(n, at)
	case formString:
		if c != '"' {
			return d.fail(n, d.other())
		}
		r = d.text(n, at)
	case formEnum:
		if c != '"' {
			return d.fail(n, d.other())
		}
		r = d.label(n, at)
	case formInt:
		if c != '-' && (c < '0' || c > '9') {
			return d.fail(n, d.other())
		}
		r = d.integer(n, at)
	case formBool:
		switch {
		case d.literal("true"):
			d.v.cells[at].n = 1
		case d.literal("false"):
			d.v.cells[at].n = 0
		default:
			r = d.other()
		}
	default:
		r = RuleType
	}
	if r != 0 {
		return d.fail(n, r)
	}
	return 0
}

// other names the rule for a value that starts as none of the node's type.
func (d *decoder) other() Rule {
	switch c := d.b[d.i]; {
	case d.literal("null"):
		return RuleNull
	case c == '"' || c == '{' || c == '[' || c == '-' || c >= '0' && c <= '9' || d.literal("true") || d.literal("false"):
		return RuleType
	default:
		return RuleSyntax
	}
}

func (d *decoder) literal(s string) bool {
	if len(d.b)-d.i >= len(s) && string(d.b[d.i:d.i+len(s)]) == s {
		d.i += len(s)
		return true
	}
	return false
}

func (d *decoder) object(n *node, at int32) Rule {
	d.i++
	first := d.v.block(len(n.fields), unset)
	d.v.cells[at].first = first
	d.space()
	for next := 0; !d.take('}'); {
		if next > 0 && !d.comma() {
			return d.fail(n, RuleSyntax)
		}
		k, r := d.key(n, next)
		if r != 0 {
			return d.fail(n, r)
		}
		next = k + 1
		f, cellAt := &n.fields[k], first+int32(k)
		if d.v.cells[cellAt].n != unset {
			return d.fail(f.value, RuleDuplicateKey)
		}
		d.space()
		if d.nulls && f.optional && d.literal("null") {
			d.v.cells[cellAt].n = absent
		} else if r := d.value(f.value, cellAt); r != 0 {
			return r
		} else if d.v.cells[cellAt].n == unset {
			d.v.cells[cellAt].n = 0 // an object has no ordinal
		}
		d.space()
	}
	for k := range n.fields {
		c := &d.v.cells[first+int32(k)]
		if c.n != unset {
			continue
		}
		if !n.fields[k].optional {
			return d.fail(n.fields[k].value, RuleMissing)
		}
		c.n = absent
	}
	return 0
}

// maxKey is the most bytes of a key that is a field's but for its case: a letter outside ASCII folds to one inside.
const maxKey = 4 * maxName

// key reads a key and its colon, and returns the index of the field. guess is the field that canonical order has next.
func (d *decoder) key(n *node, guess int) (int, Rule) {
	if guess < len(n.fields) && bytes.HasPrefix(d.b[d.i:], n.fields[guess].key) {
		d.i += len(n.fields[guess].key)
		return guess, 0
	}
	if d.i >= len(d.b) || d.b[d.i] != '"' {
		return 0, RuleSyntax
	}
	raw, r := d.raw()
	if r != 0 {
		return 0, r
	}
	for k := range n.fields {
		if string(raw) == n.fields[k].name {
			d.space()
			if !d.take(':') {
				return 0, RuleSyntax
			}
			return k, 0
		}
	}
	if len(raw) <= maxKey {
		name := string(raw)
		for k := range n.fields {
			if strings.EqualFold(name, n.fields[k].name) {
				return 0, RuleKeyCase
			}
		}
	}
	return 0, RuleUnknownKey
}

func (d *decoder) list(n *node, at int32) Rule {
	d.i++
	d.space()
	start := int32(len(d.v.cells))
	count, last := 0, int32(-1)
	for !d.take(']') {
		if count > 0 && !d.comma() {
			return d.fail(n, RuleSyntax)
		}
		if count == n.maxItems {
			return d.fail(n, RuleItems)
		}
		here := d.v.block(1, 0)
		if last >= 0 {
			d.v.cells[last].next = here
		}
		if r := d.value(n.item, here); r != 0 {
			return r
		}
		last = here
		count++
		d.space()
	}
	if count < n.minItems {
		return d.fail(n, RuleItems)
	}
	d.v.cells[at].n, d.v.cells[at].first = int32(count), start
	if n.form == formSet {
		return d.sort(n, start)
	}
	return 0
}

// sort puts a set in the order of its choices. Its items are leaves, hence neighbours from start to the end.
func (d *decoder) sort(n *node, start int32) Rule {
	items := d.v.cells[start:]
	slices.SortFunc(items, func(x, y cell) int { return int(x.n - y.n) })
	for i := range items {
		if i > 0 && items[i-1].n == items[i].n {
			return d.fail(n, RuleDuplicate)
		}
		items[i].next = start + int32(i) + 1
	}
	return 0
}

func (d *decoder) label(n *node, at int32) Rule {
	raw, r := d.raw()
	if r != 0 {
		return r
	}
	if len(n.labels) <= 8 {
		for k, l := range n.labels {
			if string(raw) == l {
				d.v.cells[at].n = int32(k)
				return 0
			}
		}
		return RuleLabel
	}
	k, ok := n.byLabel[string(raw)]
	if !ok {
		return RuleLabel
	}
	d.v.cells[at].n = k
	return 0
}

// integer reads -?(0|[1-9][0-9]*) of at most 16 digits, so that no number costs more than its bytes.
func (d *decoder) integer(n *node, at int32) Rule {
	from := d.i
	neg := d.take('-')
	var x int64
	start := d.i
	for d.i < len(d.b) && d.b[d.i] >= '0' && d.b[d.i] <= '9' {
		if d.i-start == 16 {
			return RuleNumber
		}
		x = 10*x + int64(d.b[d.i]-'0')
		d.i++
	}
	switch width := d.i - start; {
	case width == 0:
		return RuleSyntax
	case d.b[start] == '0' && width > 1:
		return RuleSyntax
	case d.b[start] == '0' && d.b[from] == '-':
		return RuleNumber
	case d.i < len(d.b) && (d.b[d.i] == '.' || d.b[d.i]|0x20 == 'e'):
		return RuleNumber
	}
	if neg {
		x = -x
	}
	if x < n.lo || x > n.hi {
		return RuleRange
	}
	d.v.cells[at].n = int32(x - n.lo)
	return 0
}
