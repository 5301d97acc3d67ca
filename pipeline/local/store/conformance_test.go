package store_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"decant.dev/internal/conformance"
	"decant.dev/pipeline/local"
	"decant.dev/pipeline/local/store"
)

func TestBlobsConform(t *testing.T) {
	t.Parallel()
	b, err := store.OpenBlobs(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = b.Close() })
	conformance.TestBlobs(t, b)
}

func TestLedgerConforms(t *testing.T) {
	t.Parallel()
	l, err := store.OpenLedger(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	rows := func(ctx context.Context, name string) ([]conformance.Row, error) {
		found, err := l.Rows(ctx, name)
		var rows []conformance.Row
		for _, f := range found {
			r := conformance.Row{Key: f.Key, Columns: map[string]any{}}
			r.Source, _ = f.Columns["source"].(string)
			r.Label, _ = f.Columns["label"].(string)
			r.Run, _ = f.Columns["run"].(string)
			for name, v := range f.Columns {
				switch name {
				case "key", "source", "label", "run":
				default:
					if v != nil { // a column that another row made
						r.Columns[name] = v
					}
				}
			}
			rows = append(rows, r)
		}
		return rows, err
	}
	conformance.TestLedger(t, conformance.Ledger{Ledger: l, Rows: rows})
}

func TestApprovalsConform(t *testing.T) {
	t.Parallel()
	a, err := store.OpenApprovals(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	conformance.TestApprovals(t, a)
}

func TestGrantsFileConforms(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "grants.json")
	held := map[string]bool{}
	writes := 0
	save := func() error {
		var lines []string
		for g := range held {
			lines = append(lines, g)
		}
		if err := os.WriteFile(path, []byte(`{"schema":"grants.v1","grants":[`+strings.Join(lines, ",")+`]}`), 0o600); err != nil {
			return err
		}
		writes++
		at := time.Date(2026, 11, 30, 12, 0, writes, 0, time.UTC) // each write is seen as a change
		return os.Chtimes(path, at, at)
	}
	entry := func(person, channel string) string { return `{"person":"` + person + `","channel":"` + channel + `"}` }
	conformance.TestAuthorizer(t, conformance.Authorizer{
		Authorizer: local.NewGrants(path),
		Grant:      func(p, c string) error { held[entry(p, c)] = true; return save() },
		Revoke:     func(p, c string) error { delete(held, entry(p, c)); return save() },
	})
}

func TestEditedGrantsFileConforms(t *testing.T) {
	t.Parallel()
	conformance.TestGrants(t, local.NewGrants(local.GrantsPath(t.TempDir())))
}

func TestBudgetsConform(t *testing.T) {
	t.Parallel()
	b, err := store.OpenBudgets(t.TempDir(), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	conformance.TestBudgets(t, b, time.Now().Add(time.Hour))
}
