package act

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"decant.dev/act/plan"
	"decant.dev/act/table"
	"decant.dev/pipeline"
)

// peer is what is behind a sink: it counts what was performed for each key.
type peer struct {
	mu        sync.Mutex
	performed map[string]int
	mute      bool // it cannot be asked
	clock     func() time.Time
	manner    func(attempt int) manner // how it takes the nth call
	calls     int
	late      []func() // effects of calls that were given up, still to come
}

// manner is how a peer takes one Send.
type manner int

const (
	takes   manner = iota // performs, and says so
	forgets               // performs, and the answer is lost
	drops                 // does not perform, and nobody knows
	busy                  // says that it did not perform
	rejects               // says that it never will
	lags                  // is given up, and performs later
	manners
)

func (p *peer) perform(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.performed[key]++
}

func (p *peer) count(key string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.performed[key]
}

// asking is a sink before a peer; step is called before and after each call.
type asking struct {
	*peer
	step func(string)
}

func (asking) Limit() time.Duration { return MaxSinkTime }

func (s asking) Send(_ context.Context, j Job) Answer {
	begun := s.clock()
	s.step("before send")
	defer s.step("after send")
	if s.clock().Sub(begun) > MaxSinkTime {
		return Answer{} // its context is over
	}
	s.mu.Lock()
	s.calls++
	m := s.manner(s.calls)
	s.mu.Unlock()
	switch m {
	case takes:
		s.perform(j.Key)
		return Answer{Verdict: Performed, Word: "created", Remote: "17"}
	case forgets:
		s.perform(j.Key)
		return Answer{}
	case busy:
		return Answer{Verdict: NotPerformed, Word: "busy"}
	case rejects:
		return Answer{Verdict: Rejected, Word: "gone"}
	case lags:
		s.mu.Lock()
		s.late = append(s.late, func() { s.perform(j.Key) })
		s.mu.Unlock()
		return Answer{}
	default:
		return Answer{}
	}
}

func (s asking) Find(_ context.Context, j Job) Answer {
	s.step("before find")
	defer s.step("after find")
	switch {
	case s.mute:
		return Answer{}
	case s.count(j.Key) > 0:
		return Answer{Verdict: Performed, Word: "found"}
	default:
		return Answer{Verdict: NotPerformed}
	}
}

// stepping is a ledger whose calls can be stopped before and after.
type stepping struct {
	Ledger
	step func(string)
}

func (l stepping) Receipts(ctx context.Context, run string) ([]Receipt, error) {
	l.step("before receipts")
	defer l.step("after receipts")
	return l.Ledger.Receipts(ctx, run)
}

func (l stepping) Commit(ctx context.Context, r []Receipt, w []table.Write) ([]Receipt, bool, error) {
	l.step("before commit")
	defer l.step("after commit")
	return l.Ledger.Commit(ctx, r, w)
}

func (l stepping) Advance(ctx context.Context, from, to Receipt) (bool, error) {
	name := fmt.Sprintf("%s to %s", from.State, to.State)
	l.step("before " + name)
	defer l.step("after " + name)
	return l.Ledger.Advance(ctx, from, to)
}

// worker is act on a ledger and a peer, stopped at each of their calls.
func worker(h *Handler, m *memory, p *peer, step func(string)) *Handler {
	mine := *h
	mine.Ledger = stepping{m, step}
	mine.Sinks = map[plan.Kind]Sink{plan.KindGitHubLabel: asking{p, step}}
	mine.Sleep = func(context.Context, time.Duration) error { return nil }
	return &mine
}

const labelled = `{"kind":"label","parts":[]}` // a row, and a label over the network

var labelledReceipts = 2

// A run is killed before and after every call that act makes, and delivered
// again: it ends done, with one row and one label. Every call has its kill.
func TestKilledAtEveryCallPerformsOnce(t *testing.T) {
	t.Parallel()
	for _, m := range []manner{takes, forgets, drops, busy} {
		points := map[string]bool{}
		for at := 1; ; at++ {
			h, ledger := handlerOf(listed(t, spec()), true)
			now := noon
			h.Clock = func() time.Time { return now }
			p := &peer{performed: map[string]int{}, clock: h.Clock, manner: func(n int) manner {
				if n == 1 {
					return m
				}
				return takes
			}}
			in := input("own.words", maintainer, labelled)
			n, killed := 0, ""
			done := make(chan struct{})
			go func() {
				defer close(done)
				run(t, worker(h, ledger, p, func(name string) {
					points[name] = true
					if n++; n == at {
						killed = name
						runtime.Goexit()
					}
				}), in)
			}()
			<-done
			var out Output
			for range 4 { // redelivered, each time later
				now = now.Add(Lease)
				out = run(t, worker(h, ledger, p, func(string) {}), in)
			}
			key := IdempotencyKey(in.Envelope.Run, 1)
			if out.Status != pipeline.Done || p.performed[key] != 1 || len(ledger.rows) != 1 || len(ledger.all()) != labelledReceipts {
				t.Errorf("manner %d, killed %s: %s %s, performed %d times, %d rows, %d receipts", m, killed, out.Status, out.Code, p.performed[key], len(ledger.rows), len(ledger.all()))
			}
			if killed == "" {
				break
			}
		}
		for _, call := range []string{"commit", "claimed to sent", "send", "sent to " + map[manner]string{takes: "done", forgets: "unknown", drops: "unknown", busy: "claimed"}[m]} {
			for _, side := range []string{"before ", "after "} {
				if !points[side+call] {
					t.Errorf("manner %d: no kill %s%s", m, side, call)
				}
			}
		}
	}
}

