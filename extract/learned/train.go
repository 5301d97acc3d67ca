package learned

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"decant.dev/extract/shape"
)

// MaxRows bounds the rows of a training.
const MaxRows = 200_000

// MaxGroups bounds the groups that have weights of their own: the first ones of the training that have at least MinGroup rows.
const (
	MaxGroups = 256
	MinGroup  = 20
)

// Spec says what is learned from what.
type Spec struct {
	Fields []string // choice fields of the shape, 1 to MaxFields
	Text   []string // columns: the title, then what makes up the body
	Group  string   // column of the group; empty: none
	Folds  int      // of the cross-validation that calibrates, 2 to 20
}

// Row is one item of the history.
type Row struct {
	Text   []string // by Spec.Text
	Group  string
	Labels []string // by Spec.Fields: values of the field as an enum, a number or a boolean is spelt
}

// LabelError is a label that is none of its field's choices. It does not hold the label.
type LabelError struct {
	Row     int // index of the rows
	Field   string
	Choices []string
}

func (e *LabelError) Error() string {
	return fmt.Sprintf("row %d: field %s: want one of %s, got another", e.Row+1, e.Field, listed(e.Choices))
}

// Train learns a model, and measures it by cross-validation: one report a field. Equal rows in equal order give equal bytes.
func Train(s *shape.Shape, spec Spec, list []Row) (*Model, []Report, error) {
	m, labels, err := prepare(s, spec, list)
	if err != nil {
		return nil, nil, err
	}
	t := trainer{model: m, labels: labels, groups: make([]string, len(list))}
	r := &reader{}
	for i, row := range list {
		text := m.textOf(elementsOf(spec.Text, row.Text))
		if spec.Group != "" {
			text.Group = row.Group
		}
		t.groups[i] = text.Group
		d := r.read(text)
		t.docs = append(t.docs, document{slices.Clone(d.entries), d.ends, d.group})
	}
	all := make([]int, len(list))
	for i := range all {
		all[i] = i
	}
	reports := t.validate(spec.Folds)
	temperatures := make([]float64, len(m.fields))
	for i := range m.fields {
		temperatures[i] = m.fields[i].temperature
	}
	t.fit(m, all)
	for i := range m.fields {
		m.fields[i].temperature = temperatures[i]
	}
	m.seal()
	return m, reports, nil
}

// prepare checks what a training is given, and gives an empty model with the labels of each field.
func prepare(s *shape.Shape, spec Spec, list []Row) (*Model, [][]int, error) {
	switch {
	case len(spec.Fields) == 0 || len(spec.Fields) > MaxFields:
		return nil, nil, fmt.Errorf("learned: want 1 to %d fields, got %d", MaxFields, len(spec.Fields))
	case len(spec.Text) == 0 || len(spec.Text) > MaxFields:
		return nil, nil, fmt.Errorf("learned: want 1 to %d columns of text, got %d", MaxFields, len(spec.Text))
	case spec.Folds < 2 || spec.Folds > 20:
		return nil, nil, fmt.Errorf("learned: want 2 to 20 folds, got %d", spec.Folds)
	case len(list) > MaxRows:
		return nil, nil, fmt.Errorf("learned: want at most %d rows, got %d", MaxRows, len(list))
	}
	m := &Model{columns: slices.Clone(spec.Text), group: spec.Group}
	if err := m.checkNames(spec.Fields); err != nil {
		return nil, nil, fmt.Errorf("learned: %w", err)
	}
	labels, total := make([][]int, len(spec.Fields)), 0
	for k, name := range spec.Fields {
		c, err := choiceOf(s, name)
		if err != nil {
			return nil, nil, fmt.Errorf("learned: %w", err)
		}
		counts := make([]int, len(c.labels))
		for i, row := range list {
			if len(row.Text) != len(spec.Text) || len(row.Labels) != len(spec.Fields) {
				return nil, nil, fmt.Errorf("learned: row %d: want %d texts and %d labels", i+1, len(spec.Text), len(spec.Fields))
			}
			label := slices.Index(c.labels, row.Labels[k])
			if label < 0 {
				return nil, nil, &LabelError{i, name, c.labels}
			}
			counts[label]++
			labels[k] = append(labels[k], label)
		}
		f := field{name: name, choices: c.labels, temperature: 1}
		for label, n := range counts {
			if n >= spec.Folds {
				f.seen = append(f.seen, label)
			}
		}
		if len(f.seen) < 2 {
			return nil, nil, fmt.Errorf("learned: field %s: want at least two choices with %d rows each, got %d", name, spec.Folds, len(f.seen))
		}
		m.fields = append(m.fields, f)
		if total += rows * stride(len(f.seen)); total > maxWeights {
			return nil, nil, fmt.Errorf("learned: want at most %d choices of all fields together", maxWeights/rows)
		}
	}
	return m, labels, nil
}

// checkNames bounds the names that a model holds, which a file may have made up.
func (m *Model) checkNames(fields []string) error {
	names := slices.Concat(fields, m.columns)
	if m.group != "" {
		names = append(names, m.group)
	}
	for i, name := range names {
		if name == "" || len(name) > MaxName || !utf8.ValidString(name) {
			return fmt.Errorf("want fields and columns of 1 to %d bytes of UTF-8", MaxName)
		}
		if i < len(fields) && slices.Contains(fields[:i], name) || i >= len(fields) && slices.Contains(names[len(fields):i], name) {
			return errors.New("want each field and each column once")
		}
	}
	return nil
}

