package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/act"
	"decant.dev/extract"
	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/aws/stack"
	"decant.dev/pipeline/aws/tables"
	"decant.dev/pipeline/local"
	"decant.dev/pipeline/local/store"
)

// desk is where a person looks at runs and decides about them: the state
// directory of one machine, or a deployed stack.
type desk interface {
	Runs(ctx context.Context, status pipeline.Status, limit int) ([]store.Entry, error)
	// Find returns the runs whose id begins with prefix.
	Find(ctx context.Context, prefix string) ([]store.Entry, error)
	// Prompt returns a run's prompt object, and false where it is not to be
	// had here.
	Prompt(ctx context.Context, run string, mode store.Mode) ([]byte, bool, error)
	Question(ctx context.Context, run string) (approval.Record, bool, error)
	// Answer records an answer and lets the run go on. It returns the run's
	// result where it went on at once.
	Answer(ctx context.Context, run, binding, person string, a approval.Answer) (approval.State, *local.Result, error)
	// Again tries a run that has ended once more.
	Again(ctx context.Context, e store.Entry) (*local.Result, error)
	// Ledger gives act's receipts of a recipe's runs, and a way to close them.
	Ledger() (act.Ledger, func() error, error)
	// Forget removes what strangers wrote of a run.
	Forget(ctx context.Context, e store.Entry) error
	Grants() pipeline.Grants
	Pause(ctx context.Context, recipe string, paused bool) error
	Close() error
}

// deskOptions are the flags that say which desk, and what it may do.
type deskOptions struct {
	stack, grants string
	unsandboxed   bool
}

// deskFlags adds the flags of a desk that decides.
func deskFlags(flags *flag.FlagSet) *deskOptions {
	o := &deskOptions{}
	flags.StringVar(&o.stack, "stack", "", "")
	flags.StringVar(&o.grants, "grants", "", "")
	flags.BoolVar(&o.unsandboxed, "unsandboxed", false, "")
	return o
}

// openDesk opens the stack of that name, or the state directory.
func (a *App) openDesk(ctx context.Context, o deskOptions) (desk, error) {
	if o.stack == "" {
		config, err := a.engineConfig(false, false, o.grants)
		if err != nil {
			return nil, err
		}
		engine, err := local.Open(config, a.Pipelines...)
		if err != nil {
			return nil, err
		}
		return &machineDesk{Engine: engine, app: a, options: o}, nil
	}
	s, err := stack.Open(ctx, o.stack, a.Clock)
	if err != nil {
		return nil, err
	}
	d := &stackDesk{Stack: s, app: a, traces: map[string]extract.Vocabulary{}}
	for _, p := range a.Pipelines {
		d.traces[p.Recipe.Name()] = extract.VocabularyOf(p.Extractor(nil), p.Recipe.Shape())
	}
	return d, nil
}

// kept reports whether the state directory is there: a command that only
// looks makes none.
func (a *App) kept(o deskOptions) bool {
	_, err := os.Stat(a.dir())
	return o.stack != "" || err == nil
}

// machineDesk is the desk of one machine. It is not live, so that it can be
// beside an engine that is.
type machineDesk struct {
	*local.Engine
	app     *App
	options deskOptions
}

func (d *machineDesk) Runs(ctx context.Context, status pipeline.Status, limit int) ([]store.Entry, error) {
	return d.Journal().List(ctx, status, limit)
}

func (d *machineDesk) Find(ctx context.Context, prefix string) ([]store.Entry, error) {
	return d.Journal().Find(ctx, prefix)
}

func (d *machineDesk) Grants() pipeline.Grants {
	return local.NewGrants(local.GrantsPath(d.app.dir()))
}

func (d *machineDesk) Ledger() (act.Ledger, func() error, error) {
	l, err := store.OpenLedger(filepath.Join(d.app.dir(), "act"))
	if err != nil {
		return nil, nil, err
	}
	return l, l.Close, nil
}

func (d *machineDesk) Forget(ctx context.Context, e store.Entry) error {
	return d.Engine.Forget(ctx, e.Run)
}

func (d *machineDesk) Pause(ctx context.Context, recipe string, paused bool) error {
	return d.Pauses().Pause(ctx, recipe, paused)
}

func (d *machineDesk) Answer(ctx context.Context, run, binding, person string, a approval.Answer) (approval.State, *local.Result, error) {
	record, err := d.Give(ctx, run, binding, person, a)
	if err != nil || record.State == approval.Waiting {
		return record.State, nil, err
	}
	r, err := d.live(ctx, func(e *local.Engine) (local.Result, error) { return e.Again(ctx, run) })
	return record.State, r, err
}

func (d *machineDesk) Again(ctx context.Context, e store.Entry) (*local.Result, error) {
	if e.Mode == store.LiveMode {
		return d.live(ctx, func(live *local.Engine) (local.Result, error) { return live.Again(ctx, e.Run) })
	}
	r, err := d.Engine.Again(ctx, e.Run)
	return &r, err
}

// live does something with a live engine, unless another process has one: it
// carries on what was answered by itself.
func (d *machineDesk) live(ctx context.Context, do func(*local.Engine) (local.Result, error)) (*local.Result, error) {
	config, err := d.app.engineConfig(true, d.options.unsandboxed, d.options.grants)
	if err != nil {
		return nil, err
	}
	engine, closeEngine, err := d.app.openEngine(config)
	if errors.Is(err, local.ErrBusy) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	r, err := do(engine)
	return &r, errors.Join(err, closeEngine())
}

