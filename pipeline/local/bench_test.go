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
				one(b, e, payload(n, "The exporter crashes", report, webhookBytes), live)
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
			const batch, underWay = 1000, 256
			e := openEngine(b, Config{Live: live})
			e.Deliver(context.Background(), delivery(b, payload(1, "warm", report, webhookBytes)))
			n := 1
			peak := 0
			for b.Loop() {
				b.StopTimer()
				bodies := make([][]byte, batch)
				for i := range bodies {
					n++
					bodies[i] = payload(n, "The exporter crashes", report, webhookBytes)
				}
				b.StartTimer()
				items := make(chan []byte)
				var workers sync.WaitGroup
				for range underWay {
					workers.Go(func() {
						for body := range items {
							one(b, e, body, live)
						}
					})
				}
				for _, body := range bodies {
					items <- body
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

// one delivers one item as the ingress does, from the bytes on.
func one(b *testing.B, e *Engine, body []byte, live bool) {
	want := pipeline.Staged
	if live {
		want = pipeline.Done
	}
	for _, r := range e.Deliver(context.Background(), delivery(b, body)) {
		if r.Status != want {
			b.Fatalf("run %s: %s %s, want %s", r.Run, r.Status, r.Reason, want)
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
