package learned

import (
	"math"
	"slices"
)

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
