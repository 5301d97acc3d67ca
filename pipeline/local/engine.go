package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"decant.dev/act/plan"
	"decant.dev/extract"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/sandbox"
	"decant.dev/pipeline/local/store"
)

// How long each phase may take for one run.
const (
	fetchTimeout   = 60 * time.Second
	extractTimeout = 120 * time.Second
	contextTimeout = 10 * time.Second
	actTimeout     = 60 * time.Second
	actMargin      = 5 * time.Second // of actTimeout, for the answer
)

// ErrNoSandbox is returned by Open where the kernel cannot restrict the
// phases of a live engine and Unsandboxed was not given.
var ErrNoSandbox = errors.New("this system cannot sandbox the phases: live runs want --unsandboxed, or a kernel with Landlock and seccomp (see decant doctor)")

// Config says where an engine keeps its state and what it may do.
type Config struct {
	Dir         string                      // state directory; made if missing, with mode 0700
	Live        bool                        // write, instead of staging
	Kinds       []plan.Kind                 // with Live: the only kinds of action that are performed; empty means all that have a sink
	Unsandboxed bool                        // run phases unrestricted where the kernel cannot restrict them
	Sinks       Sinks                       // what actions are performed with where Live; its identities start no run either way
	Own         []string                    // identities that our sinks use, beside those that Sinks names
	Grants      string                      // grants file; empty means grants/grants.json in Dir
	ContextAPI  string                      // "address:port" where the engine's Context is served; empty means nowhere
	Keep        time.Duration               // for how long Expire keeps what strangers wrote; zero means for ever
	LookupEnv   func(string) (string, bool) // the variables that extractors declare; empty means os.LookupEnv
	Clock       func() time.Time            // empty means time.Now
	Warn        func(error)                 // told once of each phase that cannot be started; empty tells nobody

	// Hostile puts an extractor that was taken over, package hostile, in the
	// place of the recipes' own: for decant attack. HostileFetch puts what was
	// taken over of fetch beside it: any body is an order with a text.
	Hostile        bool
	Unbudgeted     bool // budgets have room for everything: an attack looks at what is written, and not how much
	HostileFetch   bool
	ExtractTimeout time.Duration // how long extract may take for one run; zero means two minutes

	restricts func() bool // whether the kernel can restrict a phase; empty asks it
}

// Engine runs pipelines on one machine. It is safe for concurrent use.
type Engine struct {
	config    Config
	pipelines map[string]Pipeline
	order     []string
	digests   map[string]string
	traces    map[string]extract.Vocabulary
	adapters  map[string]bool // recipes whose extractor is given access to its runs' contexts
	models    models          // what the extractors need beside
	sandboxed bool
	mode      store.Mode
	closing   sync.Once

	dir     string // the state directory, absolute
	held    string // the grants file that act reads
	lock    *os.File
	grants  grantsCopy
	journal *store.Journal
	raw     *store.Blobs
	prompts map[store.Mode]*store.Blobs
	bundles *store.Bundles // nil where no extractor is an adapter
	cursors *store.Blobs   // by feed; nil where no recipe has schedules

	running sync.Map     // run id → *attempt under way
	step    func(string) // called before and after each call and each write; for tests that stop there

	fetches  map[bool]*phase // by class: one process never serves both
	extracts map[bool]*phase
	contexts map[bool]*phase
	act      *asker
}

// Open makes the state directory where it is missing and opens an engine.
// Children are started when they are first needed.
func Open(c Config, pipelines ...Pipeline) (*Engine, error) {
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.LookupEnv == nil {
		c.LookupEnv = os.LookupEnv
	}
	if c.restricts == nil {
		c.restricts = sandbox.Available
	}
	c.Own = append(slices.Clone(c.Own), c.Sinks.own()...)
	dir, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	e := &Engine{
		config: c, pipelines: map[string]Pipeline{}, digests: map[string]string{}, traces: map[string]extract.Vocabulary{}, adapters: map[string]bool{},
		sandboxed: c.restricts(), mode: store.StagedMode,
	}
	if c.Live {
		e.mode = store.LiveMode
		if !e.sandboxed && !c.Unsandboxed {
			return nil, ErrNoSandbox
		}
	}
	for _, id := range c.Own {
		if !pipeline.IsActorID(id) {
			return nil, fmt.Errorf("own identity %.64q: want the id that its source gives, as github:583231", id)
		}
	}
	for _, p := range pipelines {
		if err := p.check(); err != nil {
			return nil, err
		}
		name := p.Recipe.Name()
		if _, twice := e.pipelines[name]; twice {
			return nil, fmt.Errorf("recipe %s is given twice", name)
		}
		e.pipelines[name] = p
		e.order = append(e.order, name)
		x := p.Extractor(nil)
		if err := e.models.add(p, x); err != nil {
			return nil, err
		}
		if least := asksAtMost * extract.WorstOf(x, 0); least > p.Recipe.RunCost() {
			return nil, fmt.Errorf("recipe %s: its extractor may cost %d millionths of a dollar for the shortest prompt, and RunCost reserves %d: want as much as the longest prompt may cost", name, least, p.Recipe.RunCost())
		}
		e.digests[name] = p.digest(x)
		e.traces[name] = extract.VocabularyOf(x, p.Recipe.Shape())
		if c.ContextAPI != "" && extract.WantsContext(x) {
			e.adapters[name] = true
		}
	}
	if _, err := Hooks(pipelines...); err != nil {
		return nil, err
	}
	if err := checkContextAPI(c.ContextAPI); err != nil {
		return nil, err
	}
	e.dir = dir
	if err := errors.Join(e.openStores(dir), e.preparePhases(dir)); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, nil
}

