package shape

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// value makes the node of a type whose keywords are complete, or gathers what is missing and returns nil.
func (b *builder) value(t reflect.Type, k *keywords, p place) *node {
	var n *node
	switch kind := handleKind(t); {
	case kind != 0:
		n = b.handle(kind, k, p)
	case t.Kind() == reflect.Struct:
		return b.object(t, k, p)
	case t.Kind() == reflect.Slice:
		n = b.sequence(t, k, p)
	default:
		n = b.choice(t, k, p)
	}
	if n == nil {
		return nil
	}
	n.path, n.about, n.goType = p.path, k.about, t
	return n
}

func (b *builder) object(t reflect.Type, k *keywords, p place) *node {
	n := &node{form: formObject, kind: KindObject, path: p.path, about: k.about, goType: t}
	for _, pr := range k.props {
		f := b.goField[pr.value]
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		v := b.value(inner, pr.value, p.dot(f.Name, pr.name))
		if v == nil {
			continue
		}
		n.fields = append(n.fields, field{
			name: pr.name, key: append(appendString(nil, pr.name), ':'),
			optional: f.Type.Kind() == reflect.Pointer, index: f.Index[0], value: v,
		})
	}
	slices.SortFunc(n.fields, func(x, y field) int { return strings.Compare(x.name, y.name) })
	n.byOrder = make([]int, len(n.fields))
	for i := range n.byOrder {
		n.byOrder[i] = i
	}
	slices.SortFunc(n.byOrder, func(x, y int) int { return n.fields[x].index - n.fields[y].index })
	return n
}

// choice is an enum, a boolean or a small range.
func (b *builder) choice(t reflect.Type, k *keywords, p place) *node {
	switch k.typ {
	case "boolean":
		return &node{form: formBool, kind: KindChoice}
	case "integer":
		return b.integer(t, k, p)
	}
	if k.enum == nil {
		if k.pattern != nil || k.maxLen != nil {
			b.add(p, "a type that a plan cannot look into: a Go string would hand it the content", "use a shape.Token for a pattern without spaces, or a shape.Text")
			return nil
		}
		b.add(p, "a bound: a plain string may say anything", "add enum=… labels, or use a shape.Token with a pattern, or a shape.Text or shape.Quote with maxLength")
		return nil
	}
	if k.pattern != nil || k.maxLen != nil || k.minLen != nil {
		b.add(p, "an enum alone: lengths and patterns say nothing more", "remove them")
		return nil
	}
	n := &node{form: formEnum, kind: KindChoice, labels: k.enum, byLabel: map[string]int32{}}
	if len(k.enum) > MaxChoices {
		b.add(p, fmt.Sprintf("at most %d labels, got %d", MaxChoices, len(k.enum)), "use a shape.Token with a pattern")
		return nil
	}
	for i, l := range k.enum {
		_, twice := n.byLabel[l]
		switch {
		case twice:
			b.add(p, "each label once", "remove the second "+printable(l))
			return nil
		case l == "" || strings.TrimSpace(l) != l || !utf8.ValidString(l) || strings.ContainsFunc(l, out):
			b.add(p, "a label of printable characters without a space at its ends, got "+printable(l), "mend the label; write absence as a pointer with omitempty")
			return nil
		}
		n.byLabel[l] = int32(i)
		n.encoded = append(n.encoded, appendString(nil, l))
	}
	return n
}

