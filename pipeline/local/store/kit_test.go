package store

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/act/table"
	"decant.dev/pipeline"
)

var background = context.Background()

// entries are what this test binary may have been started for beside its
// tests; each reports whether it was.
var entries []func() bool

func TestMain(m *testing.M) {
	for _, entry := range entries {
		if entry() {
			return
		}
	}
	os.Exit(m.Run())
}

func openBlobs(tb testing.TB, dir string) *Blobs {
	tb.Helper()
	b, err := OpenBlobs(dir)
	return opened(tb, b, err)
}

func openLedger(tb testing.TB, dir string) *Ledger {
	tb.Helper()
	l, err := OpenLedger(dir)
	return opened(tb, l, err)
}

func openJournal(tb testing.TB, dir string, clock func() time.Time) *Journal {
	tb.Helper()
	j, err := OpenJournal(dir, clock)
	return opened(tb, j, err)
}

func opened[T interface{ Close() error }](tb testing.TB, s T, err error) T {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

// ok fails the test on an error.
func ok(tb testing.TB, err error) {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
}

// ticking is a clock that is one second later each time.
func ticking() func() time.Time {
	now := time.Date(2026, 9, 2, 9, 0, 0, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// envelope is one of a run of its own for each n.
func envelope(n int) pipeline.Envelope {
	return pipeline.NewEnvelope("notes", strings.Repeat("0", 64), "github", fmt.Appendf(nil, "body %d", n),
		pipeline.Actor{ID: "github:1", Kind: pipeline.Person}, "github:octo-org/sample",
		pipeline.Target{Event: "issues.opened", Repository: "octo-org/sample", Number: int64(n)}, time.Date(2026, 9, 2, 9, 0, 0, 0, time.UTC))
}

func runOf(n int) string { return fmt.Sprintf("%032x", n) }

// receipt is the first of a run. Its outcome tells who committed it.
func receipt(run, outcome string) act.Receipt {
	return act.Receipt{
		Schema: act.ReceiptSchema, Run: run, Kind: plan.KindTableRow, ParamsSHA256: strings.Repeat("a", 64), State: act.Done,
		Outcome: outcome, Label: plan.Unverified, ActingFor: "github:1", At: time.Date(2026, 9, 2, 9, 0, 0, 0, time.UTC),
	}
}

// rowOf is one row with the given columns, each holding its own name.
func rowOf(run, table_, key string, columns ...string) table.Write {
	w := table.Write{Table: table_, Key: key, Source: "github", Label: plan.Unverified, Run: run}
	for _, c := range columns {
		w.Columns = append(w.Columns, table.Cell{Name: c, Value: c})
	}
	return w
}

func commit(tb testing.TB, l *Ledger, run string, writes ...table.Write) {
	tb.Helper()
	if _, stored, err := l.Commit(background, []act.Receipt{receipt(run, "stored")}, writes); err != nil || !stored {
		tb.Fatalf("commit: stored %v, %v", stored, err)
	}
}

func rows(tb testing.TB, l *Ledger, name string) []Row {
	tb.Helper()
	all, err := l.Rows(background, name)
	ok(tb, err)
	return all
}

func receipts(tb testing.TB, l *Ledger, run string) []act.Receipt {
	tb.Helper()
	all, err := l.Receipts(background, run)
	ok(tb, err)
	return all
}