// stackDesk is the desk of a deployed stack. It shows no prompts: they stay
// where extract reads them.
type stackDesk struct {
	*stack.Stack
	app    *App
	traces map[string]extract.Vocabulary // by recipe: what its extractor may say in a trace
}

func (d *stackDesk) Close() error { return nil }

func (d *stackDesk) Grants() pipeline.Grants { return d.Stack.Grants() }

func (d *stackDesk) Ledger() (act.Ledger, func() error, error) {
	l, err := d.Stack.Ledger()
	return l, func() error { return nil }, err
}

func (d *stackDesk) Forget(ctx context.Context, e store.Entry) error {
	return d.Stack.Forget(ctx, e.Recipe, e.Run)
}

func (d *stackDesk) Prompt(context.Context, string, store.Mode) ([]byte, bool, error) {
	return nil, false, nil
}

func (d *stackDesk) Pause(ctx context.Context, recipe string, paused bool) error {
	return d.Stack.Grants().Pause(ctx, recipe, paused)
}

func (d *stackDesk) Answer(ctx context.Context, run, binding, person string, a approval.Answer) (approval.State, *local.Result, error) {
	state, err := d.Stack.Answer(ctx, run, binding, person, a)
	return state, nil, err
}

func (d *stackDesk) Again(ctx context.Context, e store.Entry) (*local.Result, error) {
	env, err := pipeline.DecodeEnvelope(e.Envelope)
	if err != nil {
		return nil, err
	}
	recipe := d.app.recipe(e.Recipe)
	if recipe == nil {
		return nil, fmt.Errorf("recipe %s is not built into this command", e.Recipe)
	}
	return nil, d.Stack.Again(ctx, env, recipe.Digest())
}

func (d *stackDesk) Runs(ctx context.Context, status pipeline.Status, limit int) ([]store.Entry, error) {
	runs, err := d.Stack.Runs(ctx, status, limit)
	return d.entries(runs, err)
}

func (d *stackDesk) Find(ctx context.Context, prefix string) ([]store.Entry, error) {
	runs, err := d.Stack.Find(ctx, prefix)
	return d.entries(runs, err)
}

// entries are the table's records as the journal would have them. A record
// without an envelope is none that act has seen; a trace is kept as far as it
// is of the extractor's own words, which the machine did not look at.
func (d *stackDesk) entries(runs []tables.Run, err error) ([]store.Entry, error) {
	if err != nil {
		return nil, err
	}
	var entries []store.Entry
	for _, r := range runs {
		env, err := pipeline.DecodeEnvelope(r.Envelope)
		if err != nil {
			continue
		}
		e := store.Entry{
			Run: r.Run, Mode: "stack", Recipe: env.Recipe, State: store.Ended, Status: r.Status, Code: r.Code, Label: r.Label,
			Envelope: r.Envelope, Structure: r.Structure, Actions: r.Actions, Trace: d.trace(env.Recipe, r.Trace), Created: env.Received, Updated: env.Received,
		}
		if r.Status == "" {
			e.State = store.Received
		}
		if at, err := time.Parse(time.RFC3339, r.Updated); err == nil {
			e.Updated = at
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func (d *stackDesk) trace(recipe string, b []byte) []byte {
	var t extract.Trace
	words, ok := d.traces[recipe]
	if !ok || len(b) == 0 || json.Unmarshal(b, &t) != nil {
		return nil
	}
	kept, err := json.Marshal(words.Filter(t))
	if err != nil {
		return nil
	}
	return kept
}

// one finds the one run whose id begins with prefix, live before staged.
func one(ctx context.Context, d desk, prefix string) (store.Entry, error) {
	entries, err := d.Find(ctx, prefix)
	if err != nil {
		return store.Entry{}, err
	}
	if len(entries) == 0 {
		return store.Entry{}, fmt.Errorf("run %s: no such run; see decant runs", prefix)
	}
	for _, e := range entries {
		if e.Run != entries[0].Run {
			return store.Entry{}, fmt.Errorf("run %s: more than one run begins so: want more digits", prefix)
		}
	}
	return entries[0], nil
}

// recipe returns the recipe of a name, and nil where it is not built in.
func (a *App) recipe(name string) *pipeline.Recipe {
	for _, p := range a.Pipelines {
		if p.Recipe.Name() == name {
			return p.Recipe
		}
	}
	return nil
}

// resultOf is an entry as a result.
func (a *App) resultOf(e store.Entry) (local.Result, error) {
	return local.ResultOf(e, a.recipe(e.Recipe))
}

// told prints what a run came to, or that it goes on elsewhere.
func (a *App) told(ctx context.Context, d desk, run string, r *local.Result, asJSON bool) (int, error) {
	switch {
	case r == nil:
		fmt.Fprintf(a.Stderr, "decant: run %s goes on; see decant show %s\n", run[:12], run[:12])
		return exitOK, nil
	case asJSON:
		return r.Status.Exit(), a.printJSON(*r)
	}
	e, err := one(ctx, d, run)
	if err != nil {
		return 0, err
	}
	return r.Status.Exit(), a.explainEntry(ctx, d, e, *r)
}
