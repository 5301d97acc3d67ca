package local

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"decant.dev/act/plan"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// opening is an issue that a reporter of the id opened.
func opening(tb testing.TB, number, reporter int) []byte {
	tb.Helper()
	was := fmt.Appendf(nil, `"id":%d,"node_id"`, 7000+number)
	body := bytes.ReplaceAll(payload(number, "The exporter crashes", report, 4000), was, fmt.Appendf(nil, `"id":%d,"node_id"`, reporter))
	if bytes.Contains(body, was) {
		tb.Fatal("want another reporter's body")
	}
	return body
}

// One actor who floods a live engine is stopped at their budget, on the real
// child and its database; others go on, a second engine counts on, and the runs
// that found no room are listed and may be tried again.
func TestAFloodIsStoppedAtItsBudget(t *testing.T) {
	t.Parallel()
	const flooder = 4242
	dir := t.TempDir()
	began := time.Now()
	limit := 0
	for _, b := range issuesPipeline().Recipe.Budgets() {
		if b.Measure == plan.Runs && b.Per == plan.PerActor {
			limit = int(b.Limit)
		}
	}
	counts := map[pipeline.Code]int{}
	var over string
	for half := range 2 {
		e := openEngine(t, Config{Dir: dir, Live: true})
		for n := half * limit; n < (half+1)*limit; n++ {
			r := e.Deliver(context.Background(), delivery(t, opening(t, 100000+n, flooder)))[0]
			if counts[r.Reason]++; r.Reason == pipeline.OverBudget {
				over = r.Run
			}
		}
		if r := e.Deliver(context.Background(), delivery(t, opening(t, 200000+half, 4300+half)))[0]; r.Status != pipeline.Done {
			t.Errorf("another actor's run is %s %s, want done", r.Status, r.Reason)
		}
		if half == 1 && over != "" {
			if r, err := e.Again(context.Background(), over); err != nil || r.Reason != pipeline.OverBudget {
				t.Errorf("tried again in the same window: %s, %v", r.Reason, err)
			}
			listed, err := e.Journal().List(context.Background(), pipeline.Refused, 1000)
			if err != nil || len(listed) != limit {
				t.Errorf("%d refused runs are listed, %v; want %d", len(listed), err, limit)
			}
		}
		if err := e.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if time.Now().Truncate(time.Hour) != began.Truncate(time.Hour) {
		return // the window changed meanwhile
	}
	if counts[pipeline.OK] != limit || counts[pipeline.OverBudget] != limit {
		t.Errorf("got %v; want %d performed and as many over budget", counts, limit)
	}
}

// A staged engine counts nothing, and makes no database for it.
func TestAStagedEngineUsesNoBudget(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e := openEngine(t, Config{Dir: dir})
	for n := range 70 {
		if r := e.Deliver(context.Background(), delivery(t, opening(t, 300000+n, 4242)))[0]; r.Status != pipeline.Staged {
			t.Fatalf("run %d: %s %s", n, r.Status, r.Reason)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, budgetsDir)); !os.IsNotExist(err) {
		t.Errorf("a staged engine keeps budgets: %v", err)
	}
}

// What one run may cost is reserved before its extractor is asked, also where
// nothing is written.
func TestCostIsReservedBeforeExtract(t *testing.T) {
	t.Parallel()
	p := costlyPipeline()
	for _, live := range []bool{false, true} {
		began := time.Now()
		e := openEngine(t, Config{Live: live}, p)
		codes := map[pipeline.Code]int{}
		for n := range 5 {
			codes[e.Deliver(context.Background(), delivery(t, opening(t, 400000+n, 4242)))[0].Reason]++
		}
		if time.Now().Truncate(time.Hour) == began.Truncate(time.Hour) && (codes[pipeline.OK] != 2 || codes[pipeline.OverBudget] != 3) {
			t.Errorf("live %t: got %v, want two runs of 40 within the strangers' half of 200", live, codes)
		}
		b, err := store.OpenBudgets(filepath.Join(e.dir, budgetsDir), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		use := plan.Use{Recipe: p.Recipe.Name(), Label: plan.Unverified, At: time.Now()}
		if used, err := b.Used(context.Background(), p.Recipe.Budgets()[0].Spends(use, 40)[0].Key); err != nil || used != 80 {
			t.Errorf("live %t: %d used, %v; want 80", live, used, err)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
}

func costlyPipeline() Pipeline {
	p := notePipeline("costly", says{`{"kind":"a"}`})
	spec := pipeline.Spec[note]{
		Name: "costly", Plan: keepNote, Policy: storeAlways, MaxDecide: 12, MaxCarry: 4000, RunCost: 40,
		Events:  []pipeline.Event{{Name: "issues.opened", Reads: pipeline.ActorsWords}},
		Budgets: []plan.Budget{{Measure: plan.ModelCost, Per: plan.PerRecipe, Window: time.Hour, Limit: 200}},
	}
	list, _ := pipeline.Build(spec).Enumerate()
	spec.Outcomes = list.Encode()
	p.Recipe = pipeline.New(spec)
	return p
}
