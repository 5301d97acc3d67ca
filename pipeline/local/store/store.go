// Package store keeps what one machine must not lose, in SQLite databases
// that are separate directories so that each phase can be given its own:
// raw bodies, prompt objects, the journal, and act's ledger with its tables.
//
// Every write returns only after it is durable. Writes that arrive together
// share one commit, and so one fsync.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"modernc.org/sqlite" // the driver "sqlite", without cgo
)

// maxBatch bounds how many writes share one commit.
const maxBatch = 256

// linger is how long a write waits for others to share its commit with, when
// the one before it was shared. A write on its own never waits.
const linger = 4 * time.Millisecond

// errClosed is returned for a write after Close.
var errClosed = errors.New("store is closed")

// db is one database with a single writer that commits in groups.
type db struct {
	sql    *sql.DB
	w      *writer
	writes chan write
	stop   chan struct{}
	idle   sync.WaitGroup
	once   sync.Once
}

type write struct {
	apply func(*writer) error
	done  chan error
}

// writer is the one connection that writes, with its prepared statements.
type writer struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
	undone     func() // called after a rollback, where set
}

func (w *writer) prepare(query string) (*sql.Stmt, error) {
	if s, ok := w.statements[query]; ok {
		return s, nil
	}
	s, err := w.conn.PrepareContext(context.Background(), query)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	w.statements[query] = s
	return s, nil
}

// exec runs a statement of the transaction under way. The query is one of the
// code's own, of which there are few: each is prepared once and kept.
func (w *writer) exec(query string, args ...any) (sql.Result, error) {
	s, err := w.prepare(query)
	if err != nil {
		return nil, err
	}
	return s.Exec(args...)
}

func (w *writer) query(query string, args ...any) (*sql.Rows, error) {
	s, err := w.prepare(query)
	if err != nil {
		return nil, err
	}
	return s.Query(args...)
}

// refusedWrite is an error of one write, and not of the transaction around it.
type refusedWrite struct{ error }

func (e refusedWrite) Unwrap() error { return e.error }

// transact makes a batch durable in one transaction, or none of it. The error
// is a refusedWrite where one of them would not apply.
func (w *writer) transact(batch []write) error {
	if _, err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for _, one := range batch {
		if err := one.apply(w); err != nil {
			return refusedWrite{errors.Join(err, w.rollback())}
		}
	}
	if _, err := w.exec("COMMIT"); err != nil {
		_ = w.rollback() // fails where the commit has ended the transaction
		return err
	}
	return nil
}

func (w *writer) rollback() error {
	_, err := w.exec("ROLLBACK")
	if w.undone != nil {
		w.undone()
	}
	return err
}

// Sizes of a page, in bytes: of small rows, and of values that fill several.
const (
	smallPages = 4 << 10
	largePages = 16 << 10
)

// open opens or makes the database dir/name and applies its schema, and then
// each statement of what came later: a column that a database of an earlier
// version lacks, an index on it. dir is made with mode 0700.
func open(dir, name string, pageSize int, schema string, later ...string) (*db, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	dsn := "file:" + (&url.URL{Path: filepath.Join(dir, name)}).EscapedPath() +
		fmt.Sprintf("?_pragma=page_size(%d)", pageSize) + "&_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=cache_size(-2048)&_pragma=secure_delete(1)"
	s, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("store: open %s: %w", name, err)
	}
	s.SetMaxOpenConns(2) // the writer and one reader
	if err := prepared(s, schema); err != nil {
		return nil, errors.Join(fmt.Errorf("store: %s: %w", name, err), s.Close())
	}
	for _, statement := range later {
		if err := prepared(s, statement); err != nil && !strings.Contains(err.Error(), "duplicate column name") {
			return nil, errors.Join(fmt.Errorf("store: %s: %w", name, err), s.Close())
		}
	}
	conn, err := s.Conn(context.Background())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("store: %s: %w", name, err), s.Close())
	}
	d := &db{sql: s, w: &writer{conn: conn, statements: map[string]*sql.Stmt{}}, writes: make(chan write, maxBatch), stop: make(chan struct{})}
	d.idle.Add(1)
	go d.run()
	return d, nil
}

// lastOpenWait ends the waits of prepared, each twice the one before, after
// four seconds in all.
const lastOpenWait = 2 * time.Second

// prepared makes the first connection and applies the schema. Two processes
// may make one database at once, and the busy timeout does not cover the
// change of its journal to WAL: whoever comes second tries again.
func prepared(s *sql.DB, schema string) error {
	for wait := time.Millisecond; ; wait *= 2 {
		_, err := s.Exec(schema)
		var busy *sqlite.Error
		if !errors.As(err, &busy) || busy.Code()&0xff != sqliteBusy || wait > lastOpenWait {
			return err
		}
		time.Sleep(wait)
	}
}

// sqliteBusy is the primary result code SQLITE_BUSY (sqlite.org/rescode.html).
const sqliteBusy = 5

// do queues one write and waits until it is durable, or until ctx ends: then
// it may be made or not. apply may run more than once; only its last run is
// committed.
func (d *db) do(ctx context.Context, apply func(*writer) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	w := write{apply, make(chan error, 1)}
	select {
	case d.writes <- w:
	case <-d.stop:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-w.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-d.stop:
		d.idle.Wait()
		select {
		case err := <-w.done:
			return err
		default:
			return errClosed
		}
	}
}

func (d *db) run() {
	defer d.idle.Done()
	batch := make([]write, 0, maxBatch)
	for {
		together := len(batch) > 1 // the last commit was shared, so more writes are on their way
		select {
		case w := <-d.writes:
			batch = append(batch[:0], w)
		case <-d.stop:
			return
		}
		if together {
			time.Sleep(linger)
		}
	gather:
		for len(batch) < maxBatch {
			select {
			case w := <-d.writes:
				batch = append(batch, w)
			default:
				break gather
			}
		}
		d.commit(batch)
	}
}

// commit makes a batch durable at once. If one of its writes would not apply,
// each is tried alone, so that it takes no other with it; what keeps the whole
// transaction from being made would keep each of them.
func (d *db) commit(batch []write) {
	err := d.w.transact(batch)
	alone := len(batch) > 1 && errors.As(err, &refusedWrite{})
	for _, w := range batch {
		if alone {
			w.done <- d.w.transact([]write{w})
			continue
		}
		w.done <- err
	}
}

// vacuumed empties the log of what was written, which still holds what was
// deleted from the database itself. Readers that are at it may keep a part.
func (d *db) vacuumed(ctx context.Context) error {
	_, err := d.sql.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	if err != nil {
		return fmt.Errorf("store: %w", err)
	}
	return nil
}

// Close waits for the commit under way and closes the database. Writes that
// wait are answered with an error.
func (d *db) Close() error {
	var err error
	d.once.Do(func() {
		close(d.stop)
		d.idle.Wait()
		for _, s := range d.w.statements {
			err = errors.Join(err, s.Close())
		}
		err = errors.Join(err, d.w.conn.Close(), d.sql.Close())
	})
	return err
}
