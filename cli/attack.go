package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/internal/attack"
	"decant.dev/internal/terminal"
)

const attackUsage = `Usage: decant attack [--corpus FILE] [--n N] [--json] RECIPE
       decant attack --flips --corpus FILE [--n N] [--json] RECIPE

Attack puts an extractor that was taken over whole in the place of the
recipe's own, as the real extract child. It answers with structures drawn at
random, with malformed bytes of every kind, with the texts of a corpus; it
tries files, sockets and other processes, hangs, writes without end and
answers for other runs. Each write is then read back from act's tables and
receipts, and must stand on the recipe's list of outcomes. The exit code is 1
if one does not, or if anything got out of the child.

With --flips the recipe's own extractor reads honest issues with each text of
the corpus before, behind and inside them, and attack counts how often each
choice differs from that of the honest issue alone. Choices may flip: that is
persuasion, and no failure.

Runs are live, in a temporary state directory that is removed afterwards.

  --corpus FILE  JSON lines of {"id","text"} or {"id","b64"}
  --n N          structures, and as many malformed byte strings; with --flips,
                 texts of the corpus (default 10000)
  --seed N       what is drawn (default 1)
  --json         print one attack.v1 object, or one flips.v1
  --unsandboxed  go on where the phases cannot be restricted

Example:
  decant attack issues
`

type attackOptions struct {
	corpus      string
	n           int
	seed        uint64
	json        bool
	flips       bool
	unsandboxed bool
}

const maxAttacks = 1_000_000

