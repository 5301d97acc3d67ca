package local

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"testing"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/pipeline"
)

// poisoned makes this test binary's act child one that ends at some questions.
const poisoned = "DECANT_TEST_POISON"

func init() { entries = append(entries, poisonedAct) }

// poisonedAct admits every run, but ends its process where one is called
// "dies", answers for another where one is called "lies", and answers one
// called "panics" with a code.
func poisonedAct() bool {
	return os.Getenv(poisoned) != "" && childWith(map[string]builder{
		phaseAct: func(childConfig, *http.Client) (handler, error) {
			return func(_ context.Context, q request) (any, pipeline.Code) {
				all := make([]answer, len(q.Acts))
				for i, one := range q.Acts {
					all[i] = answer{Run: one.Run, Admit: &act.Admission{Label: plan.Unverified}}
					switch one.Run {
					case "dies":
						os.Exit(9)
					case "lies":
						all[i].Run = "another"
					case "panics":
						all[i] = answer{Run: one.Run, Code: pipeline.PhasePanic}
					}
				}
				return all, pipeline.OK
			}, nil
		},
	})
}

// askerOf is an asker for a poisoned child, with questions that wait before
// it begins.
func askerOf(t *testing.T, runs []string) (*asker, []waiter) {
	t.Helper()
	e := openEngine(t, Config{})
	p := e.act.phase
	p.env = append(slices.Clone(p.env), poisoned+"=1")
	ctx, stop := context.WithCancel(context.Background())
	a := &asker{phase: p, waiting: make(chan waiter, maxTogether), stop: stop, stopped: ctx.Done()}
	var waiters []waiter
	for _, run := range runs {
		w := waiter{question{Run: run, Admit: &act.AdmitInput{}}, make(chan answer, 1)}
		waiters = append(waiters, w)
		a.waiting <- w
	}
	a.idle.Go(func() { a.run(ctx) })
	t.Cleanup(func() {
		a.stop()
		a.idle.Wait()
	})
	return a, waiters
}

// One question that ends the child, or makes it answer for another run, ends
// alone: all that waited with it are answered, wherever it stood among them.
func TestQuestionThatEndsTheChildEndsAlone(t *testing.T) {
	t.Parallel()
	for poison, want := range map[string]pipeline.Code{"dies": pipeline.PhaseDied, "lies": pipeline.PhaseMisbehave, "panics": pipeline.PhasePanic} {
		for _, at := range []int{0, 3, 6} {
			t.Run(fmt.Sprintf("%s at %d", poison, at), func(t *testing.T) {
				t.Parallel()
				var runs []string
				for i := range 7 {
					runs = append(runs, fmt.Sprintf("r%d", i))
				}
				runs[at] = poison
				a, waiters := askerOf(t, runs)
				for i, w := range waiters {
					got := <-w.answer
					switch {
					case got.Run != runs[i]:
						t.Errorf("question %d about %s: answered about %s", i, runs[i], got.Run)
					case i == at && (got.Code != want || got.Admit != nil):
						t.Errorf("the poison: got %q, want %q", got.Code, want)
					case i != at && (got.Code != pipeline.OK || got.Admit == nil || got.Admit.Label != plan.Unverified):
						t.Errorf("question %d: got %q, want an admission", i, got.Code)
					}
				}
				if got := a.ask(context.Background(), question{Run: "later", Admit: &act.AdmitInput{}}); got.Code != pipeline.OK || got.Run != "later" {
					t.Errorf("a later question: %q about %s", got.Code, got.Run)
				}
			})
		}
	}
}

// More than can be asked at once are all answered, each about its own run.
func TestMoreThanOneBatchIsAnswered(t *testing.T) {
	t.Parallel()
	a, _ := askerOf(t, nil)
	answers := make(chan answer)
	const many = 3*maxTogether + 7
	for i := range many {
		go func() {
			run := fmt.Sprintf("r%d", i)
			got := a.ask(context.Background(), question{Run: run, Admit: &act.AdmitInput{}})
			if got.Run != run {
				t.Errorf("asked about %s, answered about %s", run, got.Run)
			}
			answers <- got
		}()
	}
	for range many {
		if got := <-answers; got.Code != pipeline.OK {
			t.Errorf("%s: %q", got.Run, got.Code)
		}
	}
}

func TestDoneContextStopsAQuestion(t *testing.T) {
	t.Parallel()
	a := &asker{waiting: make(chan waiter)} // nobody takes a question
	done, cancel := context.WithCancel(context.Background())
	cancel()
	if got := a.ask(done, question{Run: "r"}); got.Code != pipeline.Stopped || got.Run != "r" {
		t.Errorf("not taken: %+v", got)
	}
	a.waiting = make(chan waiter, 1) // or takes it and never answers
	if got := a.ask(done, question{Run: "r"}); got.Code != pipeline.Stopped || got.Run != "r" {
		t.Errorf("not answered: %+v", got)
	}
}

// A closed asker answers what it will not ask any more.
func TestClosedAskerAnswersStopped(t *testing.T) {
	t.Parallel()
	a, _ := askerOf(t, nil)
	a.close()
	for range 2 * maxTogether { // more than its queue holds
		if got := a.ask(context.Background(), question{Run: "r"}); got.Code != pipeline.Stopped {
			t.Fatalf("got %q, want %q", got.Code, pipeline.Stopped)
		}
	}
}
