package cli

import (
	"context"
	"flag"
	"fmt"

	"github.com/go-json-experiment/json"

	"decant.dev/internal/terminal"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local"
)

const grantsUsage = `Usage: decant grants add PERSON CHANNEL
       decant grants remove PERSON CHANNEL
       decant grants list

Grants says who holds trigger on which channel: whose message may start a run
that acts for them, and whose words count as more than a stranger's. What it
changes counts from the next question on, also for a run that is under way.

A PERSON is the id that the source gives, as github:583231, never a login,
which its holder can change. A CHANNEL is github:owner/name, or approve:RECIPE
for who may answer what the recipe asks about.

Grants stand in grants/grants.json in the state directory. An engine that was
given --grants FILE reads that file and not these.

  --stack NAME   the grants of a deployed stack
  --json         print one object a line

Example:
  decant grants add github:5210934 github:octo-org/sample
`

func (a *App) grants(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("grants", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	stackName := flags.String("stack", "", "")
	rest, err := a.parse(flags, grantsUsage, args)
	if err != nil {
		return 0, err
	}
	if len(rest) == 0 {
		return 0, usagef("grants: want add, remove or list; see decant help grants")
	}
	if *stackName == "" { // no engine is needed for a file
		return exitOK, a.changeGrants(ctx, local.NewGrants(local.GrantsPath(a.dir())), rest[0], rest[1:], *asJSON)
	}
	d, err := a.openDesk(ctx, deskOptions{stack: *stackName})
	if err != nil {
		return 0, err
	}
	return exitOK, a.changeGrants(ctx, d.Grants(), rest[0], rest[1:], *asJSON)
}

// changeGrants does one of the three with any grants.
func (a *App) changeGrants(ctx context.Context, grants pipeline.Grants, verb string, args []string, asJSON bool) error {
	change, done, not := grants.Add, "added", "already held"
	switch verb {
	case "add":
	case "remove":
		change, done, not = grants.Remove, "removed", "not held"
	case "list":
		if len(args) > 0 {
			return usagef("grants list: want no arguments, got %d", len(args))
		}
		return a.listGrants(ctx, grants, asJSON)
	default:
		return usagef("grants: want add, remove or list, got %.64q", verb)
	}
	if len(args) != 2 {
		return usagef("grants %s: want a person and a channel, got %d arguments", verb, len(args))
	}
	one := pipeline.Grant{Person: args[0], Channel: args[1]}
	if err := one.Check(); err != nil {
		return usagef("grants %s: %v", verb, err)
	}
	changed, err := change(ctx, one)
	if err != nil {
		return err
	}
	if asJSON {
		return a.printLine(struct {
			Changed bool `json:"changed"`
			pipeline.Grant
		}{changed, one})
	}
	if !changed {
		done = not
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s on %s\n", done, one.Person, one.Channel)
	return err
}

func (a *App) listGrants(ctx context.Context, grants pipeline.Grants, asJSON bool) error {
	all, err := grants.List(ctx)
	if err != nil {
		return err
	}
	for _, g := range all {
		if asJSON {
			err = a.printLine(g)
		} else { // a file that was written by hand may hold anything
			_, err = fmt.Fprintf(a.Stdout, "%-24s %s\n", terminal.Line(g.Person), terminal.Line(g.Channel))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// printLine prints one object as a line.
func (a *App) printLine(v any) error {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = a.Stdout.Write(append(b, '\n'))
	return err
}
