package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Blobs keeps one value for each run: its raw body, or its prompt object.
type Blobs struct{ *db }

// OpenBlobs opens or makes the blobs in dir.
func OpenBlobs(dir string) (*Blobs, error) {
	// A table with rowids takes large values at its end, whatever their keys.
	d, err := open(dir, "blobs.db", largePages, `CREATE TABLE IF NOT EXISTS blobs (run TEXT PRIMARY KEY, value BLOB NOT NULL)`)
	if err != nil {
		return nil, err
	}
	return &Blobs{d}, nil
}

// Put stores a run's value, in place of an earlier one.
func (b *Blobs) Put(ctx context.Context, run string, value []byte) error {
	return b.do(ctx, func(w *writer) error {
		_, err := w.exec(`INSERT INTO blobs (run, value) VALUES (?, coalesce(?, x'')) ON CONFLICT (run) DO UPDATE SET value = excluded.value`, run, value)
		return err
	})
}

// PutOnce stores a run's value unless there is one.
func (b *Blobs) PutOnce(ctx context.Context, run string, value []byte) error {
	return b.do(ctx, func(w *writer) error {
		_, err := w.exec(`INSERT INTO blobs (run, value) VALUES (?, coalesce(?, x'')) ON CONFLICT (run) DO NOTHING`, run, value)
		return err
	})
}

// Get returns a run's value, and false where there is none.
func (b *Blobs) Get(ctx context.Context, run string) ([]byte, bool, error) {
	var value []byte
	err := b.sql.QueryRowContext(ctx, `SELECT value FROM blobs WHERE run = ?`, run).Scan(&value)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("store: get: %w", err)
	}
	return value, true, nil
}

// Delete removes a run's value, if there is one: also from the file's free
// pages and its log.
func (b *Blobs) Delete(ctx context.Context, run string) error {
	err := b.do(ctx, func(w *writer) error {
		_, err := w.exec(`DELETE FROM blobs WHERE run = ?`, run)
		return err
	})
	if err != nil {
		return err
	}
	return b.vacuumed(ctx)
}

// Count returns the number of values.
func (b *Blobs) Count(ctx context.Context) (int, error) {
	var n int
	err := b.sql.QueryRowContext(ctx, `SELECT count(*) FROM blobs`).Scan(&n)
	return n, err
}
