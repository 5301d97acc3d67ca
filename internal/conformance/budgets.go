package conformance

import (
	"context"
	"fmt"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/act/plan"
)

// Budgets is a store of budgets, and how its counters are read.
type Budgets interface {
	act.Budgets
	Used(ctx context.Context, key string) (int64, error)
}

// TestBudgets holds a store of budgets to its promises. until is an instant at
// which the counters of this suite end; the store may hold others.
func TestBudgets(t *testing.T, b Budgets, until time.Time) {
	ctx := t.Context()
	spend := func(key string, amount, limit int64) plan.Spend {
		return plan.Spend{Key: "conformance/" + key, Amount: amount, Limit: limit, Until: until}
	}
	charge := func(t *testing.T, id string, want bool, spends ...plan.Spend) {
		t.Helper()
		if got, err := b.Charge(ctx, id, spends); got != want || err != nil {
			t.Errorf("charge: got %t, %v; want %t", got, err, want)
		}
	}
	used := func(t *testing.T, key string, want int64) {
		t.Helper()
		if got, err := b.Used(ctx, "conformance/"+key); got != want || err != nil {
			t.Errorf("%s: got %d, %v; want %d", key, got, err, want)
		}
	}
	t.Run("a counter reaches its limit and no more", func(t *testing.T) {
		used(t, "a", 0)
		charge(t, run(30, 1), true, spend("a", 6, 10))
		charge(t, run(30, 2), false, spend("a", 5, 10))
		used(t, "a", 6)
		charge(t, run(30, 3), true, spend("a", 4, 10))
		charge(t, run(30, 4), false, spend("a", 1, 10))
		used(t, "a", 10)
	})
	t.Run("an amount over its limit, or of nothing, is never within", func(t *testing.T) {
		for i, s := range []plan.Spend{spend("b", 11, 10), spend("b", 1, 0), spend("b", 0, 10), spend("b", -1, 10), spend("b", 1<<62, plan.MaxLimit)} {
			charge(t, run(31, i), false, s)
		}
		used(t, "b", 0)
	})
	t.Run("what a run has added is not added again", func(t *testing.T) {
		for range 3 {
			charge(t, run(32, 1), true, spend("c", 7, 10))
		}
		used(t, "c", 7)
		charge(t, run(32, 2), false, spend("c", 7, 10))
		charge(t, run(32, 1), true, spend("c", 7, 10), spend("c2", 1, 1)) // the new counter alone
		used(t, "c", 7)
		used(t, "c2", 1)
		charge(t, run(32, 1), true)
	})
	t.Run("all counters or none", func(t *testing.T) {
		charge(t, run(33, 1), true, spend("d", 1, 1))
		charge(t, run(33, 2), false, spend("d2", 1, 5), spend("d", 1, 1), spend("d3", 1, 5))
		used(t, "d2", 0)
		used(t, "d3", 0)
		charge(t, run(33, 2), true, spend("d2", 1, 5), spend("d", 1, 2)) // refused runs may try again
		used(t, "d2", 1)
		used(t, "d", 2)
	})
	t.Run("of many at once as many as there is room for", func(t *testing.T) {
		const n, limit = 24, 10
		var within [n]bool
		errs := together(n, func(i int) (err error) {
			for range 20 { // a store may be asked again where it is busy
				if within[i], err = b.Charge(ctx, run(34, i), []plan.Spend{spend("e", 1, limit), spend("e2", 1, n)}); err == nil {
					return nil
				}
			}
			return err
		})
		got := int64(0)
		for i := range n {
			if errs[i] != nil {
				t.Errorf("charge %d: %v", i, errs[i])
			}
			if within[i] {
				got++
			}
		}
		if got != limit {
			t.Errorf("%d were within, want %d", got, limit)
		}
		used(t, "e", limit)
		used(t, "e2", limit)
	})
	t.Run("one run asked many times at once is charged once", func(t *testing.T) {
		errs := together(8, func(int) error {
			ok, err := b.Charge(ctx, run(35, 1), []plan.Spend{spend("f", 3, 10)})
			if err == nil && !ok {
				return fmt.Errorf("not within")
			}
			return err
		})
		for _, err := range errs {
			if err != nil {
				t.Error(err)
			}
		}
		used(t, "f", 3)
	})
	t.Run("as many counters as recipes can have", func(t *testing.T) {
		var spends []plan.Spend
		for i := range act.MaxSpends {
			spends = append(spends, spend(fmt.Sprintf("g%d", i), 1, 1))
		}
		charge(t, run(36, 1), true, spends...)
		charge(t, run(36, 2), false, spends[act.MaxSpends-1])
	})
}
