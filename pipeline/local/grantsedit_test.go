package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"decant.dev/pipeline"
)

var annsGrant = pipeline.Grant{Person: "github:1", Channel: "github:octo-org/sample"}

// Whoever reads the file while it is changed reads a whole one: ann holds
// trigger throughout.
func TestReadersSeeWholeFiles(t *testing.T) {
	t.Parallel()
	g := NewGrants(GrantsPath(t.TempDir()))
	if changed, err := g.Add(t.Context(), annsGrant); !changed || err != nil {
		t.Fatalf("%t, %v", changed, err)
	}
	over := make(chan struct{})
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
				}
				if held, err := g.HoldsTrigger(context.Background(), annsGrant.Person, annsGrant.Channel); !held || err != nil {
					t.Errorf("%t, %v", held, err)
					return
				}
			}
		})
	}
	for i := range 50 {
		if _, err := g.Add(t.Context(), pipeline.Grant{Person: fmt.Sprintf("github:%d", i+2), Channel: annsGrant.Channel}); err != nil {
			t.Error(err)
		}
	}
	close(over)
	readers.Wait()
}

// A file that is malformed is not written over, and nothing is left beside
// what was there.
func TestNoEditWritesOverWhatItCannotRead(t *testing.T) {
	t.Parallel()
	g, path := grantsAt(t, `{"schema":"grants.v1","grants":[{"person":"zz9"}`)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for what, edit := range map[string]func(context.Context, pipeline.Grant) (bool, error){"add": g.Add, "remove": g.Remove} {
		if changed, err := edit(t.Context(), annsGrant); changed || err == nil || strings.Contains(err.Error(), "zz9") {
			t.Errorf("%s: %t, %v", what, changed, err)
		}
	}
	if all, err := g.List(t.Context()); all != nil || err == nil {
		t.Errorf("list: %v, %v", all, err)
	}
	if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed: %s, %v", after, err)
	}
	left, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*.next"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind %v, %v", left, err)
	}
}

// An edit that changes nothing writes nothing, and what is written is the
// owner's to read alone.
func TestUnchangedIsUnwritten(t *testing.T) {
	t.Parallel()
	g := NewGrants(GrantsPath(t.TempDir()))
	if changed, err := g.Remove(t.Context(), annsGrant); changed || err != nil {
		t.Errorf("%t, %v", changed, err)
	}
	if _, err := os.Stat(g.path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file was made: %v", err)
	}
	if _, err := g.Add(t.Context(), annsGrant); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(g.path)
	if err != nil {
		t.Fatal(err)
	}
	if changed, err := g.Add(t.Context(), annsGrant); changed || err != nil {
		t.Errorf("%t, %v", changed, err)
	}
	after, err := os.Stat(g.path)
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("the file was written anew, %v", err)
	}
	if after.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", after.Mode())
	}
}