func (b *builder) integer(t reflect.Type, k *keywords, p place) *node {
	if k.minimum == nil || k.maximum == nil {
		b.add(p, "both ends of the range", "add minimum=… and maximum=…")
		return nil
	}
	lo, hi := *k.minimum, *k.maximum
	fits := func(v int64) bool {
		if x := reflect.Zero(t); x.CanInt() {
			return !x.OverflowInt(v)
		}
		return v >= 0 && !reflect.Zero(t).OverflowUint(uint64(v))
	}
	switch {
	case lo > hi:
		b.add(p, fmt.Sprintf("a range with a value: want minimum at most maximum, got %d to %d", lo, hi), "exchange the two")
	case lo < -maxSafe || hi > maxSafe:
		b.add(p, "integers within 2^53: beyond, other readers lose digits", "use a shape.Token with a pattern of digits")
	case !fits(lo) || !fits(hi):
		b.add(p, fmt.Sprintf("a range that the Go type %s can hold", t.Kind()), "use int, or narrow the range")
	case hi-lo >= MaxChoices:
		b.add(p, fmt.Sprintf("a small range: want at most %d values, got %d", MaxChoices, hi-lo+1), "use a shape.Token with a pattern of digits: a plan carries it and does not branch on it")
	default:
		return &node{form: formInt, kind: KindChoice, lo: lo, hi: hi}
	}
	return nil
}

// handle is a token, a text or a quote.
func (b *builder) handle(kind Kind, k *keywords, p place) *node {
	n := &node{form: formString, kind: kind}
	if k.enum != nil {
		b.add(p, "a choice in place of a "+kind.String()+" with an enum", "use a Go string with the same enum: a plan may branch on it")
		return nil
	}
	if k.minLen != nil {
		n.minLen = *k.minLen
	}
	if k.pattern == nil {
		switch {
		case kind == KindToken:
			b.add(p, "a pattern: a token without one may say anything", "add pattern=^…$, or use a shape.Text with maxLength")
			return nil
		case k.maxLen == nil:
			b.add(p, "maxLength, in characters", "add maxLength=…")
			return nil
		case *k.maxLen > maxLength:
			b.add(p, fmt.Sprintf("a maxLength of at most %d, got %d", maxLength, *k.maxLen), "lower it, or carry a reference instead of the content")
			return nil
		case n.minLen > *k.maxLen:
			b.add(p, "a minLength of at most maxLength", "exchange the two")
			return nil
		}
		n.maxLen = *k.maxLen
		return n
	}
	limit := -1
	if k.maxLen != nil {
		limit = *k.maxLen
	}
	d, f := compile(*k.pattern, n.minLen, limit)
	if f != nil {
		b.add(p, f.missing, f.mend)
		return nil
	}
	if kind == KindToken {
		switch {
		case d.has(' '):
			b.addTokenIsText(p, "a pattern without spaces", "use a shape.Text, or take the space out of the pattern")
			return nil
		case d.count().BitLen() > MaxTokenBits && !isPower(d.count(), MaxTokenBits):
			b.addTokenIsText(p, fmt.Sprintf("a pattern of at most %d bits, got %.2f", MaxTokenBits, Log2(d.count())), "use a shape.Text, or narrow the pattern")
			return nil
		}
	}
	n.pattern, n.dfa, n.minLen, n.maxLen = *k.pattern, d, d.minLen, d.maxLen
	n.plain = !d.has('"') && !d.has('\\')
	return n
}

// sequence is a slice: a set where its items are distinct choices.
func (b *builder) sequence(t reflect.Type, k *keywords, p place) *node {
	item := b.value(t.Elem(), k.items, p.item())
	n := &node{form: formList, kind: KindList, item: item}
	switch {
	case k.maxItems == nil:
		b.add(p, "maxItems: a list without may say anything", "add maxItems=…")
		return nil
	case *k.maxItems > maxItems || *k.maxItems < 1:
		b.add(p, fmt.Sprintf("a maxItems of 1 to %d, got %d", maxItems, *k.maxItems), "mend it")
		return nil
	case item == nil:
		return nil
	}
	n.maxItems = *k.maxItems
	if k.minItems != nil {
		n.minItems = *k.minItems
	}
	if k.unique {
		if item.choices() == 0 {
			b.add(p, "choices as the items of a set", "drop uniqueItems, or make the items choices")
			return nil
		}
		n.form, n.kind = formSet, KindChoice
	}
	if n.minItems > n.maxItems || k.unique && n.minItems > n.setMax() {
		b.add(p, "a list that can be as long as minItems", "lower minItems, or raise maxItems")
		return nil
	}
	return n
}
