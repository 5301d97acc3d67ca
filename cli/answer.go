package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/local/store"
)

const approveUsage = `Usage: decant approve RUN --as PERSON [--stack NAME]
       decant deny RUN --as PERSON [--stack NAME]

Approve and deny answer a run that waits for a person. They print what was
asked, as it would be written: what stands in quotes was written by a stranger.
An answer is for just that: if anything of it changes, the run asks anew. A
question that nobody answers within a week is refused.

Asked is the person whose message started the run, where they hold trigger on
its channel, and otherwise whoever holds trigger on approve:RECIPE.

  --as PERSON      who answers, as github:583231
  --stack NAME     a run of a deployed stack
  --json           print the run.v1 object that the run came to
  --grants FILE    who holds trigger; by default grants/grants.json in the
                   state directory
  --unsandboxed    go on where the kernel cannot sandbox

Example:
  decant approve 3f2c81 --as github:583231
`

const retryUsage = `Usage: decant retry RUN [--stack NAME]

Retry tries a run that has ended once more, from its stored body, under the
recipe as it is now. What has its receipt is not written twice.

  --stack NAME     a run of a deployed stack
  --json           print the run.v1 object that the run came to
  --grants FILE    who holds trigger; by default grants/grants.json in the
                   state directory
  --unsandboxed    for a live run, go on where the kernel cannot sandbox

Example:
  decant retry 3f2c81
`

const pauseUsage = `Usage: decant pause RECIPE [--stack NAME]
       decant resume RECIPE [--stack NAME]

Pause stops a recipe at once: no run of it begins, and none that is under way
writes; each ends as refused, and can be tried again with decant retry once the
recipe is resumed. Events are still stored.

  --stack NAME   a recipe of a deployed stack

Example:
  decant pause issues
`

func (a *App) approve(ctx context.Context, args []string) (int, error) {
	return a.answer(ctx, "approve", args, approval.Approve)
}

func (a *App) deny(ctx context.Context, args []string) (int, error) {
	return a.answer(ctx, "deny", args, approval.Deny)
}

func (a *App) answer(ctx context.Context, verb string, args []string, answer approval.Answer) (int, error) {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	o := deskFlags(flags)
	person := flags.String("as", "", "")
	asJSON := flags.Bool("json", false, "")
	rest, err := a.parse(flags, approveUsage, args)
	switch {
	case err != nil:
		return 0, err
	case len(rest) != 1:
		return 0, usagef("%s: want one run, got %d", verb, len(rest))
	case !pipeline.IsActorID(*person):
		return 0, usagef("%s: --as %.64q: want a person's id, as github:583231", verb, *person)
	}
	return a.onRun(ctx, verb, *o, rest[0], func(d desk, entry store.Entry) (int, error) {
		record, asked, err := d.Question(ctx, entry.Run)
		if err != nil {
			return 0, err
		}
		if !asked {
			return 0, fmt.Errorf("run %s: %w", entry.Run[:12], approval.NotAsked)
		}
		if !*asJSON {
			shown, err := a.resultOf(entry)
			if err != nil {
				return 0, err
			}
			if err := a.explainEntry(ctx, d, entry, shown); err != nil {
				return 0, err
			}
		}
		state, result, err := d.Answer(ctx, entry.Run, record.Binding, *person, answer)
		if err != nil {
			return 0, fmt.Errorf("run %s: %w", entry.Run[:12], err)
		}
		if state == approval.Waiting {
			fmt.Fprintf(a.Stderr, "decant: run %s has one of the two approvals that the recipe wants\n", entry.Run[:12])
			return exitOK, nil
		}
		fmt.Fprintf(a.Stderr, "decant: run %s is %s by %s\n", entry.Run[:12], state, *person)
		return a.told(ctx, d, entry.Run, result, *asJSON)
	})
}

func (a *App) retry(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("retry", flag.ContinueOnError)
	o := deskFlags(flags)
	asJSON := flags.Bool("json", false, "")
	rest, err := a.parse(flags, retryUsage, args)
	switch {
	case err != nil:
		return 0, err
	case len(rest) != 1:
		return 0, usagef("retry: want one run, got %d", len(rest))
	}
	return a.onRun(ctx, "retry", *o, rest[0], func(d desk, entry store.Entry) (int, error) {
		if entry.State != store.Ended {
			return 0, fmt.Errorf("run %s is under way: want one that has ended", entry.Run[:12])
		}
		result, err := d.Again(ctx, entry)
		if err != nil {
			return 0, err
		}
		return a.told(ctx, d, entry.Run, result, *asJSON)
	})
}

// onRun opens the desk and does something with the one run that arg names.
func (a *App) onRun(ctx context.Context, verb string, o deskOptions, arg string, do func(desk, store.Entry) (int, error)) (code int, err error) {
	if !runPrefix.MatchString(arg) {
		return 0, usagef("%s: %.64q: want 4 to 32 hex digits of a run's id", verb, arg)
	}
	if !a.kept(o) {
		return 0, fmt.Errorf("run %s: no such run; see decant runs", arg)
	}
	d, err := a.openDesk(ctx, o)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	entry, err := one(ctx, d, arg)
	if err != nil {
		return 0, err
	}
	return do(d, entry)
}

func (a *App) pause(ctx context.Context, args []string) (int, error) {
	return a.setPaused(ctx, "pause", args, true)
}

func (a *App) resume(ctx context.Context, args []string) (int, error) {
	return a.setPaused(ctx, "resume", args, false)
}

func (a *App) setPaused(ctx context.Context, verb string, args []string, paused bool) (int, error) {
	flags := flag.NewFlagSet(verb, flag.ContinueOnError)
	var o deskOptions
	flags.StringVar(&o.stack, "stack", "", "")
	rest, err := a.parse(flags, pauseUsage, args)
	if err != nil {
		return 0, err
	}
	if len(rest) != 1 {
		return 0, usagef("%s: want one recipe, got %d", verb, len(rest))
	}
	if a.recipe(rest[0]) == nil {
		return 0, usagef("%s: no recipe %.64q; see decant audit", verb, rest[0])
	}
	d, err := a.openDesk(ctx, o)
	if err != nil {
		return 0, err
	}
	return exitOK, errors.Join(d.Pause(ctx, rest[0], paused), d.Close())
}
