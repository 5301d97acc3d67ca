// Package server is the ingress of one machine over HTTP: it verifies
// webhooks, begins their runs and answers with codes, and has the context API
// and a health check beside that.
//
// Nothing of a body is looked at before its signature is proved. A delivery is
// answered once its runs are durable, as they go on. What it holds of bodies
// at once is bounded, whoever sends them.
//
// Not promised: transport security, which a proxy in front gives, nor
// freedom from denial of service.
package server

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/events"
	"decant.dev/pipeline"
)

// Paths that are served beside the context API's.
const (
	GitHubPath = "/webhooks/github"
	HealthPath = "/healthz"
	// AnswersPath is above the links that answer waiting runs.
	AnswersPath = "/approve/"
)

// Bounds of what is under way at once.
const (
	maxBodies = 16              // bodies that are read, verified, or wait for their runs to begin
	MaxJobs   = 128             // deliveries whose runs are under way
	patience  = 8 * time.Second // of a delivery for a place: GitHub waits for 10
)

const signature = "X-Hub-Signature-256"

// Busy is the word where there was no place for a delivery. It is to be sent
// again.
const Busy = "busy"

// Runs begins the runs of deliveries.
type Runs interface {
	// Accept begins the runs of a delivery and returns their ids once they are
	// durable, and a function that waits until they are over. ctx is their
	// life. A code means that none began, or that one could not be made durable.
	Accept(ctx context.Context, d events.Delivery) (runs []string, wait func(), code pipeline.Code)
}

// Hook is a webhook beside GitHub's, with its secrets.
type Hook struct {
	Hook    events.Hook
	Secrets events.Secrets
}

// Config is what a server is made of.
type Config struct {
	Runs    Runs
	Secrets events.Secrets  // of GitHub's webhook; without one its path is not served
	Hooks   []Hook          // each at its path
	Context http.Handler    // the context API
	Answers http.Handler    // the page of waiting runs, or nil
	Ticks   bool            // schedules tick beside it, so that it is worth serving without a secret
	Life    context.Context // of the runs: they stop when it ends
	Clock   func() time.Time
}

// Server answers requests. It is safe for concurrent use.
type Server struct {
	config Config
	mux    *http.ServeMux
	bodies chan struct{}
	jobs   chan struct{}

	mu       sync.Mutex
	counts   map[string]int
	matched  map[string]int // "github current"
	ignored  map[string]int // "github star"
	draining bool
	under    sync.WaitGroup
}

// New checks what a server is made of. A hook without a secret of its form is
// refused, unless it says that nothing is signed; so is a server that no
// delivery could reach.
func New(c Config) (*Server, error) {
	switch {
	case c.Runs == nil || c.Context == nil || c.Life == nil || c.Clock == nil:
		return nil, errors.New("server: want runs, a context API, a life and a clock")
	case !c.Secrets.Any() && len(c.Hooks) == 0 && !c.Ticks:
		return nil, errors.New("server: want a webhook secret, got none")
	}
	s := &Server{
		config: c, mux: http.NewServeMux(), counts: map[string]int{}, matched: map[string]int{}, ignored: map[string]int{},
		bodies: make(chan struct{}, maxBodies), jobs: make(chan struct{}, MaxJobs),
	}
	if c.Secrets.Any() {
		s.mux.Handle(GitHubPath, s.source(github(c.Secrets)))
	}
	seen := map[string]bool{}
	for _, k := range c.Hooks {
		if err := k.Hook.Check(); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
		if seen[k.Hook.Name] {
			return nil, fmt.Errorf("server: hook %s: want it once", k.Hook.Name)
		}
		seen[k.Hook.Name] = true
		if err := k.Hook.CheckSecrets(k.Secrets); err != nil {
			return nil, fmt.Errorf("server: %w", err)
		}
		s.mux.Handle(k.Hook.Path(), s.source(hook(k, c.Clock)))
	}
	s.mux.HandleFunc(HealthPath, health)
	s.mux.Handle("/api/", c.Context)
	if c.Answers != nil {
		s.mux.Handle(AnswersPath, c.Answers)
	}
	s.mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { write(w, http.StatusNotFound, answer{Code: "not_found"}) })
	return s, nil
}

// ServeHTTP answers one request. A panic is a code.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	defer func() {
		if recover() != nil {
			s.refuse(w, pipeline.PhasePanic)
		}
	}()
	s.mux.ServeHTTP(w, r)
}

// Accepted is the word that counts deliveries whose runs began.
const Accepted = "accepted"

// Counts says how often each code, Accepted or Busy was what became of a
// delivery.
func (s *Server) Counts() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.counts)
}

// Matched says how often each secret of each source proved a delivery, as
// "github current": so a rotation can be followed to its end.
func (s *Server) Matched() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.matched)
}

// Ignored says how often which proved delivery was of an event that no recipe
// names, as "github star". The words are of closed lists.
func (s *Server) Ignored() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.ignored)
}

// Drain takes no further delivery and waits until all runs are over, or until
// ctx is. The context API goes on meanwhile: the runs may need it.
func (s *Server) Drain(ctx context.Context) {
	s.mu.Lock()
	s.draining = true
	s.mu.Unlock()
	over := make(chan struct{})
	go func() { s.under.Wait(); close(over) }()
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// begin counts a delivery as under way, unless the server drains.
func (s *Server) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.draining {
		s.under.Add(1)
	}
	return !s.draining
}

