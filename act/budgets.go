package act

import (
	"context"
	"math"
	"regexp"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
)

// Budgets keeps how much of the recipes' budgets is used.
type Budgets interface {
	// Charge adds each spend of a run to its counter, or none of them where a
	// counter would go over its limit: then it returns false. What a run has
	// added to a counter is not added again, so that a repeated question costs
	// nothing; with counters of another window it is.
	Charge(ctx context.Context, run string, spends []plan.Spend) (bool, error)
}

// Unbounded is Budgets that have room for everything, for an attack on a recipe:
// what is looked at there is what is written, and not how much.
type Unbounded struct{}

// Charge has room.
func (Unbounded) Charge(context.Context, string, []plan.Spend) (bool, error) { return true, nil }

// MaxSpends is the most spends of one charge.
const MaxSpends = 2 * plan.MaxBudgets

// charge adds what a run uses to the budgets that bound it. amount says how
// much of a measure, and for Actions of a kind, is used.
func (h *Handler) charge(ctx context.Context, r *pipeline.Recipe, env pipeline.Envelope, l plan.Label, amount func(plan.Measure, plan.Kind) int64) pipeline.Code {
	use := plan.Use{Recipe: env.Recipe, Channel: env.Channel, Actor: env.Actor.ID, Label: l, At: h.Clock()}
	var spends []plan.Spend
	for _, b := range r.Budgets() {
		spends = append(spends, b.Spends(use, amount(b.Measure, b.Kind))...)
	}
	if len(spends) == 0 {
		return pipeline.OK
	}
	switch within, err := h.Budgets.Charge(ctx, env.Run, spends); {
	case err != nil:
		return pipeline.StoreFailed
	case !within:
		return pipeline.OverBudget
	default:
		return pipeline.OK
	}
}

// beginning is what a run uses when it is admitted. A staged run writes
// nothing and is computed anew each time, so it uses nothing but money.
func (h *Handler) beginning(r *pipeline.Recipe) func(plan.Measure, plan.Kind) int64 {
	return func(m plan.Measure, _ plan.Kind) int64 {
		switch {
		case m == plan.ModelCost:
			return r.RunCost()
		case m == plan.Runs && h.Live:
			return 1
		default:
			return 0
		}
	}
}

// performing is what an outcome uses.
func performing(s *shape.Shape, o plan.Outcome) func(plan.Measure, plan.Kind) int64 {
	return func(m plan.Measure, k plan.Kind) int64 {
		switch m {
		case plan.Actions:
			n := int64(0)
			for _, a := range o.Actions {
				if k == "" || a.Kind == k {
					n++
				}
			}
			return n
		case plan.CarriedBits:
			return carried(s, o)
		default:
			return 0
		}
	}
}

// instance is the number of one item of a list in a handle's path.
var instance = regexp.MustCompile(`\[[0-9]+\]`)

// carried is what an outcome's handles carry: each handle once, at the bits
// that its field has at most.
func carried(s *shape.Shape, o plan.Outcome) int64 {
	bits := map[string]float64{}
	for _, f := range s.Fields() {
		bits[f.Name] = f.Bits
	}
	seen := map[shape.Handle]bool{}
	sum := 0.0
	for _, a := range o.Actions {
		for _, p := range a.Params {
			for h := range p.Value.Handles {
				if !seen[h] {
					seen[h] = true
					sum += bits[instance.ReplaceAllString(h.Path(), "[]")]
				}
			}
		}
	}
	return int64(math.Ceil(sum))
}
