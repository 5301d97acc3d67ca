package local

import (
	"context"

	"decant.dev/events"
	"decant.dev/pipeline"
)

// Begun is a run that is durable and under way.
type Begun struct {
	Run   string
	Again bool // it was under way before, on account of the same bytes

	attempt *attempt
}

// Wait returns the run's result once it is over.
func (b Begun) Wait() Result {
	<-b.attempt.over
	return b.attempt.result
}

// Accept begins a run for each recipe that handles a delivery, and returns as
// soon as each is durable, or is over. The runs go on until they end, or until
// ctx does. A code means that no recipe handles the event, or that a run could
// not be made durable; others of the delivery may have begun all the same.
func (e *Engine) Accept(ctx context.Context, d events.Delivery) ([]Begun, pipeline.Code) {
	var all []Begun
	for _, p := range e.handling(d) {
		env := e.envelope(p, d)
		mine := newAttempt()
		other, busy := e.running.LoadOrStore(env.Run, mine)
		one := Begun{Run: env.Run, Again: busy, attempt: other.(*attempt)}
		if !busy {
			go e.carry(env.Run, mine, func(mine *attempt) Result { return e.attempt(ctx, mine, p, env, d.Body) })
		}
		all = append(all, one)
	}
	if len(all) == 0 {
		return nil, pipeline.UnhandledEvent
	}
	code := pipeline.OK
	for _, one := range all {
		select {
		case <-one.attempt.begun:
		case <-one.attempt.over:
			if r := one.attempt.result.Reason; r == pipeline.StoreFailed || r == pipeline.Stopped {
				code = r
			}
		}
	}
	return all, code
}