func (e *Engine) openStores(dir string) (err error) {
	if e.mode == store.LiveMode {
		if e.lock, err = lock(filepath.Join(dir, "live.lock")); err != nil {
			return err
		}
	}
	if e.journal, err = store.OpenJournal(filepath.Join(dir, "journal"), e.config.Clock); err != nil {
		return err
	}
	if e.raw, err = store.OpenBlobs(filepath.Join(dir, "raw")); err != nil {
		return err
	}
	e.prompts = map[store.Mode]*store.Blobs{}
	for _, mode := range []store.Mode{store.StagedMode, store.LiveMode} {
		if e.prompts[mode], err = store.OpenBlobs(filepath.Join(dir, "prompts", string(mode))); err != nil {
			delete(e.prompts, mode)
			return err
		}
	}
	if len(e.adapters) > 0 {
		if e.bundles, err = store.OpenBundles(filepath.Join(dir, "bundles", string(e.mode))); err != nil {
			return err
		}
	}
	for _, p := range e.pipelines {
		if len(p.Recipe.Schedules()) > 0 && e.cursors == nil {
			if e.cursors, err = store.OpenBlobs(filepath.Join(dir, "cursors", string(e.mode))); err != nil {
				return err
			}
		}
	}
	return nil
}

// preparePhases says what each child holds: fetch and context read grants;
// extract has no file at all, but the programs that its extractors run; act reads grants, counts what budgets allow and,
// where it writes, has its own tables.
func (e *Engine) preparePhases(dir string) error {
	grants, ledger, approvals := filepath.Join(dir, grantsDir), filepath.Join(dir, "act"), filepath.Join(dir, approvalsDir)
	paused := filepath.Join(grants, pausedDir)
	for _, d := range []string{paused, ledger, approvals} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return fmt.Errorf("state directory: %w", err)
		}
	}
	config := childConfig{Live: e.config.Live, Kinds: e.config.Kinds, Own: e.config.Own, Digests: e.digests, Grants: GrantsPath(dir),
		Ledger: ledger, Paused: paused, Approvals: approvals}
	if config.Unbudgeted = e.config.Unbudgeted; e.budgeted() && !config.Unbudgeted {
		config.Budgets = filepath.Join(dir, budgetsDir)
		if err := os.MkdirAll(config.Budgets, 0o700); err != nil {
			return fmt.Errorf("state directory: %w", err)
		}
	}
	if e.config.Grants != "" {
		config.Grants = filepath.Join(grants, "given.json")
		e.grants = grantsCopy{from: e.config.Grants, to: config.Grants}
		if err := e.grants.sync(); err != nil {
			return err
		}
	}
	e.held = config.Grants
	var fetchHosts []string
	for _, name := range e.order {
		fetchHosts = append(fetchHosts, e.pipelines[name].Intake.Hosts...)
	}
	modelHosts, near := e.models.hosts, e.models.near()
	if len(e.adapters) > 0 {
		modelHosts, near = append(modelHosts, e.config.ContextAPI), append(near, e.config.ContextAPI)
	}
	extracting, extractFor := phaseExtract, extractTimeout
	fetching := phaseFetch
	if e.config.Hostile {
		extracting = phaseHostile
	}
	if e.config.HostileFetch {
		fetching = phaseHostileFetch
	}
	if e.config.ExtractTimeout > 0 {
		extractFor = e.config.ExtractTimeout
	}
	child := func(name string, profile sandbox.Profile, hosts []string, timeout time.Duration, limit int) *phase {
		p := &phase{name: name, profile: profile, hosts: hosts, config: config, timeout: timeout, limit: limit, env: childLimits, warn: e.config.Warn}
		if !e.sandboxed {
			p.env = append(p.env[:len(p.env):len(p.env)], unsandboxedVariable+"=1")
		}
		if len(hosts) > 0 {
			p.env = append(p.env[:len(p.env):len(p.env)], brokerVariable+"="+strings.Join(hosts, ","))
		}
		return p
	}
	programs, err := e.programs()
	if err != nil {
		return err
	}
	read := sandbox.Profile{ReadOnly: []string{grants}}
	acts := read
	if e.config.Live {
		acts.ReadWrite = []string{ledger, approvals}
	}
	if config.Budgets != "" {
		acts.ReadWrite = append(acts.ReadWrite, config.Budgets)
	}
	e.fetches, e.extracts, e.contexts = map[bool]*phase{}, map[bool]*phase{}, map[bool]*phase{}
	for _, unverified := range []bool{true, false} {
		e.fetches[unverified] = child(fetching, read, fetchHosts, fetchTimeout, 2*maxFetched) // an object and a bundle
		e.extracts[unverified] = child(extracting, sandbox.Profile{Programs: programs}, modelHosts, extractFor, maxAnswer)
		e.extracts[unverified].once = len(programs) > 0
		e.contexts[unverified] = child(phaseContext, read, nil, contextTimeout, 2*maxFetched) // marks come with it
		e.extracts[unverified].reach(near...)
		e.extracts[unverified].keys(e.models.environment, e.config.LookupEnv)
	}
	sinks, sinkHosts, err := e.prepareSinks()
	if err != nil {
		return err
	}
	if sinks.Queues != "" {
		acts.ReadWrite = append(acts.ReadWrite, sinks.Queues)
	}
	acting := child(phaseAct, acts, sinkHosts, actTimeout, maxTogether*maxAnswer)
	acting.config.Sinks = sinks
	acting.reach((&models{hosts: sinkHosts}).near()...)
	e.act = newAsker(acting)
	return nil
}

