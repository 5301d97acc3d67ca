package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/act/table"
)

// Ledger keeps act's receipts, and beside them the tables of the table sink.
type Ledger struct {
	*db
	known map[string]bool // tables and columns that exist; used by the writer only
}

const ledgerSchema = `
CREATE TABLE IF NOT EXISTS receipts (
	run TEXT NOT NULL, idx INTEGER NOT NULL, kind TEXT NOT NULL, params_sha256 TEXT NOT NULL,
	state TEXT NOT NULL, outcome TEXT NOT NULL, label TEXT NOT NULL, acting_for TEXT NOT NULL, at INTEGER NOT NULL,
	PRIMARY KEY (run, idx)) WITHOUT ROWID;`

// ledgerLater is what ledgers did not have from the beginning.
var ledgerLater = []string{
	`ALTER TABLE receipts ADD COLUMN attempt INTEGER NOT NULL DEFAULT 0`,
	`ALTER TABLE receipts ADD COLUMN remote TEXT NOT NULL DEFAULT ''`,
}

const selectReceipts = `SELECT idx, kind, params_sha256, state, attempt, outcome, remote, label, acting_for, at FROM receipts WHERE run = ? ORDER BY idx`

// OpenLedger opens or makes the ledger in dir.
func OpenLedger(dir string) (*Ledger, error) {
	d, err := open(dir, "act.db", smallPages, ledgerSchema, ledgerLater...)
	if err != nil {
		return nil, err
	}
	l := &Ledger{db: d, known: map[string]bool{}}
	d.w.undone = func() { clear(l.known) } // what a rolled back transaction made is no more
	return l, nil
}

// Receipts returns the receipts of a run, by index.
func (l *Ledger) Receipts(ctx context.Context, run string) ([]act.Receipt, error) {
	rows, err := l.sql.QueryContext(ctx, selectReceipts, run)
	return scanReceipts(run, rows, err)
}

func scanReceipts(run string, rows *sql.Rows, err error) ([]act.Receipt, error) {
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	defer rows.Close()
	var receipts []act.Receipt
	for rows.Next() {
		r := act.Receipt{Schema: act.ReceiptSchema, Run: run}
		var label string
		var at int64
		if err := rows.Scan(&r.Index, &r.Kind, &r.ParamsSHA256, &r.State, &r.Attempt, &r.Outcome, &r.Remote, &label, &r.ActingFor, &at); err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		if err := r.Label.UnmarshalText([]byte(label)); err != nil {
			return nil, fmt.Errorf("ledger: receipt: %w", err)
		}
		r.At = time.UnixMilli(at).UTC()
		receipts = append(receipts, r)
	}
	return receipts, rows.Err()
}

