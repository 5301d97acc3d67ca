package attack

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"decant.dev/act"
	"decant.dev/internal/hostile"
	"decant.dev/pipeline/local/store"
)

// written is all that a run left with act, and what the run was about.
type written struct {
	receipts  []act.Receipt
	rows      []row
	place     string
	actor     actor
	structure []byte // what crossed to act, by the orchestrator's journal
}

type row struct {
	table   string
	columns map[string]any
}

// readBack reads every table and every receipt, by run.
func readBack(ctx context.Context, ledger *store.Ledger) (map[string]written, error) {
	all := map[string]written{}
	receipts, err := ledger.AllReceipts(ctx)
	if err != nil {
		return nil, err
	}
	for run, r := range receipts {
		all[run] = written{receipts: r}
	}
	tables, err := ledger.Tables(ctx)
	if err != nil {
		return nil, err
	}
	for _, table := range tables {
		rows, err := ledger.Rows(ctx, table)
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			run, _ := r.Columns["run"].(string)
			w := all[run]
			w.rows = append(w.rows, row{table, r.Columns})
			all[run] = w
		}
	}
	return all, nil
}

// judge says why what a run wrote is not, whole or in part, an outcome of the
// list for the run's own target and under no higher label than its actor's.
// It says nothing where it is.
func (l *reviewed) judge(w written) string {
	if len(w.receipts) == 0 && len(w.rows) == 0 {
		return ""
	}
	for _, r := range w.receipts {
		if r.Label.String() != w.actor.label && r.Label.String() != "unverified" {
			return "a receipt bears a higher label than its actor's"
		}
		if r.ActingFor != w.actor.acts {
			return "a receipt acts for another person"
		}
	}
	var structure any
	d := json.NewDecoder(bytes.NewReader(w.structure))
	d.UseNumber()
	if err := d.Decode(&structure); err != nil {
		return "something was written, and no structure had crossed"
	}
	for _, replaced := range []bool{false, true} { // seldom, and dear to try
		for _, class := range l.classes {
			if w.fits(class, structure, replaced) {
				return ""
			}
		}
	}
	return "no outcome of the list has these writes"
}

// fits reports whether each receipt is of the class's action at its index, and
// each row one of those actions. replaced says that a row may be missing, by
// a later action of the run that wrote the same.
func (w written) fits(class []reviewedAction, structure any, replaced bool) bool {
	left := slices.Clone(w.rows)
	for _, r := range w.receipts {
		if r.Index < 0 || r.Index >= len(class) || class[r.Index].kind != string(r.Kind) {
			return false
		}
		a := class[r.Index]
		if r.Kind != "table.row" {
			if !a.hasDigest(r.ParamsSHA256, w.place, structure) {
				return false
			}
			continue
		}
		at := slices.IndexFunc(left, func(row row) bool {
			params, ok := a.rowParams(row, w.place, structure)
			return ok && digest(params) == r.ParamsSHA256 && row.columns["label"] == r.Label.String()
		})
		switch {
		case at >= 0:
			left = slices.Delete(left, at, at+1)
		case !replaced || !a.hasDigest(r.ParamsSHA256, w.place, structure):
			return false
		}
	}
	return len(left) == 0
}

// reserved are the columns that a sink adds to a recipe's own.
var reserved = []string{"key", "source", "label", "run"}

// rowParams are the parameters that wrote a row, if this action could.
func (a reviewedAction) rowParams(r row, place string, structure any) (map[string]any, bool) {
	params := make(map[string]any, len(a.params))
	for name, values := range a.params {
		stored := r.columns[name]
		if name == "table" {
			stored = r.table
		}
		at := slices.IndexFunc(values, func(v any) bool {
			resolved, ok := resolve(v, place, structure)
			params[name] = resolved
			return ok && (resolved == stored || asStored(resolved) == stored)
		})
		if at < 0 {
			return nil, false
		}
	}
	for column, v := range r.columns {
		if _, ours := a.params[column]; !ours && v != nil && !slices.Contains(reserved, column) {
			return nil, false
		}
	}
	return params, r.columns["key"] == place
}

// asStored is a value as SQLite gives it back: it has no type of its own for
// true and false.
func asStored(v any) any {
	switch v {
	case true:
		return int64(1)
	case false:
		return int64(0)
	default:
		return v
	}
}

// maxProduct bounds how many parameters are tried against one digest.
const maxProduct = 1 << 16

// hasDigest reports whether some choice of the listed values has the digest.
func (a reviewedAction) hasDigest(want, place string, structure any) bool {
	names := make([]string, 0, len(a.params))
	product := 1
	for name, values := range a.params {
		names = append(names, name)
		if product *= len(values); product > maxProduct || product == 0 {
			return false
		}
	}
	for n := range product {
		params, rest, all := make(map[string]any, len(names)), n, true
		for _, name := range names {
			values := a.params[name]
			resolved, ok := resolve(values[rest%len(values)], place, structure)
			params[name], rest, all = resolved, rest/len(values), all && ok
		}
		if all && digest(params) == want {
			return true
		}
	}
	return false
}

// digest is a receipt's params_sha256: of the sorted JSON of the parameters.
func digest(params map[string]any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(params); err != nil {
		return ""
	}
	sum := sha256.Sum256(bytes.TrimSuffix(b.Bytes(), []byte("\n")))
	return hex.EncodeToString(sum[:])
}

// wordsIn reports whether a hostile extractor's own word came into a run's
// record.
func wordsIn(e store.Entry) string {
	for _, part := range [][]byte{e.Trace, []byte(e.Code), []byte(e.Label)} {
		if strings.Contains(string(part), hostile.Word) {
			return "the journal holds a word of the extractor's own"
		}
	}
	return ""
}
