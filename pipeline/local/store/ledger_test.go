package store

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/act/table"
)

func TestReceiptsComeBackAsTheyWereStored(t *testing.T) {
	t.Parallel()
	l := openLedger(t, t.TempDir())
	var want []act.Receipt
	for i, label := range plan.Labels() {
		r := receipt(runOf(1), "stored")
		r.Index, r.Label, r.Kind = i, label, []plan.Kind{plan.KindTableRow, plan.KindGitHubLabel}[i%2]
		want = append(want, r)
	}
	shuffled := slices.Clone(want)
	slices.Reverse(shuffled)
	if _, stored, err := l.Commit(background, shuffled, nil); err != nil || !stored {
		t.Fatalf("stored %v, %v", stored, err)
	}
	if got := receipts(t, l, runOf(1)); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := receipts(t, l, runOf(2)); len(got) > 0 {
		t.Errorf("another run has %d receipts", len(got))
	}
	if _, stored, err := l.Commit(background, nil, nil); err == nil || stored {
		t.Error("a commit without a receipt is stored")
	}
}

// However many commit the same run at once, one is stored, its row with it,
// and the others are told that one's receipts.
func TestOneOfManyCommitsOfARunIsStored(t *testing.T) {
	t.Parallel()
	l := openLedger(t, t.TempDir())
	const many = 32
	var stored atomic.Int32
	var winner atomic.Value
	told := make([]string, many)
	var together sync.WaitGroup
	for i := range many {
		together.Go(func() {
			name := fmt.Sprintf("committer %d", i)
			w := rowOf(runOf(1), "notes", fmt.Sprintf("key%d", i), "a")
			existing, mine, err := l.Commit(background, []act.Receipt{receipt(runOf(1), name)}, []table.Write{w})
			switch {
			case err != nil:
				t.Error(err)
			case mine:
				stored.Add(1)
				winner.Store(name)
				told[i] = name
			case len(existing) == 1:
				told[i] = existing[0].Outcome
			}
		})
	}
	together.Wait()
	if stored.Load() != 1 {
		t.Fatalf("%d commits were stored, want 1", stored.Load())
	}
	for i, name := range told {
		if name != winner.Load() {
			t.Errorf("committer %d was told %q, want %q", i, name, winner.Load())
		}
	}
	if got := rows(t, l, "notes"); len(got) != 1 {
		t.Errorf("%d rows, want 1", len(got))
	}
}

// Different runs at once are all stored, each in a table and with columns
// that somebody has to make first.
func TestCommitsOfManyRunsAreAllStored(t *testing.T) {
	t.Parallel()
	l := openLedger(t, t.TempDir())
	const many = 96
	var together sync.WaitGroup
	for i := range many {
		together.Go(func() {
			w := rowOf(runOf(i), fmt.Sprintf("t%d", i%3), fmt.Sprintf("key%d", i), fmt.Sprintf("c%d", i%7))
			if _, stored, err := l.Commit(background, []act.Receipt{receipt(runOf(i), "stored")}, []table.Write{w}); err != nil || !stored {
				t.Errorf("run %d: stored %v, %v", i, stored, err)
			}
		})
	}
	together.Wait()
	total := 0
	for i := range 3 {
		for _, r := range rows(t, l, fmt.Sprintf("t%d", i)) {
			var n int
			if _, err := fmt.Sscanf(r.Key, "key%d", &n); err != nil || r.Columns[fmt.Sprintf("c%d", n%7)] != fmt.Sprintf("c%d", n%7) || r.Columns["run"] != runOf(n) {
				t.Errorf("row %s holds %v", r.Key, r.Columns)
			}
			total++
		}
	}
	if total != many {
		t.Errorf("%d rows, want %d", total, many)
	}
}

// A write that fails takes its receipts back with it, and nothing of what
// shared its commit, be it before or after it in the batch.
func TestFailingWriteRollsBackItselfOnly(t *testing.T) {
	t.Parallel()
	for bad := range 5 {
		t.Run(fmt.Sprint("at ", bad), func(t *testing.T) {
			t.Parallel()
			l := openLedger(t, t.TempDir())
			errs := make([]error, 5)
			var together sync.WaitGroup
			batched(t, l.db, func(queued func()) {
				for i := range errs {
					w := rowOf(runOf(i), "notes", fmt.Sprintf("key%d", i), "a")
					if i == bad {
						w.Columns[0].Name = `a"b`
					}
					together.Go(func() {
						_, _, errs[i] = l.Commit(background, []act.Receipt{receipt(runOf(i), "stored")}, []table.Write{rowOf(runOf(i), "log", fmt.Sprint(i)), w})
					})
					queued()
				}
			})
			together.Wait()
			commit(t, l, runOf(99), rowOf(runOf(99), "notes", "last", "a", "new"))
			for i := range errs {
				stored := len(receipts(t, l, runOf(i))) == 1
				if stored == (i == bad) || stored != (errs[i] == nil) {
					t.Errorf("run %d: stored %v, answered %v", i, stored, errs[i])
				}
			}
			if got := rows(t, l, "notes"); len(got) != 5 {
				t.Errorf("%d rows of notes, want 5", len(got))
			}
			if got := rows(t, l, "log"); len(got) != 4 {
				t.Errorf("%d rows of log, want 4", len(got))
			}
		})
	}
}

