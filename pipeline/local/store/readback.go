package store

import (
	"context"
	"fmt"
	"slices"

	"decant.dev/act"
)

// Tables returns the names of the sinks' tables, sorted.
func (l *Ledger) Tables(ctx context.Context) ([]string, error) {
	rows, err := l.sql.QueryContext(ctx, `SELECT name FROM sqlite_master WHERE type = 'table' AND name <> 'receipts' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	defer rows.Close()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return names, rows.Err()
}

// AllReceipts returns every run's receipts, each run's by index.
func (l *Ledger) AllReceipts(ctx context.Context) (map[string][]act.Receipt, error) {
	rows, err := l.sql.QueryContext(ctx, `SELECT DISTINCT run FROM receipts`)
	if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	defer rows.Close()
	all := map[string][]act.Receipt{}
	for rows.Next() {
		var run string
		if err := rows.Scan(&run); err != nil {
			return nil, fmt.Errorf("ledger: %w", err)
		}
		all[run] = nil
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	for run := range all {
		if all[run], err = l.Receipts(ctx, run); err != nil {
			return nil, err
		}
	}
	return all, nil
}
