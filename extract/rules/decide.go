package rules

import (
	"slices"

	"decant.dev/extract"
	"github.com/go-json-experiment/json/jsontext"
)

// choice is a compiled Choice or Subset.
type choice struct {
	field     int
	fallback  int // label of a choice's default, or -1
	threshold int
	when      *node
	rules     []weighed
}

type weighed struct {
	id     string
	label  int
	weight int
	match  node
}

// tally is the sum of a label's weights, and the heaviest rule that spoke for it.
type tally struct {
	sums []int
	best []weighed
	hits []hit
}

func (x *Extractor) tally(s *scan, c *choice, done []verdict) tally {
	n := len(x.fields[c.field].labels)
	t := tally{make([]int, n), make([]weighed, n), make([]hit, n)}
	for i := range c.rules {
		w := &c.rules[i]
		ok, h := x.eval(s, &w.match, done)
		if !ok {
			continue
		}
		t.sums[w.label] += w.weight
		if w.weight > t.best[w.label].weight {
			t.best[w.label], t.hits[w.label] = *w, h
		}
	}
	return t
}

// choose gives a choice its value.
func (x *Extractor) choose(s *scan, c *choice, done []verdict) verdict {
	f := &x.fields[c.field]
	t := x.tally(s, c, done)
	win := 0
	for i, sum := range t.sums {
		if sum > t.sums[win] || sum == t.sums[win] && i == c.fallback {
			win = i
		}
	}
	step := extract.Step{Field: f.name, Rule: RuleDefault}
	if t.sums[win] > 0 && t.sums[win] >= c.threshold {
		step.Rule, step.Confidence = t.best[win].id, share(t.sums, win)
		step.Element, step.Offset, step.Length = s.place(t.hits[win])
	} else if win = c.fallback; win >= 0 {
		step.Confidence = share(t.sums, win)
	}
	v := verdict{label: win, steps: []extract.Step{step}}
	if win >= 0 {
		v.raw = f.appendLabel(nil, win)
	}
	return v
}

// subset gives a set its members.
func (x *Extractor) subset(s *scan, c *choice, done []verdict) verdict {
	f := &x.fields[c.field]
	v := verdict{label: -1}
	t := tally{sums: make([]int, len(f.labels))}
	if ok := c.when == nil; !ok {
		ok, _ = x.eval(s, c.when, done)
		if !ok {
			v.raw = f.appendSet(nil, nil)
			return v
		}
	}
	t = x.tally(s, c, done)
	var in []int
	for i, sum := range t.sums {
		if sum > 0 && sum >= c.threshold {
			in = append(in, i)
		}
	}
	slices.SortStableFunc(in, func(a, b int) int { return t.sums[b] - t.sums[a] })
	in = in[:min(len(in), f.hi)]
	slices.Sort(in)
	v.raw = f.appendSet(nil, in)
	for _, i := range in {
		step := extract.Step{Field: f.name, Rule: t.best[i].id, Confidence: share([]int{t.sums[i], 0}, 0)}
		step.Element, step.Offset, step.Length = s.place(t.hits[i])
		v.steps = append(v.steps, step)
	}
	return v
}

// appendLabel appends a value of a choice as JSON.
func (f *field) appendLabel(dst []byte, label int) []byte {
	if f.quoted {
		return appendString(dst, f.labels[label])
	}
	return append(dst, f.labels[label]...)
}

// appendSet appends labels, which are in order, as JSON.
func (f *field) appendSet(dst []byte, labels []int) []byte {
	dst = append(dst, '[')
	for i, l := range labels {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = f.appendLabel(dst, l)
	}
	return append(dst, ']')
}

// appendString appends a JSON string; s is valid UTF-8.
func appendString(dst []byte, s string) []byte {
	dst, _ = jsontext.AppendQuote(dst, s) // its only error is invalid UTF-8
	return dst
}
