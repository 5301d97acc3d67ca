package local

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"decant.dev/events"
	"decant.dev/extract"
	"decant.dev/pipeline/local/sandbox"
	"decant.dev/pipeline/local/store"
)

// How long each phase may take for one run.
const (
	fetchTimeout   = 60 * time.Second
	extractTimeout = 120 * time.Second
	actTimeout     = 60 * time.Second
)

// ErrNoSandbox is returned by Open where the kernel cannot restrict the
// phases of a live engine and Unsandboxed was not given.
var ErrNoSandbox = errors.New("this system cannot sandbox the phases: live runs want --unsandboxed, or a kernel with Landlock and seccomp (see decant doctor)")

// Config says where an engine keeps its state and what it may do.
type Config struct {
	Dir         string   // state directory; made if missing, with mode 0700
	Live        bool     // write, instead of staging
	Unsandboxed bool     // run phases unrestricted where the kernel cannot restrict them
	Own         []string // identities that our sinks use
	Grants      string   // grants file; empty means grants/grants.json in Dir
	Secrets     events.Secrets
	Clock       func() time.Time // empty means time.Now
}

// Engine runs pipelines on one machine. It is safe for concurrent use.
type Engine struct {
	config    Config
	pipelines map[string]Pipeline
	order     []string
	digests   map[string]string
	traces    map[string]extract.Vocabulary
	sandboxed bool
	mode      store.Mode

	journal *store.Journal
	raw     *store.Blobs
	prompts *store.Blobs

	running sync.Map     // run id → *attempt under way
	step    func(string) // called before and after each call and each write; for tests that stop there

	fetch    *phase
	extracts map[bool]*phase // by whether the label is unverified: one process never serves both classes
	act      *asker
}

// Open makes the state directory where it is missing and opens an engine.
// Children are started when they are first needed.
func Open(c Config, pipelines ...Pipeline) (*Engine, error) {
	if c.Clock == nil {
		c.Clock = time.Now
	}
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
		config: c, pipelines: map[string]Pipeline{}, digests: map[string]string{}, traces: map[string]extract.Vocabulary{},
		sandboxed: sandbox.Available(), mode: store.StagedMode,
	}
	if c.Live {
		e.mode = store.LiveMode
		if !e.sandboxed && !c.Unsandboxed {
			return nil, ErrNoSandbox
		}
	}
	for _, p := range pipelines {
		name := p.Recipe.Name()
		if _, twice := e.pipelines[name]; twice {
			return nil, fmt.Errorf("recipe %s is given twice", name)
		}
		e.pipelines[name] = p
		e.order = append(e.order, name)
		e.digests[name] = p.Digest()
		e.traces[name] = extract.VocabularyOf(p.Extractor(nil), p.Recipe.Shape())
	}
	if err := e.openStores(dir); err != nil {
		return nil, errors.Join(err, e.Close())
	}
	return e, e.preparePhases(dir)
}

func (e *Engine) openStores(dir string) (err error) {
	if e.journal, err = store.OpenJournal(filepath.Join(dir, "journal"), e.config.Clock); err != nil {
		return err
	}
	if e.raw, err = store.OpenBlobs(filepath.Join(dir, "raw")); err != nil {
		return err
	}
	e.prompts, err = store.OpenBlobs(filepath.Join(dir, "prompts"))
	return err
}

// preparePhases says what each child holds: fetch reads grants; extract has
// no file at all; act reads grants and has its own tables.
func (e *Engine) preparePhases(dir string) error {
	grants := e.config.Grants
	if grants == "" {
		grants = filepath.Join(dir, "grants", "grants.json")
		if err := os.MkdirAll(filepath.Dir(grants), 0o700); err != nil {
			return fmt.Errorf("state directory: %w", err)
		}
	}
	grants, err := filepath.Abs(grants)
	if err != nil {
		return err
	}
	grantsDir, err := filepath.EvalSymlinks(filepath.Dir(grants))
	if err != nil {
		return fmt.Errorf("grants file: %w", err)
	}
	grants = filepath.Join(grantsDir, filepath.Base(grants))
	ledger := filepath.Join(dir, "act")
	if err := os.MkdirAll(ledger, 0o700); err != nil {
		return fmt.Errorf("state directory: %w", err)
	}
	config := childConfig{Live: e.config.Live, Own: e.config.Own, Digests: e.digests, Grants: grants, Ledger: ledger}
	var fetchHosts, modelHosts []string
	for _, name := range e.order {
		fetchHosts = append(fetchHosts, e.pipelines[name].Intake.Hosts...)
		modelHosts = append(modelHosts, e.pipelines[name].Hosts...)
	}
	make := func(name string, profile sandbox.Profile, hosts []string, timeout time.Duration, limit int) *phase {
		p := &phase{name: name, profile: profile, hosts: hosts, config: config, timeout: timeout, limit: limit, env: childLimits}
		if !e.sandboxed {
			p.env = append(p.env[:len(p.env):len(p.env)], unsandboxedVariable+"=1")
		}
		if len(hosts) > 0 {
			p.env = append(p.env[:len(p.env):len(p.env)], brokerVariable+"=1")
		}
		return p
	}
	readGrants := []string{grantsDir}
	e.fetch = make(phaseFetch, sandbox.Profile{ReadOnly: readGrants}, fetchHosts, fetchTimeout, maxFetched)
	e.extracts = map[bool]*phase{
		true:  make(phaseExtract, sandbox.Profile{}, modelHosts, extractTimeout, maxAnswer),
		false: make(phaseExtract, sandbox.Profile{}, modelHosts, extractTimeout, maxAnswer),
	}
	e.act = newAsker(make(phaseAct, sandbox.Profile{ReadOnly: readGrants, ReadWrite: []string{ledger}}, nil, actTimeout, maxTogether*maxAnswer))
	return nil
}

// childLimits keep a child small: its work is one item at a time.
var childLimits = []string{"GOMAXPROCS=2", "GOGC=200", "GOMEMLIMIT=96MiB"}

// Sandboxed reports whether the phases are restricted.
func (e *Engine) Sandboxed() bool { return e.sandboxed }

// Mode says whether this engine's runs may write.
func (e *Engine) Mode() store.Mode { return e.mode }

// Journal gives read access to the runs.
func (e *Engine) Journal() *store.Journal { return e.journal }

// Prompts gives read access to the prompt objects, by run.
func (e *Engine) Prompts() *store.Blobs { return e.prompts }

// Close ends the children and closes the stores.
func (e *Engine) Close() error {
	for _, p := range []*phase{e.fetch, e.extracts[true], e.extracts[false]} {
		if p != nil {
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
	if e.prompts != nil {
		errs = append(errs, e.prompts.Close())
	}
	return errors.Join(errs...)
}
