package store

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
)

// batched holds the writer up until all that fill queues is in its queue, so
// that it is one batch. fill calls queued after each write that it has begun,
// which returns when that write is in the queue.
func batched(t *testing.T, d *db, fill func(queued func())) {
	t.Helper()
	held, release := make(chan struct{}), make(chan struct{})
	var holding sync.WaitGroup
	holding.Go(func() {
		first := true
		if err := d.do(background, func(*writer) error {
			if first {
				first = false
				close(held)
				<-release
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	<-held
	n := 0
	fill(func() {
		for n++; len(d.writes) < n; {
			runtime.Gosched()
		}
	})
	close(release)
	holding.Wait()
}

func put(n int) func(*writer) error {
	return func(w *writer) error {
		_, err := w.exec(`INSERT INTO blobs (run, value) VALUES (?, x'00')`, runOf(n))
		return err
	}
}

// Writes that wait are answered when the store is closed: with an error and
// not stored, or without one and stored.
func TestCloseAnswersEveryWriteThatWaits(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, err := OpenBlobs(dir)
	ok(t, err)
	const many = 3 * maxBatch // more than the queue holds
	errs := make([]error, many)
	var together sync.WaitGroup
	batched(t, b.db, func(func()) {
		for i := range many {
			together.Go(func() { errs[i] = b.do(background, put(i)) })
		}
		for len(b.writes) < maxBatch {
			runtime.Gosched()
		}
		together.Go(func() {
			if err := b.Close(); err != nil {
				t.Error(err)
			}
		})
		<-b.stop // closing has begun
	})
	together.Wait()
	again := openBlobs(t, dir)
	for i, err := range errs {
		_, found, lookup := again.Get(background, runOf(i))
		if lookup != nil || found != (err == nil) || err != nil && !errors.Is(err, errClosed) {
			t.Errorf("write %d: answered %v, found %v, %v", i, err, found, lookup)
		}
	}
	if err := b.do(background, put(many)); !errors.Is(err, errClosed) {
		t.Errorf("a write after close: got %v, want %v", err, errClosed)
	}
	if err := b.Close(); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}

// A write whose context is done is stored and answered so, or neither.
func TestDoneContextIsNeverHalfAWrite(t *testing.T) {
	t.Parallel()
	b := openBlobs(t, t.TempDir())
	done, cancel := context.WithCancel(background)
	cancel()
	for i := range 200 {
		err := b.do(done, put(i))
		_, found, lookup := b.Get(background, runOf(i))
		if lookup != nil || found != (err == nil) || err != nil && !errors.Is(err, context.Canceled) {
			t.Fatalf("write %d: answered %v, found %v, %v", i, err, found, lookup)
		}
	}
}

// A write that waits for a place in the queue gives up when its context is
// done, even though the writer is stuck.
func TestFullQueueGivesUpWithItsContext(t *testing.T) {
	t.Parallel()
	b := openBlobs(t, t.TempDir())
	var together sync.WaitGroup
	batched(t, b.db, func(func()) {
		for i := range maxBatch {
			together.Go(func() {
				if err := b.do(background, put(i)); err != nil {
					t.Error(err)
				}
			})
		}
		for len(b.writes) < maxBatch {
			runtime.Gosched()
		}
		done, cancel := context.WithCancel(background)
		cancel()
		if err := b.do(done, put(maxBatch)); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, want %v", err, context.Canceled)
		}
	})
	together.Wait()
	if n, err := b.Count(background); err != nil || n != maxBatch {
		t.Errorf("%d values, %v, want %d", n, err, maxBatch)
	}
}

// One that fails leaves the others of its batch as they are.
func TestOneBadWriteOfABatchFailsAlone(t *testing.T) {
	t.Parallel()
	b := openBlobs(t, t.TempDir())
	bad := errors.New("bad")
	errs := make([]error, 20)
	var together sync.WaitGroup
	batched(t, b.db, func(queued func()) {
		for i := range errs {
			together.Go(func() {
				errs[i] = b.do(background, func(w *writer) error {
					if err := put(i)(w); err != nil || i%6 != 5 {
						return err
					}
					return bad
				})
			})
			queued()
		}
	})
	together.Wait()
	for i, err := range errs {
		_, found, lookup := b.Get(background, runOf(i))
		if isBad := i%6 == 5; errors.Is(err, bad) != isBad || found == isBad || lookup != nil {
			t.Errorf("write %d: %v, found %v, %v", i, err, found, lookup)
		}
	}
}

func TestStoreThatCannotBeOpenedSaysWhich(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b := openBlobs(t, dir)
	ok(t, b.Put(background, runOf(1), []byte("x")))
	if _, err := OpenBlobs(fmt.Sprintf("%s/blobs.db/deeper", dir)); err == nil {
		t.Error("a folder below a file was opened")
	}
}