func TestTableAndColumnsAreMadeAgainAfterARollback(t *testing.T) {
	t.Parallel()
	l := openLedger(t, t.TempDir())
	bad := []table.Write{rowOf(runOf(1), "notes", "k", "a"), rowOf(runOf(1), "notes", "k", "B")}
	if _, stored, err := l.Commit(background, []act.Receipt{receipt(runOf(1), "stored")}, bad); err == nil || stored {
		t.Fatal("a bad column name was taken")
	}
	if got := receipts(t, l, runOf(1)); len(got) > 0 {
		t.Errorf("%d receipts of what was rolled back", len(got))
	}
	if got := rows(t, l, "notes"); got != nil {
		t.Errorf("%d rows in a table that was rolled back", len(got))
	}
	commit(t, l, runOf(1), rowOf(runOf(1), "notes", "k", "a"))
	commit(t, l, runOf(2), rowOf(runOf(2), "notes", "k", "b"))
	got := rows(t, l, "notes")
	if len(got) != 1 || got[0].Columns["a"] != nil || got[0].Columns["b"] != "b" || got[0].Columns["run"] != runOf(2) {
		t.Errorf("want the one row of the later run, with nothing of the earlier one's under its label, got %v", got)
	}
}

func TestReservedAndQuotedNamesAreRefused(t *testing.T) {
	t.Parallel()
	l := openLedger(t, t.TempDir())
	long := strings.Repeat("a", 64)
	for _, name := range []string{
		"", "receipts", "sqlite_master", "sqlite_x", "Notes", "9notes", "_notes", "no tes", "no-tes", "no.tes", `no"tes`, "no'tes", "no;tes", "no\x00tes",
		"nötes", "notes\n", long, `notes"; DROP TABLE receipts; --`,
	} {
		if _, _, err := l.Commit(background, []act.Receipt{receipt(runOf(1), "stored")}, []table.Write{rowOf(runOf(1), name, "k")}); err == nil {
			t.Errorf("table %q was taken", name)
		}
		if _, err := l.Rows(background, name); err == nil && name != "receipts" && !strings.HasPrefix(name, "sqlite_") {
			t.Errorf("table %q was read", name)
		}
		if _, _, err := l.Commit(background, []act.Receipt{receipt(runOf(1), "stored")}, []table.Write{rowOf(runOf(1), "notes", "k", name)}); err == nil {
			t.Errorf("column %q was taken", name)
		}
	}
	for _, name := range table.Reserved() {
		w := rowOf(runOf(1), "notes", "k", name)
		if _, _, err := l.Commit(background, []act.Receipt{receipt(runOf(1), "stored")}, []table.Write{w}); err == nil {
			t.Errorf("the column %s, which every table has, was taken from a recipe: %v", name, rows(t, l, "notes"))
		}
	}
	commit(t, l, runOf(2), rowOf(runOf(2), long[:63], "k", long[:63], "order", "select"))
	if got := receipts(t, l, runOf(2)); len(got) != 1 {
		t.Errorf("%d receipts, want 1", len(got))
	}
}

// Values are data, whatever they hold and whatever kind they are of.
func TestValuesAreStoredAsTheyAre(t *testing.T) {
	t.Parallel()
	l := openLedger(t, t.TempDir())
	values := map[string]any{"text": `'); DROP TABLE receipts; --`, "number": int64(-3), "absent": nil, "odd": "a\x00b\u202e"}
	w := rowOf(runOf(1), "notes", `k'"`)
	for name, v := range values {
		w.Columns = append(w.Columns, table.Cell{Name: name, Value: v})
	}
	commit(t, l, runOf(1), w)
	got := rows(t, l, "notes")
	if len(got) != 1 || got[0].Key != `k'"` {
		t.Fatalf("got %v", got)
	}
	for name, v := range values {
		if got[0].Columns[name] != v {
			t.Errorf("%s: got %q, want %q", name, got[0].Columns[name], v)
		}
	}
	if got := rows(t, l, "nothing"); got != nil {
		t.Errorf("a table that does not exist has %d rows", len(got))
	}
}
