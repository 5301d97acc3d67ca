package learned

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/go-json-experiment/json"
)

// MaxFile is the most bytes of a model's file that Read looks at.
const MaxFile = 64 << 20

// The file: magic; the length of the header in 4 bytes, little endian; the header, JSON; the rarities; the weights of each field;
// the SHA-256 of all that. Rarities and weights are the number of rows that are not all zero in 4 bytes, and these: how many rows
// after the one before as a uvarint, then one byte for a rarity, or one a choice for weights.
const (
	magic      = "decant-learned-model-2\n"
	schema     = "learned.v1"
	maxHeader  = 256 << 10 // bytes
	maxWeights = 1 << 25   // of all fields together: 32 MiB
)

// header is what a file says in words.
type header struct {
	Schema   string        `json:"schema"`
	Features string        `json:"features"` // featureVersion
	Text     []string      `json:"text"`
	Group    string        `json:"group"`
	Known    []string      `json:"known"` // 16 hex digits each
	Fields   []headerEntry `json:"fields"`
}

type headerEntry struct {
	Name        string   `json:"name"`
	Choices     []string `json:"choices"`
	Digest      string   `json:"digest"` // of the choices
	Seen        []int    `json:"seen"`
	Scale       string   `json:"scale"`       // IEEE 754, 8 hex digits
	Temperature string   `json:"temperature"` // IEEE 754, 16 hex digits
}

// Bytes is the model's file. Equal models have equal files.
func (m *Model) Bytes() []byte {
	h := header{Schema: schema, Features: featureVersion, Text: m.columns, Group: m.group, Known: []string{}}
	for _, g := range m.known {
		h.Known = append(h.Known, fmt.Sprintf("%016x", g))
	}
	for i := range m.fields {
		f := &m.fields[i]
		h.Fields = append(h.Fields, headerEntry{
			f.name, f.choices, digestOf(f.choices), f.seen,
			fmt.Sprintf("%08x", math.Float32bits(f.scale)), fmt.Sprintf("%016x", math.Float64bits(f.temperature)),
		})
	}
	words, _ := json.Marshal(h, json.Deterministic(true)) // fails on strings that are no UTF-8 alone, which checkNames refuses
	out := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(words)))
	out = appendRarities(append(out, words...), m.rarities)
	for i := range m.fields {
		out = m.fields[i].appendWeights(out)
	}
	sum := sha256.Sum256(out)
	return append(out, sum[:]...)
}

func appendRarities(out, rarities []byte) []byte {
	at, last, count := len(out), -1, 0
	out = binary.LittleEndian.AppendUint32(out, 0)
	for b, q := range rarities {
		if q != 0 {
			out = append(binary.AppendUvarint(out, uint64(b-last)), q)
			last = b
			count++
		}
	}
	binary.LittleEndian.PutUint32(out[at:], uint32(count))
	return out
}

func (f *field) appendWeights(out []byte) []byte {
	n, count := len(f.seen), 0
	at := len(out)
	out = binary.LittleEndian.AppendUint32(out, 0)
	last := -1
	for row := range rows {
		w := f.weights[row*stride(n):][:n]
		if !slices.ContainsFunc(w, func(x int8) bool { return x != 0 }) {
			continue
		}
		out = binary.AppendUvarint(out, uint64(row-last))
		for _, x := range w {
			out = append(out, byte(x))
		}
		last = row
		count++
	}
	binary.LittleEndian.PutUint32(out[at:], uint32(count))
	return out
}

// seal sets the checksum.
func (m *Model) seal() {
	b := m.Bytes()
	m.checksum = hex.EncodeToString(b[len(b)-sha256.Size:])
}

// errFile is what is wrong with a file whose checksum is right.
func errFile(what string) error { return fmt.Errorf("learned: model file: want %s", what) }

// Read reads a model's file strictly: it accepts what Bytes writes and nothing else.
func Read(b []byte) (*Model, error) {
	switch {
	case len(b) > MaxFile:
		return nil, fmt.Errorf("learned: model file of %d bytes: want at most %d", len(b), MaxFile)
	case !bytes.HasPrefix(b, []byte(magic)):
		return nil, errors.New("learned: want a model file as decant learn writes it, got another kind of file")
	case len(b) < len(magic)+4+sha256.Size:
		return nil, errors.New("learned: model file: want a whole file, got the beginning of one")
	}
	body, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, errors.New("learned: model file: its checksum differs: it was cut or changed; train it again")
	}
	rest := body[len(magic):]
	n := binary.LittleEndian.Uint32(rest)
	rest = rest[4:]
	if n > maxHeader || int(n) > len(rest) {
		return nil, errFile(fmt.Sprintf("a header of at most %d bytes", maxHeader))
	}
	m, err := readHeader(rest[:n])
	if err != nil {
		return nil, err
	}
	rest = rest[n:]
	m.rarities = make([]uint8, buckets)
	if rest, err = readRows(rest, buckets, 1, func(row int, b []byte) { m.rarities[row] = b[0] }); err != nil {
		return nil, err
	}
	for i := range m.fields {
		if rest, err = m.fields[i].readWeights(rest); err != nil {
			return nil, err
		}
	}
	if len(rest) > 0 {
		return nil, errFile("an end after the last field's weights")
	}
	if !bytes.Equal(m.Bytes(), b) {
		return nil, errFile("the one spelling that decant learn writes")
	}
	m.checksum = hex.EncodeToString(sum)
	return m, nil
}

