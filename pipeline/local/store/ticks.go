package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// LastTick returns the instant of a schedule that was kept last, and false where
// there is none. Staged and live ticks are kept apart.
func (j *Journal) LastTick(ctx context.Context, mode Mode, recipe, schedule string) (time.Time, bool, error) {
	var at int64
	err := j.sql.QueryRowContext(ctx, `SELECT instant FROM ticks WHERE mode = ? AND recipe = ? AND schedule = ?`, mode, recipe, schedule).Scan(&at)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return time.Time{}, false, nil
	case err != nil:
		return time.Time{}, false, fmt.Errorf("journal: %w", err)
	}
	return time.Unix(at, 0).UTC(), true, nil
}

// KeepTick makes the instant of a schedule durable, in place of an earlier one.
// A later one stays.
func (j *Journal) KeepTick(ctx context.Context, mode Mode, recipe, schedule string, at time.Time) error {
	return j.do(ctx, func(w *writer) error {
		_, err := w.exec(`INSERT INTO ticks (mode, recipe, schedule, instant) VALUES (?, ?, ?, ?)
			ON CONFLICT (mode, recipe, schedule) DO UPDATE SET instant = max(instant, excluded.instant)`, mode, recipe, schedule, at.Unix())
		return err
	})
}
