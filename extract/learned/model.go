package learned

import (
	"math"
	"math/bits"
)

// Model is a trained model, immutable: any number of goroutines may use it. Only Train and Read make one.
type Model struct {
	columns  []string // the first is the title
	group    string   // column of the group; empty: none
	known    []uint64 // hashes of the groups that have copies, ascending
	rarities []uint8  // by bucket; 0 is a feature that counts for nothing
	fields   []field
	checksum string
}

// field is the linear model of one choice field.
type field struct {
	name        string
	choices     []string // of the shape, in its order
	seen        []int    // the choices that training had; others are never answered
	scale       float32  // of a weight's steps
	temperature float64  // that confidences were calibrated with
	// weights are rows × stride steps, the first of each row for seen: a row lies in one line of the cache, and a model of three
	// choices in 2 MiB.
	weights []int8
}

// stride is the least power of two that n weights fit in.
func stride(n int) int { return 1 << bits.Len(uint(n-1)) }

// steps turns a weight into a float. Converting it would make each wait for the one before (CVTSL2SS merges into its target).
var steps = func() (t [256]float32) {
	for i := range t {
		t[i] = float32(int8(i))
	}
	return t
}()

// Checksum is the SHA-256, in hex, of the model's file.
func (m *Model) Checksum() string { return m.checksum }

// Columns are the columns that a text is made of, the title first, and the column of the group or "".
func (m *Model) Columns() (text []string, group string) {
	return append([]string(nil), m.columns...), m.group
}

// Fields names the fields that the model decides.
func (m *Model) Fields() []string {
	var names []string
	for i := range m.fields {
		names = append(names, m.fields[i].name)
	}
	return names
}

// Choices are the choices of a field of Fields, in the shape's order, or nil.
func (m *Model) Choices(name string) []string {
	for i := range m.fields {
		if m.fields[i].name == name {
			return append([]string(nil), m.fields[i].choices...)
		}
	}
	return nil
}

// prediction is the answer for one field.
type prediction struct {
	label      int // index of choices
	confidence int // 0 to 100
	chance     float64
}

// predict answers each field of the model, valid until the reader's next use.
func (m *Model) predict(r *reader, t content) []prediction {
	r.cells = appendCells(r.cells[:0], r.read(t), m.rarities, m.known)
	out := make([]prediction, len(m.fields))
	for i := range m.fields {
		f := &m.fields[i]
		var scores [MaxChoices]float64
		f.score(scores[:len(f.seen)], r.cells)
		best, chance := softmaxBest(scores[:len(f.seen)], f.temperature)
		out[i] = prediction{f.seen[best], int(100 * chance), chance}
	}
	return out
}

// score adds up weights. The sums are in one order, so that equal bytes in give equal bytes out.
func (f *field) score(dst []float64, cells []cell) {
	clear(dst)
	switch len(dst) {
	case 3: // the usual number, in registers
		var a, b, c float32
		for _, x := range cells {
			w := f.weights[4*x.row:][:4:4]
			a += float32(steps[uint8(w[0])] * x.value)
			b += float32(steps[uint8(w[1])] * x.value)
			c += float32(steps[uint8(w[2])] * x.value)
		}
		dst[0], dst[1], dst[2] = float64(a), float64(b), float64(c)
	default:
		n, wide := len(dst), uint32(stride(len(dst)))
		for _, x := range cells {
			for k, w := range f.weights[wide*x.row:][:n] {
				dst[k] += float64(steps[uint8(w)] * x.value)
			}
		}
	}
	for k := range dst {
		dst[k] *= float64(f.scale)
	}
}

// softmaxBest is the first of the highest scores, and its chance at a temperature.
func softmaxBest(scores []float64, temperature float64) (int, float64) {
	best := 0
	for k, s := range scores {
		if s > scores[best] {
			best = k
		}
	}
	sum := 0.0
	for _, s := range scores {
		sum += math.Exp((s - scores[best]) / temperature)
	}
	return best, 1 / sum
}

// Predictor asks a model about texts. One goroutine at a time may use it.
type Predictor struct {
	model  *Model
	reader reader
}

// Predictor is a new one of the model's.
func (m *Model) Predictor() *Predictor { return &Predictor{model: m} }

// Predict gives the label of each field of Fields, and the chance in 0 to 1 that the model gives it, for a row whose cells
// stand in the order of Columns' text.
func (p *Predictor) Predict(cells []string, group string) (labels []int, chances []float64) {
	t := p.model.textOf(elementsOf(p.model.columns, cells))
	if p.model.group != "" {
		t.Group = group
	}
	for _, x := range p.model.predict(&p.reader, t) {
		labels, chances = append(labels, x.label), append(chances, x.chance)
	}
	return labels, chances
}
