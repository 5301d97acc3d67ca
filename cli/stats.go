package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"decant.dev/extract"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// stats is stats.v1: what the runs of one recipe came to, and what their
// extractors used. Cost is in millionths of a dollar, at the configured
// prices.
type stats struct {
	Schema   string                  `json:"schema"`
	Recipe   string                  `json:"recipe"`
	Runs     int                     `json:"runs"`
	Statuses map[pipeline.Status]int `json:"statuses"`
	Reasons  map[pipeline.Code]int   `json:"reasons"`
	Stages   []stage                 `json:"stages"`
	// Saved is what the runs that no part with a cost answered would have cost
	// at the average of those that one did.
	Saved int64 `json:"saved_microdollars"`
}

// stage is what one extractor, or one part of one, answered.
type stage struct {
	Name  string        `json:"name"`
	Runs  int           `json:"runs"`
	Usage extract.Usage `json:"usage"`
}

// statsOf counts entries by recipe, in the order of names.
func statsOf(entries []store.Entry) ([]stats, error) {
	all := map[string]*stats{}
	for _, e := range entries {
		s := all[e.Recipe]
		if s == nil {
			s = &stats{Schema: "stats.v1", Recipe: e.Recipe, Statuses: map[pipeline.Status]int{}, Reasons: map[pipeline.Code]int{}, Stages: []stage{}}
			all[e.Recipe] = s
		}
		s.Runs++
		if e.State == store.Ended {
			s.Statuses[e.Status]++
		}
		if e.Code != pipeline.OK {
			s.Reasons[e.Code]++
		}
		var t extract.Trace
		if len(e.Trace) == 0 {
			continue
		}
		if err := json.Unmarshal(e.Trace, &t); err != nil {
			return nil, fmt.Errorf("run %s: %w", e.Run, err)
		}
		s.add(cmp.Or(t.Stage, t.Extractor), t.Usage)
	}
	var list []stats
	for _, s := range all {
		slices.SortFunc(s.Stages, func(a, b stage) int { return cmp.Or(cmp.Compare(b.Runs, a.Runs), strings.Compare(a.Name, b.Name)) })
		s.save()
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b stats) int { return strings.Compare(a.Recipe, b.Recipe) })
	return list, nil
}

func (s *stats) add(name string, u extract.Usage) {
	i := slices.IndexFunc(s.Stages, func(x stage) bool { return x.Name == name })
	if i < 0 {
		s.Stages, i = append(s.Stages, stage{Name: name}), len(s.Stages)
	}
	s.Stages[i].Runs++
	sum := &s.Stages[i].Usage
	sum.InputTokens += u.InputTokens
	sum.OutputTokens += u.OutputTokens
	sum.CacheReadTokens += u.CacheReadTokens
	sum.CacheWriteTokens += u.CacheWriteTokens
	sum.Microdollars += u.Microdollars
}

// save works out what was saved.
func (s *stats) save() {
	var paid, free, cost int64
	for _, x := range s.Stages {
		if x.Usage.Microdollars > 0 {
			paid, cost = paid+int64(x.Runs), cost+x.Usage.Microdollars
		} else {
			free += int64(x.Runs)
		}
	}
	if paid > 0 {
		s.Saved = free * cost / paid
	}
}

func (a *App) printStats(entries []store.Entry, asJSON bool) error {
	list, err := statsOf(entries)
	if err != nil {
		return err
	}
	for i, s := range list {
		if asJSON {
			b, err := json.Marshal(s, json.Deterministic(true))
			if err != nil {
				return err
			}
			fmt.Fprintf(a.Stdout, "%s\n", b)
			continue
		}
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		fmt.Fprintf(a.Stdout, "recipe %s: %d runs\n", s.Recipe, s.Runs)
		for _, status := range pipeline.Statuses() {
			if n := s.Statuses[status]; n > 0 {
				fmt.Fprintf(a.Stdout, "  %-12s %7d%s\n", status, n, reasons(s.Reasons, status))
			}
		}
		if n := s.Runs - sum(s.Statuses); n > 0 {
			fmt.Fprintf(a.Stdout, "  %-12s %7d\n", "unfinished", n)
		}
		if len(s.Stages) > 0 {
			fmt.Fprintf(a.Stdout, "  %-12s %7s %12s %12s %12s\n", "answered by", "runs", "tokens in", "tokens out", "cost $")
		}
		for _, x := range s.Stages {
			in := x.Usage.InputTokens + x.Usage.CacheReadTokens + x.Usage.CacheWriteTokens
			fmt.Fprintf(a.Stdout, "  %-12s %7d %12d %12d %12s\n", x.Name, x.Runs, in, x.Usage.OutputTokens, dollars(x.Usage.Microdollars))
		}
		if s.Saved > 0 {
			fmt.Fprintf(a.Stdout, "  saved: $%s, had the model been asked about every run at the average cost\n", dollars(s.Saved))
		}
	}
	return nil
}

func sum(counts map[pipeline.Status]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// reasons lists the codes of a status with their numbers, the most frequent
// first.
func reasons(all map[pipeline.Code]int, of pipeline.Status) string {
	var codes []pipeline.Code
	for c := range all {
		if c.Status() == of {
			codes = append(codes, c)
		}
	}
	slices.SortFunc(codes, func(a, b pipeline.Code) int { return cmp.Or(cmp.Compare(all[b], all[a]), cmp.Compare(a, b)) })
	var words []string
	for _, c := range codes {
		words = append(words, fmt.Sprintf("%s %d", c, all[c]))
	}
	if len(words) == 0 {
		return ""
	}
	return "  " + strings.Join(words, ", ")
}

// dollars is an amount of millionths.
func dollars(micro int64) string { return fmt.Sprintf("%d.%06d", micro/1e6, micro%1e6) }
