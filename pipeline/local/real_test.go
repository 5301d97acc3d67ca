package local

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"decant.dev/extract/shape"
	"decant.dev/internal/inputs"
	"decant.dev/pipeline"
)

// realIssues are the deliveries of 1,500 real issues, each by an author of its
// own.
func realIssues(tb testing.TB) [][]byte {
	tb.Helper()
	f, err := os.Open(inputs.Path(tb, "data", "issues", "train.csv"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	var bodies [][]byte
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			tb.Fatal(err)
		}
		if row[0] == "repo" {
			continue
		}
		n := len(bodies) + 1
		user := map[string]any{"login": fmt.Sprintf("author-%d", n), "id": 10_000 + n, "type": "User"}
		body, err := json.Marshal(map[string]any{
			"action": "opened",
			"issue":  map[string]any{"id": n, "number": n, "title": row[3], "body": row[4], "user": user, "labels": []any{}},
			"repository": map[string]any{
				"id": 1, "full_name": row[0],
			},
			"sender": user,
		})
		if err != nil {
			tb.Fatal(err)
		}
		bodies = append(bodies, body)
	}
	return bodies
}

// deliverAll runs bodies through the engine, some at a time, and gives the
// results in order.
func deliverAll(tb testing.TB, e *Engine, bodies [][]byte) []Result {
	tb.Helper()
	results := make([]Result, len(bodies))
	next := make(chan int)
	var workers sync.WaitGroup
	for range 64 {
		workers.Go(func() {
			for i := range next {
				d, err := eventOf(bodies[i])
				if err != nil {
					tb.Errorf("issue %d: %v", i+1, err)
					continue
				}
				results[i] = e.Deliver(context.Background(), d)[0]
			}
		})
	}
	for i := range bodies {
		next <- i
	}
	close(next)
	workers.Wait()
	return results
}

// All real issues end staged, no choice of theirs is always the same, and the
// processes together do not grow with them.
func TestRealIssues(t *testing.T) {
	bodies := realIssues(t)
	e := openEngine(t, Config{})
	deliverAll(t, e, bodies[:200])
	early := pss(e)
	results := deliverAll(t, e, bodies)
	late := pss(e)
	t.Logf("%d issues, %d kB of memory after 200 and %d kB after all, parent and children together", len(bodies), early, late)
	if early > 0 && late > early+64<<10 {
		t.Errorf("memory grew from %d to %d kB", early, late)
	}
	counts := map[string]map[string]int{}
	for i, r := range results {
		if r.Status != pipeline.Staged {
			t.Errorf("issue %d: %s %s", i+1, r.Status, r.Reason)
			continue
		}
		var fields map[string]any
		if err := json.Unmarshal(r.Structure, &fields); err != nil {
			t.Fatal(err)
		}
		for _, f := range issuesPipeline().Recipe.Shape().Fields() {
			if counts[f.Name] == nil {
				counts[f.Name] = map[string]int{}
			}
			counts[f.Name][choiceOf(f, fields[f.Name])]++
		}
	}
	t.Log("\n" + distribution(counts, len(results)))
	for name, values := range counts {
		if len(values) < 2 {
			t.Errorf("%s: the same for all issues", name)
		}
	}
}

// choiceOf names a field's value, or whether it is there for what is carried.
func choiceOf(f shape.Field, v any) string {
	switch {
	case f.Kind == shape.KindChoice:
		return fmt.Sprint(v)
	case v == nil:
		return "absent"
	default:
		return "present"
	}
}

func distribution(counts map[string]map[string]int, total int) string {
	var sb strings.Builder
	names := make([]string, 0, len(counts))
	for n := range counts {
		names = append(names, n)
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprintf(&sb, "%s\n", n)
		values := make([]string, 0, len(counts[n]))
		for v := range counts[n] {
			values = append(values, v)
		}
		slices.SortFunc(values, func(a, b string) int { return counts[n][b] - counts[n][a] })
		for _, v := range values {
			fmt.Fprintf(&sb, "  %5d  %5.1f %%  %s\n", counts[n][v], 100*float64(counts[n][v])/float64(total), v)
		}
	}
	return sb.String()
}

// BenchmarkRealIssues is all 1,500 real issues through one engine.
func BenchmarkRealIssues(b *testing.B) {
	bodies := realIssues(b)
	e := openEngine(b, Config{})
	deliverAll(b, e, bodies[:100])
	for b.Loop() {
		deliverAll(b, e, bodies)
	}
	b.ReportMetric(float64(len(bodies)*b.N)/b.Elapsed().Seconds(), "items/s")
	b.ReportMetric(float64(pss(e))/1024, "MB-pss")
}