// budgeted reports whether a recipe has budgets that this engine's runs use: a
// staged run uses nothing but money.
func (e *Engine) budgeted() bool {
	for _, p := range e.pipelines {
		for _, b := range p.Recipe.Budgets() {
			if e.config.Live || b.Measure == plan.ModelCost {
				return true
			}
		}
	}
	return false
}

// Where the state directory keeps what people decide.
const (
	grantsDir    = "grants"
	grantsName   = "grants.json"
	pausedDir    = "paused" // in grantsDir
	approvalsDir = "approvals"
	budgetsDir   = "budgets"
)

// childLimits keep a child small: its work is one item at a time.
var childLimits = []string{"GOMAXPROCS=2", "GOGC=150", "GOMEMLIMIT=96MiB"}

// Sandboxed reports whether the phases are restricted.
func (e *Engine) Sandboxed() bool { return e.sandboxed }

// Dir is the state directory, absolute.
func (e *Engine) Dir() string { return e.dir }

// Mode says whether this engine's runs may write.
func (e *Engine) Mode() store.Mode { return e.mode }

// Journal gives read access to the runs.
func (e *Engine) Journal() *store.Journal { return e.journal }

// Prompt returns the prompt object of a run of a mode, and false where there is
// none. It is whatever a fetch child answered.
func (e *Engine) Prompt(ctx context.Context, run string, mode store.Mode) ([]byte, bool, error) {
	return e.prompts[mode].Get(ctx, run)
}

// Close ends the children and closes the stores. What is under way is answered
// as stopped. A second Close does nothing.
func (e *Engine) Close() (err error) {
	e.closing.Do(func() { err = e.close() })
	return err
}

func (e *Engine) close() error {
	for _, children := range []map[bool]*phase{e.fetches, e.extracts, e.contexts} {
		for _, p := range children {
			p.close()
		}
	}
	if e.act != nil {
		e.act.close()
	}
	var errs []error
	if e.journal != nil {
		errs = append(errs, e.journal.Close())
	}
	if e.raw != nil {
		errs = append(errs, e.raw.Close())
	}
	for _, b := range e.prompts {
		errs = append(errs, b.Close())
	}
	if e.bundles != nil {
		errs = append(errs, e.bundles.Close())
	}
	if e.cursors != nil {
		errs = append(errs, e.cursors.Close())
	}
	if e.lock != nil {
		errs = append(errs, e.lock.Close())
	}
	return errors.Join(errs...)
}