// Commit stores receipts and performs writes in one transaction, unless the
// run has receipts already.
func (l *Ledger) Commit(ctx context.Context, receipts []act.Receipt, writes []table.Write) ([]act.Receipt, bool, error) {
	if len(receipts) == 0 {
		return nil, false, errors.New("ledger: want at least one receipt")
	}
	run := receipts[0].Run
	var existing []act.Receipt
	err := l.do(ctx, func(w *writer) error {
		rows, err := w.query(selectReceipts, run)
		if existing, err = scanReceipts(run, rows, err); err != nil || len(existing) > 0 {
			return err
		}
		for _, r := range receipts {
			if _, err := w.exec(`INSERT INTO receipts (run, idx, kind, params_sha256, state, attempt, outcome, remote, label, acting_for, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
				run, r.Index, r.Kind, r.ParamsSHA256, r.State, r.Attempt, r.Outcome, r.Remote, r.Label.String(), r.ActingFor, r.At.UnixMilli()); err != nil {
				return err
			}
		}
		for _, row := range writes {
			if err := l.row(w, row); err != nil {
				return err
			}
		}
		return nil
	})
	return existing, err == nil && len(existing) == 0, err
}

// Advance puts to in from's place, where the stored receipt has from's state
// and attempt.
func (l *Ledger) Advance(ctx context.Context, from, to act.Receipt) (bool, error) {
	var changed int64
	err := l.do(ctx, func(w *writer) error {
		res, err := w.exec(`UPDATE receipts SET state = ?, attempt = ?, outcome = ?, remote = ?, at = ? WHERE run = ? AND idx = ? AND state = ? AND attempt = ?`,
			to.State, to.Attempt, to.Outcome, to.Remote, to.At.UnixMilli(), from.Run, from.Index, from.State, from.Attempt)
		if err != nil {
			return err
		}
		changed, err = res.RowsAffected()
		return err
	})
	return err == nil && changed == 1, err
}

// row inserts or replaces one row, making the table and its columns first
// where they do not exist. Names are checked here again: nothing else stands
// between a recipe's constant and the statement.
func (l *Ledger) row(w *writer, row table.Write) error {
	names := table.Reserved()
	values := []any{row.Key, row.Source, row.Label.String(), row.Run}
	for _, c := range row.Columns {
		if slices.Contains(table.Reserved(), c.Name) {
			return fmt.Errorf("ledger: column %s: want a name other than %v", c.Name, table.Reserved())
		}
		names = append(names, c.Name)
		values = append(values, c.Value)
	}
	for _, n := range append([]string{row.Table}, names...) {
		if !plan.IsName(n) || n == "receipts" || strings.HasPrefix(n, "sqlite_") {
			return fmt.Errorf("ledger: name %.64q of a table or column: want %s and not a reserved one", n, plan.NameForm)
		}
	}
	if err := l.ensure(w, row.Table, names); err != nil {
		return err
	}
	_, err := w.exec(fmt.Sprintf(`INSERT OR REPLACE INTO "%s" ("%s") VALUES (%s)`,
		row.Table, strings.Join(names, `", "`), strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ")), values...)
	return err
}

func (l *Ledger) ensure(w *writer, name string, columns []string) error {
	missing := false
	for _, c := range columns {
		missing = missing || !l.known[name+"."+c]
	}
	if !missing {
		return nil
	}
	if _, err := w.exec(fmt.Sprintf(`CREATE TABLE IF NOT EXISTS "%s" ("key" TEXT PRIMARY KEY, "source" TEXT NOT NULL, "label" TEXT NOT NULL, "run" TEXT NOT NULL)`, name)); err != nil {
		return err
	}
	rows, err := w.query(`SELECT name FROM pragma_table_info(?)`, name)
	if err != nil {
		return err
	}
	have := map[string]bool{}
	for rows.Next() {
		var c string
		if err := rows.Scan(&c); err != nil {
			return errors.Join(err, rows.Close())
		}
		have[c] = true
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	for _, c := range columns {
		if !have[c] {
			if _, err := w.exec(fmt.Sprintf(`ALTER TABLE "%s" ADD COLUMN "%s"`, name, c)); err != nil {
				return err
			}
		}
		l.known[name+"."+c] = true
	}
	return nil
}

// Row is one row of a sink's table, for people and tests.
type Row struct {
	Key     string
	Columns map[string]any
}

// Rows returns the rows of a table, by key. A table that does not exist has
// none.
func (l *Ledger) Rows(ctx context.Context, name string) ([]Row, error) {
	if !plan.IsName(name) {
		return nil, fmt.Errorf("ledger: table %.64q: want %s", name, plan.NameForm)
	}
	var n int
	if err := l.sql.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = ?`, name).Scan(&n); err != nil || n == 0 {
		return nil, err
	}
	rows, err := l.sql.QueryContext(ctx, fmt.Sprintf(`SELECT * FROM "%s" ORDER BY key`, name))
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	var out []Row
	for rows.Next() {
		values := make([]any, len(columns))
		into := make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		r := Row{Columns: make(map[string]any, len(columns))}
		for i, c := range columns {
			r.Columns[c] = values[i]
		}
		r.Key, _ = r.Columns["key"].(string)
		out = append(out, r)
	}
	return out, rows.Err()
}

var _ act.Ledger = (*Ledger)(nil)
