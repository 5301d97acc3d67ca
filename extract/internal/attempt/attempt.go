// Package attempt asks a model's endpoint again where that may help, within
// a time for each attempt and one for all of them.
//
// The threat is an endpoint that hangs, trickles, fails now and then or says
// that it is to be asked much later: whatever it does, the question ends in
// time, with an answer or an error. Which failures may be asked again is the
// caller's to say, by wrapping them in Again; no other is.
//
// Not promised: that an attempt that was given up is not charged for.
package attempt

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// The defaults of Times, and the bounds of a policy. Total stays below what an
// engine gives the extract phase for one run, correction and all.
const (
	DefaultEach  = 40 * time.Second
	DefaultTotal = 50 * time.Second
	MaxTotal     = 10 * time.Minute

	Attempts = 3 // the first and two more

	firstWait = 500 * time.Millisecond // the most that is waited before the second attempt; doubles
	MaxWait   = 20 * time.Second       // the longest wait that an endpoint may ask for
)

// Times bound one question.
type Times struct {
	Each  time.Duration // for one attempt, to the last byte of its answer; 0 is DefaultEach, or Total where that is less
	Total time.Duration // for all attempts and the waits between them; 0 is DefaultTotal
}

// Complete puts the defaults in, and refuses times that bound nothing.
func (t Times) Complete() (Times, error) {
	if t.Total == 0 {
		t.Total = DefaultTotal
	}
	if t.Each == 0 {
		t.Each = min(DefaultEach, t.Total)
	}
	if t.Each < 0 || t.Total < t.Each || t.Total > MaxTotal {
		return Times{}, fmt.Errorf("times: want 0 < Each <= Total <= %s, got %s and %s", MaxTotal, t.Each, t.Total)
	}
	return t, nil
}

// Again marks a failure after which asking again may help, but not before
// After. It says no more than what it wraps.
type Again struct {
	Err   error
	After time.Duration
}

// Error is the wrapped error's.
func (a *Again) Error() string { return a.Err.Error() }

// Unwrap is the wrapped error.
func (a *Again) Unwrap() error { return a.Err }

// The errors of this package.
var (
	ErrTimeout = errors.New("no answer in time")
	ErrLarge   = errors.New("answer exceeds its limit")
	ErrForm    = errors.New("answer is not JSON")
)

// Do asks until ask succeeds, fails with an error that is no Again, or has
// been asked Attempts times. An attempt whose own time ran out is asked again.
// Between attempts it waits by "full jitter" (a random part of a bound that
// doubles: aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter),
// and at least as long as the endpoint asked for, or not at all where that is
// longer than MaxWait or than there is time left.
//
// The error is ErrTimeout, or the last that ask gave, or that of ctx.
func Do(ctx context.Context, t Times, ask func(context.Context) error) error {
	end := time.Now().Add(t.Total)
	all, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	for n := 1; ; n++ {
		err := once(all, t.Each, ask)
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case all.Err() != nil:
			return ErrTimeout
		}
		var again *Again
		if !errors.As(err, &again) {
			return err
		}
		wait := max(again.After, rand.N(firstWait<<(n-1)+1))
		if n == Attempts || wait > MaxWait || time.Now().Add(wait).After(end) {
			return again.Err
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-all.Done():
			timer.Stop()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// once is one attempt; one that ran out of its own time may be made again.
func once(ctx context.Context, each time.Duration, ask func(context.Context) error) error {
	one, cancel := context.WithTimeout(ctx, each)
	defer cancel()
	err := ask(one)
	if err != nil && one.Err() != nil && ctx.Err() == nil {
		return &Again{Err: ErrTimeout}
	}
	return err
}

// Transient reports whether a status of HTTP says that asking again may help.
// It never does for a request that the endpoint refused.
func Transient(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	default:
		return false
	}
}

// After reads a Retry-After in seconds (RFC 9110, section 10.2.3): 0 where
// there is none, more than MaxWait where it is a date or no number, since an
// endpoint that wants to be left alone is.
func After(h http.Header) time.Duration {
	s := strings.TrimSpace(h.Get("Retry-After"))
	if s == "" {
		return 0
	}
	n, err := strconv.ParseUint(s, 10, 31)
	if err != nil {
		return MaxWait + 1
	}
	return time.Duration(n) * time.Second
}

// Client is a copy of c that follows no redirect, keeps no cookie and leaves
// the time to Do. A nil c stands for one that reaches hosts alone, each
// "host:port", through no proxy.
func Client(c *http.Client, hosts []string) *http.Client {
	if c == nil {
		c = &http.Client{Transport: pinned(hosts)}
	}
	own := *c
	own.Jar, own.Timeout = nil, 0
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}

// JSON refuses an answer that does not say it is JSON.
func JSON(h http.Header) error {
	media, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return ErrForm
	}
	return nil
}

// Body is a body that ends with ErrLarge at the first byte beyond most.
func Body(body io.ReadCloser, most int64) io.ReadCloser { return &bounded{body, most} }

type bounded struct {
	body io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), ErrLarge
	}
	b.left -= int64(n)
	return n, err
}

func (b *bounded) Close() error { return b.body.Close() }
