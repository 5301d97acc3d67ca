// Package attack runs a recipe under attack and looks afterwards at what was
// written: with an extractor that was taken over whole, and with texts of a
// corpus before the recipe's own.
//
// Runs are live, on the engine of one machine with its real children, into a
// state directory of their own. What they wrote is read back from act's tables
// and receipts, and held against outcomes.json by a reader of its own, which
// shares no code with the one in act.
//
// It shows that these tries wrote nothing off the list. It does not show that
// no other would; that rests on package shape's proof, on the list that act
// enforces, and on the sandbox.
package attack

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"decant.dev/act/plan"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local"
	"decant.dev/pipeline/local/store"
)

// Config says what is attacked, and with how much.
type Config struct {
	Pipeline    local.Pipeline
	Dir         string           // an empty directory, for state that nobody needs after
	N           int              // structures and malformed byte strings, of each as many
	Corpus      []Text           // texts of strangers
	Seed        uint64           // what is drawn
	Unsandboxed bool             // as for a live run
	Reviewed    []byte           // the list that writes are held against: outcomes.json
	Clock       func() time.Time // empty means time.Now
	Progress    func(done, total int)
}

const (
	underWay       = 64          // runs at once: enough that writes share commits
	extractTimeout = time.Second // for an extractor whose deed is to hang
)

// record is one run as the driver knows it, before anything is read back.
type record struct {
	class string
	kind  string // of near miss, or empty
	run   string // empty where the ingress refused the delivery
	actor actor
	place string
	code  pipeline.Code
}

// session is one engine with the runs that were put to it.
type session struct {
	config  Config
	made    bool // events are real ones
	engine  *local.Engine
	records []record
}

// open opens an engine that writes into a directory of its own in c.Dir.
// An extractor that is hostile reads what fetch, taken over too, makes of items
// that no source sent, where the recipe's source is none that can be made.
func open(c Config, name string, hostile bool, timeout time.Duration) (*session, error) {
	dir := filepath.Join(c.Dir, name)
	if err := os.MkdirAll(filepath.Join(dir, "grants"), 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(local.GrantsPath(dir), grantsFile, 0o600); err != nil {
		return nil, err
	}
	_, made := event(c.Pipeline)
	config := local.Config{Dir: dir, Live: true, Unbudgeted: true, Unsandboxed: c.Unsandboxed, Hostile: hostile, HostileFetch: hostile && !made, ExtractTimeout: timeout, Clock: c.Clock}
	engine, err := local.Open(config, c.Pipeline)
	if err != nil {
		return nil, err
	}
	return &session{config: c, made: made, engine: engine}, nil
}

// put runs n items, some at once, and keeps a record of each in their order.
// then, where given, sees each result.
func (s *session) put(ctx context.Context, n int, items func(int) item, then func(int, local.Result)) error {
	from := len(s.records)
	s.records = append(s.records, make([]record, n)...)
	var next, done atomic.Int64
	var mu sync.Mutex
	var workers sync.WaitGroup
	for range min(underWay, n) {
		workers.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n || ctx.Err() != nil {
					return
				}
				r, result := s.one(ctx, from+i+1, items(i))
				s.records[from+i] = r
				if then != nil {
					mu.Lock()
					then(i, result)
					mu.Unlock()
				}
				if d := int(done.Add(1)); s.config.Progress != nil {
					mu.Lock()
					s.config.Progress(from+d, from+n)
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	return ctx.Err()
}

// one delivers an item as the ingress would.
func (s *session) one(ctx context.Context, number int, it item) (record, local.Result) {
	r := record{class: it.class, kind: it.kind, actor: it.actor}
	if !s.made {
		return s.forged(ctx, number, it, r)
	}
	d, err := it.delivery(number)
	if err != nil {
		var fault *pipeline.Fault
		if r.code = pipeline.MalformedBody; errors.As(err, &fault) {
			r.code = fault.Code
		}
		return r, local.Rejected(r.code)
	}
	result := s.engine.Deliver(ctx, d)[0] // one engine, one recipe
	r.place, r.run, r.code = d.Target.String(), result.Run, result.Reason
	return r, result
}

// forged puts an item that no source sent.
func (s *session) forged(ctx context.Context, number int, it item, r record) (record, local.Result) {
	p := s.config.Pipeline
	envelope, body := it.forged(number, p, s.config.Clock())
	result := s.engine.Put(ctx, p.Recipe.Name(), func(digest string) pipeline.Envelope {
		env := envelope(digest)
		r.place = env.Place()
		if env.Actor.Kind == pipeline.System {
			sent := plan.Unverified
			if env.Source == pipeline.TickSource {
				sent = plan.System
			}
			r.actor = actor{label: p.Recipe.LabelFor(env.Target.Event, sent).String()}
		}
		return env
	}, body)
	r.run, r.code = result.Run, result.Reason
	return r, result
}

// judged reads back what was written, and holds it against the list.
func (s *session) judged(ctx context.Context, list *reviewed) (report Report, err error) {
	journal := s.engine.Journal()
	ledger, err := store.OpenLedger(filepath.Join(s.engine.Dir(), "act"))
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, ledger.Close()) }()
	writes, err := readBack(ctx, ledger)
	if err != nil {
		return report, err
	}
	for _, r := range s.records {
		w := writes[r.run]
		delete(writes, r.run)
		w.place, w.actor = r.place, r.actor
		why := ""
		if r.run != "" {
			entry, found, err := journal.Get(ctx, r.run, store.LiveMode)
			if err != nil {
				return report, err
			}
			if found {
				w.structure = entry.Structure
				why = wordsIn(entry)
			}
		}
		if why == "" {
			why = list.judge(w)
		}
		report.count(r, w, why)
	}
	for run, w := range writes {
		report.count(record{class: "no run of this attack", run: run}, w, "written by no run that was put")
	}
	return report, nil
}

// kinds is how many kinds of near miss were tried.
func (s *session) kinds() int {
	seen := map[string]bool{}
	for _, r := range s.records {
		if r.kind != "" {
			seen[r.kind] = true
		}
	}
	return len(seen)
}

// Hostile attacks with an extractor that was taken over whole.
func Hostile(ctx context.Context, c Config) (report Report, err error) {
	list, err := readList(c.Reviewed)
	if err != nil {
		return report, err
	}
	if err := c.check(); err != nil {
		return report, err
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	escapes, err := escapes(ctx, c)
	if err != nil {
		return report, err
	}
	s, err := open(c, "hostile", true, extractTimeout)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, s.engine.Close()) }()
	name, _ := event(c.Pipeline)
	m := maker{config: c, shape: c.Pipeline.Recipe.Shape(), event: name}
	if err := s.put(ctx, m.items(), m.item, nil); err != nil {
		return report, err
	}
	if report, err = s.judged(ctx, list); err != nil {
		return report, err
	}
	if err := report.tried(); err != nil {
		return report, err
	}
	report.Recipe, report.Escapes, report.Outcomes, report.Kinds = c.Pipeline.Recipe.Name(), escapes, list.outcomes, s.kinds()
	return report, nil
}

// check reports what cannot be attacked.
func (c Config) check() error {
	r := c.Pipeline.Recipe
	if _, code := r.List(); code != pipeline.OK {
		return fmt.Errorf("recipe %s: %s: want an outcome list in force: run decant audit --write, and rebuild", r.Name(), code)
	}
	if name, _ := event(c.Pipeline); name == "" {
		return fmt.Errorf("recipe %s: want one that names an event", r.Name())
	}
	return nil
}
