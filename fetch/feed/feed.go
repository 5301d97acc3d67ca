// Package feed turns documents that list items into those items, each with
// raw bytes of its own, and an item's bytes into elements. It reads RSS, Atom
// and JSON Feed, advisories in OSV form, lists in JSON and tables in CSV.
//
// A document is a stranger's, and so is each item, down to its id. One item
// that is not what it should be does not spoil the others: it is listed as it
// is, so that its own run is quarantined. An item is told from another by
// source, id and content, so that no item takes another's place: not one of
// another source with the same id, and not one of the same document.
//
// Not promised: that what an item says is true, or that its id is its own.
package feed

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/internal/pointer"
	"decant.dev/pipeline"
)

// Format is what a document is. The zero Format is invalid.
type Format uint8

// The formats.
const (
	Syndication Format = iota + 1 // RSS 0.9 to 2.0, RSS 1.0, Atom 0.3 and 1.0, JSON Feed, as the document itself says
	OSV                           // one advisory, a list of them, or the answer to a query: {"vulns": […]}
	JSON                          // the list at a pointer
	CSV                           // one item a row, named by a header row
)

// maxDepth bounds how deep a document nests.
const maxDepth = 1000

// document says how one is read.
type document struct {
	format  Format
	pointer jsontext.Pointer // JSON: where the list stands
	id      jsontext.Pointer // JSON and CSV: where an item's id stands in it
}

// entry is one item.
type entry struct {
	id  string // as its document says; empty where it says none
	raw []byte // canonical JSON, or what stands there if it is none
}

// Items reads the items of a document that was given as a file: [Config.Items]
// where nothing but the format has to be said.
func Items(format Format, body []byte) ([][]byte, error) { return Config{Format: format}.Items(body) }

// Items reads the items of a document of the source's form that was given as a
// file, each in the form that the elements are made of. A feed's are canonical
// JSON of their own. A document that is not of its format is
// [pipeline.SourceMalformed].
func (c Config) Items(body []byte) ([][]byte, error) {
	entries, err := c.document().entries(body)
	if err != nil {
		return nil, err
	}
	items := make([][]byte, len(entries))
	for i, e := range entries {
		items[i] = e.raw
	}
	return items, nil
}

func malformed(body []byte, want string) error {
	return pipeline.SourceMalformed.Error("document of %d bytes: want %s", len(body), want)
}

func (d document) entries(body []byte) ([]entry, error) {
	switch d.format {
	case Syndication:
		return syndicated(body)
	case OSV:
		return d.advisories(body)
	case JSON:
		return d.list(text(body), d.pointer)
	case CSV:
		return d.rows(body)
	default:
		return nil, malformed(body, "a known format")
	}
}

// text is a document's bytes as UTF-8, without a byte order mark.
func text(body []byte) []byte {
	return bytes.ToValidUTF8(bytes.TrimPrefix(body, []byte("\ufeff")), []byte("\ufffd"))
}

// lenient lets a document pass in which an item repeats a name: the item is
// judged by itself.
var lenient = jsontext.AllowDuplicateNames(true)

// list reads the elements of the array at a pointer.
func (d document) list(doc []byte, at jsontext.Pointer) ([]entry, error) {
	if !at.IsValid() || !shallow(doc) {
		return nil, malformed(doc, "JSON, not nested deeper than 1000")
	}
	array, ok := pointer.Find(doc, at, lenient)
	if !ok || array.Kind() != '[' {
		return nil, malformed(doc, "an array at the pointer")
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(array), lenient)
	_, _ = dec.ReadToken() // the bracket
	var entries []entry
	for dec.PeekKind() != ']' {
		v, err := dec.ReadValue()
		if err != nil {
			return nil, malformed(doc, "a list in JSON")
		}
		entries = append(entries, d.entry(v))
	}
	return entries, nil
}

// entry makes an item of a JSON value: canonical (RFC 8785) but for its
// numbers, which stay as they are written. A value that repeats a name has no
// canonical form and stays as it is.
func (d document) entry(v jsontext.Value) entry {
	raw := v.Clone()
	if raw.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)) != nil {
		return entry{raw: raw}
	}
	e := entry{raw: raw}
	if id, ok := pointer.Find(raw, d.id); ok && d.id.IsValid() {
		switch id.Kind() {
		case '"':
			_ = json.Unmarshal(id, &e.id) // canonical, and so a string
		case '0':
			e.id = string(id)
		}
	}
	return e
}

// shallow reports that a document is one JSON value and nests within maxDepth.
func shallow(doc []byte) bool {
	d := jsontext.NewDecoder(bytes.NewBuffer(doc), lenient)
	for values := 0; ; {
		if _, err := d.ReadToken(); err != nil {
			return errors.Is(err, io.EOF) && values == 1
		}
		if d.StackDepth() == 0 {
			values++
		}
		if d.StackDepth() > maxDepth {
			return false
		}
	}
}

// advisories reads one advisory, an array of them, or a query's answer.
func (d document) advisories(body []byte) ([]entry, error) {
	doc := text(body)
	d.id = "/id"
	if !shallow(doc) {
		return nil, malformed(body, "JSON, not nested deeper than 1000")
	}
	one, _ := pointer.Find(doc, "", lenient)
	if one.Kind() == '[' {
		return d.list(doc, "")
	}
	if _, ok := pointer.Find(doc, "/vulns", lenient); ok {
		return d.list(doc, "/vulns")
	}
	if one.Kind() != '{' {
		return nil, malformed(body, "an advisory, a list of them, or the answer to a query")
	}
	return []entry{d.entry(one)}, nil
}

// rows reads a table with a header row. A row of another length than the
// header, or that is not written as CSV is, becomes a list in place of an
// object.
func (d document) rows(body []byte) ([]entry, error) {
	r := csv.NewReader(bytes.NewReader(text(body)))
	r.FieldsPerRecord = -1
	header, err := r.Read()
	if err != nil {
		return nil, malformed(body, "a header row of CSV")
	}
	columns := make([]column, len(header))
	for i, name := range header {
		quoted, _ := jsontext.AppendQuote(nil, name) // valid UTF-8
		columns[i] = column{i, utf16.Encode([]rune(name)), append(quoted, ':')}
	}
	slices.SortFunc(columns, func(a, b column) int { return slices.Compare(a.order, b.order) })
	for i := range columns[1:] {
		if header[columns[i].at] == header[columns[i+1].at] {
			return nil, malformed(body, "a header row of CSV with each name once")
		}
	}
	id := slices.Index(header, d.id.LastToken())
	var entries []entry
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return entries, nil
		}
		if err != nil || len(row) != len(header) {
			raw, _ := json.Marshal(append([]string{}, row...)) // strings of valid UTF-8
			entries = append(entries, entry{raw: raw})
			continue
		}
		e := entry{raw: []byte{'{'}}
		for i, c := range columns {
			if i > 0 {
				e.raw = append(e.raw, ',')
			}
			e.raw = append(e.raw, c.name...)
			e.raw, _ = jsontext.AppendQuote(e.raw, row[c.at])
		}
		e.raw = append(e.raw, '}')
		if id >= 0 {
			e.id = row[id]
		}
		entries = append(entries, e)
	}
}

// column is a column of a table: where it stands, its name in the order of
// canonical JSON (RFC 8785, section 3.2.3), and as a member's name.
type column struct {
	at    int
	order []uint16
	name  []byte
}
