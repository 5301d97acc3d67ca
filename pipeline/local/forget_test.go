package local

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// holding lists the files below dir that hold a word.
func holding(t *testing.T, dir, word string) (files []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		b, err := os.ReadFile(path)
		if bytes.Contains(b, []byte(word)) {
			kept, _ := filepath.Rel(dir, path)
			files = append(files, kept)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return files
}

// After a run is forgotten no file of the state directory but the sink's own
// table holds a word of its text, neither in a free page nor in a log; its
// receipts stand, and the same event performs nothing again.
func TestForgettingLeavesReceiptsAndNoWord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	body := payload(41, "The exporter crashes", "FORGETWORD is in the body. The exporter stops with an error since version 2.4.1.\n\n"+report, 4000)
	other := payload(42, "KEEPWORD in a title", "KEEPWORD in the body, which stays.", 4000)
	for _, live := range []bool{false, true} {
		e := openEngine(t, Config{Dir: dir, Live: live})
		run := e.Deliver(context.Background(), delivery(t, body))[0].Run
		e.Deliver(context.Background(), delivery(t, other))
		if found := holding(t, dir, "FORGETWORD"); len(found) < 2 {
			t.Fatalf("live %t: only %q hold the text: the test would prove nothing", live, found)
		}
		if err := e.Forget(context.Background(), run); err != nil {
			t.Fatal(err)
		}
		if found := holding(t, dir, "FORGETWORD"); !slices.Equal(slices.DeleteFunc(found, func(f string) bool { return filepath.Dir(f) == "act" }), []string{}) {
			t.Errorf("live %t: %q hold the text", live, found)
		}
		if found := holding(t, dir, "KEEPWORD"); len(found) < 2 {
			t.Errorf("live %t: another run's text is gone: %q", live, found)
		}
		entry, found, err := e.Journal().Get(context.Background(), run, e.Mode())
		if err != nil || !found || entry.State != store.Ended || len(entry.Structure) > 0 || string(entry.Actions) != "[]" {
			t.Errorf("live %t: the journal has %+v, %t, %v", live, entry, found, err)
		}
		if _, err := e.Replay(context.Background(), entry, nil); !errors.Is(err, ErrNothingRecorded) {
			t.Errorf("live %t: replayed: %v", live, err)
		}
		if live {
			again := e.Deliver(context.Background(), delivery(t, body))[0]
			if again.Status != pipeline.Done || !again.Recorded {
				t.Errorf("delivered again: %s %s", again.Status, again.Reason)
			}
			if rows := ledgerRows(t, e, "triage"); len(rows) != 2 {
				t.Errorf("%d rows, want 2", len(rows))
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestForgettingWantsARunThatEnded(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Config{})
	if err := e.Forget(context.Background(), "ffffffffffffffffffffffffffffffff"); err == nil {
		t.Error("an unknown run was forgotten")
	}
	env := e.envelope(e.pipelines["issues"], delivery(t, payload(43, "title", report, 2000)))
	if err := e.Journal().Begin(context.Background(), e.Mode(), env); err != nil {
		t.Fatal(err)
	}
	if err := e.Forget(context.Background(), env.Run); !errors.Is(err, ErrUnderWay) {
		t.Errorf("got %v, want that it is under way", err)
	}
}

// Runs are forgotten once they were kept long enough, each once, and none
// where no time is set.
func TestRunsExpire(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	e := openEngine(t, Config{Keep: 48 * time.Hour, Clock: func() time.Time { return now }})
	for n := range 3 {
		e.Deliver(context.Background(), delivery(t, payload(50+n, "title", report, 2000)))
		now = now.Add(24 * time.Hour)
	}
	for _, want := range []int{1, 0} { // the first is three days old, the second just two
		if n, err := e.Expire(context.Background()); n != want || err != nil {
			t.Errorf("%d expired, %v; want %d", n, err, want)
		}
	}
	now = now.Add(time.Second)
	if n, err := e.Expire(context.Background()); n != 1 || err != nil {
		t.Errorf("%d expired, %v; want the second", n, err)
	}
	if n, err := e.raw.Count(context.Background()); n != 1 || err != nil {
		t.Errorf("%d bodies are kept, %v; want 1", n, err)
	}
	e.config.Keep = 0
	now = now.Add(10000 * time.Hour)
	if n, err := e.Expire(context.Background()); n != 0 || err != nil {
		t.Errorf("%d expired, %v; want none without a time", n, err)
	}
}
