package local

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/extract"
	"decant.dev/fetch"
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

// BenchmarkBatch is a batch of 1,000 items with 256 under way, each step of
// each durable before its next phase. Beside it, in the same run, stand the
// limits that it is held against: the same handlers called one after the other
// in this process, with no isolation and nothing kept, on one core; and the
// disk's own fsync. The peer, Benthos core v4.60.0 in one process, did 1,468
// such items a second with one fsync an item (see docs/decisions.md).
func BenchmarkBatch(b *testing.B) {
	const batch, underWay = 1000, 256
	handlers := handlersAlone(b)
	b.Logf("limits: handlers alone on one core %.0f items/s, fsync %.0f/s", handlers, fsyncs(b))
	for _, live := range []bool{false, true} {
		b.Run(map[bool]string{false: "staged", true: "live"}[live], func(b *testing.B) {
			e := openEngine(b, Config{Live: live})
			e.Deliver(context.Background(), delivery(b, payload(1, "warm", report, webhookBytes)))
			n, peak := 1, 0
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
			rate := batch * float64(b.N) / b.Elapsed().Seconds()
			b.ReportMetric(rate, "items/s")
			b.ReportMetric(rate/1468, "of-peer")
			b.ReportMetric(rate/handlers, "of-handlers-alone")
			b.ReportMetric(float64(peak)/1024, "MB-pss")
		})
	}
}

// handlersAlone is how many items a second the three handlers do in this
// process, on one core, with nothing between them and nothing kept.
func handlersAlone(b *testing.B) float64 {
	p := issuesPipeline()
	e := openEngine(b, Config{})
	config := e.act.phase.config
	fetching, extracting := fetchHandler([]Pipeline{p}, config, nil), extractHandler([]Pipeline{p}, nil)
	acting, err := actHandler([]Pipeline{p}, config, nil)
	if err != nil {
		b.Fatal(err)
	}
	const items = 500
	bodies := make([][]byte, items)
	for i := range bodies {
		bodies[i] = payload(i+1, "The exporter crashes", report, webhookBytes)
	}
	start := time.Now()
	for _, body := range bodies {
		d := delivery(b, body)
		env := e.envelope(p, d)
		ask := func(h handler, q request) any {
			a, code := h(context.Background(), q)
			if code != pipeline.OK {
				b.Fatal(code)
			}
			return a
		}
		fetched := ask(fetching, request{Fetch: &fetch.Input{Envelope: env, Body: body}}).(fetch.Output)
		extracted := ask(extracting, request{Extract: &extract.Input{Recipe: env.Recipe, Run: env.Run, Object: fetched.Object}}).(extract.Output)
		acted := ask(acting, request{Acts: []question{{Run: env.Run, Admit: &act.AdmitInput{Envelope: env}}}}).([]answer)
		acted = append(acted, ask(acting, request{Acts: []question{{Run: env.Run, Act: &act.Input{Envelope: env, Structure: extracted.Structure}}}}).([]answer)...)
		if acted[1].Act == nil || acted[1].Act.Status != pipeline.Staged {
			b.Fatal("the handlers alone did not stage an item")
		}
	}
	return items / time.Since(start).Seconds()
}

// fsyncs is how often a second this disk makes a small append durable.
func fsyncs(b *testing.B) float64 {
	f, err := os.Create(filepath.Join(b.TempDir(), "fsync"))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	const times = 500
	start := time.Now()
	for range times {
		if _, err := f.Write(make([]byte, 4096)); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	return times / time.Since(start).Seconds()
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
	for _, p := range []*phase{e.fetches[true], e.fetches[false], e.extracts[true], e.extracts[false], e.act.phase} {
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
