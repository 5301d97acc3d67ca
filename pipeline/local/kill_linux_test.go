package local

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/act/table"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// What makes this test binary an engine of its own that is killed at a point.
const (
	killDir    = "DECANT_TEST_KILL_DIR" // the engine's directory
	killAt     = "DECANT_TEST_KILL_AT"  // the number of the point, 0 for none
	killLedger = "DECANT_TEST_KILL_ACT" // "before commit" and the like: act's own child dies there, once
)

func init() {
	entries = append(entries, killedEngine, killedAct)
}

// killedEngine delivers one event, live, and kills itself at the point.
func killedEngine() bool {
	dir := os.Getenv(killDir)
	if dir == "" {
		return false
	}
	at, _ := strconv.Atoi(os.Getenv(killAt))
	e, err := Open(Config{Dir: dir, Live: true}, issuesPipeline())
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	point := 0
	e.step = func(name string) {
		point++
		if point == at {
			fmt.Println(name)
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		}
	}
	d, err := eventOf(payload(11, "The exporter crashes", report, 4000))
	if err == nil {
		_, err = e.Resume(context.Background())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	for _, r := range e.Deliver(context.Background(), d) {
		fmt.Println(r.Status, r.Reason)
	}
	if err := e.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(0)
	return true
}

// start runs killedEngine in a process of its own and returns what it said
// and whether it was killed.
func start(t *testing.T, dir string, at int) (said string, killed bool) {
	t.Helper()
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), killDir+"="+dir, killAt+"="+strconv.Itoa(at))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL {
		return strings.TrimSpace(string(out)), true
	}
	if err != nil {
		t.Fatalf("engine: %v: %s", err, out)
	}
	return strings.TrimSpace(string(out)), false
}

// Killed at any point and started again, a live run writes once. The points
// are every call and every write that the engine makes, before and after.
func TestKilledAnywhereWritesOnce(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	var points []string
	for at := 1; ; at++ {
		dir := t.TempDir()
		point, killed := start(t, dir, at)
		if !killed {
			break
		}
		points = append(points, point)
		if said, killed := start(t, dir, 0); killed || said != "done" {
			t.Errorf("killed %s, then: %s", point, said)
		}
		e := openEngine(t, Config{Dir: dir, Live: true})
		if rows := ledgerRows(t, e, "triage"); len(rows) != 1 {
			t.Errorf("killed %s: %d rows, want 1", point, len(rows))
		}
		unfinished, err := e.Journal().Unfinished(context.Background())
		if err != nil || len(unfinished) > 0 {
			t.Errorf("killed %s: %d unfinished runs, %v", point, len(unfinished), err)
		}
	}
	for _, want := range []string{"raw", "begin", "admit", "fetch", "prompt", "extract", "structure", "act", "end"} {
		for _, side := range []string{"before ", "after "} {
			if !strings.Contains(strings.Join(points, "\n")+"\n", side+want+"\n") {
				t.Errorf("no kill %s%s: points are %q", side, want, points)
			}
		}
	}
}

// mortal are act's tables in a process that dies at the first call of one
// name, before it or after.
type mortal struct {
	act.Ledger
	act.Budgets
	at   string // "before commit", "after charge", …
	mark string // the file that says that it has died
}

// die ends the process where at is the point that it dies at.
func (m mortal) die(at string) {
	if at != m.at {
		return
	}
	if f, err := os.OpenFile(m.mark, os.O_CREATE|os.O_EXCL, 0o600); err == nil {
		_ = f.Close()
		os.Exit(9)
	}
}

func (m mortal) Commit(ctx context.Context, r []act.Receipt, w []table.Write) ([]act.Receipt, bool, error) {
	m.die("before commit")
	existing, stored, err := m.Ledger.Commit(ctx, r, w)
	m.die("after commit")
	return existing, stored, err
}

