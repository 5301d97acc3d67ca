package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"decant.dev/pipeline/approval"
)

// Approvals keeps what persons were asked and what they answered. Act asks
// and whoever records an answer writes; each is a process of its own.
type Approvals struct{ *db }

const approvalsSchema = `CREATE TABLE IF NOT EXISTS approvals (run TEXT PRIMARY KEY, version INTEGER NOT NULL, record BLOB NOT NULL) WITHOUT ROWID;`

var _ approval.Store = (*Approvals)(nil)

// OpenApprovals opens or makes the approvals in dir.
func OpenApprovals(dir string) (*Approvals, error) {
	d, err := open(dir, "approvals.db", smallPages, approvalsSchema)
	if err != nil {
		return nil, err
	}
	return &Approvals{d}, nil
}

// Get returns a run's record, and false where there is none.
func (a *Approvals) Get(ctx context.Context, run string) (approval.Record, bool, error) {
	var version int64
	var b []byte
	err := a.sql.QueryRowContext(ctx, `SELECT version, record FROM approvals WHERE run = ?`, run).Scan(&version, &b)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return approval.Record{}, false, nil
	case err != nil:
		return approval.Record{}, false, fmt.Errorf("approvals: %w", err)
	}
	r, err := approval.Decode(b, version)
	return r, err == nil, err
}

// Put stores a record where its version is the stored one's.
func (a *Approvals) Put(ctx context.Context, r approval.Record) (bool, error) {
	b, err := r.Encode()
	if err != nil {
		return false, err
	}
	var changed int64
	err = a.do(ctx, func(w *writer) error {
		var res sql.Result
		var err error
		if r.Version == 0 {
			res, err = w.exec(`INSERT INTO approvals (run, version, record) VALUES (?, 1, ?) ON CONFLICT (run) DO NOTHING`, r.Run, b)
		} else {
			res, err = w.exec(`UPDATE approvals SET version = version + 1, record = ? WHERE run = ? AND version = ?`, b, r.Run, r.Version)
		}
		if err != nil {
			return err
		}
		changed, err = res.RowsAffected()
		return err
	})
	return err == nil && changed == 1, err
}
