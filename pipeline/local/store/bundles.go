package store

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
)

// Bundles keeps what fetch gathered for each run, beside the SHA-256 of the
// one token that opens it.
type Bundles struct{ *db }

// OpenBundles opens or makes the bundles in dir.
func OpenBundles(dir string) (*Bundles, error) {
	d, err := open(dir, "bundles.db", largePages, `CREATE TABLE IF NOT EXISTS bundles (run TEXT PRIMARY KEY, token BLOB NOT NULL, value BLOB NOT NULL)`)
	if err != nil {
		return nil, err
	}
	return &Bundles{d}, nil
}

// Put stores a run's bundle and its token's digest, in place of an earlier
// attempt's: the token of that one opens nothing any more.
func (b *Bundles) Put(ctx context.Context, run string, token [sha256.Size]byte, value []byte) error {
	return b.do(ctx, func(w *writer) error {
		_, err := w.exec(`INSERT INTO bundles (run, token, value) VALUES (?, ?, coalesce(?, x''))
			ON CONFLICT (run) DO UPDATE SET token = excluded.token, value = excluded.value`, run, token[:], value)
		return err
	})
}

// Get returns the bundle of a run whose token has the digest, and false where
// there is no such run or its token has another. Digests are compared in
// constant time, and a bundle is read only once they are equal.
func (b *Bundles) Get(ctx context.Context, run string, token [sha256.Size]byte) ([]byte, bool, error) {
	var kept, value []byte
	err := b.sql.QueryRowContext(ctx, `SELECT token FROM bundles WHERE run = ?`, run).Scan(&kept)
	known := err == nil
	if errors.Is(err, sql.ErrNoRows) {
		kept, err = make([]byte, sha256.Size), nil // compared like any other
	}
	if err != nil {
		return nil, false, fmt.Errorf("store: get: %w", err)
	}
	if same := subtle.ConstantTimeCompare(kept, token[:]) == 1; !same || !known {
		return nil, false, nil
	}
	err = b.sql.QueryRowContext(ctx, `SELECT value FROM bundles WHERE run = ? AND token = ?`, run, token[:]).Scan(&value)
	switch {
	case errors.Is(err, sql.ErrNoRows): // another attempt began in between
		return nil, false, nil
	case err != nil:
		return nil, false, fmt.Errorf("store: get: %w", err)
	}
	return value, true, nil
}

// Delete removes a run's bundle, if there is one: also from the file's free
// pages and its log.
func (b *Bundles) Delete(ctx context.Context, run string) error {
	err := b.do(ctx, func(w *writer) error {
		_, err := w.exec(`DELETE FROM bundles WHERE run = ?`, run)
		return err
	})
	if err != nil {
		return err
	}
	return b.vacuumed(ctx)
}
