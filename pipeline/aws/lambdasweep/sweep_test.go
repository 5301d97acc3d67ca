package lambdasweep

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/bucket"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/function"
)

var now = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)

// world holds markers, bodies and records, and fails where it is told.
type world struct {
	mu      sync.Mutex
	markers map[string]bucket.Marker // by key
	held    map[string]string        // run → marker's content
	bodies  map[string]bool
	records map[string]bool
	fail    map[string]error // by what is asked, and by that and the run
	removed []string
	started map[string]string // run → machine
	pages   int
}

func (w *world) step(what, run string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail["panic "+run] != nil && what == "records" {
		panic("zz9")
	}
	if err := w.fail[what+" "+run]; err != nil {
		return err
	}
	return w.fail[what]
}

func (w *world) Markers(_ context.Context, after string) (page []bucket.Marker, err error) {
	w.mu.Lock()
	w.pages++
	for _, key := range slices.Sorted(maps.Keys(w.markers)) {
		if key > after && len(page) < 3 {
			page = append(page, w.markers[key])
		}
	}
	w.mu.Unlock()
	return page, w.step("list", "")
}

func (w *world) RemoveMarker(_ context.Context, key string) error {
	if err := w.step("remove", ""); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.removed = append(w.removed, key)
	return nil
}

func (w *world) Get(_ context.Context, run string) ([]byte, bool, error) {
	s, ok := w.held[run]
	return []byte(s), ok, w.step("get", run)
}

type has struct {
	*world
	what string
	of   map[string]bool
}

func (h has) Has(_ context.Context, run string) (bool, error) {
	return h.of[run], h.step(h.what, run)
}

type machine struct {
	*world
	name string
}

func (m machine) Start(_ context.Context, env pipeline.Envelope) error {
	if err := m.step("start", env.Run); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.started[env.Run] = m.name
	return nil
}

