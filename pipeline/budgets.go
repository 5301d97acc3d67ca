package pipeline

import (
	"fmt"
	"slices"

	"decant.dev/act/plan"
)

// Budgets returns what bounds the use that runs of the recipe make.
func (r *Recipe) Budgets() []plan.Budget { return slices.Clone(r.budgets) }

// RunCost returns what the extractor may cost in one run at its worst, in
// millionths of a dollar.
func (r *Recipe) RunCost() int64 { return r.runCost }

// checkBudgets holds each budget to its bounds, and lets no two count one thing.
func (r *Recipe) checkBudgets() {
	if n := len(r.budgets); n > plan.MaxBudgets {
		r.breach("budget", "Budgets", "%d: want at most %d", n, plan.MaxBudgets)
	}
	for i, b := range r.budgets {
		if slices.ContainsFunc(r.budgets[:i], func(o plan.Budget) bool {
			return o.Measure == b.Measure && o.Kind == b.Kind && o.Per == b.Per && o.Window == b.Window
		}) {
			r.breach("budget", fmt.Sprintf("Budgets[%d]", i), "counts what another counts: want one limit for each measure, user and window")
		}
		if err := b.Check(); err != nil {
			r.breach("budget", fmt.Sprintf("Budgets[%d]", i), "%v", err)
		}
		for _, l := range plan.Labels() {
			if most := b.Limit * int64(b.Share(l)) / 100; b.Measure == plan.ModelCost && r.runCost > most {
				r.breach("budget", fmt.Sprintf("Budgets[%d]", i), "one run may cost %d and %s has %d: no such run would begin", r.runCost, l, most)
			}
		}
	}
	if r.runCost < 0 || r.runCost > plan.MaxLimit {
		r.breach("budget", "RunCost", "%d: want 0 to %d millionths of a dollar", r.runCost, int64(plan.MaxLimit))
	}
}
