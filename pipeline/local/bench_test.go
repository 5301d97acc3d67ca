package local

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"decant.dev/pipeline"
)

// webhookBytes is the size of the webhooks that the peer was measured with.
const webhookBytes = 13_800

// BenchmarkOne is one item through all phases, warm, each step durable before
// the next.
func BenchmarkOne(b *testing.B) {
	for _, live := range []bool{false, true} {
		b.Run(map[bool]string{false: "staged", true: "live"}[live], func(b *testing.B) {
			e := openEngine(b, Config{Live: live})
			e.Deliver(context.Background(), delivery(b, payload(1, "warm", report, webhookBytes)))
			n := 1
			b.ResetTimer()
			for b.Loop() {
				n++
				one(b, e, n, live)
			}
		})
	}
}

// BenchmarkBatch is a batch of 1,000 items with 64 under way. The peer is
// Benthos core v4.60.0 in one process, which did 1,468 such items a second
// with one fsync an item (see docs/decisions.md).
func BenchmarkBatch(b *testing.B) {
	for _, live := range []bool{false, true} {
		b.Run(map[bool]string{false: "staged", true: "live"}[live], func(b *testing.B) {
			const batch, underWay = 1000, 64
			e := openEngine(b, Config{Live: live})
			e.Deliver(context.Background(), delivery(b, payload(1, "warm", report, webhookBytes)))
			n := 1
			peak := 0
			for b.Loop() {
				items := make(chan int)
				var workers sync.WaitGroup
				for range underWay {
					workers.Go(func() {
						for i := range items {
							one(b, e, i, live)
						}
					})
				}
				for range batch {
					n++
					items <- n
				}
				close(items)
				workers.Wait()
				peak = max(peak, pss(e))
			}
			b.ReportMetric(batch*float64(b.N)/b.Elapsed().Seconds(), "items/s")
			b.ReportMetric(batch*float64(b.N)/b.Elapsed().Seconds()/1468, "of-peer")
			b.ReportMetric(float64(peak)/1024, "MB-pss")
		})
	}
}

func one(b *testing.B, e *Engine, n int, live bool) {
	want := pipeline.Staged
	if live {
		want = pipeline.Done
	}
	d := delivery(b, payload(n, "The exporter crashes", report, webhookBytes))
	for _, r := range e.Deliver(context.Background(), d) {
		if r.Status != want {
			b.Fatalf("run %d: %s %s, want %s", n, r.Status, r.Reason, want)
		}
	}
}

// pss is the proportional set size of this process and all children, in kB.
func pss(e *Engine) int {
	sum := pssOf("self")
	for _, p := range []*phase{e.fetch, e.extracts[true], e.extracts[false], e.act.phase} {
		p.mu.Lock()
		if p.proc != nil {
			sum += pssOf(strconv.Itoa(p.proc.cmd.Process.Pid))
		}
		p.mu.Unlock()
	}
	return sum
}

func pssOf(pid string) int {
	b, err := os.ReadFile(filepath.Join("/proc", pid, "smaps_rollup"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "Pss:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kb
		}
	}
	return 0
}
