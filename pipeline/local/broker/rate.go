package broker

import (
	"context"
	"time"
)

// clock is the time a rate is kept by; tests have their own.
type clock interface {
	Now() time.Time
	// Wait returns when d has passed, or with ctx's error when that ends first.
	Wait(ctx context.Context, d time.Duration) error
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }

func (systemClock) Wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// rate is a token bucket for one reader. full is when the bucket will be full again: each token taken moves it by every.
type rate struct {
	clock clock
	burst int
	every time.Duration
	full  time.Time
}

func (b *Broker) rate() *rate {
	r := &rate{clock: b.clock, burst: b.Burst, every: cmpOr(b.Every, DefaultEvery)}
	if r.clock == nil {
		r.clock = systemClock{}
	}
	if r.burst == 0 {
		r.burst = DefaultBurst
	}
	return r
}

// take waits until a token is there and takes it.
func (r *rate) take(ctx context.Context) error {
	now := r.clock.Now()
	if r.full.Before(now) {
		r.full = now
	}
	r.full = r.full.Add(r.every)
	if wait := r.full.Sub(now) - time.Duration(r.burst)*r.every; wait > 0 {
		return r.clock.Wait(ctx, wait)
	}
	return ctx.Err()
}
