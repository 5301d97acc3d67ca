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

// folds deals rows out: those of one group and label one after the other, so that each fold has its share of each.
func (t *trainer) folds(n, fieldIndex int) []int {
	type stratum struct {
		group string
		label int
	}
	// The seed is fixed: which rows share a fold is a function of the rows' number and order.
	order := make([]int, len(t.docs))
	for i := range order {
		order[i] = i
	}
	seed := uint64(0x9e3779b97f4a7c15)
	for i := len(order) - 1; i > 0; i-- {
		seed = seed*6364136223846793005 + 1442695040888963407
		j := int((seed >> 33) % uint64(i+1))
		order[i], order[j] = order[j], order[i]
	}
	next := map[stratum]int{}
	fold := make([]int, len(t.docs))
	for _, i := range order {
		s := stratum{t.groups[i], t.labels[fieldIndex][i]}
		fold[i] = next[s] % n
		next[s]++
	}
	return fold
}

// validate trains on all folds but one and answers that one, for each; it sets the temperatures by what was answered, and
// reports it.
func (t *trainer) validate(folds int) []Report {
	fold := t.folds(folds, 0)
	scores := make([][][]float64, len(t.model.fields))
	for k := range scores {
		scores[k] = make([][]float64, len(t.docs))
	}
	for f := range folds {
		part := &Model{columns: t.model.columns, group: t.model.group, fields: slices.Clone(t.model.fields)}
		var train []int
		for i, of := range fold {
			if of != f {
				train = append(train, i)
			}
		}
		t.fit(part, train)
		var cells []cell
		for i, of := range fold {
			if of != f {
				continue
			}
			cells = appendCells(cells[:0], &t.docs[i], part.rarities, part.known)
			for k := range part.fields {
				scores[k][i] = make([]float64, len(part.fields[k].seen))
				part.fields[k].score(scores[k][i], cells)
			}
		}
	}
	var reports []Report
	for k := range t.model.fields {
		field := &t.model.fields[k]
		temperature := func(of func(int) bool) float64 {
			var list [][]float64
			var ys []int
			for i := range t.docs {
				if y := slices.Index(field.seen, t.labels[k][i]); of(i) && y >= 0 {
					list, ys = append(list, scores[k][i]), append(ys, y)
				}
			}
			return calibrate(list, ys)
		}
		field.temperature = temperature(func(int) bool { return true })
		tally := NewTally(field.choices)
		for f := range folds { // a fold's temperature comes from the others, so that the report is honest
			held := temperature(func(i int) bool { return fold[i] != f })
			for i, of := range fold {
				if of == f {
					best, chance := softmaxBest(scores[k][i], held)
					tally.Add(t.groups[i], t.labels[k][i], field.seen[best], chance)
				}
			}
		}
		reports = append(reports, tally.Report(field.name))
	}
	return reports
}

// The bounds of a temperature.
const (
	minTemperature = 1.0 / 64
	maxTemperature = 64
)

// calibrate finds the temperature that makes the labels likeliest, by golden section on its logarithm (Guo et al. 2017).
func calibrate(scores [][]float64, ys []int) float64 {
	loss := func(u float64) float64 {
		t, sum := math.Exp(u), 0.0
		for i, s := range scores {
			best, chance := softmaxBest(s, t)
			sum += (s[best]-s[ys[i]])/t - math.Log(chance)
		}
		return sum
	}
	golden := (math.Sqrt(5) - 1) / 2
	low, high := math.Log(minTemperature), math.Log(maxTemperature)
	for range 40 {
		a, b := high-float64(golden*(high-low)), low+float64(golden*(high-low))
		if loss(a) <= loss(b) {
			high = b
		} else {
			low = a
		}
	}
	return math.Exp((low + high) / 2)
}
