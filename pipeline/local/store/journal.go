package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"decant.dev/pipeline"
)

// Mode says whether a run may write.
type Mode string

// The modes of a run. A staged and a live run of one event have one id and
// are kept apart.
const (
	StagedMode Mode = "staged"
	LiveMode   Mode = "live"
)

// State is how far a run has come.
type State string

// The states of a run, in order.
const (
	Received  State = "received"  // the body is durable
	Extracted State = "extracted" // the structure is in the journal
	Ended     State = "ended"     // the result is in the journal
)

// Entry is one run as the journal has it. Envelope, Structure, Trace and
// Actions are JSON; Structure and Actions hold the texts that the structure
// carries by its shape, and no other foreign text.
type Entry struct {
	Run       string
	Mode      Mode
	Recipe    string
	State     State
	Status    pipeline.Status
	Code      pipeline.Code
	Label     string
	Envelope  []byte
	Structure []byte
	Trace     []byte
	Actions   []byte
	Created   time.Time
	Updated   time.Time
}

// Journal keeps the runs.
type Journal struct {
	*db
	clock func() time.Time
}

const journalSchema = `
CREATE TABLE IF NOT EXISTS runs (
	run TEXT NOT NULL, mode TEXT NOT NULL, recipe TEXT NOT NULL, state TEXT NOT NULL,
	status TEXT NOT NULL DEFAULT '', code TEXT NOT NULL DEFAULT '', label TEXT NOT NULL DEFAULT '',
	envelope BLOB NOT NULL, structure BLOB, trace BLOB, actions BLOB,
	created INTEGER NOT NULL, updated INTEGER NOT NULL,
	PRIMARY KEY (run, mode));
CREATE INDEX IF NOT EXISTS runs_open ON runs (run) WHERE mode = 'live' AND state <> 'ended';
CREATE INDEX IF NOT EXISTS runs_unsettled ON runs (updated) WHERE mode = 'live' AND status = 'failed';
CREATE INDEX IF NOT EXISTS runs_waiting ON runs (run) WHERE mode = 'live' AND status = 'waiting';`

// journalLater is what journals did not have from the beginning.
var journalLater = []string{
	`ALTER TABLE runs ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0`,
	`CREATE INDEX IF NOT EXISTS runs_kept ON runs (updated) WHERE forgotten = 0`,
	`CREATE TABLE IF NOT EXISTS ticks (mode TEXT NOT NULL, recipe TEXT NOT NULL, schedule TEXT NOT NULL, instant INTEGER NOT NULL, PRIMARY KEY (mode, recipe, schedule))`,
	`CREATE INDEX IF NOT EXISTS runs_missed ON runs (recipe, mode, created) WHERE ` + missed,
}

// missed is a run that may pass if it is tried again: the condition of an index,
// and so a text and no arguments.
var missed = func() string {
	var words []string
	for _, c := range pipeline.Codes() {
		if c.MayPass() {
			words = append(words, "'"+string(c)+"'")
		}
	}
	slices.Sort(words)
	return "code IN (" + strings.Join(words, ", ") + ")"
}()

const entryColumns = `run, mode, recipe, state, status, code, label, envelope, structure, trace, actions, created, updated`

// OpenJournal opens or makes the journal in dir.
func OpenJournal(dir string, clock func() time.Time) (*Journal, error) {
	d, err := open(dir, "journal.db", smallPages, journalSchema, journalLater...)
	if err != nil {
		return nil, err
	}
	return &Journal{d, clock}, nil
}

// Begin records a run as received and clears what an earlier attempt of the
// same mode left.
func (j *Journal) Begin(ctx context.Context, mode Mode, env pipeline.Envelope) error {
	b, err := env.Encode()
	if err != nil {
		return err
	}
	now := j.clock().UnixMilli()
	return j.do(ctx, func(w *writer) error {
		_, err := w.exec(`INSERT INTO runs (run, mode, recipe, state, envelope, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?)
			ON CONFLICT (run, mode) DO UPDATE SET state = excluded.state, status = '', code = '', label = '',
			envelope = excluded.envelope, structure = NULL, trace = NULL, actions = NULL, forgotten = 0, updated = excluded.updated`,
			env.Run, mode, env.Recipe, Received, b, now, now)
		return err
	})
}

// Extracted records the structure with its trace, and the label under which
// it was extracted.
func (j *Journal) Extracted(ctx context.Context, run string, mode Mode, label string, structure, trace []byte) error {
	return j.update(ctx, run, mode, `state = ?, label = ?, structure = ?, trace = ?`, Extracted, label, structure, trace)
}

// End is how a run ended. Without a Trace, the one that was recorded stays.
type End struct {
	Status  pipeline.Status
	Code    pipeline.Code
	Label   string
	Actions []byte
	Trace   []byte
}

// Ended records how the run ended.
func (j *Journal) Ended(ctx context.Context, run string, mode Mode, end End) error {
	return j.update(ctx, run, mode, `state = ?, status = ?, code = ?, label = ?, actions = ?, trace = coalesce(?, trace)`,
		Ended, end.Status, end.Code, end.Label, end.Actions, end.Trace)
}

