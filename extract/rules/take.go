package rules

import (
	"maps"
	"slices"
	"strings"

	"decant.dev/extract"
	"decant.dev/fence"
	"github.com/Masterminds/semver/v3"
)

// take is a compiled Take.
type take struct {
	Take
	field int
}

// match is a compiled Match. names and versions are what is listed.
type match struct {
	Match
	field int
}

// Bounds of what a record's field is read for.
const (
	maxTaken      = 1024    // elements of one field
	maxConstraint = 4 << 10 // bytes of one element's ranges
)

// record is the elements of one field of a record, with their places.
func record(elements []fence.Element, name string) (places []int) {
	for i, e := range elements {
		if e.Origin == fence.OriginRecordField && e.Field == name && e.Trust != fence.TrustSelf && len(places) < maxTaken {
			places = append(places, i)
		}
	}
	return places
}

// take decides a field by the texts of a record's field.
func (x *Extractor) take(elements []fence.Element, t *take) verdict {
	f := &x.fields[t.field]
	v := verdict{label: -1}
	step := func(e fence.Element, length int) extract.Step {
		return extract.Step{Field: f.name, Rule: t.ID, Confidence: 100, Element: e.ID, Length: length}
	}
	if f.kind == fieldTokens {
		v.raw = []byte{'['}
	}
	var seen []string
	for _, i := range record(elements, t.From) {
		e := elements[i]
		switch f.kind {
		case fieldChoice:
			label := e.Text
			if t.Labels != nil {
				label = t.Labels[strings.ToLower(strings.TrimSpace(e.Text))]
			}
			if at := slices.Index(f.labels, label); at >= 0 {
				return verdict{raw: f.appendLabel(nil, at), label: at, steps: []extract.Step{step(e, len(e.Text))}}
			}
		case fieldTokens:
			if len(seen) == f.hi || !f.fits(e.Text) || slices.Contains(seen, e.Text) {
				continue
			}
			if len(seen) > 0 {
				v.raw = append(v.raw, ',')
			}
			seen = append(seen, e.Text)
			v.raw = appendString(v.raw, e.Text)
			v.steps = append(v.steps, step(e, len(e.Text)))
		default:
			if text := t.cut(f, e.Text); text != "" {
				return verdict{raw: appendString(nil, text), label: -1, steps: []extract.Step{step(e, len(text))}}
			}
		}
	}
	if f.kind == fieldTokens {
		v.raw = append(v.raw, ']')
	}
	return v
}

// cut is the text, or its longest beginning before a separator, that fits.
func (t *take) cut(f *field, text string) string {
	for text != "" && !f.fits(text) {
		at := -1
		if t.Sep != "" {
			text = text[:min(len(text), 4*f.hi+len(t.Sep))] // no character has more than 4 bytes
			at = strings.LastIndex(text, t.Sep)
		}
		text = text[:max(at, 0)]
	}
	return text
}

// match decides a choice by what is listed of what a record names.
func (x *Extractor) matched(elements []fence.Element, m *match) verdict {
	f := &x.fields[m.field]
	label, step := m.Miss, extract.Step{Field: f.name, Rule: RuleDefault}
	for _, i := range record(elements, m.From) {
		e := elements[i]
		name, ranges, _ := strings.Cut(e.Text, "\n")
		for _, l := range m.Listed {
			if l.Name != name {
				continue
			}
			is := m.Hit
			if l.Version != "" {
				is = m.within(l.Version, ranges)
			}
			if is == m.Miss || label == m.Hit || is == label {
				continue
			}
			label, step = is, extract.Step{Field: f.name, Rule: m.ID, Confidence: 100, Element: e.ID, Length: len(name)}
		}
	}
	at := slices.Index(f.labels, label)
	return verdict{raw: f.appendLabel(nil, at), label: at, steps: []extract.Step{step}}
}

// within says whether a version lies in ranges that a stranger wrote.
func (m *match) within(version, ranges string) string {
	if len(ranges) > maxConstraint {
		return m.Unsure
	}
	v, err := semver.NewVersion(version)
	if err != nil {
		return m.Unsure
	}
	c, err := semver.NewConstraint(ranges)
	if err != nil {
		return m.Unsure
	}
	c.IncludePrerelease = true
	if c.Check(v) {
		return m.Hit
	}
	return m.Miss
}

func (c *compiler) take(t Take) {
	i := slices.IndexFunc(c.x.fields, func(f field) bool { return f.name == t.Field })
	if i < 0 || c.decided[i] || slices.ContainsFunc(c.x.takes, func(o take) bool { return o.field == i }) {
		c.fault("field %q: want one of the shape's that is taken once", t.Field)
		return
	}
	f := &c.x.fields[i]
	c.id(t.ID)
	c.from(t.ID, t.From)
	switch f.kind {
	case fieldChoice:
		if t.Labels != nil && len(t.Labels) == 0 {
			c.fault("rule %s: want texts with the labels that they mean, or none for the labels themselves", t.ID)
		}
		for _, text := range slices.Sorted(maps.Keys(t.Labels)) {
			if !slices.Contains(f.labels, t.Labels[text]) {
				c.fault("rule %s: %q is no value of field %s", t.ID, t.Labels[text], f.name)
			}
			if text != strings.ToLower(strings.TrimSpace(text)) {
				c.fault("rule %s: text %q: want it in lower case", t.ID, text)
			}
		}
	case fieldToken, fieldQuote, fieldText, fieldTokens:
		if f.lo > 0 && f.kind == fieldTokens || !f.optional && f.kind != fieldTokens {
			c.fault("field %s: a record may lack what is taken: want it optional, or a list that may be empty", t.Field)
		}
		if t.Labels != nil {
			c.fault("rule %s: labels are of a choice", t.ID)
		}
		c.decided[i] = true
	default:
		c.fault("field %s: rules cannot take a value of its kind", t.Field)
	}
	c.x.takes = append(c.x.takes, take{t, i})
}

func (c *compiler) match(m Match) {
	i := c.field(m.Field, fieldChoice)
	if i < 0 {
		return
	}
	c.id(m.ID)
	c.from(m.ID, m.From)
	for _, label := range []string{m.Hit, m.Unsure, m.Miss} {
		if !slices.Contains(c.x.fields[i].labels, label) {
			c.fault("rule %s: %q is no value of field %s", m.ID, label, m.Field)
		}
	}
	for _, l := range m.Listed {
		if l.Name == "" || strings.Contains(l.Name, "\n") {
			c.fault("rule %s: want names of one line", m.ID)
		}
	}
	m.Listed = slices.Clone(m.Listed)
	c.x.matches = append(c.x.matches, match{m, i})
	c.decided[i] = true
}

// from checks the name of a record's field.
func (c *compiler) from(id, name string) {
	if name == "" {
		c.fault("rule %s: want the name of a record's field", id)
	}
}
