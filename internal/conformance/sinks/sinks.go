// Package sinks says how a sink takes a peer that answers badly, as one suite
// that every sink passes: what is behind it is replaced by a peer that counts
// what was performed for each key and answers as a script says.
//
// The sink is asked alone, and then through act.Handler, which is killed
// before and after each call that it makes: whatever happens, nothing is
// performed twice, no run is lost, and a receipt stays unknown only where the
// sink cannot be asked.
package sinks

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/pipeline"
)

// Foreign stands in whatever a peer says. A sink that repeats it has repeated
// a stranger.
const Foreign = "zz9-foreign"

// Manner is how a peer takes one request that writes. The zero Manner is none.
type Manner int

// The manners.
const (
	Takes     Manner = iota + 1 // performs, and says so
	Forgets                     // performs, and hangs up
	Garbles                     // performs, and says what nobody can read
	Empties                     // performs, and says nothing
	Floods                      // performs, and never ends saying so
	Stalls                      // performs, and never answers
	Drops                       // hangs up, and does not perform
	Hangs                       // never answers, and does not perform
	Fails                       // says that it is broken, and does not perform
	Refuses                     // says that it will not
	Throttles                   // says when to come again
	Redirects                   // points elsewhere
)

// Manners lists every manner.
func Manners() []Manner {
	return []Manner{Takes, Forgets, Garbles, Empties, Floods, Stalls, Drops, Hangs, Fails, Refuses, Throttles, Redirects}
}

func (m Manner) String() string {
	return [...]string{"invalid", "takes", "forgets", "garbles", "empties", "floods", "stalls", "drops", "hangs", "fails", "refuses", "throttles", "redirects"}[m]
}

// performs reports whether a peer of a manner performs.
func (m Manner) performs() bool { return m >= Takes && m <= Stalls }

// silent reports whether a sink waits for such a peer until its limit.
func (m Manner) silent() bool { return m == Stalls || m == Hangs || m == Floods }

// certain is what a sink may say of a request that was taken so.
func (m Manner) certain() act.Verdict {
	switch m {
	case Takes:
		return act.Performed
	case Refuses, Redirects:
		return act.Rejected
	case Throttles:
		return act.NotPerformed
	default:
		return act.Unsure
	}
}

// Asking is what a sink can answer when it is asked later.
type Asking int

// How a sink answers Find. The zero Asking is none.
const (
	Sees    Asking = iota + 1 // what was performed, and what certainly was not
	Repeats                   // that a job may be sent again, since the peer performs a key once
	Cannot                    // nothing
	Finds                     // what was performed, while it is there
)

// Kit is one sink before its peer.
type Kit struct {
	Sink   act.Sink
	Action func(plan.Target) plan.Action
	// Script sets how the peer takes the nth request that writes, from 1 on,
	// and how it takes all requests that ask. Nil for a sink without a peer.
	Script func(writes func(n int) Manner, asks Manner)
	// Count is how often a job's key was performed.
	Count func(key string) int
	// Lost makes that no connection can be made from now on.
	Lost   func()
	Asking Asking
	// Once is true where a job that is sent twice is performed once.
	Once bool
	// Manners are those that the peer can take; nil is all.
	Manners []Manner
	// Certain is where the sink knows another verdict than Manner says.
	Certain map[Manner]act.Verdict
	// After is how long the peer asks to wait; zero leaves it to the sink.
	After time.Duration
}

// Patience is how long the suite waits for a peer that never answers, and the
// limit of a sink that has to keep it by itself.
const Patience = 300 * time.Millisecond

// within asks with the suite's patience where a peer of a manner never answers.
func within(m Manner, ask func(context.Context, act.Job) act.Answer, j act.Job) act.Answer {
	ctx := context.Background()
	if m.silent() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, Patience)
		defer cancel()
	}
	return ask(ctx, j)
}

