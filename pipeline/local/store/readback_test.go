package store

import (
	"slices"
	"testing"

	"decant.dev/act"
	"decant.dev/act/table"
)

// What was written is found without knowing what was to be: every table, and
// every run's receipts.
func TestAllThatWasWrittenIsFound(t *testing.T) {
	t.Parallel()
	l := openLedger(t, t.TempDir())
	if names, err := l.Tables(background); err != nil || len(names) != 0 {
		t.Errorf("a new ledger has the tables %v, %v", names, err)
	}
	if all, err := l.AllReceipts(background); err != nil || len(all) != 0 {
		t.Errorf("a new ledger has receipts of %d runs, %v", len(all), err)
	}
	for i, name := range []string{"notes", "sqlites", "a_b"} {
		second := receipt(runOf(i), "second")
		second.Index = 1
		if _, stored, err := l.Commit(background, []act.Receipt{receipt(runOf(i), "first"), second}, []table.Write{rowOf(runOf(i), name, "key", "a")}); err != nil || !stored {
			t.Fatalf("stored %t, %v", stored, err)
		}
	}
	names, err := l.Tables(background)
	if err != nil || !slices.Equal(names, []string{"a_b", "notes", "sqlites"}) {
		t.Errorf("tables %v, %v", names, err)
	}
	all, err := l.AllReceipts(background)
	if err != nil || len(all) != 3 {
		t.Fatalf("receipts of %d runs, %v", len(all), err)
	}
	for run, receipts := range all {
		if len(receipts) != 2 || receipts[0].Run != run || receipts[1].Index != 1 {
			t.Errorf("run %s has the receipts %+v", run, receipts)
		}
	}
}
