package local

import (
	"context"
	"sync"

	"decant.dev/pipeline"
)

// maxTogether bounds how many questions act is asked at once.
const maxTogether = 64

// asker puts questions to the act child. While it waits for an answer, the
// questions that come gather and are the next request: one is in flight, and
// what it writes shares a commit.
type asker struct {
	phase   *phase
	waiting chan waiter
	stop    context.CancelFunc
	stopped <-chan struct{}
	idle    sync.WaitGroup
}

type waiter struct {
	question question
	answer   chan answer // holds one
}

func newAsker(p *phase) *asker {
	ctx, stop := context.WithCancel(context.Background())
	a := &asker{phase: p, waiting: make(chan waiter, maxTogether), stop: stop, stopped: ctx.Done()}
	a.idle.Go(func() { a.run(ctx) })
	return a
}

// ask waits for the answer to one question.
func (a *asker) ask(ctx context.Context, q question) answer {
	w := waiter{q, make(chan answer, 1)}
	select {
	case a.waiting <- w:
		select {
		case got := <-w.answer:
			return got
		case <-ctx.Done():
		case <-a.stopped:
		}
	case <-ctx.Done():
	case <-a.stopped:
	}
	return answer{Run: q.Run, Code: pipeline.Stopped}
}

func (a *asker) run(ctx context.Context) {
	for {
		var together []waiter
		select {
		case w := <-a.waiting:
			together = append(together, w)
		case <-ctx.Done():
			return
		}
	gather:
		for len(together) < maxTogether {
			select {
			case w := <-a.waiting:
				together = append(together, w)
			default:
				break gather
			}
		}
		if !a.put(ctx, together) && len(together) > 1 && ctx.Err() == nil {
			for _, w := range together { // one of them may have ended the child: ask each alone
				a.put(ctx, []waiter{w})
			}
		}
	}
}

// put asks once and hands out the answers. It reports false, and answers
// nothing unless it was asked for one, where the child did not answer.
func (a *asker) put(ctx context.Context, together []waiter) bool {
	q := request{Acts: make([]question, len(together))}
	for i, w := range together {
		q.Acts[i] = w.question
	}
	r, code := a.phase.call(ctx, q)
	if code != pipeline.OK {
		if len(together) == 1 {
			together[0].answer <- answer{Run: together[0].question.Run, Code: code}
		}
		return false
	}
	for i, w := range together {
		w.answer <- r.acts[i]
	}
	return true
}

// close ends the asker and its child.
func (a *asker) close() {
	a.stop()
	a.idle.Wait()
	a.phase.close()
}
