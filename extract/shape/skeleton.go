package shape

// Skeleton is a value without the contents of its tokens, texts and quotes: all that an honest plan depends on.
type Skeleton struct{ v *Value }

// String is canonical JSON with every token, text and quote empty, for a reader of the audit.
func (k Skeleton) String() string {
	if k.v == nil {
		return "no skeleton"
	}
	return string(k.v.Encode())
}

// Skeletons yields every skeleton once, in a fixed order, until yield returns false. There are SkeletonCount of them:
// ask first.
func (s *Shape) Skeletons(yield func(Skeleton) bool) {
	e := &enumerator{v: newValue(s, 0)}
	e.node(s.root, 0, func() bool {
		v := &Value{shape: s, cells: append([]cell(nil), e.v.cells...)}
		return yield(Skeleton{v})
	})
}

// enumerator runs through all cells. Each step sets its cell, goes on with the rest and takes back what it added; false
// stops the whole.
type enumerator struct{ v *Value }

func (e *enumerator) set(at, n int32) { e.v.cells[at].n = n }

func (e *enumerator) node(n *node, at int32, rest func() bool) bool {
	switch n.form {
	case formEnum, formBool, formInt:
		for ord := range int32(n.choices()) {
			e.set(at, ord)
			if !rest() {
				return false
			}
		}
		return true
	case formString:
		e.set(at, 0)
		return rest()
	case formSet, formList:
		return e.list(n, at, rest)
	case formObject:
		e.set(at, 0)
		size := len(e.v.cells)
		first := e.v.block(len(n.fields), absent)
		e.v.cells[at].first = first
		ok := e.fields(n, first, 0, rest)
		e.v.cells = e.v.cells[:size]
		return ok
	default:
		return false
	}
}

func (e *enumerator) fields(n *node, first int32, k int, rest func() bool) bool {
	if k == len(n.fields) {
		return rest()
	}
	f, at := &n.fields[k], first+int32(k)
	if f.optional {
		e.set(at, absent)
		if !e.fields(n, first, k+1, rest) {
			return false
		}
	}
	return e.node(f.value, at, func() bool { return e.fields(n, first, k+1, rest) })
}

func (e *enumerator) list(n *node, at int32, rest func() bool) bool {
	size := len(e.v.cells)
	top := n.maxItems
	if n.form == formSet {
		top = n.setMax()
	}
	for count := n.minItems; count <= top; count++ {
		first := e.v.block(count, 0)
		for i := range int32(count) {
			e.v.cells[first+i].next = first + i + 1
		}
		e.v.cells[at].n, e.v.cells[at].first = int32(count), first
		var ok bool
		if n.form == formSet {
			ok = e.subset(n, first, count, 0, rest)
		} else {
			ok = e.items(n, first, count, rest)
		}
		e.v.cells = e.v.cells[:size]
		if !ok {
			return false
		}
	}
	return true
}

func (e *enumerator) items(n *node, first int32, left int, rest func() bool) bool {
	if left == 0 {
		return rest()
	}
	return e.node(n.item, first, func() bool { return e.items(n, first+1, left-1, rest) })
}

// subset runs through the ascending choices of left items from ord on.
func (e *enumerator) subset(n *node, at int32, left int, ord int32, rest func() bool) bool {
	if left == 0 {
		return rest()
	}
	for ; int(ord)+left <= n.item.choices(); ord++ {
		e.set(at, ord)
		if !e.subset(n, at+1, left-1, ord+1, rest) {
			return false
		}
	}
	return true
}
