package local

import (
	"context"
	"errors"
	"testing"

	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// A delivery is answered once its runs are durable, and before any phase is
// asked about it; the runs go on.
func TestAcceptedRunsAreDurableAndGoOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Config{Dir: dir, Live: true})
	asked, goOn := make(chan struct{}, 8), make(chan struct{})
	e.step = func(point string) {
		if point == "before admit" {
			asked <- struct{}{}
			<-goOn
		}
	}
	d := delivery(t, payload(41, "title", report, 2000))
	begun, code := e.Accept(context.Background(), d)
	if code != pipeline.OK || len(begun) != 1 || begun[0].Again {
		t.Fatalf("got %+v, %s", begun, code)
	}
	if entry, ok, err := e.journal.Get(t.Context(), begun[0].Run, store.LiveMode); !ok || err != nil || entry.State != store.Received {
		t.Errorf("accepted, and on record as %+v, %t, %v", entry, ok, err)
	}
	if _, ok, err := e.raw.Get(t.Context(), begun[0].Run); !ok || err != nil {
		t.Errorf("accepted, and its body is stored: %t, %v", ok, err)
	}
	<-asked
	again, code := e.Accept(context.Background(), d)
	if code != pipeline.OK || len(again) != 1 || !again[0].Again || again[0].Run != begun[0].Run {
		t.Errorf("the same bytes: got %+v, %s", again, code)
	}
	close(goOn)
	if r := begun[0].Wait(); r.Status != pipeline.Done {
		t.Errorf("%s %s", r.Status, r.Reason)
	}
	if r := again[0].Wait(); r.Status != pipeline.Done {
		t.Errorf("again: %s %s", r.Status, r.Reason)
	}
	e.step = nil
	over, code := e.Accept(context.Background(), d)
	if code != pipeline.OK || len(over) != 1 || !over[0].Wait().Recorded {
		t.Errorf("after it was done: got %+v, %s", over, code)
	}
	if rows := ledgerRows(t, e, "triage"); len(rows) != 1 {
		t.Errorf("got %d rows", len(rows))
	}
}

// A run that was accepted and then stopped is carried to its end by the next
// engine.
func TestAStoppedRunIsResumed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Config{Dir: dir, Live: true})
	ctx, stop := context.WithCancel(context.Background())
	e.step = func(point string) {
		if point == "before fetch" {
			stop()
		}
	}
	begun, code := e.Accept(ctx, delivery(t, payload(42, "title", report, 2000)))
	if code != pipeline.OK || len(begun) != 1 {
		t.Fatalf("got %+v, %s", begun, code)
	}
	if r := begun[0].Wait(); r.Reason != pipeline.Stopped {
		t.Fatalf("%s %s, want stopped", r.Status, r.Reason)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	results, err := openEngine(t, Config{Dir: dir, Live: true}).Resume(t.Context())
	if err != nil || len(results) != 1 || results[0].Status != pipeline.Done {
		t.Errorf("got %+v, %v", results, err)
	}
}

// What cannot be made durable is not accepted.
func TestNothingIsAcceptedThatIsNotDurable(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Config{Live: true})
	d := delivery(t, payload(43, "title", report, 2000))
	if err := e.raw.Close(); err != nil {
		t.Fatal(err)
	}
	if _, code := e.Accept(context.Background(), d); code != pipeline.StoreFailed {
		t.Errorf("got %q, want %s", code, pipeline.StoreFailed)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	stop(errors.New("over"))
	if _, code := openEngine(t, Config{Live: true}).Accept(ctx, d); code == pipeline.OK {
		t.Error("accepted by an engine that is over")
	}
	d.Event = "issues.edited"
	if begun, code := openEngine(t, Config{}, notePipeline("honest-too", says{`{"kind":"b"}`})).Accept(context.Background(), d); code != pipeline.UnhandledEvent || begun != nil {
		t.Errorf("an event of nobody's: got %+v, %s", begun, code)
	}
}
