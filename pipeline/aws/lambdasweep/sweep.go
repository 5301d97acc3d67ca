// Package lambdasweep is the Lambda entry of the sweep, which finds runs that
// were stored and not started, and starts them.
//
// The ingress writes a marker with a run's envelope before it stores the body,
// and starts the run after that. Where it dies in between, the marker is left
// beside a body and without a record. The sweep looks at markers old enough to
// be nobody's any more: one whose run has a record is removed, one that has a
// body is started, and one without a body, whose delivery was never accepted,
// is left for the bucket's lifecycle. It reads no body.
package lambdasweep

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/bucket"
	"decant.dev/pipeline/aws/environment"
	"decant.dev/pipeline/aws/execution"
	"decant.dev/pipeline/aws/function"
	"decant.dev/pipeline/aws/runs"
)

// Bounds of one sweep.
const (
	MinAge     = 2 * time.Minute // of a marker: longer than any invocation of the ingress
	MaxMarkers = 50_000          // looked at; the next sweep goes on with those that are left
	together   = 16              // looked at at a time
	reserve    = 5 * time.Second // of the invocation's time, kept for the answer
)

// Main serves sweeps. It does not return.
func Main() {
	env, err := environment.Read(os.LookupEnv, environment.RawBucket, environment.ExpectedOwner, environment.RunsTable, environment.StateMachine, environment.BatchMachine)
	if err != nil {
		function.Exit(err)
	}
	region, endpoint := env.Get(environment.Region), env.Get(environment.Endpoint)
	store := bucket.Open(region, endpoint, env.Get(environment.RawBucket), env.Get(environment.ExpectedOwner))
	machines := execution.Open(region, endpoint)
	h, err := New(Config{
		Markers: store,
		Starts:  func(recipe string) Starts { return store.Starts(recipe) },
		Bodies:  func(recipe string) Bodies { return store.Raw(recipe) },
		Records: runs.Open(region, endpoint, env.Get(environment.RunsTable)),
		Runs:    machines.Machine(env.Get(environment.StateMachine)),
		Batches: machines.Machine(env.Get(environment.BatchMachine)),
		Clock:   time.Now,
	})
	if err != nil {
		function.Exit(err)
	}
	function.New(env, h.Handle).Start()
}

// Markers lists markers in the order of their keys, and removes them.
type Markers interface {
	Markers(ctx context.Context, after string) ([]bucket.Marker, error)
	RemoveMarker(ctx context.Context, key string) error
}

// Starts reads what a recipe's markers hold.
type Starts interface {
	Get(ctx context.Context, run string) ([]byte, bool, error)
}

// Bodies tells which of a recipe's runs have a body.
type Bodies interface {
	Has(ctx context.Context, run string) (bool, error)
}

// Records tells which runs have a record.
type Records interface {
	Has(ctx context.Context, run string) (bool, error)
}

// Starter starts runs; a run that exists is success.
type Starter interface {
	Start(ctx context.Context, env pipeline.Envelope) error
}

// Config is what a sweep is made of.
type Config struct {
	Markers Markers
	Starts  func(recipe string) Starts
	Bodies  func(recipe string) Bodies
	Records Records
	Runs    Starter
	Batches Starter
	Clock   func() time.Time
}

// Handler answers sweeps.
type Handler struct{ Config }

// New checks what a sweep is made of.
func New(c Config) (*Handler, error) {
	if c.Markers == nil || c.Starts == nil || c.Bodies == nil || c.Records == nil || c.Runs == nil || c.Batches == nil || c.Clock == nil {
		return nil, errors.New("sweep: want markers, starts, bodies, records, starters of runs and batches, and a clock")
	}
	return &Handler{c}, nil
}

// ending is what became of one marker.
type ending string

// The endings.
const (
	young     ending = "young"     // too new to be looked at
	settled   ending = "settled"   // its run has a record: removed
	started   ending = "started"   // its run was started
	bodiless  ending = "bodiless"  // left to the lifecycle
	malformed ending = "malformed" // its key or envelope is none: removed
	faulty    ending = "faulty"    // a service refused: left to the next sweep
)

// swept is the good answer: how many markers ended how. More is whether some
// were not looked at.
type swept struct {
	function.Verdict
	Markers map[ending]int `json:"markers"`
	More    bool           `json:"more"`
}

// Handle answers {} with one sweep. What is wrong with one marker is counted
// and stops no other.
func (h *Handler) Handle(ctx context.Context, payload []byte) (function.Reply, error) {
	if _, err := function.Decode[struct{}](payload); err != nil {
		return function.Reply{}, err
	}
	if d, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, d.Add(-reserve))
		defer cancel()
	}
	out := swept{function.Good, map[ending]int{}, false}
	for seen, after := 0, ""; ; {
		page, err := h.Markers.Markers(ctx, after)
		if err != nil && ctx.Err() == nil {
			return function.Reply{}, err
		}
		if len(page) == 0 || err != nil {
			out.More = err != nil
			break
		}
		if seen >= MaxMarkers || ctx.Err() != nil {
			out.More = true
			break
		}
		for _, e := range h.each(ctx, page) {
			out.Markers[e]++
		}
		seen, after = seen+len(page), page[len(page)-1].Key
	}
	reply := function.Reply{Answer: out}
	for _, e := range []ending{young, settled, started, bodiless, malformed, faulty} {
		if n := out.Markers[e]; n > 0 {
			reply.Counts = append(reply.Counts, function.Count{Name: "Markers", Dimension: "ending", Value: string(e), Times: n})
		}
	}
	return reply, nil
}

// each looks at the markers of a page, some at a time.
func (h *Handler) each(ctx context.Context, page []bucket.Marker) []ending {
	endings := make([]ending, len(page))
	limit := make(chan struct{}, together)
	var looking sync.WaitGroup
	for i, m := range page {
		limit <- struct{}{}
		looking.Go(func() {
			defer func() { <-limit }()
			endings[i] = h.guarded(ctx, m)
		})
	}
	looking.Wait()
	return endings
}

func (h *Handler) guarded(ctx context.Context, m bucket.Marker) (e ending) {
	defer func() {
		if recover() != nil {
			e = faulty
		}
	}()
	return h.marker(ctx, m)
}

// marker decides about one marker.
func (h *Handler) marker(ctx context.Context, m bucket.Marker) ending {
	if h.Clock().Sub(m.At) < MinAge {
		return young
	}
	if m.Run == "" {
		return h.remove(ctx, m, malformed)
	}
	recorded, err := h.Records.Has(ctx, m.Run)
	if err != nil {
		return faulty
	}
	if recorded {
		return h.remove(ctx, m, settled)
	}
	b, found, err := h.Starts(m.Recipe).Get(ctx, m.Run)
	switch {
	case err != nil:
		return faulty
	case !found:
		return settled // another sweep removed it
	}
	env, err := pipeline.DecodeEnvelope(b)
	if err != nil || env.Run != m.Run || env.Recipe != m.Recipe {
		return h.remove(ctx, m, malformed)
	}
	stored, err := h.Bodies(m.Recipe).Has(ctx, m.Run)
	switch {
	case err != nil:
		return faulty
	case !stored:
		return bodiless
	}
	on := h.Runs
	if env.Source == pipeline.TickSource && env.Item == "" {
		on = h.Batches
	}
	if on.Start(ctx, env) != nil {
		return faulty
	}
	return started
}

func (h *Handler) remove(ctx context.Context, m bucket.Marker, e ending) ending {
	if h.Markers.RemoveMarker(ctx, m.Key) != nil {
		return faulty
	}
	return e
}