// Two workers, crashes, redeliveries, stalls and a peer of every manner, in
// drawn schedules: whatever happens the action is performed at most once; and
// once the peer answers and can be asked, exactly once, with its receipt done.
func TestAnyScheduleOfTwoWorkersPerformsOnce(t *testing.T) {
	t.Parallel()
	recipe := listed(t, spec())
	in := input("own.words", maintainer, labelled)
	key := IdempotencyKey(in.Envelope.Run, 1)
	schedules := 10_000
	if underRace {
		schedules = 1000
	}
	for range schedules / 100 { // rapid draws a hundred, unless it is told otherwise
		anySchedule(t, recipe, in, key)
	}
}

func anySchedule(t *testing.T, recipe *pipeline.Recipe, in Input, key string) {
	rapid.Check(t, func(t *rapid.T) {
		h, ledger := handlerOf(recipe, true)
		var mu sync.Mutex
		now := noon
		h.Clock = func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
		p := &peer{performed: map[string]int{}, clock: h.Clock, mute: rapid.Bool().Draw(t, "mute")}
		taken := rapid.SliceOfN(rapid.IntRange(0, int(manners)-1), 12, 12).Draw(t, "manners")
		p.manner = func(n int) manner { return manner(taken[(n-1)%len(taken)]) }
		rejected := slices.Contains(taken, int(rejects))
		type process struct {
			at, goes chan struct{}
			crash    bool
		}
		var alive []*process
		begin := func() {
			w := &process{at: make(chan struct{}), goes: make(chan struct{})}
			alive = append(alive, w)
			step := func(string) {
				w.at <- struct{}{}
				<-w.goes
				if w.crash {
					runtime.Goexit()
				}
			}
			go func() {
				defer close(w.at)
				mine := worker(h, ledger, p, step)
				mine.Admit(context.Background(), AdmitInput{Envelope: in.Envelope})
				mine.Act(context.Background(), in)
			}()
		}
		settled := func(w *process) bool { _, open := <-w.at; return !open }
		landed := func() {
			p.mu.Lock()
			late := p.late
			p.late = nil
			p.mu.Unlock()
			for _, effect := range late {
				effect()
			}
		}
		for range rapid.IntRange(4, 40).Draw(t, "turns") {
			switch what := rapid.IntRange(0, 9).Draw(t, "what"); {
			case len(alive) < 2 && (what < 3 || len(alive) == 0):
				begin()
				if w := alive[len(alive)-1]; settled(w) {
					alive = alive[:len(alive)-1]
				}
			case what == 9:
				landed() // no effect comes later than a sink's limit
				mu.Lock()
				now = now.Add(time.Duration(rapid.IntRange(1, 90).Draw(t, "seconds")) * time.Second)
				mu.Unlock()
			default:
				i := rapid.IntRange(0, len(alive)-1).Draw(t, "who")
				alive[i].crash = what == 8
				alive[i].goes <- struct{}{}
				if settled(alive[i]) {
					alive = slices.Delete(alive, i, i+1)
				}
			}
			if n := p.count(key); n > 1 {
				t.Fatalf("performed %d times", n)
			}
		}
		for _, w := range alive { // the machine loses power
			w.crash = true
			w.goes <- struct{}{}
			for !settled(w) {
				w.goes <- struct{}{}
			}
		}
		landed()
		p.manner = func(int) manner { return takes }
		var out Output
		for range 5 {
			mu.Lock()
			now = now.Add(2 * Lease)
			mu.Unlock()
			h.Admit(context.Background(), AdmitInput{Envelope: in.Envelope})
			out = worker(h, ledger, p, func(string) {}).Act(context.Background(), in)
		}
		n := p.count(key)
		switch {
		case n > 1:
			t.Fatalf("performed %d times", n)
		case out.Status == pipeline.Done && n != 1:
			t.Fatalf("done, and performed %d times", n)
		case out.Code == pipeline.SinkRefused && (n != 0 || !rejected):
			t.Fatalf("refused, and performed %d times", n)
		case !p.mute && out.Status != pipeline.Done && out.Code != pipeline.SinkRefused:
			t.Fatalf("a peer that answers left the run %s %s", out.Status, out.Code)
		case p.mute && !slices.Contains([]pipeline.Code{pipeline.OK, pipeline.SinkRefused, pipeline.OutcomeUnknown}, out.Code):
			t.Fatalf("a peer that cannot be asked left the run %s %s", out.Status, out.Code)
		case len(ledger.rows) != 1 || len(ledger.all()) != labelledReceipts:
			t.Fatalf("%d rows, %d receipts", len(ledger.rows), len(ledger.all()))
		}
	})
}
