package store

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"decant.dev/act"
)

// fsyncs is how often a second this disk makes a page durable.
func fsyncs(b *testing.B) float64 {
	b.Helper()
	f, err := os.Create(filepath.Join(b.TempDir(), "fsync"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	page := make([]byte, 4096)
	begin, n := time.Now(), 0
	for ; time.Since(begin) < 300*time.Millisecond; n++ {
		if _, err := f.WriteAt(page, int64(n)*4096); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	return float64(n) / time.Since(begin).Seconds()
}

// BenchmarkReceipts is one run's receipt and row a commit, each durable before
// the next of its writer: by one writer, whose limit is the disk's fsync, and by
// 64, whose writes share commits. The limit is measured in the same run.
func BenchmarkReceipts(b *testing.B) {
	for _, writers := range []int{1, 64} {
		b.Run(fmt.Sprintf("writers=%d", writers), func(b *testing.B) {
			limit := fsyncs(b)
			l := openLedger(b, b.TempDir())
			var next atomic.Int64
			var all sync.WaitGroup
			b.ResetTimer()
			for range writers {
				all.Go(func() {
					for n := next.Add(1); n <= int64(b.N); n = next.Add(1) {
						run := runOf(int(n))
						if _, stored, err := l.Commit(b.Context(), []act.Receipt{receipt(run, "stored")}, nil); err != nil || !stored {
							b.Error(stored, err)
							return
						}
					}
				})
			}
			all.Wait()
			rate := float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(rate, "receipts/s")
			b.ReportMetric(limit, "fsyncs/s")
			b.ReportMetric(rate/limit, "of-fsync")
		})
	}
}
