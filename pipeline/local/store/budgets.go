package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"decant.dev/act"
	"decant.dev/act/plan"
)

// Budgets keeps how much of each budget is used in its window. Act of a live
// engine and of staged ones beside it may write at once.
type Budgets struct {
	*db
	clock func() time.Time
}

const budgetsSchema = `
CREATE TABLE IF NOT EXISTS counters (key TEXT PRIMARY KEY, used INTEGER NOT NULL, until INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS charges (run TEXT NOT NULL, key TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (run, key)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS counters_until ON counters (until);
CREATE INDEX IF NOT EXISTS charges_until ON charges (until);`

var _ act.Budgets = (*Budgets)(nil)

// OpenBudgets opens or makes the budgets in dir. A charge outlives the process
// at once; only a machine that loses power may forget the last ones, which no
// receipt depends on.
func OpenBudgets(dir string, clock func() time.Time) (*Budgets, error) {
	d, err := open(dir, "budgets.db", smallPages, budgetsSchema)
	if err != nil {
		return nil, err
	}
	if _, err := d.w.conn.ExecContext(context.Background(), "PRAGMA synchronous = NORMAL"); err != nil {
		return nil, errors.Join(fmt.Errorf("store: budgets.db: %w", err), d.Close())
	}
	return &Budgets{d, clock}, nil
}

// Charge adds each spend of a run to its counter, or none of them where a
// counter would go over its limit.
func (b *Budgets) Charge(ctx context.Context, run string, spends []plan.Spend) (bool, error) {
	within := true
	err := b.do(ctx, func(w *writer) error {
		within = true
		var fresh []plan.Spend
		for _, s := range spends {
			charged, err := number(w, `SELECT count(*) FROM charges WHERE run = ? AND key = ?`, run, s.Key)
			if err != nil {
				return err
			}
			if charged > 0 {
				continue
			}
			used, err := number(w, `SELECT coalesce(sum(used), 0) FROM counters WHERE key = ?`, s.Key)
			if err != nil {
				return err
			}
			if s.Amount < 1 || s.Amount > s.Limit-used {
				within = false
				return nil
			}
			fresh = append(fresh, s)
		}
		return b.add(w, run, fresh)
	})
	return within && err == nil, err
}

func (b *Budgets) add(w *writer, run string, spends []plan.Spend) error {
	for _, s := range spends {
		if _, err := w.exec(`INSERT INTO counters (key, used, until) VALUES (?, ?, ?) ON CONFLICT (key) DO UPDATE SET used = used + excluded.used`,
			s.Key, s.Amount, s.Until.Unix()); err != nil {
			return err
		}
		if _, err := w.exec(`INSERT INTO charges (run, key, until) VALUES (?, ?, ?)`, run, s.Key, s.Until.Unix()); err != nil {
			return err
		}
	}
	if len(spends) == 0 {
		return nil
	}
	now := b.clock().Unix()
	for _, over := range []string{`DELETE FROM counters WHERE until < ?`, `DELETE FROM charges WHERE until < ?`} {
		if _, err := w.exec(over, now); err != nil {
			return err
		}
	}
	return nil
}

// number is the one number that a query gives.
func number(w *writer, query string, args ...any) (n int64, err error) {
	s, err := w.prepare(query)
	if err != nil {
		return 0, err
	}
	err = s.QueryRow(args...).Scan(&n)
	return n, err
}

// Used returns what a counter holds, 0 where nothing was added to it.
func (b *Budgets) Used(ctx context.Context, key string) (n int64, err error) {
	err = b.sql.QueryRowContext(ctx, `SELECT used FROM counters WHERE key = ?`, key).Scan(&n)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("budgets: %w", err)
	}
	return n, nil
}
