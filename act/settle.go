package act

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"decant.dev/act/plan"
	"decant.dev/pipeline"
)

// settle carries the receipt of one networked action as far as it comes now,
// and returns it as it stands. Each step of it is one transaction:
//
//	claimed → sent → done | refused | unknown     unknown → done | claimed
//
// A job is sent by whoever moved its receipt to sent. A receipt that was left
// there, or that is unknown, is reconciled by asking the sink once nobody can
// be sending it any more, and is never sent again unless the sink says that it
// was not performed.
func (h *Handler) settle(ctx context.Context, j Job, r Receipt) (Receipt, error) {
	sink := h.Sinks[j.Kind]
	for range maxSends {
		var err error
		switch r.State {
		case Claimed:
			if !h.hasTime(ctx, sink) {
				return r, nil
			}
			var wait time.Duration
			if r, wait, err = h.send(ctx, sink, j, r); err != nil || r.State != Claimed {
				return r, err
			}
			if wait > maxWait || h.pause(ctx, wait) != nil {
				return r, nil
			}
		case Sent, Unknown:
			if h.Clock().Sub(r.At) < Lease || !h.hasTime(ctx, sink) {
				return r, nil // somebody may be sending it, or its peer be at it
			}
			if r, err = h.reconcile(ctx, sink, j, r); err != nil || r.State != Claimed {
				return r, err
			}
		default:
			return r, nil
		}
	}
	return r, nil
}

// Resolve is a person's word on an action whose receipt is unknown, or was left
// sent: that it was performed, that it was not and is to be sent again, or that
// it is to be let be.
func Resolve(ctx context.Context, l Ledger, run string, index int, v Verdict, now time.Time) (Receipt, error) {
	all, err := l.Receipts(ctx, run)
	if err != nil {
		return Receipt{}, err
	}
	for _, r := range all {
		if r.Index != index {
			continue
		}
		if r.State != Unknown && (r.State != Sent || now.Sub(r.At) < Lease) {
			return r, fmt.Errorf("action %d is %s: want one that is unknown, or was sent and left", index, r.State)
		}
		to := r
		to.At, to.Outcome = now.UTC(), "resolved"
		switch v {
		case Performed:
			to.State = Done
		case NotPerformed:
			to.State = Claimed
		case Rejected:
			to.State = Refused
		default:
			return r, fmt.Errorf("want a verdict")
		}
		ok, err := l.Advance(ctx, r, to)
		if err == nil && !ok {
			err = fmt.Errorf("action %d was settled meanwhile", index)
		}
		return to, err
	}
	return Receipt{}, fmt.Errorf("action %d has no receipt", index)
}

// hasTime reports whether a call of the sink would end, and be recorded,
// before this question's deadline.
func (h *Handler) hasTime(ctx context.Context, sink Sink) bool {
	const record = 2 * time.Second
	deadline, ok := ctx.Deadline()
	return ctx.Err() == nil && (!ok || time.Until(deadline) >= sink.Limit()+record)
}

// pause waits before a job is sent once more.
func (h *Handler) pause(ctx context.Context, wait time.Duration) error {
	wait = max(wait, 200*time.Millisecond)
	return h.Sleep(ctx, wait+rand.N(wait/2+1))
}

// send moves a claimed receipt to sent, and sends its job.
func (h *Handler) send(ctx context.Context, sink Sink, j Job, claimed Receipt) (Receipt, time.Duration, error) {
	sent := claimed
	sent.State, sent.Outcome, sent.Attempt, sent.At = Sent, "", claimed.Attempt+1, h.now()
	if ok, err := h.Ledger.Advance(ctx, claimed, sent); err != nil || !ok {
		return h.standing(ctx, claimed, err)
	}
	a := Answer{Verdict: NotPerformed, Word: "held_up"}
	if h.Clock().Sub(sent.At) <= MaxSinkTime { // a process that was stopped for longer may have been taken over
		a = call(ctx, sink.Limit(), func(ctx context.Context) Answer { return sink.Send(ctx, j) })
	}
	r, err := h.record(ctx, sent, a)
	return r, a.After, err
}

// reconcile asks the sink what became of a job that nobody is sending.
func (h *Handler) reconcile(ctx context.Context, sink Sink, j Job, r Receipt) (Receipt, error) {
	if r.State == Sent {
		unknown := r
		unknown.State, unknown.At = Unknown, h.now()
		ok, err := h.Ledger.Advance(ctx, r, unknown)
		if err != nil || !ok {
			now, _, err := h.standing(ctx, r, err)
			return now, err
		}
		r = unknown
	}
	a := call(ctx, sink.Limit(), func(ctx context.Context) Answer { return sink.Find(ctx, j) })
	if a.Verdict == Unsure {
		return r, nil
	}
	return h.record(ctx, r, a)
}

// record moves a receipt to what the sink said of its job.
func (h *Handler) record(ctx context.Context, from Receipt, a Answer) (Receipt, error) {
	to := from
	to.At = h.now()
	switch a.Verdict {
	case Performed:
		to.State = Done
	case Rejected:
		to.State = Refused
	case NotPerformed:
		to.State = Claimed
	default:
		to.State = Unknown
	}
	if to.Outcome = a.Word; !wordForm.MatchString(to.Outcome) {
		to.Outcome = string(to.State)
	}
	if to.Remote = a.Remote; !remoteForm.MatchString(to.Remote) {
		to.Remote = ""
	}
	if ok, err := h.Ledger.Advance(ctx, from, to); err != nil || !ok {
		now, _, err := h.standing(ctx, from, err)
		return now, err
	}
	return to, nil
}

// standing is how a receipt stands that somebody else has moved meanwhile.
func (h *Handler) standing(ctx context.Context, r Receipt, err error) (Receipt, time.Duration, error) {
	if err != nil {
		return r, 0, err
	}
	all, err := h.Ledger.Receipts(ctx, r.Run)
	for _, now := range all {
		if now.Index == r.Index {
			if now.State == Claimed { // theirs to send
				now.State = Sent
			}
			return now, 0, err
		}
	}
	return r, 0, err
}

// call asks a sink within its limit. A sink that panics or is late has said
// nothing.
func call(ctx context.Context, limit time.Duration, ask func(context.Context) Answer) (a Answer) {
	defer func() {
		if recover() != nil {
			a = Answer{}
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return ask(ctx)
}

func (h *Handler) now() time.Time { return h.Clock().UTC() }

// networked reports whether a kind is performed by a sink over a network.
func (h *Handler) networked(k plan.Kind) bool { return h.Sinks[k] != nil }

// codeOf is what the states of a run's receipts come to: the worst of them.
func codeOf(receipts []Receipt) pipeline.Code {
	worst := pipeline.OK
	rank := map[pipeline.Code]int{pipeline.OK: 0, pipeline.SinkRefused: 1, pipeline.SinkUnavailable: 2, pipeline.InFlight: 3, pipeline.OutcomeUnknown: 4}
	for _, r := range receipts {
		c := pipeline.OutcomeUnknown
		switch r.State {
		case Done:
			c = pipeline.OK
		case Refused:
			c = pipeline.SinkRefused
		case Claimed:
			c = pipeline.SinkUnavailable
		case Sent:
			c = pipeline.InFlight
		}
		if rank[c] > rank[worst] {
			worst = c
		}
	}
	return worst
}
