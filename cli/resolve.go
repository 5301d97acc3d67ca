package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json"

	"decant.dev/act"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local"
	"decant.dev/pipeline/local/store"
)

const resolveUsage = `Usage: decant resolve RUN [--stack NAME]
       decant resolve RUN INDEX done|again|never [--stack NAME]

Resolve settles an action that was sent and of which nobody could say what
became of it: its process ended, or the answer was lost, and its sink cannot be
asked. Look there, and say what you found. Without INDEX it lists the receipts
of the run.

  done     it was performed: the receipt says so from now on
  again    it was not: it is sent once more, when the run is tried again
  never    it was not, and it is not to be sent

  --stack NAME     a run of a deployed stack
  --json           with INDEX: print the receipt.v1 object

Example:
  decant resolve 3f2c81 2 done
  decant retry 3f2c81
`

const forgetUsage = `Usage: decant forget RUN [--stack NAME]

Forget removes what strangers wrote of a run that has ended: its raw body, its
prompts, what was gathered for adapters, its structure and the parameters of
its actions. How it ended and its receipts are kept, so that the same event
still performs nothing twice. What a sink was given stays there. The run cannot
be tried again or replayed.

Runs are forgotten by themselves after $DECANT_KEEP_DAYS days by decant serve,
and on AWS by the bucket's lifecycle.

  --stack NAME     a run of a deployed stack

Example:
  decant forget 3f2c81
`

var verdicts = map[string]act.Verdict{"done": act.Performed, "again": act.NotPerformed, "never": act.Rejected}

func (a *App) resolve(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("resolve", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	var o deskOptions
	flags.StringVar(&o.stack, "stack", "", "")
	rest, err := a.parse(flags, resolveUsage, args)
	if err != nil {
		return 0, err
	}
	if len(rest) != 1 && len(rest) != 3 {
		return 0, usagef("resolve: want a run, or a run, an index and done, again or never; got %d arguments", len(rest))
	}
	index, verdict := 0, act.Unsure
	if len(rest) == 3 {
		var known bool
		if verdict, known = verdicts[rest[2]]; !known {
			return 0, usagef("resolve: %.16q: want done, again or never", rest[2])
		}
		if index, err = strconv.Atoi(rest[1]); err != nil {
			return 0, usagef("resolve: index %.16q: want a number", rest[1])
		}
	}
	return a.onRun(ctx, "resolve", o, rest[0], func(d desk, entry store.Entry) (_ int, err error) {
		ledger, done, err := d.Ledger()
		if err != nil {
			return 0, err
		}
		defer func() { err = errors.Join(err, done()) }()
		if len(rest) == 1 {
			return exitOK, a.listReceipts(ctx, ledger, entry.Run)
		}
		r, err := act.Resolve(ctx, ledger, entry.Run, index, verdict, a.Clock())
		if err != nil {
			return 0, fmt.Errorf("run %s: %w", entry.Run[:12], err)
		}
		if *asJSON {
			b, err := json.Marshal(r)
			if err != nil {
				return 0, err
			}
			fmt.Fprintf(a.Stdout, "%s\n", b)
			return exitOK, nil
		}
		fmt.Fprintf(a.Stderr, "decant: action %d of run %s is %s; decant retry %s carries the run on\n", index, entry.Run[:12], r.State, entry.Run[:12])
		return exitOK, nil
	})
}

func (a *App) listReceipts(ctx context.Context, l act.Ledger, run string) error {
	all, err := l.Receipts(ctx, run)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		fmt.Fprintf(a.Stdout, "run %s has no receipts: nothing of it was performed\n", run[:12])
	}
	for _, r := range all {
		fmt.Fprintf(a.Stdout, "%d  %-15s %-8s %-16s sent %d times  %s\n", r.Index, r.Kind, r.State, r.Outcome, r.Attempt, r.At.Format("2006-01-02 15:04:05"))
	}
	return nil
}

func (a *App) forget(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("forget", flag.ContinueOnError)
	var o deskOptions
	flags.StringVar(&o.stack, "stack", "", "")
	rest, err := a.parse(flags, forgetUsage, args)
	switch {
	case err != nil:
		return 0, err
	case len(rest) != 1:
		return 0, usagef("forget: want one run, got %d", len(rest))
	}
	return a.onRun(ctx, "forget", o, rest[0], func(d desk, entry store.Entry) (int, error) {
		if entry.Status == pipeline.Waiting {
			return 0, fmt.Errorf("run %s waits for a person: answer it first", entry.Run[:12])
		}
		if err := d.Forget(ctx, entry); errors.Is(err, local.ErrUnderWay) {
			return 0, fmt.Errorf("run %s: %w: want one that has ended", entry.Run[:12], err)
		} else if err != nil {
			return 0, err
		}
		fmt.Fprintf(a.Stderr, "decant: what strangers wrote of run %s is removed; its receipts are kept\n", entry.Run[:12])
		return exitOK, nil
	})
}
