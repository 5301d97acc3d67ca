package learned

import (
	"cmp"
	"math"
	"slices"
)

// Tally counts labels against answers for one field: all that a report is made of.
type Tally struct {
	choices []string
	groups  map[string]*[][]int
	whole   [][]int
	bins    [10]Bin
	rows    int
}

// Bin is the rows whose confidence lies in one tenth of 0 to 1.
type Bin struct {
	Rows       int
	Confidence float64 // mean
	Right      float64 // share
}

// ClassScore is how one choice was met.
type ClassScore struct {
	Choice                string
	Rows                  int // with this label
	Precision, Recall, F1 float64
}

// GroupScore is the macro F1 of one group.
type GroupScore struct {
	Group   string
	Rows    int
	MacroF1 float64
}

// Report is what a measurement found for one field.
type Report struct {
	Field            string
	Choices          []string
	Rows             int
	MacroF1          float64 // mean over the choices that a label or an answer named
	Classes          []ClassScore
	Groups           []GroupScore // by name; none without a group column
	GroupMean        float64      // mean over the groups; MacroF1 without groups
	Confusion        [][]int      // by label and answer
	CalibrationError float64      // expected calibration error in ten equal bins (Guo et al. 2017, arXiv:1706.04599)
	Bins             []Bin
}

// NewTally begins to count for a field with these choices.
func NewTally(choices []string) *Tally {
	return &Tally{choices: choices, groups: map[string]*[][]int{}, whole: square(len(choices))}
}

func square(n int) [][]int {
	m := make([][]int, n)
	for i := range m {
		m[i] = make([]int, n)
	}
	return m
}

// Add counts one row: indices of the choices, and the chance in 0 to 1 that was given to the answer.
func (t *Tally) Add(group string, label, answer int, chance float64) {
	t.rows++
	t.whole[label][answer]++
	if group != "" {
		m := t.groups[group]
		if m == nil {
			fresh := square(len(t.choices))
			m = &fresh
			t.groups[group] = m
		}
		(*m)[label][answer]++
	}
	b := &t.bins[min(max(int(chance*10), 0), 9)]
	b.Rows++
	b.Confidence += chance
	if label == answer {
		b.Right++
	}
}

// Report sums up.
func (t *Tally) Report(field string) Report {
	r := Report{Field: field, Choices: t.choices, Rows: t.rows, Confusion: t.whole}
	r.Classes = classes(t.choices, t.whole)
	r.MacroF1 = macro(r.Classes, t.whole)
	r.GroupMean = r.MacroF1
	for name, m := range t.groups {
		c := classes(t.choices, *m)
		g := GroupScore{Group: name, MacroF1: macro(c, *m)}
		for _, x := range c {
			g.Rows += x.Rows
		}
		r.Groups = append(r.Groups, g)
	}
	slices.SortFunc(r.Groups, func(a, b GroupScore) int { return cmp.Compare(a.Group, b.Group) })
	if len(r.Groups) > 0 {
		r.GroupMean = 0
		for _, g := range r.Groups {
			r.GroupMean += g.MacroF1
		}
		r.GroupMean /= float64(len(r.Groups))
	}
	for _, b := range t.bins {
		if b.Rows > 0 {
			b.Confidence /= float64(b.Rows)
			b.Right /= float64(b.Rows)
			r.CalibrationError += float64(b.Rows) / float64(t.rows) * math.Abs(b.Confidence-b.Right)
		}
		r.Bins = append(r.Bins, b)
	}
	return r
}

func classes(choices []string, m [][]int) []ClassScore {
	out := make([]ClassScore, len(choices))
	for k := range choices {
		c, answered := ClassScore{Choice: choices[k]}, 0
		for i := range choices {
			c.Rows += m[k][i]
			answered += m[i][k]
		}
		c.Precision, c.Recall = share(m[k][k], answered), share(m[k][k], c.Rows)
		c.F1 = share(2*m[k][k], answered+c.Rows)
		out[k] = c
	}
	return out
}

func share(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

func macro(list []ClassScore, m [][]int) float64 {
	sum, n := 0.0, 0
	for k, c := range list {
		answered := 0
		for i := range list {
			answered += m[i][k]
		}
		if c.Rows+answered > 0 {
			sum, n = sum+c.F1, n+1
		}
	}
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}