func readHeader(words []byte) (*Model, error) {
	var h header
	if err := json.Unmarshal(words, &h, json.RejectUnknownMembers(true)); err != nil {
		return nil, errFile("a header of " + schema) // the error may hold what the file says
	}
	switch {
	case h.Schema != schema:
		return nil, errFile("a header of " + schema)
	case h.Features != featureVersion:
		return nil, errFile("features of " + featureVersion + "; train it again with this version of decant")
	case len(h.Text) == 0 || len(h.Text) > MaxFields || len(h.Fields) == 0 || len(h.Fields) > MaxFields || len(h.Known) > MaxGroups:
		return nil, errFile(fmt.Sprintf("1 to %d columns, 1 to %d fields and at most %d groups", MaxFields, MaxFields, MaxGroups))
	}
	m := &Model{columns: h.Text, group: h.Group}
	for i, g := range h.Known {
		x, err := fromHex(g, 8)
		if err != nil || i > 0 && x <= m.known[i-1] {
			return nil, errFile("groups in ascending order")
		}
		m.known = append(m.known, x)
	}
	names, weights := []string{}, 0
	for _, e := range h.Fields {
		names = append(names, e.Name)
		f, err := e.field()
		if err != nil {
			return nil, err
		}
		if weights += rows * stride(len(f.seen)); weights > maxWeights {
			return nil, errFile(fmt.Sprintf("at most %d weights", maxWeights))
		}
		m.fields = append(m.fields, f)
	}
	if err := m.checkNames(names); err != nil {
		return nil, fmt.Errorf("learned: model file: %w", err)
	}
	return m, nil
}

// field checks one field's entry.
func (e *headerEntry) field() (field, error) {
	f := field{name: e.Name, choices: e.Choices, seen: e.Seen}
	scale, err1 := fromHex(e.Scale, 4)
	temperature, err2 := fromHex(e.Temperature, 8)
	f.scale, f.temperature = math.Float32frombits(uint32(scale)), math.Float64frombits(temperature)
	switch {
	case len(e.Choices) < 2 || len(e.Choices) > MaxChoices:
		return f, errFile(fmt.Sprintf("2 to %d choices", MaxChoices))
	case e.Digest != digestOf(e.Choices):
		return f, errFile("choices with their digest")
	case len(e.Seen) < 2 || len(e.Seen) > len(e.Choices):
		return f, errFile("two or more choices that training had")
	case err1 != nil || err2 != nil:
		return f, errFile("numbers of hex digits")
	case !(f.scale > 0 && f.scale <= 1<<10): // refuses NaN too
		return f, errFile("a scale above 0 and of at most 1024")
	case !(f.temperature >= minTemperature && f.temperature <= maxTemperature):
		return f, errFile("a temperature of 1/64 to 64")
	}
	for i, s := range e.Seen {
		if s < 0 || s >= len(e.Choices) || i > 0 && s <= e.Seen[i-1] {
			return f, errFile("choices that training had in ascending order")
		}
	}
	for i, c := range e.Choices {
		if len(c) > MaxName || slices.Contains(e.Choices[:i], c) {
			return f, errFile(fmt.Sprintf("distinct choices of at most %d bytes", MaxName))
		}
	}
	return f, nil
}

// readWeights takes a field's weights from the front of b.
func (f *field) readWeights(b []byte) ([]byte, error) {
	n := len(f.seen)
	f.weights = make([]int8, rows*stride(n))
	return readRows(b, rows, n, func(row int, b []byte) {
		for i, x := range b {
			f.weights[row*stride(n)+i] = int8(x)
		}
	})
}

// readRows takes rows of so many bytes each from the front of b.
func readRows(b []byte, most, size int, set func(row int, b []byte)) ([]byte, error) {
	if len(b) < 4 {
		return nil, errFile("rarities, and the weights of each field")
	}
	count := binary.LittleEndian.Uint32(b)
	b = b[4:]
	if int64(count) > int64(most) || int64(count) > int64(len(b)/(1+size)) {
		return nil, errFile("as many rows as it says")
	}
	row := -1
	for range count {
		step, k := binary.Uvarint(b)
		if k <= 0 || step == 0 || step > uint64(most) || row+int(step) >= most || len(b)-k < size {
			return nil, errFile("rows in ascending order")
		}
		row, b = row+int(step), b[k:]
		set(row, b[:size])
		b = b[size:]
	}
	return b, nil
}

// fromHex reads a number of so many bytes.
func fromHex(s string, size int) (uint64, error) {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) != size {
		return 0, errFile("hex digits")
	}
	var full [8]byte
	copy(full[8-size:], b)
	return binary.BigEndian.Uint64(full[:]), nil
}