// answer is what is said of a delivery: the ids of its runs, or a code.
type answer struct {
	Runs []string `json:"runs,omitempty"`
	Code string   `json:"code,omitempty"`
}

func write(w http.ResponseWriter, status int, a answer) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.MarshalWrite(w, a) // whoever asked may be gone
}

func (s *Server) refuse(w http.ResponseWriter, c pipeline.Code) {
	if c == pipeline.Stopped {
		s.later(w, string(c))
		return
	}
	s.count(string(c))
	write(w, c.HTTP(), answer{Code: string(c)})
}

// later says that the delivery is to be sent again.
func (s *Server) later(w http.ResponseWriter, word string) {
	s.count(word)
	w.Header().Set("Retry-After", "5")
	write(w, http.StatusServiceUnavailable, answer{Code: word})
}

func (s *Server) count(word string) {
	s.mu.Lock()
	s.counts[word]++
	s.mu.Unlock()
}

func health(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		write(w, http.StatusMethodNotAllowed, answer{Code: "not_allowed"})
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write([]byte(`{"status":"ok"}`))
}

// source is a place that deliveries are posted to.
type source struct {
	name    string
	headers []string // that must be there once before a byte of a body is read
	receive func(h events.HTTP) (events.Delivery, events.Matched, error)
	class   func(h events.HTTP, d events.Delivery) string // a word of a closed list for what is ignored
}

func github(secrets events.Secrets) source {
	return source{
		name: events.GitHub, headers: []string{signature}, class: func(h events.HTTP, _ events.Delivery) string { return events.GitHubClass(h) },
		receive: func(h events.HTTP) (events.Delivery, events.Matched, error) { return events.ReceiveGitHub(h, secrets) },
	}
}

func hook(k Hook, clock func() time.Time) source {
	return source{
		name: k.Hook.Name, headers: k.Hook.Headers(), class: func(_ events.HTTP, d events.Delivery) string { return d.Class() },
		receive: func(h events.HTTP) (events.Delivery, events.Matched, error) {
			return events.ReceiveHook(h, k.Hook, k.Secrets, clock())
		},
	}
}

// source answers the deliveries of one source.
func (s *Server) source(from source) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.deliver(w, r, from) }
}

// deliver answers one delivery.
func (s *Server) deliver(w http.ResponseWriter, r *http.Request, from source) {
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", "POST")
		write(w, http.StatusMethodNotAllowed, answer{Code: "not_allowed"})
		return
	}
	for _, name := range from.headers { // before a byte of the body is read
		if len(r.Header.Values(name)) != 1 {
			s.refuse(w, pipeline.BadSignature)
			return
		}
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if !take(ctx, s.bodies) {
		s.later(w, Busy)
		return
	}
	defer func() { <-s.bodies }()
	h, d, err := s.receive(r, from)
	if err != nil {
		s.ignore(from, h, d, codeOf(err))
		s.refuse(w, codeOf(err))
		return
	}
	if !take(ctx, s.jobs) {
		s.later(w, Busy)
		return
	}
	if !s.begin() {
		<-s.jobs
		s.refuse(w, pipeline.Stopped)
		return
	}
	runs, wait, code := s.config.Runs.Accept(s.config.Life, d)
	go func() {
		defer s.under.Done()
		defer func() { <-s.jobs }()
		if wait != nil {
			wait()
		}
	}()
	if code != pipeline.OK {
		s.ignore(from, h, d, code)
		s.refuse(w, code)
		return
	}
	s.count(Accepted)
	write(w, http.StatusAccepted, answer{Runs: runs})
}

// receive reads and verifies a delivery, as the ingress does everywhere.
func (s *Server) receive(r *http.Request, from source) (events.HTTP, events.Delivery, error) {
	body, err := events.ReadBody(r.Body)
	if err != nil {
		return events.HTTP{}, events.Delivery{}, err
	}
	h, err := events.NewHTTP(r.Header, body)
	if err != nil {
		return events.HTTP{}, events.Delivery{}, err
	}
	d, matched, err := from.receive(h)
	if matched != events.MatchedNone {
		s.mu.Lock()
		s.matched[from.name+" "+matched.String()]++
		s.mu.Unlock()
	}
	return h, d, err
}

// ignore counts a delivery that was proved and that nothing handles.
func (s *Server) ignore(from source, h events.HTTP, d events.Delivery, code pipeline.Code) {
	if code != pipeline.UnhandledEvent && code != pipeline.Ping {
		return
	}
	s.mu.Lock()
	s.ignored[from.name+" "+from.class(h, d)]++
	s.mu.Unlock()
}

// take waits for a place, and is false where ctx ends before there is one.
func take(ctx context.Context, places chan struct{}) bool {
	select {
	case places <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func codeOf(err error) pipeline.Code {
	var f *pipeline.Fault
	if errors.As(err, &f) && f.Code != pipeline.OK {
		return f.Code
	}
	return pipeline.MalformedEvent
}