type trainer struct {
	model  *Model
	docs   []document
	labels [][]int  // by field and row
	groups []string // by row
}

// fit sets a model's weights from some of the rows.
func (t *trainer) fit(m *Model, train []int) {
	counts, seen := make([]int, buckets), map[uint64]int{}
	var order []uint64
	for _, i := range train {
		d := &t.docs[i]
		for _, e := range d.entries {
			counts[e>>8]++
		}
		if d.group != 0 {
			if seen[d.group]++; seen[d.group] == MinGroup && len(order) < MaxGroups {
				order = append(order, d.group)
			}
		}
	}
	m.rarities = make([]uint8, buckets)
	for b, n := range counts {
		m.rarities[b] = rarity(n, len(train))
	}
	slices.Sort(order)
	m.known = order
	cells := make([][]cell, len(train))
	for k, i := range train {
		cells[k] = slices.Clip(appendCells(nil, &t.docs[i], m.rarities, m.known))
	}
	for k := range m.fields {
		f := &m.fields[k]
		var xs [][]cell
		var ys []int
		for j, i := range train {
			if y := slices.Index(f.seen, t.labels[k][i]); y >= 0 {
				xs, ys = append(xs, cells[j]), append(ys, y)
			}
		}
		f.quantise(ascend(xs, ys, len(f.seen)))
	}
}

// quantise keeps weights in 8 bits.
func (f *field) quantise(w []float32) {
	top := float32(0)
	for _, x := range w {
		top = max(top, x, -x)
	}
	n, wide := len(f.seen), stride(len(f.seen))
	f.scale, f.weights = 1, make([]int8, rows*wide)
	if top == 0 {
		return
	}
	f.scale = top / math.MaxInt8
	for i, x := range w {
		f.weights[i/n*wide+i%n] = int8(math.Round(float64(x / f.scale)))
	}
}

// The regularisation, and when the ascent ends.
const (
	ridge     = 0.3   // half of it times the squared weights is added to the loss
	maxEpochs = 60    // passes over the rows
	settled   = 0.005 // mean change of a row's chances in a pass
)

// ascend fits multinomial logistic regression by coordinate ascent on the dual (Shalev-Shwartz and Zhang 2013, arXiv:1209.1873,
// with the step along p-q found exactly): for each row in turn, q moves towards what the model now says. Rows are visited in
// an order drawn from a fixed seed.
func ascend(xs [][]cell, ys []int, classes int) []float32 {
	w := make([]float32, rows*classes)
	q := make([]float64, len(xs)*classes)
	norms := make([]float64, len(xs))
	order := make([]int, len(xs))
	for i, x := range xs {
		order[i] = i
		q[i*classes+ys[i]] = 1
		for _, c := range x {
			norms[i] += float64(c.value * c.value)
		}
	}
	seed := uint64(0x2545f4914f6cdd1d)
	score, step, delta := make([]float64, classes), make([]float64, classes), make([]float32, classes)
	for range maxEpochs {
		for i := len(order) - 1; i > 0; i-- {
			seed = seed*6364136223846793005 + 1442695040888963407
			j := int((seed >> 33) % uint64(i+1))
			order[i], order[j] = order[j], order[i]
		}
		moved := 0.0
		for _, i := range order {
			x, qi := xs[i], q[i*classes:][:classes]
			clear(score)
			for _, c := range x {
				for k, v := range w[int(c.row)*classes:][:classes] {
					score[k] += float64(v * c.value)
				}
			}
			s := along(score, qi, step, norms[i])
			for k := range qi {
				moved += math.Abs(s * step[k])
				qi[k] = max(0, qi[k]+float64(s*step[k]))
				delta[k] = float32(-s * step[k] / ridge)
			}
			for _, c := range x {
				row := w[int(c.row)*classes:][:classes]
				for k := range row {
					row[k] += float32(delta[k] * c.value)
				}
			}
		}
		if moved < settled*float64(len(xs)) {
			break
		}
	}
	return w
}

// along sets step to p-q, p being what scores say, and gives how far in 0 to 1 the dual grows along it.
func along(score, q, step []float64, norm float64) float64 {
	top := slices.Max(score)
	sum := 0.0
	for k, s := range score {
		step[k] = math.Exp(s - top)
		sum += step[k]
	}
	rise, square := 0.0, 0.0
	for k := range step {
		step[k] = step[k]/sum - q[k]
		rise += float64(step[k] * score[k])
		square += float64(step[k] * step[k])
	}
	slope := func(s float64) float64 {
		g := rise - float64(s*square*norm/ridge)
		for k, d := range step {
			if d != 0 {
				g -= float64(d * math.Log(max(q[k]+float64(s*d), 1e-12)))
			}
		}
		return g
	}
	low, high := 0.0, 1.0
	if slope(high) >= 0 {
		return 1
	}
	for range 16 {
		if mid := (low + high) / 2; slope(mid) > 0 {
			low = mid
		} else {
			high = mid
		}
	}
	return low
}