// Run runs the suite. open makes a kit whose sink has a limit; zero is the
// sink's own.
func Run(t *testing.T, open func(t *testing.T, limit time.Duration) Kit) {
	sample := open(t, 0)
	if sample.Sink.Limit() <= 0 || sample.Sink.Limit() > act.MaxSinkTime {
		t.Errorf("limit %s: want above 0, at most %s", sample.Sink.Limit(), act.MaxSinkTime)
	}
	all := sample.Manners
	if all == nil {
		all = Manners()
	}
	for _, m := range all {
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			one(t, open(t, 0), m)
		})
		if !m.silent() {
			t.Run("killed/"+m.String(), func(t *testing.T) { t.Parallel(); killed(t, open, m) })
		}
		if sample.Script != nil && (sample.Asking == Sees || sample.Asking == Finds) && m != Takes {
			t.Run("asked/"+m.String(), func(t *testing.T) {
				t.Parallel()
				asked(t, open(t, 0), m)
			})
		}
	}
	t.Run("limit", func(t *testing.T) { t.Parallel(); limited(t, open(t, Patience)) })
	t.Run("twice", func(t *testing.T) { t.Parallel(); twice(t, open(t, 0)) })
	t.Run("lost", func(t *testing.T) { t.Parallel(); lost(t, open(t, 0)) })
	t.Run("others", func(t *testing.T) { t.Parallel(); others(t, open(t, 0)) })
}

func (k Kit) script(first Manner) {
	if k.Script != nil {
		k.Script(func(n int) Manner {
			if n == 1 {
				return first
			}
			return Takes
		}, Takes)
	}
}

// certain is what the sink must say of a peer of a manner.
func (k Kit) certain(m Manner) act.Verdict {
	if v, ok := k.Certain[m]; ok {
		return v
	}
	return m.certain()
}

var (
	wordForm   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
	remoteForm = regexp.MustCompile(`^[A-Za-z0-9_-]{0,64}$`)
)

// plain fails where an answer holds what a peer said.
func plain(t *testing.T, a act.Answer) {
	t.Helper()
	if a.Verdict == act.Unsure && a == (act.Answer{}) {
		return
	}
	if !wordForm.MatchString(a.Word) || !remoteForm.MatchString(a.Remote) || strings.Contains(a.Word+a.Remote, "zz9") {
		t.Errorf("answer %+v: want a word and an id of their forms, and nothing of the peer's", a)
	}
	if a.After < 0 || a.After > 24*time.Hour || a.After > 0 && a.Verdict != act.NotPerformed {
		t.Errorf("answer %+v: want a wait with a job that may be sent again, of a day at most", a)
	}
}

// one sends a job to a peer of a manner, and asks it afterwards.
func one(t *testing.T, k Kit, m Manner) {
	k.script(m)
	j := job(t, k, "one")
	a := within(m, k.Sink.Send, j)
	plain(t, a)
	if want := k.certain(m); a.Verdict != want {
		t.Errorf("sent: %+v: want verdict %d", a, want)
	}
	if m == Throttles && (k.After > 0 && a.After != k.After || a.After <= 0) {
		t.Errorf("throttled for %s: want %s", a.After, k.After)
	}
	performed := k.Count(j.Key)
	want := 0
	if m.performs() || a.Verdict == act.Performed {
		want = 1
	}
	if performed != want {
		t.Errorf("performed %d times: want %d", performed, want)
	}
	found := k.Sink.Find(context.Background(), j)
	plain(t, found)
	verdict := act.Unsure
	switch k.Asking {
	case Sees:
		if verdict = act.NotPerformed; performed == 1 {
			verdict = act.Performed
		}
	case Finds:
		if performed == 1 {
			verdict = act.Performed
		}
	case Repeats:
		verdict = act.NotPerformed
	}
	if found.Verdict != verdict || k.Count(j.Key) != performed {
		t.Errorf("asked: %+v, performed %d times: want verdict %d, and nothing done", found, k.Count(j.Key), verdict)
	}
}

// asked asks a peer that answers badly: it says nothing then, whether it has
// performed or not.
func asked(t *testing.T, k Kit, m Manner) {
	for _, first := range []Manner{Takes, Drops} {
		k.Script(func(int) Manner { return first }, m)
		j := job(t, k, "asked"+first.String())
		k.Sink.Send(context.Background(), j)
		a := within(m, k.Sink.Find, j)
		if plain(t, a); a.Verdict != act.Unsure {
			t.Errorf("%s, then asked: %+v: want unsure", first, a)
		}
	}
}

