package act

import (
	"testing"

	"decant.dev/act/plan"
	"decant.dev/pipeline"
)

// Where live, only the named kinds are performed; where not, none is, whatever
// kinds are named and whatever sinks there are.
func TestOnlyTheNamedKindsArePerformed(t *testing.T) {
	t.Parallel()
	recipe := listed(t, spec())
	for _, tc := range []struct {
		live  bool
		kinds []plan.Kind
		rows  int
		sends int
	}{
		{true, nil, 1, 1}, {true, []plan.Kind{plan.KindTableRow}, 1, 0}, {true, []plan.Kind{plan.KindGitHubLabel}, 0, 1},
		{true, []plan.Kind{plan.KindGitHubClose}, 0, 0}, {false, nil, 0, 0}, {false, []plan.Kind{plan.KindTableRow, plan.KindGitHubLabel}, 0, 0},
	} {
		h, m := handlerOf(recipe, tc.live)
		p := &peer{performed: map[string]int{}, clock: h.Clock, manner: func(int) manner { return takes }}
		h = worker(h, m, p, func(string) {})
		h.Kinds = tc.kinds
		in := input("own.words", maintainer, labelled)
		out := run(t, h, in)
		want := pipeline.Staged
		if tc.live {
			want = pipeline.Done
		}
		if out.Status != want || len(m.rows) != tc.rows || p.count(IdempotencyKey(in.Envelope.Run, 1)) != tc.sends {
			t.Errorf("live %t, kinds %v: %s %s, %d rows, %d sent; want %s, %d, %d", tc.live, tc.kinds, out.Status, out.Code, len(m.rows), p.calls, want, tc.rows, tc.sends)
		}
	}
}