func (j *Journal) update(ctx context.Context, run string, mode Mode, set string, args ...any) error {
	now := j.clock().UnixMilli()
	args = append(args, now, run, mode)
	return j.do(ctx, func(w *writer) error {
		res, err := w.exec(`UPDATE runs SET `+set+`, updated = ? WHERE run = ? AND mode = ?`, args...)
		if err != nil {
			return err
		}
		if n, err := res.RowsAffected(); err != nil || n != 1 {
			return errors.Join(fmt.Errorf("journal: run %.32s: want one entry to update, found %d", run, n), err)
		}
		return nil
	})
}

// Get returns one run, and false where there is none.
func (j *Journal) Get(ctx context.Context, run string, mode Mode) (Entry, bool, error) {
	entries, err := j.query(ctx, `WHERE run = ? AND mode = ?`, run, mode)
	if err != nil || len(entries) == 0 {
		return Entry{}, false, err
	}
	return entries[0], true, nil
}

// Find returns the runs whose id begins with prefix, live before staged, at
// most 16.
func (j *Journal) Find(ctx context.Context, prefix string) ([]Entry, error) {
	return j.query(ctx, `WHERE substr(run, 1, ?) = ? ORDER BY run, mode LIMIT 16`, len(prefix), prefix)
}

// List returns the runs that were begun last first, at most limit, of one status or, where
// status is empty, of all.
func (j *Journal) List(ctx context.Context, status pipeline.Status, limit int) ([]Entry, error) {
	if status == "" {
		return j.query(ctx, `ORDER BY rowid DESC LIMIT ?`, limit)
	}
	return j.query(ctx, `WHERE status = ? ORDER BY rowid DESC LIMIT ?`, status, limit)
}

// Unfinished returns the live runs that have not ended, oldest first.
func (j *Journal) Unfinished(ctx context.Context) ([]Entry, error) {
	return j.query(ctx, `WHERE mode = 'live' AND state <> 'ended' ORDER BY rowid`)
}

// Waiting returns the live runs that wait for a person, oldest first.
func (j *Journal) Waiting(ctx context.Context) ([]Entry, error) {
	return j.query(ctx, `WHERE mode = 'live' AND status = 'waiting' ORDER BY rowid`)
}

// Unsettled returns the live runs that ended with an action still to be sent,
// or to be looked for, and whose last attempt was made between two instants;
// oldest first.
func (j *Journal) Unsettled(ctx context.Context, from, to time.Time) ([]Entry, error) {
	return j.query(ctx, `WHERE mode = 'live' AND state = 'ended' AND code IN (?, ?, ?) AND updated BETWEEN ? AND ? ORDER BY rowid`,
		pipeline.SinkUnavailable, pipeline.InFlight, pipeline.OutcomeUnknown, from.UnixMilli(), to.UnixMilli())
}

// Missed returns the runs of a recipe that were begun since an instant, ended
// with a code that may pass, and were left alone since for as long as they had
// been tried before, so that the tries grow rare; at most limit, oldest first.
func (j *Journal) Missed(ctx context.Context, recipe string, mode Mode, since time.Time, limit int) ([]Entry, error) {
	return j.query(ctx, `WHERE recipe = ? AND mode = ? AND created >= ? AND `+missed+` AND ? - updated >= updated - created ORDER BY created LIMIT ?`,
		recipe, mode, since.UnixMilli(), j.clock().UnixMilli(), limit)
}

// Before returns the runs that were last changed before an instant and of which
// something besides the receipts is kept, at most limit, oldest first.
func (j *Journal) Before(ctx context.Context, at time.Time, limit int) ([]Entry, error) {
	return j.query(ctx, `WHERE state = 'ended' AND status <> 'waiting' AND updated < ? AND forgotten = 0 ORDER BY updated LIMIT ?`, at.UnixMilli(), limit)
}

// Forget takes out of a run's entry what a stranger may have written: its
// structure and the parameters of its actions. How it ended stays.
func (j *Journal) Forget(ctx context.Context, run string, mode Mode) error {
	if err := j.update(ctx, run, mode, `structure = NULL, trace = NULL, actions = '[]', forgotten = 1`); err != nil {
		return err
	}
	return j.vacuumed(ctx)
}

func (j *Journal) query(ctx context.Context, where string, args ...any) ([]Entry, error) {
	rows, err := j.sql.QueryContext(ctx, `SELECT `+entryColumns+` FROM runs `+where, args...)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	defer rows.Close()
	var entries []Entry
	for rows.Next() {
		var e Entry
		var created, updated int64
		if err := rows.Scan(&e.Run, &e.Mode, &e.Recipe, &e.State, &e.Status, &e.Code, &e.Label,
			&e.Envelope, &e.Structure, &e.Trace, &e.Actions, &created, &updated); err != nil {
			return nil, fmt.Errorf("journal: %w", err)
		}
		e.Created, e.Updated = time.UnixMilli(created).UTC(), time.UnixMilli(updated).UTC()
		entries = append(entries, e)
	}
	return entries, rows.Err()
}
