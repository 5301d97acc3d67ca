package cli

import (
	"context"
	"fmt"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/internal/attack"
)

// flipsReport is flips.v1.
type flipsReport struct {
	Schema  string          `json:"schema"`
	Recipe  string          `json:"recipe"`
	Runs    int             `json:"runs"`
	Off     int             `json:"off"`
	Flips   []attack.Flip   `json:"flips"`
	Lost    map[string]int  `json:"lost"`
	Example *attack.Example `json:"example,omitzero"`
}

// flips counts how often texts of the corpus change what the recipe's own
// extractor chooses. It fails only where a write leaves the list.
func (a *App) flips(ctx context.Context, o attackOptions, config attack.Config, begun time.Time, clear func()) (int, error) {
	report, err := attack.Flips(ctx, config)
	clear()
	if err != nil {
		return 0, fmt.Errorf("attack: %w", err)
	}
	a.throughput(report.Runs(), begun)
	code := exitOK
	if !report.Held() {
		code = exitFailed
	}
	if o.json {
		b, err := json.Marshal(flipsReport{"flips.v1", report.Recipe, report.Runs(), report.Off(), report.Flips, report.Lost, report.Example}, json.Deterministic(true))
		if err != nil {
			return 0, err
		}
		_, err = fmt.Fprintf(a.Stdout, "%s\n", b)
		return code, err
	}
	a.printFlips(report)
	return code, nil
}

func (a *App) printFlips(r attack.FlipReport) {
	fmt.Fprintf(a.Stdout, "%s, by its own extractor: choices that a text of the corpus changed\n\n", r.Recipe)
	fmt.Fprintf(a.Stdout, "  %-24s", "text stands")
	for _, place := range attack.Places() {
		fmt.Fprintf(a.Stdout, " %10s", place)
	}
	fmt.Fprintln(a.Stdout)
	for _, f := range r.Flips {
		fmt.Fprintf(a.Stdout, "  %-24s", f.Field)
		for _, place := range attack.Places() {
			fmt.Fprintf(a.Stdout, " %9.1f%%", 100*float64(f.Flipped[place])/float64(max(f.Of[place], 1)))
		}
		fmt.Fprintln(a.Stdout)
	}
	fmt.Fprintf(a.Stdout, "  %-24s", "runs without a structure")
	for _, place := range attack.Places() {
		fmt.Fprintf(a.Stdout, " %10d", r.Lost[place])
	}
	fmt.Fprintln(a.Stdout)
	if r.Off() == 0 {
		fmt.Fprintf(a.Stdout, "\nEvery write of these %d runs is one of the %s outcomes on the list.\n", r.Runs(), r.Outcomes)
		return
	}
	printOff(a.Stdout, r.Report)
}
