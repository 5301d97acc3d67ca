package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"

	"github.com/go-json-experiment/json"

	"decant.dev/internal/terminal"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local"
	"decant.dev/pipeline/local/store"
)

const replayUsage = `Usage: decant replay [--json] [--stack NAME] RUN...
       decant replay [--json] [--limit N] [--stack NAME] --all

Replay runs recorded runs again, by the recipes that are built in now: their
structures are decoded and grounded as the first time, an extractor that needs
no model is asked again, and act decides anew. Nothing is written and no model
is asked. It prints what would now be otherwise, and exits with 1 where
anything would: with --all it is a regression test from your own history.

  --all            every run that was recorded, the newest first
  --limit N        with --all: at most N runs, 1 to 10000; by default 10000
  --stack NAME     runs of a deployed stack; prompts are not read from there, so
                   plan and policy are replayed and no extractor is
  --grants FILE    who holds trigger where, instead of the state directory's
  --json           print one replay.v1 object a line

Example:
  decant replay 3f2c81
  decant replay --all
`

func (a *App) replay(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("replay", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	all := flags.Bool("all", false, "")
	limit := flags.Int("limit", maxListed, "")
	var o deskOptions
	flags.StringVar(&o.stack, "stack", "", "")
	flags.StringVar(&o.grants, "grants", "", "")
	rest, err := a.parse(flags, replayUsage, args)
	switch {
	case err != nil:
		return 0, err
	case *all == (len(rest) > 0):
		return 0, usagef("replay: want runs or --all")
	case *limit < 1 || *limit > maxListed:
		return 0, usagef("replay: --limit %d: want 1 to %d", *limit, maxListed)
	}
	for _, run := range rest {
		if !runPrefix.MatchString(run) {
			return 0, usagef("replay: run %.64q: want 4 to 32 hexadecimal digits", run)
		}
	}
	if !a.kept(o) {
		if *all {
			return exitOK, nil
		}
		return 0, fmt.Errorf("run %s: no such run; see decant runs", rest[0])
	}
	d, err := a.openDesk(ctx, o)
	if err != nil {
		return 0, err
	}
	var entries []store.Entry
	if *all {
		entries, err = d.Runs(ctx, "", *limit)
	}
	for _, run := range rest {
		e, fault := one(ctx, d, run)
		entries, err = append(entries, e), errors.Join(err, fault)
	}
	code := exitOK
	if err == nil {
		code, err = a.replayAll(ctx, d, o, entries, *all, *asJSON)
	}
	return code, errors.Join(err, d.Close())
}

// replayer is the engine that replays: the desk's own, or one in a directory
// that is removed, for a desk that has none.
func (a *App) replayer(ctx context.Context, d desk, o deskOptions) (*local.Engine, func() error, error) {
	if m, ok := d.(*machineDesk); ok {
		return m.Engine, func() error { return nil }, nil
	}
	return a.temporaryEngine(ctx, d, o)
}

// temporaryEngine is one in a directory that its function removes, with the
// desk's grants.
func (a *App) temporaryEngine(ctx context.Context, d desk, o deskOptions) (engine *local.Engine, done func() error, err error) {
	config, err := a.engineConfig(false, false, o.grants)
	if err != nil {
		return nil, nil, err
	}
	if config.Dir, err = os.MkdirTemp("", "decant-replay"); err != nil {
		return nil, nil, err
	}
	remove := func() error { return os.RemoveAll(config.Dir) }
	if o.grants == "" {
		if err := copyGrants(ctx, d.Grants(), local.NewGrants(local.GrantsPath(config.Dir))); err != nil {
			return nil, nil, errors.Join(err, remove())
		}
	}
	if engine, err = local.Open(config, a.Pipelines...); err != nil {
		return nil, nil, errors.Join(err, remove())
	}
	return engine, func() error { return errors.Join(engine.Close(), remove()) }, nil
}

func copyGrants(ctx context.Context, from, to pipeline.Grants) error {
	held, err := from.List(ctx)
	for _, g := range held {
		_, fault := to.Add(ctx, g)
		err = errors.Join(err, fault)
	}
	return err
}

func (a *App) replayAll(ctx context.Context, d desk, o deskOptions, entries []store.Entry, all, asJSON bool) (code int, err error) {
	engine, done, err := a.replayer(ctx, d, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	replayed, differing := 0, 0
	for _, e := range entries {
		object, found, err := d.Prompt(ctx, e.Run, e.Mode)
		if err != nil {
			return 0, err
		}
		if !found {
			object = nil
		}
		r, err := engine.Replay(ctx, e, object)
		if errors.Is(err, local.ErrNothingRecorded) {
			if !all {
				return 0, fmt.Errorf("run %s: %w: it ended with %s", e.Run, err, e.Code)
			}
			continue
		}
		if err != nil {
			return 0, fmt.Errorf("run %s: %w", e.Run, err)
		}
		replayed++
		if !r.Same {
			differing++
			code = exitFailed
		}
		if err := a.printReplay(r, asJSON, !all || !r.Same); err != nil {
			return 0, err
		}
	}
	if all && !asJSON {
		fmt.Fprintf(a.Stdout, "%d runs replayed, %d would be otherwise\n", replayed, differing)
	}
	return code, nil
}

func (a *App) printReplay(r local.Replay, asJSON, loud bool) error {
	if asJSON {
		b, err := json.Marshal(r)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(a.Stdout, "%s\n", b)
		return err
	}
	if !loud {
		return nil
	}
	verdict := "the same, bit for bit"
	if !r.Same {
		verdict = "otherwise"
	}
	replayed := ""
	if len(r.Replayed) > 0 {
		replayed = "; replayed " + strings.Join(r.Replayed, ", ")
	}
	fmt.Fprintf(a.Stdout, "run %s  %s: %s%s\n", r.Run[:12], r.Recipe, verdict, replayed)
	for _, d := range r.Differences {
		fmt.Fprintf(a.Stdout, "  %s: %s, now %s\n", d.What, terminal.Cut(d.Was, 400), terminal.Cut(d.Is, 400))
	}
	return nil
}