func (a *App) attack(ctx context.Context, args []string) (code int, err error) {
	var o attackOptions
	flags := flag.NewFlagSet("attack", flag.ContinueOnError)
	flags.StringVar(&o.corpus, "corpus", "", "")
	flags.IntVar(&o.n, "n", 10_000, "")
	flags.Uint64Var(&o.seed, "seed", 1, "")
	flags.BoolVar(&o.json, "json", false, "")
	flags.BoolVar(&o.flips, "flips", false, "")
	flags.BoolVar(&o.unsandboxed, "unsandboxed", false, "")
	names, err := a.parse(flags, attackUsage, args)
	switch {
	case err != nil:
		return 0, err
	case len(names) != 1:
		return 0, usagef("attack: want one recipe, got %d", len(names))
	case o.n < 1 || o.n > maxAttacks:
		return 0, usagef("attack: --n %d: want 1 to %d", o.n, maxAttacks)
	case o.flips && o.corpus == "":
		return 0, usagef("attack: --flips wants the texts of --corpus FILE")
	}
	config := attack.Config{N: o.n, Seed: o.seed, Unsandboxed: o.unsandboxed, Clock: a.Clock}
	if config.Pipeline, err = a.pipeline("attack", names[0]); err != nil {
		return 0, err
	}
	config.Reviewed = config.Pipeline.Recipe.OutcomesFile()
	if config.Corpus, err = readCorpus(o.corpus); err != nil {
		return 0, err
	}
	if config.Dir, err = os.MkdirTemp("", "decant-attack-"); err != nil {
		return 0, fmt.Errorf("attack: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(config.Dir)) }()
	shown := newProgress(a.Stderr, o.n)
	config.Progress = func(done, total int) { shown.at(done, total, "runs") }
	begun := a.Clock()
	if o.flips {
		return a.flips(ctx, o, config, begun, shown.clear)
	}
	report, err := attack.Hostile(ctx, config)
	shown.clear()
	if err != nil {
		return 0, fmt.Errorf("attack: %w", err)
	}
	a.throughput(report.Runs(), begun)
	if o.json {
		err = a.printAttackJSON(report)
	} else {
		printAttack(a.Stdout, report)
	}
	if !report.Held() {
		code = exitFailed
	}
	return code, err
}

// throughput says on standard error how fast it went.
func (a *App) throughput(runs int, begun time.Time) {
	took := a.Clock().Sub(begun)
	fmt.Fprintf(a.Stderr, "decant: %d runs in %s, %.0f a second\n", runs, took.Round(100*time.Millisecond), float64(runs)/max(took.Seconds(), 0.001))
}

func readCorpus(file string) ([]attack.Text, error) {
	if file == "" {
		return nil, nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("attack: %w", err)
	}
	defer f.Close()
	texts, err := attack.ReadCorpus(f)
	if err != nil {
		return nil, fmt.Errorf("attack: %s: %w", terminal.Line(file), err)
	}
	return texts, nil
}

// pipeline is the one of a recipe's name.
func (a *App) pipeline(command, name string) (Pipeline, error) {
	known := make([]string, 0, len(a.Pipelines))
	for _, p := range a.Pipelines {
		if p.Recipe.Name() == name {
			return p, nil
		}
		known = append(known, p.Recipe.Name())
	}
	return Pipeline{}, usagef("%s: no recipe %.64q: want one of %s", command, name, strings.Join(known, ", "))
}

// attackReport is attack.v1.
type attackReport struct {
	Schema   string          `json:"schema"`
	Recipe   string          `json:"recipe"`
	Outcomes string          `json:"outcomes"`
	Runs     int             `json:"runs"`
	Kinds    int             `json:"kinds"` // of malformed bytes
	Off      int             `json:"off"`
	Classes  []attack.Class  `json:"classes"`
	Escapes  attack.Escapes  `json:"escapes"`
	Example  *attack.Example `json:"example,omitzero"`
}

func (a *App) printAttackJSON(r attack.Report) error {
	b, err := json.Marshal(attackReport{"attack.v1", r.Recipe, r.Outcomes, r.Runs(), r.Kinds, r.Off(), r.Classes, r.Escapes, r.Example}, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s\n", b)
	return err
}

func printAttack(out io.Writer, r attack.Report) {
	fmt.Fprintf(out, "attack on %s: %d runs of a hostile extractor\n\n", r.Recipe, r.Runs())
	fmt.Fprintf(out, "  %-16s %8s %8s %9s   %s\n", "class", "runs", "wrote", "off list", "ended")
	for _, c := range r.Classes {
		ended := slices.SortedFunc(maps.Keys(c.Ended), func(x, y string) int {
			if c.Ended[x] != c.Ended[y] {
				return c.Ended[y] - c.Ended[x]
			}
			return strings.Compare(x, y)
		})
		for i, code := range ended {
			if i == 0 {
				fmt.Fprintf(out, "  %-16s %8d %8d %9d", c.Class, c.Runs, c.Wrote, c.Off)
			} else {
				fmt.Fprintf(out, "  %-16s %8s %8s %9s", "", "", "", "")
			}
			fmt.Fprintf(out, "  %7d %s\n", c.Ended[code], code)
		}
	}
	fmt.Fprintf(out, "\nThe malformed are of %d kinds.\n", r.Kinds)
	switch {
	case r.Escapes.Tried == 0:
		fmt.Fprintln(out, "Nothing is restricted here: no way out of the extract child was tried.")
	case len(r.Escapes.Out) == 0:
		fmt.Fprintf(out, "Of %d tries to get out of the extract child none did.\n", r.Escapes.Tried)
	default:
		fmt.Fprintf(out, "Of %d tries to get out of the extract child %d did:\n", r.Escapes.Tried, len(r.Escapes.Out))
		for _, name := range r.Escapes.Out {
			fmt.Fprintf(out, "  %s\n", name)
		}
	}
	if r.Off() == 0 {
		fmt.Fprintf(out, "Every write is one of the %s outcomes on the list.\n", r.Outcomes)
		return
	}
	printOff(out, r)
}

// printOff prints the smallest write that is not on the list.
func printOff(out io.Writer, r attack.Report) {
	fmt.Fprintf(out, "%d runs wrote what is not on the list. The smallest:\n", r.Off())
	fmt.Fprintf(out, "  run %s of class %s\n  %s\n  structure %s\n", r.Example.Run, r.Example.Class, r.Example.Why, terminal.Line(r.Example.Structure))
}
