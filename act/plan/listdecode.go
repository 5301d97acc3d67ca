package plan

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

type listWire struct {
	Schema   string               `json:"schema"`
	Recipe   string               `json:"recipe"`
	Shape    string               `json:"shape"`
	Policy   string               `json:"policy"`
	Outcomes jsontext.Value       `json:"outcomes"`
	Actions  map[string]entryWire `json:"actions"`
	Classes  []classWire          `json:"classes"`
}

type classWire struct {
	Outcomes jsontext.Value `json:"outcomes"`
	Actions  []string       `json:"actions"`
}

type entryWire struct {
	Decision jsontext.Value            `json:"decision"`
	Address  map[string]jsontext.Value `json:"address"`
	Content  map[string]jsontext.Value `json:"content"`
}

// DecodeList reads a list strictly. A list that was edited by hand so that
// its counts, its names or its order no longer fit is refused.
func DecodeList(b []byte) (*List, error) {
	if t := bytes.TrimSpace(b); len(t) == 0 || string(t) == "{}" {
		return nil, ErrEmptyList
	}
	if len(b) > MaxListBytes {
		return nil, fmt.Errorf("outcome list of %d bytes: want at most %d", len(b), MaxListBytes)
	}
	var w listWire
	if err := json.Unmarshal(b, &w, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("outcome list is malformed: want what decant audit --write writes: %w", err)
	}
	switch {
	case w.Schema != ListSchema:
		return nil, fmt.Errorf("outcome list: schema %.64q: want %q", w.Schema, ListSchema)
	case w.Actions == nil:
		return nil, errors.New("outcome list: actions: want an object")
	case w.Classes == nil:
		return nil, errors.New("outcome list: classes: want a list")
	}
	l := &List{Recipe: w.Recipe, Shape: w.Shape, Policy: w.Policy}
	drafts, err := w.drafts()
	if err != nil {
		return nil, fmt.Errorf("outcome list: %w", err)
	}
	l.finish(drafts)
	if err := l.same(w); err != nil {
		return nil, err
	}
	return l, nil
}

// drafts puts the entries in the place of their names.
func (w listWire) drafts() ([]draft, error) {
	entries := make(map[string]entry, len(w.Actions))
	for name, ew := range w.Actions {
		kind, _, _ := bytes.Cut([]byte(name), []byte(" "))
		e, err := ew.entry(Kind(kind))
		if err != nil {
			return nil, fmt.Errorf("action %.64q: %w", name, err)
		}
		entries[name] = e
	}
	drafts := make([]draft, 0, len(w.Classes))
	for i, cw := range w.Classes {
		if cw.Actions == nil {
			return nil, fmt.Errorf("class %d: actions: want a list", i)
		}
		var d draft
		var sig []byte
		for _, name := range cw.Actions {
			e, ok := entries[name]
			if !ok {
				return nil, fmt.Errorf("class %d: action %.64q: want one of the list's actions", i, name)
			}
			d.entries = append(d.entries, e)
			sig = e.appendSignature(sig)
		}
		d.signature = string(sig)
		drafts = append(drafts, d)
	}
	return drafts, nil
}

// same reports where a list that was read is not as it would be written:
// counts, names and order of all that it has.
func (l *List) same(w listWire) error {
	names := l.names()
	if len(names) != len(w.Actions) {
		return fmt.Errorf("outcome list: %d actions: want the %d that stand in a class, each once", len(w.Actions), len(names))
	}
	for i, name := range names {
		if e, ok := w.Actions[name]; !ok || e.spelling(l.entries[i].kind) != l.entries[i].spelt {
			return fmt.Errorf("outcome list: want its actions numbered in order: %q is another", name)
		}
	}
	for i, c := range l.classes {
		spelt := make([]string, 0, len(c.entries))
		for _, at := range c.entries {
			spelt = append(spelt, names[at])
		}
		if !slices.Equal(spelt, w.Classes[i].Actions) {
			return fmt.Errorf("outcome list: class %d: want classes in order", i)
		}
		if i > 0 && slices.Equal(l.classes[i-1].entries, c.entries) {
			return fmt.Errorf("outcome list: class %d: want distinct classes", i)
		}
		if n := l.size(c).String(); n != string(w.Classes[i].Outcomes) {
			return fmt.Errorf("outcome list: class %d says %.64q outcomes and has %s", i, string(w.Classes[i].Outcomes), n)
		}
	}
	if n := l.count.String(); n != string(w.Outcomes) {
		return fmt.Errorf("outcome list says %.64q outcomes and has %s", string(w.Outcomes), n)
	}
	return nil
}

