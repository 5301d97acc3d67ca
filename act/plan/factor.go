package plan

import (
	"encoding/binary"
	"slices"
)

// group holds outcomes of one signature as vectors of interned values.
type group struct {
	sample  Outcome
	columns int
	ids     []map[string]int // column → value → id
	values  [][]string       // column → id → value
	boxes   []box
}

// box is a product of sets, one sorted set of ids for each column.
type box [][]int

func newGroup(o Outcome) *group {
	g := &group{sample: o}
	for _, a := range o.Actions {
		g.columns += len(a.values)
	}
	g.ids = make([]map[string]int, g.columns)
	for i := range g.ids {
		g.ids[i] = map[string]int{}
	}
	g.values = make([][]string, g.columns)
	return g
}

func (g *group) add(o Outcome) {
	b := make(box, 0, g.columns)
	for _, a := range o.Actions {
		for _, v := range a.values {
			c := len(b)
			id, ok := g.ids[c][v]
			if !ok {
				id = len(g.values[c])
				g.ids[c][v] = id
				g.values[c] = append(g.values[c], v)
			}
			b = append(b, []int{id})
		}
	}
	g.boxes = append(g.boxes, b)
}

// factor merges boxes that are equal in all columns but one, until none are.
// Each merge is the exact union of two disjoint boxes, so the result admits
// what was added and nothing else.
func (g *group) factor() []box {
	boxes := g.boxes
	for merged := true; merged; {
		merged = false
		for c := range g.columns {
			if len(g.values[c]) == 1 {
				continue
			}
			next := mergeColumn(boxes, c)
			if len(next) < len(boxes) {
				merged = true
			}
			boxes = next
		}
	}
	return boxes
}

func mergeColumn(boxes []box, column int) []box {
	at := make(map[string]int, len(boxes))
	next := make([]box, 0, len(boxes))
	var key []byte
	for _, b := range boxes {
		key = key[:0]
		for c, set := range b {
			if c == column {
				continue
			}
			key = binary.AppendUvarint(key, uint64(len(set)))
			for _, id := range set {
				key = binary.AppendUvarint(key, uint64(id))
			}
		}
		if i, ok := at[string(key)]; ok {
			set := append(slices.Clone(next[i][column]), b[column]...)
			slices.Sort(set)
			next[i][column] = slices.Compact(set)
			continue
		}
		at[string(key)] = len(next)
		next = append(next, slices.Clone(b))
	}
	return next
}

// draft turns a box into a class, with policy's row for each action.
func (g *group) draft(signature string, b box, policy Policy) draft {
	d := draft{signature: signature}
	col := 0
	for i, a := range g.sample.Actions {
		e := entry{kind: a.Kind, row: policy.rowOf(g.sample.Action(i))}
		for _, p := range a.Params {
			values := make([]string, 0, len(b[col]))
			for _, id := range b[col] {
				values = append(values, g.values[col][id])
			}
			slices.Sort(values)
			e.params = append(e.params, factor{p.Name, p.Place, values})
			col++
		}
		e.spell()
		d.entries = append(d.entries, e)
	}
	return d
}

// rowOf is what policy decides of an action for each label.
func (p Policy) rowOf(a Action) Row {
	at := func(l Label) Decision { return p.Decide(a, l).Decision }
	return Row{System: at(System), Trigger: at(Trigger), Authorized: at(Authorized), Unverified: at(Unverified)}
}
