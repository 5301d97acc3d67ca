package store

import (
	"database/sql"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"decant.dev/act"
)

// A state directory of an earlier version is opened as it is: its runs and
// receipts are there, and what came later has its place.
func TestADatabaseOfAnEarlierVersionIsOpened(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, schema := range map[string]string{"journal.db": journalSchema, "act.db": ledgerSchema} {
		old, err := sql.Open("sqlite", "file:"+filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		_, err = old.Exec(schema)
		ok(t, err)
		if name == "act.db" {
			_, err = old.Exec(`INSERT INTO receipts (run, idx, kind, params_sha256, state, outcome, label, acting_for, at) VALUES (?, 0, 'table.row', 'aa', 'done', 'stored', 'trigger', '', 1000)`, runOf(1))
		} else {
			_, err = old.Exec(`INSERT INTO runs (run, mode, recipe, state, status, envelope, created, updated) VALUES (?, 'live', 'issues', 'ended', 'done', x'7b7d', 1, 1)`, runOf(1))
		}
		ok(t, err)
		ok(t, old.Close())
	}
	for range 2 { // the second opening finds what the first one added
		l := openLedger(t, dir)
		if got := receipts(t, l, runOf(1)); len(got) != 1 || got[0].State != act.Done || got[0].Attempt != 0 || got[0].Remote != "" {
			t.Errorf("got %+v", got)
		}
		j := openJournal(t, dir, time.Now)
		old, err := j.Before(background, time.Now(), 10)
		if err != nil || len(old) != 1 || !reflect.DeepEqual(old[0].Envelope, []byte("{}")) {
			t.Errorf("got %+v, %v", old, err)
		}
	}
}
