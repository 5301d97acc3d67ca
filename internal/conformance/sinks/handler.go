package sinks

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/act/table"
	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
)

// The one event of the suite's recipe, and the issue that it names.
const (
	event      = "issues.opened"
	repository = "octo-org/sample"
	number     = 12
)

var (
	noon   = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	digest = strings.Repeat("ab", 32)
)

func envelope(name string) pipeline.Envelope {
	return pipeline.NewEnvelope("sinks", digest, "github", []byte("body of "+name), pipeline.Actor{ID: "schedule:nightly", Kind: pipeline.System},
		"github:"+repository, pipeline.Target{Event: event, Repository: repository, Number: number}, noon)
}

type choice struct {
	Kind string `json:"kind" jsonschema:"enum=go,enum=rest"`
}

// recipe performs one action, by itself.
func recipe(t *testing.T, action func(plan.Target) plan.Action) *pipeline.Recipe {
	t.Helper()
	s := pipeline.Spec[choice]{
		Name: "sinks", MaxDecide: 8, Widens: true, Events: []pipeline.Event{{Name: event, Reads: pipeline.ActorsWords}},
		Policy: plan.Policy{action(plan.NewTarget(event, nil)).Kind(): plan.Always(plan.Auto)},
		Plan: func(c choice, at plan.Target) []plan.Action {
			if c.Kind == "rest" {
				return nil
			}
			return []plan.Action{action(at)}
		},
	}
	list, breaches := pipeline.Build(s).Enumerate()
	if len(breaches) > 0 {
		t.Fatal(breaches)
	}
	s.Outcomes = list.Encode()
	return pipeline.New(s)
}

// ledger is the Ledger port in memory.
type ledger struct {
	mu       sync.Mutex
	receipts []act.Receipt
	step     func(string)
}

func (l *ledger) Receipts(context.Context, string) ([]act.Receipt, error) {
	l.step("before receipts")
	defer l.step("after receipts")
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.receipts), nil
}

func (l *ledger) Commit(_ context.Context, receipts []act.Receipt, _ []table.Write) ([]act.Receipt, bool, error) {
	l.step("before commit")
	defer l.step("after commit")
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.receipts) > 0 {
		return slices.Clone(l.receipts), false, nil
	}
	l.receipts = slices.Clone(receipts)
	return nil, true, nil
}

func (l *ledger) Advance(_ context.Context, from, to act.Receipt) (bool, error) {
	l.step(fmt.Sprintf("before %s to %s", from.State, to.State))
	defer l.step(fmt.Sprintf("after %s to %s", from.State, to.State))
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, r := range l.receipts {
		if r.Index == from.Index && r.State == from.State && r.Attempt == from.Attempt {
			l.receipts[i] = to
			return true, nil
		}
	}
	return false, nil
}

// stepped is a sink whose calls can be stopped before and after.
type stepped struct {
	act.Sink
	step func(string)
}

func (s stepped) Send(ctx context.Context, j act.Job) act.Answer {
	s.step("before send")
	defer s.step("after send")
	return s.Sink.Send(ctx, j)
}

func (s stepped) Find(ctx context.Context, j act.Job) act.Answer {
	s.step("before find")
	defer s.step("after find")
	return s.Sink.Find(ctx, j)
}

// nobody holds trigger, has paused anything, or was asked.
type nobody struct{}

func (nobody) HoldsTrigger(context.Context, string, string) (bool, error) { return false, nil }
func (nobody) Paused(context.Context, string) (bool, error)               { return false, nil }
func (nobody) Put(context.Context, approval.Record) (bool, error)         { return true, nil }
func (nobody) Get(context.Context, string) (approval.Record, bool, error) {
	return approval.Record{}, false, nil
}

// handler is act for one recipe and one sink, whose every call takes a step.
func handler(r *pipeline.Recipe, s act.Sink, kind plan.Kind, kept *ledger, now func() time.Time, step func(string)) *act.Handler {
	kept.step = step
	return &act.Handler{
		Recipes: map[string]*pipeline.Recipe{r.Name(): r}, Digests: map[string]string{r.Name(): digest},
		Authorizer: nobody{}, Paused: nobody{}, Approvals: nobody{}, Admissions: act.NewAdmissions(), Live: true,
		Ledger: kept, Clock: now, Sleep: func(context.Context, time.Duration) error { return nil },
		Sinks: map[plan.Kind]act.Sink{kind: stepped{s, step}},
	}
}

// killed sends through act, with a peer of a manner at first, and kills act
// before and after each of its calls in turn. Then the run is delivered again,
// each time later, to a peer that takes everything.
func killed(t *testing.T, open func(*testing.T, time.Duration) Kit, m Manner) {
	points := map[string]bool{}
	for at := 1; ; at++ {
		k := open(t, 0)
		k.script(m)
		r := recipe(t, k.Action)
		in := act.Input{Envelope: envelope(fmt.Sprint("killed ", m, at)), Structure: []byte(`{"kind":"go"}`)}
		now := noon
		n, dead := 0, ""
		step := func(name string) {
			points[name] = true
			if n++; n == at {
				dead = name
				runtime.Goexit()
			}
		}
		kept := &ledger{}
		deliver := func(step func(string)) act.Output {
			h := handler(r, k.Sink, k.Action(plan.NewTarget(event, nil)).Kind(), kept, func() time.Time { return now }, step)
			if err := h.Check(); err != nil {
				t.Error(err)
			}
			h.Admit(context.Background(), act.AdmitInput{Envelope: in.Envelope})
			return h.Act(context.Background(), in)
		}
		var out act.Output
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			out = deliver(step)
		}()
		<-ended
		if dead == "" && out.Code == pipeline.OutcomeUnknown && k.certain(m) != act.Unsure {
			t.Errorf("%s, and the run is %s %s", m, out.Status, out.Code)
		}
		for range 4 {
			now = now.Add(2 * act.Lease)
			out = deliver(func(string) {})
		}
		key := act.IdempotencyKey(in.Envelope.Run, 0)
		performed := k.Count(key)
		switch {
		case performed > 1, len(kept.receipts) != 1, !ends(k, m, performed, out.Code):
			t.Errorf("killed %s: %s %s, performed %d times, %d receipts", dead, out.Status, out.Code, performed, len(kept.receipts))
		case out.Code == pipeline.OK && performed != 1, out.Code == pipeline.SinkRefused && performed != 0:
			t.Errorf("killed %s: %s %s, and performed %d times", dead, out.Status, out.Code, performed)
		}
		if said := fmt.Sprintf("%+v %+v", kept.receipts, out); strings.Contains(said, "zz9") {
			t.Errorf("killed %s: the peer's words in %s", dead, said)
		}
		if dead == "" {
			break
		}
	}
	for _, call := range []string{"commit", "claimed to sent", "send"} {
		for _, side := range []string{"before ", "after "} {
			if !points[side+call] {
				t.Errorf("no kill %s%s", side, call)
			}
		}
	}
}