// limited sends to and asks a peer that never answers, and gives the sink all
// the time there is: it ends by its own limit, or the test never does.
func limited(t *testing.T, k Kit) {
	if k.Script == nil { // no peer that could hang
		return
	}
	k.Script(func(int) Manner { return Hangs }, Hangs)
	j := job(t, k, "limited")
	if a := k.Sink.Send(context.Background(), j); a.Verdict != act.Unsure {
		t.Errorf("sent: %+v: want unsure", a)
	}
	if a := k.Sink.Find(context.Background(), j); k.Asking == Sees && a.Verdict != act.Unsure {
		t.Errorf("asked: %+v: want unsure", a)
	}
}

// twice sends the same job again.
func twice(t *testing.T, k Kit) {
	k.script(Takes)
	j := job(t, k, "twice")
	first, second := k.Sink.Send(context.Background(), j), k.Sink.Send(context.Background(), j)
	if first.Verdict != act.Performed || second.Verdict != act.Performed {
		t.Errorf("%+v and %+v: want performed", first, second)
	}
	if n := k.Count(j.Key); k.Once && n != 1 || n < 1 {
		t.Errorf("performed %d times; once: %t", n, k.Once)
	}
}

// lost sends to nobody: a connection that could not be made wrote nothing.
func lost(t *testing.T, k Kit) {
	if k.Lost == nil { // no peer that could be away
		return
	}
	k.Lost()
	a := k.Sink.Send(context.Background(), job(t, k, "lost"))
	if plain(t, a); a.Verdict != act.NotPerformed {
		t.Errorf("%+v: want not performed", a)
	}
}

// others asks after another run's job, and sends jobs that are none: of
// another kind, and without what they need.
func others(t *testing.T, k Kit) {
	k.script(Takes)
	mine, other := job(t, k, "mine"), job(t, k, "other")
	k.Sink.Send(context.Background(), mine)
	if a := k.Sink.Find(context.Background(), other); k.Asking == Sees && !k.Once && a.Verdict != act.NotPerformed {
		t.Errorf("another run's job: %+v: want not performed", a)
	}
	strange, bare := mine, mine
	strange.Kind = plan.KindTableRow
	bare.Params = map[string]any{}
	for name, j := range map[string]act.Job{"another kind": strange, "no parameters": bare, "nothing": {}} {
		for did, a := range map[string]act.Answer{"sent": k.Sink.Send(context.Background(), j), "asked": k.Sink.Find(context.Background(), j)} {
			if plain(t, a); a.Verdict != act.Rejected {
				t.Errorf("%s, %s: %+v: want rejected", name, did, a)
			}
		}
	}
}

// job makes a job as act would, from the kit's action.
func job(t *testing.T, k Kit, name string) act.Job {
	t.Helper()
	o, err := plan.NewOutcome([]plan.Action{k.Action(plan.NewTarget(event, nil))})
	if err != nil {
		t.Fatal(err)
	}
	e := envelope(name)
	j := act.Job{
		Kind: o.Actions[0].Kind, Key: act.IdempotencyKey(e.Run, 0), Run: e.Run, Source: e.Source, Label: plan.System,
		Params: map[string]any{}, Target: e.Target, Place: e.Place(),
	}
	for _, p := range o.Actions[0].Params {
		v, ok := p.Value.Resolve(plan.Resolver{Target: e.Place()})
		if !ok {
			t.Fatalf("parameter %s: want constants and the target alone", p.Name)
		}
		j.Params[p.Name] = v
	}
	return j
}

// ends is how a run may end: done, refused, or unknown where the sink cannot
// be asked, or finds nothing.
func ends(k Kit, m Manner, performed int, code pipeline.Code) bool {
	allowed := []pipeline.Code{pipeline.OK}
	if k.certain(m) == act.Rejected {
		allowed = append(allowed, pipeline.SinkRefused)
	}
	if k.Asking == Cannot || k.Asking == Finds && performed == 0 {
		allowed = append(allowed, pipeline.OutcomeUnknown)
	}
	return slices.Contains(allowed, code)
}
