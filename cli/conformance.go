package cli

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"flag"
	"fmt"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/fence"
	"decant.dev/fence/conformance"
	"decant.dev/internal/terminal"
)

const conformanceUsage = `Usage: decant conformance [--json] [--placement user|system] [--seed N]
                          [--timeout D] -- COMMAND [ARGUMENT...]

Conformance finds out whether an adapter keeps the rules of the fence. COMMAND
is run some forty times. Each time it gets one generated run_context.v1 on
standard input and answers on standard output with what it would send to the
model, in one of two forms:

  {"schema":"turn.v1","system":["preamble","..."],"user":"..."}
  {"schema":"prompt.v1",...}     as decant render answers

For each rule that is broken it prints the rule, where it was broken, and what
the rule wants, and exits with 1. If all are kept it prints nothing there, and
one line on standard error.

  --json    print one conformance.v1 object for each rule, kept or broken
  --placement user|system
            the adapter has this placement only; without it, it is to obey
            the context's
  --seed N  make the contexts of an earlier report again
  --timeout D
            for one answer; by default 10s

Example:
  decant conformance -- decant render

docs/adapters.md says how an answer is judged, and how to write an adapter.
`

// shownFindings of a rule are printed; the rest is counted.
const shownFindings = 3

func (a *App) conformance(ctx context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("conformance", flag.ContinueOnError)
	asJSON := flags.Bool("json", false, "")
	placement := flags.String("placement", "", "")
	seed := flags.String("seed", "", "")
	timeout := flags.Duration("timeout", 10*time.Second, "")
	own, command := args, []string(nil)
	for i, arg := range args {
		if arg == "--" {
			own, command = args[:i], args[i+1:]
			break
		}
	}
	rest, err := a.parse(flags, conformanceUsage, own)
	switch {
	case err != nil:
		return 0, err
	case len(rest) > 0 || len(command) == 0:
		return 0, usagef("conformance: want a command after --, as in: decant conformance -- decant render")
	case *timeout <= 0:
		return 0, usagef("conformance: --timeout: want more than 0")
	}
	o := conformance.Options{Seed: newSeed()}
	if *seed != "" {
		if o.Seed, err = strconv.ParseUint(*seed, 10, 64); err != nil {
			return 0, usagef("conformance: --seed: want a whole number of 0 to 2^64-1")
		}
	}
	if *placement != "" {
		if o.Placement, err = fence.ParsePlacement(*placement); err != nil {
			return 0, usagef("conformance: --placement: %v", err)
		}
	}
	complaints := 0
	report, err := conformance.Check(ctx, conformance.Command{Args: command, Timeout: *timeout, Complaint: func(stderr []byte) {
		if complaints++; complaints == 1 {
			fmt.Fprintf(a.Stderr, "decant: the adapter says: %s\n", terminal.Cut(string(stderr), 200))
		}
	}}, o)
	if err != nil {
		return 0, fmt.Errorf("conformance: %w", err)
	}
	if *asJSON {
		err = a.reportJSON(report)
	} else {
		a.reportText(report)
	}
	if err == nil && len(report.Findings) > 0 {
		return exitFailed, nil
	}
	return exitOK, err
}

// newSeed is random, and short enough to be typed.
func newSeed() uint64 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails, by its contract
	return uint64(binary.LittleEndian.Uint32(b[:]))
}

func (a *App) reportText(r conformance.Report) {
	broken := r.Broken()
	for _, rule := range broken {
		fmt.Fprintf(a.Stdout, "broken: %s: %s\n", rule, rule.Sentence())
		found := r.Of(rule)
		for i, f := range found {
			if i == shownFindings {
				fmt.Fprintf(a.Stdout, "  and %d more\n", len(found)-i)
				break
			}
			fmt.Fprintf(a.Stdout, "  %s: %s\n", f.Context, f.Detail)
		}
	}
	again := fmt.Sprintf("--seed %d makes them again", r.Seed)
	switch {
	case !r.Complete:
		fmt.Fprintf(a.Stderr, "decant: only %d contexts were answered (%s), so that little is known of the other rules\n", r.Contexts, again)
	default:
		fmt.Fprintf(a.Stderr, "decant: %d of %d rules kept in %d contexts (%s)\n", len(conformance.Rules())-len(broken), len(conformance.Rules()), r.Contexts, again)
	}
}

// conformanceReport is conformance.v1: one rule.
type conformanceReport struct {
	Schema   string               `json:"schema"`
	Seed     string               `json:"seed"` // as a string: 64 bits are more than a JSON number keeps
	Contexts int                  `json:"contexts"`
	Complete bool                 `json:"complete"` // every context was answered
	Rule     string               `json:"rule"`
	Kept     bool                 `json:"kept"`
	Wants    string               `json:"wants"`
	Findings []conformanceFinding `json:"findings"`
}

type conformanceFinding struct {
	Context string `json:"context"`
	Detail  string `json:"detail"`
}

func (a *App) reportJSON(r conformance.Report) error {
	for _, rule := range conformance.Rules() {
		out := conformanceReport{"conformance.v1", strconv.FormatUint(r.Seed, 10), r.Contexts, r.Complete, rule.String(), true, rule.Sentence(), []conformanceFinding{}}
		for _, f := range r.Of(rule) {
			out.Kept = false
			out.Findings = append(out.Findings, conformanceFinding{f.Context, f.Detail})
		}
		line, err := json.Marshal(out)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.Stdout, "%s\n", line)
	}
	return nil
}
