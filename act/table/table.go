// Package table is the sink of rows: it turns a table.row action into one
// parameterised write, with the run's source and label beside the columns.
//
// It stores texts as they are and says where they came from; whoever reads
// the table renders them for its own place. The write itself is made by the
// ledger, in the transaction that stores the receipt.
package table

import (
	"fmt"

	"decant.dev/act/plan"
)

// Write is one row to insert or replace. Names come from the recipe's code
// and match ^[a-z][a-z0-9_]{0,62}$; values are string, int64, bool or nil.
type Write struct {
	Table   string
	Key     string
	Source  string
	Label   plan.Label
	Run     string
	Columns []Cell
}

// Cell is one column's value.
type Cell struct {
	Name  string
	Value any
}

// Reserved lists the columns that every table has beside the recipe's own.
func Reserved() []string { return plan.ReservedColumns() }

// NewWrite resolves a table.row action's parameters into a write. It is an
// error for a parameter to be missing, for a handle to have no content and
// for a column to bear a reserved name.
func NewWrite(params []plan.Param, r plan.Resolver) (Write, error) {
	var w Write
	for _, p := range params {
		v, ok := p.Value.Resolve(r)
		if !ok {
			return Write{}, fmt.Errorf("table.row: parameter %s: want content behind its handle", p.Name)
		}
		switch {
		case p.Place == plan.Address && p.Name == "table":
			w.Table, _ = v.(string)
		case p.Place == plan.Address && p.Name == "key":
			w.Key, _ = v.(string)
		case p.Place == plan.Content:
			for _, name := range Reserved() {
				if p.Name == name {
					return Write{}, fmt.Errorf("table.row: column %s: want a name other than %v", p.Name, Reserved())
				}
			}
			w.Columns = append(w.Columns, Cell{p.Name, v})
		}
	}
	if w.Table == "" || w.Key == "" {
		return Write{}, fmt.Errorf("table.row: want the addresses table and key")
	}
	return w, nil
}
