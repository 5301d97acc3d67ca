package learned

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"decant.dev/extract/shape"
)

// Bounds of what a model decides.
const (
	MaxFields  = 16
	MaxChoices = 64  // of one field
	MaxName    = 128 // bytes of a choice, of a field's name, of a column's
)

// shapeChoice is a choice field at the top of a shape. Labels are its values as a column spells them: an enum's members, the
// numbers of a range, true and false.
type shapeChoice struct {
	name   string
	labels []string
	quoted bool // labels are JSON strings
}

// choiceOf finds a choice field of a shape.
func choiceOf(s *shape.Shape, name string) (shapeChoice, error) {
	var schema struct {
		Properties map[string]struct {
			Type    string   `json:"type"`
			Enum    []string `json:"enum"`
			Minimum int      `json:"minimum"`
			Maximum int      `json:"maximum"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(s.JSONSchema(), &schema); err != nil {
		return shapeChoice{}, fmt.Errorf("schema of the shape: %w", err)
	}
	f := shapeChoice{name: name}
	p, ok := schema.Properties[name]
	switch {
	case !ok:
		return f, fmt.Errorf("field %.64q: want a field of the shape", name)
	case p.Type == "string" && p.Enum != nil:
		f.labels, f.quoted = p.Enum, true
	case p.Type == "boolean":
		f.labels = []string{"false", "true"}
	case p.Type == "integer" && p.Maximum-p.Minimum < MaxChoices:
		for n := p.Minimum; n <= p.Maximum; n++ {
			f.labels = append(f.labels, strconv.Itoa(n))
		}
	}
	if len(f.labels) < 2 || len(f.labels) > MaxChoices {
		return f, fmt.Errorf("field %.64q: want a choice of 2 to %d values: an enum, a boolean or a range of integers", name, MaxChoices)
	}
	for _, l := range f.labels {
		if len(l) > MaxName {
			return f, fmt.Errorf("field %.64q: want choices of at most %d bytes", name, MaxName)
		}
	}
	return f, nil
}

// raw is a label as JSON.
func (f *shapeChoice) raw(label int) []byte {
	if !f.quoted {
		return []byte(f.labels[label])
	}
	b, _ := json.Marshal(f.labels[label]) // a string always has an encoding
	return b
}

// digestOf identifies the choices of a field, in their order.
func digestOf(labels []string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "choices.v1\n%q", labels))
	return hex.EncodeToString(sum[:])
}

// fits finds the field of a shape that a model's field decides, or says what differs.
func (f *field) fits(s *shape.Shape) (shapeChoice, error) {
	c, err := choiceOf(s, f.name)
	switch {
	case err != nil:
		return c, fmt.Errorf("a model of another shape: %w", err)
	case slices.Equal(c.labels, f.choices):
		return c, nil
	}
	same := slices.Equal(slices.Sorted(slices.Values(c.labels)), slices.Sorted(slices.Values(f.choices)))
	if same {
		return c, fmt.Errorf("a model of another shape: field %s: want the choices in the order %s, got %s", f.name, listed(c.labels), listed(f.choices))
	}
	return c, fmt.Errorf("a model of another shape: field %s: want the choices %s, got %s", f.name, listed(c.labels), listed(f.choices))
}

// listed names choices, at most 16.
func listed(labels []string) string {
	const most = 16
	var sb strings.Builder
	for i, l := range labels {
		if i == most {
			fmt.Fprintf(&sb, " and %d more", len(labels)-i)
			break
		}
		if i > 0 {
			sb.WriteString(", ")
		}
		fmt.Fprintf(&sb, "%.64q", l)
	}
	return sb.String()
}