// Charge dies at the run's second charge, which is that of its outcome, where
// the point says so.
func (m mortal) Charge(ctx context.Context, run string, spends []plan.Spend) (bool, error) {
	what := " begin"
	if strings.Contains(spends[len(spends)-1].Key, fmt.Sprintf("/%d/", plan.CarriedBits)) {
		what = " charge"
	}
	m.die("before" + what)
	within, err := m.Budgets.Charge(ctx, run, spends)
	m.die("after" + what)
	return within, err
}

func killedAct() bool {
	at := os.Getenv(killLedger)
	return at != "" && childWith(map[string]builder{
		phaseAct: func(c childConfig, _ *http.Client) (handler, error) {
			kept, err := openActStores(c)
			if err != nil {
				return nil, err
			}
			m := mortal{kept.ledger, kept.budgets, at, filepath.Join(c.Ledger, "died")}
			kept.ledger, kept.budgets = m, m
			return actHandlerOn(testPipelines(), c, kept)
		},
	})
}

// Act's own process dying at its commit, or as it counts, is answered by a
// second one: the receipts keep it from writing twice, and the charges from
// counting twice.
func TestActDyingAtItsCommitWritesOnce(t *testing.T) {
	t.Parallel()
	for i, at := range []string{"before begin", "after begin", "before charge", "after charge", "before commit", "after commit"} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			e := openEngine(t, Config{Live: true})
			e.act.phase.env = append(e.act.phase.env[:len(e.act.phase.env):len(e.act.phase.env)], killLedger+"="+at)
			d := delivery(t, payload(120+i, "The exporter crashes", report, 4000))
			var err error
			r := e.Deliver(context.Background(), d)[0]
			if r.Reason == pipeline.PhaseDied && strings.HasSuffix(at, " begin") { // a fresh child's end is the run's
				if r, err = e.Again(context.Background(), r.Run); err != nil {
					t.Fatal(err)
				}
			}
			if r.Status != pipeline.Done {
				t.Errorf("%s %s, want done", r.Status, r.Reason)
			}
			if _, err := os.Stat(filepath.Join(e.act.phase.config.Ledger, "died")); err != nil {
				t.Errorf("the child did not die: %v", err)
			}
			if rows := ledgerRows(t, e, "triage"); len(rows) != 1 {
				t.Errorf("%d rows, want 1", len(rows))
			}
			entry, _, err := e.Journal().Get(context.Background(), r.Run, store.LiveMode)
			if err != nil {
				t.Fatal(err)
			}
			b, err := store.OpenBudgets(e.act.phase.config.Budgets, time.Now)
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			env, err := pipeline.DecodeEnvelope(entry.Envelope)
			if err != nil {
				t.Fatal(err)
			}
			use := plan.Use{Recipe: "issues", Channel: env.Channel, Actor: env.Actor.ID, Label: plan.Unverified, At: time.Now()}
			if use.At.Truncate(time.Hour) != began.Truncate(time.Hour) {
				return // the windows changed meanwhile
			}
			for _, budget := range e.pipelines["issues"].Recipe.Budgets() {
				if budget.Measure != plan.Runs {
					continue
				}
				for _, s := range budget.Spends(use, 1) {
					if n, err := b.Used(context.Background(), s.Key); n != 1 || err != nil {
						t.Errorf("%s: used %d, %v; want 1", s.Key, n, err)
					}
				}
			}
		})
	}
}

// The same delivery many times at once is one run and one write.
func TestTogetherIsOnce(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Config{Live: true})
	d := delivery(t, payload(13, "The exporter crashes", report, 4000))
	results := make(chan Result, 16)
	for range cap(results) {
		go func() { results <- e.Deliver(context.Background(), d)[0] }()
	}
	for range cap(results) {
		select {
		case r := <-results:
			if r.Status != pipeline.Done {
				t.Errorf("%s %s, want done", r.Status, r.Reason)
			}
		case <-time.After(time.Minute):
			t.Fatal("no answer")
		}
	}
	if rows := ledgerRows(t, e, "triage"); len(rows) != 1 {
		t.Errorf("%d rows, want 1", len(rows))
	}
}