func begin(t *testing.T) (*world, *Handler) {
	t.Helper()
	w := &world{markers: map[string]bucket.Marker{}, held: map[string]string{}, bodies: map[string]bool{}, records: map[string]bool{}, fail: map[string]error{}, started: map[string]string{}}
	h, err := New(Config{
		Markers: w, Starts: func(string) Starts { return w }, Bodies: func(string) Bodies { return has{w, "bodies", w.bodies} },
		Records: has{w, "records", w.records}, Runs: machine{w, "runs"}, Batches: machine{w, "batches"}, Clock: func() time.Time { return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	return w, h
}

func envelope(body string) pipeline.Envelope {
	return pipeline.NewEnvelope("issues", strings.Repeat("ab", 32), "github", []byte(body), pipeline.Actor{ID: "github:1", Kind: pipeline.Person},
		"github:o/r", pipeline.Target{Event: "issues.opened", Repository: "o/r", Number: 1}, now)
}

func tick() pipeline.Envelope {
	e := pipeline.NewEnvelope("feeds", strings.Repeat("ab", 32), pipeline.TickSource, nil, pipeline.Actor{ID: pipeline.ScheduleActor, Kind: pipeline.System},
		"schedule:nightly", pipeline.Target{Event: pipeline.Tick}, now)
	return e
}

// put leaves a marker of an age, with a body.
func (w *world) put(t *testing.T, env pipeline.Envelope, age time.Duration) string {
	t.Helper()
	b, err := env.Encode()
	if err != nil {
		t.Fatal(err)
	}
	key := "start/" + env.Recipe + "/" + env.Run
	w.markers[key] = bucket.Marker{Key: key, Recipe: env.Recipe, Run: env.Run, At: now.Add(-age)}
	w.held[env.Run], w.bodies[env.Run] = string(b), true
	return env.Run
}

func sweep(t *testing.T, h *Handler) swept {
	t.Helper()
	r, err := h.Handle(t.Context(), []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	return r.Answer.(swept)
}

func TestABodyWithoutARunIsStarted(t *testing.T) {
	t.Parallel()
	w, h := begin(t)
	run, batch := w.put(t, envelope("a"), MinAge), w.put(t, tick(), time.Hour)
	item := w.put(t, tick().OfItem([]byte("i")), time.Hour)
	out := sweep(t, h)
	if want := map[string]string{run: "runs", batch: "batches", item: "runs"}; !maps.Equal(w.started, want) || out.Markers[started] != 3 || len(w.removed) != 0 {
		t.Errorf("started %v, want %v; %+v, removed %v", w.started, want, out, w.removed)
	}
	// The next one finds their records.
	for r := range w.started {
		w.records[r] = true
	}
	clear(w.started)
	if out = sweep(t, h); len(w.started) != 0 || out.Markers[settled] != 3 || len(w.removed) != 3 {
		t.Errorf("again: started %v, %+v, removed %v", w.started, out, w.removed)
	}
}

func TestWhatIsUnderWayOrNeverAcceptedIsLeft(t *testing.T) {
	t.Parallel()
	w, h := begin(t)
	w.put(t, envelope("young"), MinAge-time.Second)
	w.put(t, envelope("future"), -time.Hour)
	w.bodies[w.put(t, envelope("no body"), time.Hour)] = false
	out := sweep(t, h)
	if out.Markers[young] != 2 || out.Markers[bodiless] != 1 || len(w.started)+len(w.removed) != 0 {
		t.Errorf("got %+v, started %v, removed %v", out, w.started, w.removed)
	}
}

// A marker that is none of ours starts nothing, whatever it says, and goes.
func TestMarkersAreReadStrictly(t *testing.T) {
	t.Parallel()
	other := envelope("other")
	for name, spoil := range map[string]func(string) string{
		"no JSON":         func(string) string { return "zz9" },
		"nothing":         func(string) string { return "" },
		"a member more":   func(s string) string { return strings.Replace(s, "{", `{"zz9":1,`, 1) },
		"trailing":        func(s string) string { return s + "{}" },
		"another's run":   func(string) string { b, _ := other.Encode(); return string(b) },
		"a changed field": func(s string) string { return strings.Replace(s, `"recipe":"issues"`, `"recipe":"feeds"`, 1) },
	} {
		w, h := begin(t)
		run := w.put(t, envelope("a"), time.Hour)
		w.held[run] = spoil(w.held[run])
		good := w.put(t, envelope("b"), time.Hour)
		if out := sweep(t, h); out.Markers[malformed] != 1 || out.Markers[started] != 1 || w.started[good] == "" || len(w.removed) != 1 {
			t.Errorf("%s: got %+v, started %v, removed %v", name, out, w.started, w.removed)
		}
	}
	w, h := begin(t)
	w.markers["start/zz9"] = bucket.Marker{Key: "start/zz9", At: now.Add(-time.Hour)}
	if out := sweep(t, h); out.Markers[malformed] != 1 || !slices.Equal(w.removed, []string{"start/zz9"}) {
		t.Errorf("a key of another form: got %+v, removed %v", out, w.removed)
	}
}

// Whatever meets one marker, the others are looked at.
func TestOneFaultyMarkerStopsNoOther(t *testing.T) {
	t.Parallel()
	for _, what := range []string{"records", "get", "bodies", "start", "panic"} {
		w, h := begin(t)
		var runs []string
		for i := range 7 {
			runs = append(runs, w.put(t, envelope(fmt.Sprint(i)), time.Hour))
		}
		w.fail[what+" "+runs[3]] = errors.New("zz9")
		if out := sweep(t, h); out.Markers[faulty] != 1 || out.Markers[started] != 6 || w.started[runs[3]] != "" || len(w.removed) != 0 {
			t.Errorf("%s: got %+v, %d started, removed %v", what, out, len(w.started), w.removed)
		}
	}
	w, h := begin(t)
	w.records[w.put(t, envelope("a"), time.Hour)] = true
	w.fail["remove"] = client.RetryableError{}
	if out := sweep(t, h); out.Markers[faulty] != 1 {
		t.Errorf("a marker that stays: got %+v", out)
	}
}

func TestAListThatFailsIsAskedForAgain(t *testing.T) {
	t.Parallel()
	w, h := begin(t)
	w.fail["list"] = client.RetryableError{}
	if _, err := h.Handle(t.Context(), []byte("{}")); err != (client.RetryableError{}) {
		t.Errorf("got %v", err)
	}
}

// A sweep is bounded in markers and in time, and says that some are left.
func TestASweepEnds(t *testing.T) {
	t.Parallel()
	w, h := begin(t)
	w.put(t, envelope("a"), 0)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Minute))
	defer cancel()
	r, err := h.Handle(ctx, []byte("{}"))
	if err != nil || !r.Answer.(swept).More || len(r.Answer.(swept).Markers) != 0 {
		t.Errorf("out of time: got %+v, %v", r.Answer, err)
	}
	endless := &endless{}
	h.Markers = endless
	if out := sweep(t, h); !out.More || out.Markers[young] != MaxMarkers {
		t.Errorf("endless: got %+v", out)
	}
}

// endless is a bucket with markers without end.
type endless struct{ n int }

func (e *endless) Markers(context.Context, string) ([]bucket.Marker, error) {
	page := make([]bucket.Marker, 1000)
	for i := range page {
		e.n++
		page[i] = bucket.Marker{Key: fmt.Sprintf("start/%09d", e.n), At: now}
	}
	return page, nil
}
func (*endless) RemoveMarker(context.Context, string) error { return nil }

func TestAnswerAndCountsAreOurWords(t *testing.T) {
	t.Parallel()
	w, h := begin(t)
	w.put(t, envelope("zz9"), time.Hour)
	w.put(t, envelope("b"), 0)
	r, err := h.Handle(t.Context(), []byte("{}"))
	b, _ := json.Marshal(r.Answer)
	if err != nil || string(b) != `{"verdict":"ok","markers":{"started":1,"young":1},"more":false}` {
		t.Errorf("got %s, %v", b, err)
	}
	want := []function.Count{{Name: "Markers", Dimension: "ending", Value: "young", Times: 1}, {Name: "Markers", Dimension: "ending", Value: "started", Times: 1}}
	if !slices.Equal(r.Counts, want) {
		t.Errorf("counted %v", r.Counts)
	}
	for _, bad := range []string{"", "[]", `{"zz9":1}`, "{}{}"} {
		if _, err := h.Handle(t.Context(), []byte(bad)); err == nil || strings.Contains(err.Error(), "zz9") {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}
