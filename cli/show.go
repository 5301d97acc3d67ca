package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"regexp"

	"github.com/go-json-experiment/json"

	"decant.dev/pipeline"
	"decant.dev/pipeline/local"
	"decant.dev/pipeline/local/store"
)

const runsUsage = `Usage: decant runs [--json] [--stats] [--status STATUS] [--limit N]
                   [--stack NAME]

Runs lists the newest runs first.

  --stats          instead, count them: how they ended, what answered them, what
                   that cost, and what a cascade saved; of all runs unless
                   --limit says otherwise

  --status STATUS  only runs that are staged, done, waiting, dropped, ignored,
                   quarantined, refused or failed
  --limit N        at most N runs, 1 to 10000; by default 50
  --stack NAME     the runs of a deployed stack, with the credentials that the
                   AWS command takes
  --json           print one run.v1 object a line, or stats.v1 for a recipe

Example:
  decant runs --status quarantined
`

const showUsage = `Usage: decant show [--json] [--stack NAME] RUN

Show prints what each phase of a run saw and did, and why. RUN is a run's id
or the beginning of one.

  --stack NAME     a run of a deployed stack; what fetch saw is not shown
  --json           print the run.v1 object

Example:
  decant show 3f2c81
`

const maxListed = 10000

var runPrefix = regexp.MustCompile(`^[0-9a-f]{4,32}$`)

func (a *App) runs(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("runs", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	status := flags.String("status", "", "")
	counted := flags.Bool("stats", false, "")
	limit := flags.Int("limit", 0, "")
	var o deskOptions
	flags.StringVar(&o.stack, "stack", "", "")
	rest, err := a.parse(flags, runsUsage, args)
	if !given(flags, "limit") {
		if *limit = 50; *counted {
			*limit = maxListed
		}
	}
	switch {
	case err != nil:
		return 0, err
	case len(rest) > 0:
		return 0, usagef("runs: want no arguments, got %d", len(rest))
	case *limit < 1 || *limit > maxListed:
		return 0, usagef("runs: --limit %d: want 1 to %d", *limit, maxListed)
	case *status != "" && !pipeline.Status(*status).Known():
		return 0, usagef("runs: --status %.64q: want one of %v", *status, pipeline.Statuses())
	}
	if !a.kept(o) {
		return exitOK, nil
	}
	d, err := a.openDesk(ctx, o)
	if err != nil {
		return 0, err
	}
	entries, err := d.Runs(ctx, pipeline.Status(*status), *limit)
	switch {
	case err != nil:
	case *counted:
		err = a.printStats(entries, *asJSON)
	default:
		err = a.listEntries(entries, *asJSON)
	}
	return exitOK, errors.Join(err, d.Close())
}

// given reports whether a flag stood on the command line.
func given(flags *flag.FlagSet, name string) (found bool) {
	flags.Visit(func(f *flag.Flag) { found = found || f.Name == name })
	return found
}

func (a *App) listEntries(entries []store.Entry, asJSON bool) error {
	for _, e := range entries {
		r, err := a.resultOf(e)
		if err != nil {
			return fmt.Errorf("run %s: %w", e.Run, err)
		}
		if asJSON {
			if err := a.printJSON(r); err != nil {
				return err
			}
			continue
		}
		env, err := pipeline.DecodeEnvelope(e.Envelope)
		if err != nil {
			return fmt.Errorf("run %s: %w", e.Run, err)
		}
		status := string(e.Status)
		if e.State != store.Ended {
			status = "unfinished"
		}
		fmt.Fprintf(a.Stdout, "%s  %s  %-6s  %-10s %-11s %-20s %s\n", e.Run[:12], e.Updated.Format("2006-01-02 15:04:05"), e.Mode, e.Recipe, status, e.Code, env.Target)
	}
	return nil
}

func (a *App) printJSON(r local.Result) error {
	b, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(append(b, '\n'))
	return err
}

func (a *App) show(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("show", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	var o deskOptions
	flags.StringVar(&o.stack, "stack", "", "")
	rest, err := a.parse(flags, showUsage, args)
	switch {
	case err != nil:
		return 0, err
	case len(rest) != 1:
		return 0, usagef("show: want one run, got %d", len(rest))
	}
	return a.onRun(ctx, "show", o, rest[0], func(d desk, entry store.Entry) (int, error) {
		return exitOK, a.showRun(ctx, d, entry.Run, *asJSON)
	})
}

func (a *App) showRun(ctx context.Context, d desk, run string, asJSON bool) error {
	entries, err := d.Find(ctx, run)
	if err != nil {
		return err
	}
	for _, e := range entries { // live before staged
		r, err := a.resultOf(e)
		if err != nil {
			return fmt.Errorf("run %s: %w", e.Run, err)
		}
		if asJSON {
			err = a.printJSON(r)
		} else {
			err = a.explainEntry(ctx, d, e, r)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