// spelling is the JSON that an entry is written as, empty where it is none.
func (ew entryWire) spelling(k Kind) string {
	e, err := ew.entry(k)
	if err != nil {
		return ""
	}
	return e.spelt
}

func (ew entryWire) entry(k Kind) (entry, error) {
	e := entry{kind: k}
	if !k.Known() {
		return e, fmt.Errorf("kind %.64q: want one of %v", string(k), AllKinds())
	}
	row, err := readRow(ew.Decision)
	if err != nil {
		return e, err
	}
	e.row = row
	if ew.Address == nil || ew.Content == nil {
		return e, errors.New("want an address and a content")
	}
	for _, m := range []struct {
		place  Place
		params map[string]jsontext.Value
	}{{Address, ew.Address}, {Content, ew.Content}} {
		names := make([]string, 0, len(m.params))
		for n := range m.params {
			names = append(names, n)
		}
		slices.Sort(names)
		for _, n := range names {
			if !IsName(n) {
				return e, fmt.Errorf("parameter %.64q: want %s", n, NameForm)
			}
			values, err := factorValues(m.params[n])
			if err != nil {
				return e, fmt.Errorf("parameter %.64q: %w", n, err)
			}
			e.params = append(e.params, factor{n, m.place, values})
		}
	}
	e.spell()
	return e, nil
}

// appendSignature is the entry's part of the signature of an outcome.
func (e entry) appendSignature(sig []byte) []byte {
	sig = append(sig, e.kind...)
	for _, p := range e.params {
		sig = append(sig, ' ', "?ac"[p.place])
		sig = append(sig, p.name...)
	}
	return append(sig, '\n')
}

// readRow reads one word for all labels, or one for each.
func readRow(v jsontext.Value) (Row, error) {
	if v.Kind() == '"' {
		var d Decision
		if err := json.Unmarshal(v, &d); err != nil {
			return Row{}, errors.New("decision: want auto, ask or never")
		}
		return Always(d), nil
	}
	var m map[Label]Decision
	if err := json.Unmarshal(v, &m); err != nil || len(m) != len(Labels()) {
		return Row{}, fmt.Errorf("decision: want auto, ask or never, or one of them for each of %v", Labels())
	}
	r := Row{System: m[System], Trigger: m[Trigger], Authorized: m[Authorized], Unverified: m[Unverified]}
	for _, l := range Labels() {
		if m[l] != Auto && m[l] != Ask && m[l] != Never {
			return Row{}, fmt.Errorf("decision: want auto, ask or never for %s", l)
		}
	}
	if r == Always(r.System) {
		return Row{}, errors.New("decision: want one word where it is the same for all labels")
	}
	return r, nil
}

// factorValues reads a constant, a handle template, or {"oneof": [...]}.
func factorValues(v jsontext.Value) ([]string, error) {
	if v.Kind() != '{' {
		s, err := canonical(v)
		return []string{s}, err
	}
	var oneof struct {
		OneOf []jsontext.Value `json:"oneof"`
	}
	if err := json.Unmarshal(v, &oneof, json.RejectUnknownMembers(true)); err != nil {
		return nil, fmt.Errorf("want a value or {\"oneof\": [...]}: %w", err)
	}
	if len(oneof.OneOf) < 2 {
		return nil, fmt.Errorf("oneof of %d values: want at least 2", len(oneof.OneOf))
	}
	values := make([]string, 0, len(oneof.OneOf))
	for _, o := range oneof.OneOf {
		s, err := canonical(o)
		if err != nil {
			return nil, err
		}
		values = append(values, s)
	}
	if !slices.IsSorted(values) || len(slices.Compact(slices.Clone(values))) != len(values) {
		return nil, errors.New("oneof: want distinct values in order")
	}
	return values, nil
}

func canonical(v jsontext.Value) (string, error) {
	if v.Kind() == '{' {
		return "", errors.New("an object: want a constant, a handle or a template")
	}
	c := v.Clone()
	if err := c.Canonicalize(); err != nil {
		return "", err
	}
	return string(c), nil
}
