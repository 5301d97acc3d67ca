package local

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

const grantsOfAnn = `{"schema":"grants.v1","grants":[{"person":"github:1","channel":"github:octo-org/sample"}]}`

func grantsAt(tb testing.TB, content string) (*Grants, string) {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "grants.json")
	writeGrants(tb, path, content)
	return NewGrants(path), path
}

func writeGrants(tb testing.TB, path, content string) {
	tb.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		tb.Fatal(err)
	}
}

func holds(tb testing.TB, g *Grants, person string) bool {
	tb.Helper()
	held, err := g.HoldsTrigger(context.Background(), person, "github:octo-org/sample")
	if err != nil {
		tb.Fatal(err)
	}
	return held
}

func TestGrantIsOfOnePersonOnOneChannel(t *testing.T) {
	t.Parallel()
	g, _ := grantsAt(t, grantsOfAnn)
	for _, c := range []struct {
		person, channel string
		want            bool
	}{
		{"github:1", "github:octo-org/sample", true},
		{"github:11", "github:octo-org/sample", false},
		{"github:1", "github:octo-org/sample2", false},
		{"github:1", "github:octo-org", false},
		{"GITHUB:1", "github:octo-org/sample", false},
		{"github:octo-org/sample", "github:1", false},
		{"", "", false},
	} {
		if held, err := g.HoldsTrigger(context.Background(), c.person, c.channel); err != nil || held != c.want {
			t.Errorf("%q on %q: %v, %v", c.person, c.channel, held, err)
		}
	}
}

func TestMissingFileGrantsNothing(t *testing.T) {
	t.Parallel()
	g, path := grantsAt(t, grantsOfAnn)
	if !holds(t, g, "github:1") {
		t.Fatal("want a grant")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if holds(t, g, "github:1") {
		t.Error("a grant outlives its file")
	}
	writeGrants(t, path, grantsOfAnn)
	if !holds(t, g, "github:1") {
		t.Error("a file that came back grants nothing")
	}
}

// What is not exactly a grants file is an error at each question, and so
// grants nothing, whatever it granted before. The error repeats none of it.
func TestMalformedFileIsAnErrorEachTime(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{
		"empty":             ``,
		"no json":           `SECRETWORD`,
		"another schema":    strings.Replace(grantsOfAnn, "grants.v1", "grants.v2", 1),
		"no schema":         `{"grants":[]}`,
		"unknown key":       strings.Replace(grantsOfAnn, `"grants":`, `"SECRETWORD":1,"grants":`, 1),
		"unknown inner key": strings.Replace(grantsOfAnn, `"person":`, `"SECRETWORD":1,"person":`, 1),
		"another case":      strings.Replace(grantsOfAnn, `"person"`, `"Person"`, 1),
		"duplicate key":     strings.Replace(grantsOfAnn, `"person":`, `"person":"SECRETWORD","person":`, 1),
		"trailing bytes":    grantsOfAnn + `{}`,
		"cut off":           grantsOfAnn[:len(grantsOfAnn)-1],
		"bad utf-8":         strings.Replace(grantsOfAnn, "github:1", "github:\xff", 1),
		"a number":          strings.Replace(grantsOfAnn, `"github:1"`, `1`, 1),
		"oversized":         grantsOfAnn + strings.Repeat(" ", maxGrantsBytes),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, path := grantsAt(t, grantsOfAnn)
			if !holds(t, g, "github:1") {
				t.Fatal("want a grant")
			}
			writeGrants(t, path, content)
			for range 2 {
				held, err := g.HoldsTrigger(context.Background(), "github:1", "github:octo-org/sample")
				if held || err == nil {
					t.Errorf("held %v, %v, want an error", held, err)
				}
				if err != nil && strings.Contains(err.Error(), "SECRETWORD") {
					t.Errorf("the error repeats the file: %v", err)
				}
			}
			writeGrants(t, path, grantsOfAnn)
			if !holds(t, g, "github:1") {
				t.Error("a mended file grants nothing")
			}
		})
	}
}

func TestLargestFileIsRead(t *testing.T) {
	t.Parallel()
	g, _ := grantsAt(t, grantsOfAnn+strings.Repeat(" ", maxGrantsBytes-len(grantsOfAnn)))
	if !holds(t, g, "github:1") {
		t.Error("a file of just the limit grants nothing")
	}
}

func TestFileThatCannotBeReadIsAnError(t *testing.T) {
	t.Parallel()
	if held, err := NewGrants(t.TempDir()).HoldsTrigger(context.Background(), "github:1", "github:octo-org/sample"); held || err == nil {
		t.Errorf("a folder: held %v, %v", held, err)
	}
}

// A grant that is taken away is gone at the next question, also where the
// file has the size and the time of before, written in place or replaced.
func TestRemovedGrantIsGoneAtTheNextQuestion(t *testing.T) {
	t.Parallel()
	when := time.Date(2026, 9, 2, 9, 0, 0, 0, time.UTC)
	grantsOfBob := strings.Replace(grantsOfAnn, "github:1", "github:2", 1)
	for name, write := range map[string]func(testing.TB, string, string){
		"in place": writeGrants,
		"replaced": func(tb testing.TB, path, content string) {
			writeGrants(tb, path+".new", content)
			if err := os.Rename(path+".new", path); err != nil {
				tb.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, path := grantsAt(t, grantsOfAnn)
			for round := range 4 {
				content, held := grantsOfAnn, "github:1"
				if round%2 == 1 {
					content, held = grantsOfBob, "github:2"
				}
				write(t, path, content)
				if err := os.Chtimes(path, when, when); err != nil {
					t.Fatal(err)
				}
				for _, person := range []string{"github:1", "github:2"} {
					if got := holds(t, g, person); got != (person == held) {
						t.Errorf("round %d: %s holds: %v", round, person, got)
					}
				}
			}
		})
	}
}

// Many ask while the file changes: each answer is of one state of the file,
// and after the last change all are of the last.
func TestManyAskWhileTheFileChanges(t *testing.T) {
	t.Parallel()
	g, path := grantsAt(t, grantsOfAnn)
	var together sync.WaitGroup
	for range 8 {
		together.Go(func() {
			for range 50 {
				if _, err := g.HoldsTrigger(context.Background(), "github:1", "github:octo-org/sample"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for n := range 20 {
		writeGrants(t, path+".new", strings.Replace(grantsOfAnn, "github:1", fmt.Sprintf("github:%d", n), 1))
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	together.Wait()
	if holds(t, g, "github:1") || !holds(t, g, "github:19") {
		t.Error("the answer is not of the last file")
	}
}

func BenchmarkGrants(b *testing.B) {
	for _, n := range []int{1, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			one := `{"person":"github:1","channel":"github:octo-org/sample"}`
			g, _ := grantsAt(b, `{"schema":"grants.v1","grants":[`+strings.Repeat(one+",", n-1)+one+`]}`)
			for b.Loop() {
				holds(b, g, "github:1")
			}
		})
	}
}
