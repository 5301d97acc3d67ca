package act

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
)

// purse is the Budgets port in memory, to the letter of its contract.
type purse struct {
	mu      sync.Mutex
	used    map[string]int64
	charged map[string]bool // by run and counter
	fail    error
}

func newPurse() *purse { return &purse{used: map[string]int64{}, charged: map[string]bool{}} }

func (p *purse) Charge(_ context.Context, run string, spends []plan.Spend) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail != nil {
		return false, p.fail
	}
	fresh := slices.DeleteFunc(slices.Clone(spends), func(s plan.Spend) bool { return p.charged[run+s.Key] })
	for _, s := range fresh {
		if s.Amount < 1 || p.used[s.Key]+s.Amount > s.Limit {
			return false, nil
		}
	}
	for _, s := range fresh {
		p.used[s.Key] += s.Amount
		p.charged[run+s.Key] = true
	}
	return true, nil
}

// sum is what all counters of a measure hold that count every label.
func (p *purse) sum(m plan.Measure) (n int64) {
	for key, used := range p.used {
		if strings.Contains(key, fmt.Sprintf("/%d/", m)) && strings.Contains(key, "/all/") {
			n += used
		}
	}
	return n
}

func budgeted(tb testing.TB, live bool, cost int64, budgets ...plan.Budget) (*Handler, *memory, *purse) {
	tb.Helper()
	s := spec()
	s.Budgets, s.RunCost = budgets, cost
	h, m := handlerOf(listed(tb, s), live)
	p := newPurse()
	h.Budgets = p
	if err := h.Check(); err != nil {
		tb.Fatal(err)
	}
	return h, m, p
}

func perRecipe(m plan.Measure, limit int64) plan.Budget {
	return plan.Budget{Measure: m, Per: plan.PerRecipe, Window: time.Hour, Limit: limit}
}

// starting is the envelope of one of an actor's events.
func starting(actor string, n int) pipeline.Envelope {
	return pipeline.NewEnvelope("reports", digest, "github", fmt.Appendf(nil, "%s %d", actor, n), person(actor), channel,
		pipeline.Target{Event: "own.words", Repository: "octo-org/sample", Number: 12}, noon)
}

// Whatever strangers do, and however many they are, they use no more than
// their share; a maintainer is refused only where the whole is used up.
func TestStrangersCannotUseUpTheShareOfMaintainers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(2, 12).Draw(t, "limit")
		b := perRecipe(plan.Runs, limit)
		share := rapid.IntRange(0, 100).Draw(t, "share")
		if share > 0 && limit*int64(share) >= 100 {
			b.Shares = map[plan.Label]int{plan.Unverified: share}
		}
		s := spec()
		s.Budgets = []plan.Budget{b}
		list, _ := pipeline.Build(s).Enumerate()
		s.Outcomes = list.Encode()
		h, _ := handlerOf(pipeline.New(s), true)
		h.Budgets = newPurse()
		most := limit * int64(b.Share(plan.Unverified)) / 100
		var strangers, all int64
		for n, stranger := range rapid.SliceOfN(rapid.Bool(), 0, 40).Draw(t, "strangers") {
			actor := maintainer
			if stranger {
				actor = fmt.Sprintf("github:%d", 1000+n)
			}
			code := h.Admit(t.Context(), AdmitInput{Envelope: starting(actor, n)}).Code
			room := all < limit && (!stranger || strangers < most)
			if want := map[bool]pipeline.Code{true: pipeline.OK, false: pipeline.OverBudget}[room]; code != want {
				t.Fatalf("%d of %d used, %d of %d by strangers; stranger %t: got %q, want %q", all, limit, strangers, most, stranger, code, want)
			}
			if room {
				all++
				if stranger {
					strangers++
				}
			}
		}
	})
}

func TestARunIsCountedOnceAWindow(t *testing.T) {
	t.Parallel()
	h, _, p := budgeted(t, true, 0, perRecipe(plan.Runs, 10))
	at := noon
	h.Clock = func() time.Time { return at }
	for range 5 {
		if a := h.Admit(t.Context(), AdmitInput{Envelope: starting(maintainer, 1)}); a.Code != pipeline.OK {
			t.Fatal(a.Code)
		}
	}
	if n := p.sum(plan.Runs); n != 1 {
		t.Errorf("counted %d times, want once", n)
	}
	at = noon.Add(time.Hour)
	h.Admit(t.Context(), AdmitInput{Envelope: starting(maintainer, 1)})
	if n := p.sum(plan.Runs); n != 2 {
		t.Errorf("counted %d times in two windows, want twice", n)
	}
}

// A run that is lowered after fetch is counted among strangers too.
func TestALoweredRunUsesTheLowerShare(t *testing.T) {
	t.Parallel()
	h, _, _ := budgeted(t, true, 0, perRecipe(plan.Runs, 4))
	for n, want := range []pipeline.Code{pipeline.OK, pipeline.OK, pipeline.OverBudget} {
		env := starting(maintainer, n)
		if a := h.Admit(t.Context(), AdmitInput{Envelope: env}); a.Code != pipeline.OK {
			t.Fatal(a.Code)
		}
		if a := h.Admit(t.Context(), AdmitInput{Envelope: env, Ceiling: plan.Unverified}); a.Code != want {
			t.Errorf("lowered run %d: got %q, want %q", n, a.Code, want)
		}
	}
}

// Each budget counts what it names, for whom it names: the table of measures
// is whole.
func TestEachMeasureCountsItsOwn(t *testing.T) {
	t.Parallel()
	bits := map[string]float64{}
	for _, f := range listed(t, spec()).Shape().Fields() {
		bits[f.Name] = f.Bits
	}
	carries := int64(bits["version"]+bits["quote"]) + 1 // whole bits, rounded up
	for _, tc := range []struct {
		m    plan.Measure
		kind plan.Kind
		live bool
		want int64
	}{
		{plan.Runs, "", true, 1}, {plan.Runs, "", false, 0},
		{plan.Actions, "", true, 1}, {plan.Actions, "", false, 0},
		{plan.Actions, plan.KindTableRow, true, 1}, {plan.Actions, plan.KindGitHubLabel, true, 0},
		{plan.CarriedBits, "", true, carries}, {plan.CarriedBits, "", false, 0},
		{plan.ModelCost, "", true, 7000}, {plan.ModelCost, "", false, 7000},
	} {
		b := perRecipe(tc.m, plan.MaxLimit)
		b.Kind = tc.kind
		h, _, p := budgeted(t, tc.live, 7000, b)
		for range 2 { // asked again, nothing is added
			run(t, h, input("own.words", maintainer, full))
		}
		if got := p.sum(tc.m); got != tc.want {
			t.Errorf("%s %s, live %t: used %d, want %d", tc.m, tc.kind, tc.live, got, tc.want)
		}
	}
	if got := len(plan.Measures()); got != 4 {
		t.Errorf("%d measures: want each in this test", got)
	}
}

// An outcome over its budget writes nothing, and is performed when there is
// room again.
func TestOverBudgetWritesNothingAndGoesOnLater(t *testing.T) {
	t.Parallel()
	for _, b := range []plan.Budget{
		{Measure: plan.Actions, Per: plan.PerActor, Window: time.Hour, Limit: 1},
		{Measure: plan.Actions, Kind: plan.KindTableRow, Per: plan.PerSource, Window: time.Hour, Limit: 2},
		{Measure: plan.CarriedBits, Per: plan.PerRecipe, Window: time.Hour, Limit: 2000},
	} {
		h, m, p := budgeted(t, true, 0, b)
		at := noon
		h.Clock = func() time.Time { return at }
		n := 0
		again := func() (Input, Output) {
			n++
			in := Input{starting(maintainer, n), []byte(full)}
			return in, run(t, h, in)
		}
		in, out := again()
		for out.Status == pipeline.Done && n < 20 {
			in, out = again()
		}
		if out.Status != pipeline.Refused || out.Code != pipeline.OverBudget || n == 1 || n == 20 {
			t.Fatalf("%s: run %d ended %s %s", b, n, out.Status, out.Code)
		}
		if receipts, _ := m.Receipts(t.Context(), in.Envelope.Run); len(receipts) != 0 || out.Actions[0].Outcome != "refused" {
			t.Errorf("%s: %d receipts, outcome %s", b, len(receipts), out.Actions[0].Outcome)
		}
		before := maps.Clone(p.used)
		if run(t, h, in); !maps.Equal(p.used, before) {
			t.Errorf("%s: a refused run used something", b)
		}
		at = noon.Add(time.Hour)
		if out := run(t, h, in); out.Status != pipeline.Done {
			t.Errorf("%s: in the next window %s %s, want done", b, out.Status, out.Code)
		}
	}
}

// What a person approved and no budget allows stays approved, and is performed
// when there is room.
func TestAnApprovedOutcomeWaitsForItsBudget(t *testing.T) {
	t.Parallel()
	s := spec()
	s.Budgets = []plan.Budget{perRecipe(plan.Actions, 2)}
	d := deskOf(t, listed(t, s))
	d.Budgets = newPurse()
	d.want(t, input("own.words", maintainer, full), pipeline.Done, pipeline.OK, 1)
	in := Input{starting(maintainer, 1), []byte(speak)} // a row and a comment, and room for one
	d.want(t, in, pipeline.Waiting, pipeline.ApprovalNeeded, 1)
	d.answer(t, in, maintainer, approval.Approve)
	d.want(t, in, pipeline.Refused, pipeline.OverBudget, 1)
	if r := d.records.of[in.Envelope.Run]; r.State != approval.Approved {
		t.Errorf("the record is %s, want approved", r.State)
	}
	d.now = noon.Add(time.Hour)
	d.want(t, in, pipeline.Done, pipeline.OK, 2)
}

func TestABrokenPurseWritesNothing(t *testing.T) {
	t.Parallel()
	h, m, p := budgeted(t, true, 0, perRecipe(plan.Actions, 10))
	h.Admit(t.Context(), AdmitInput{Envelope: starting(maintainer, 1)})
	p.fail = errors.New("SECRET")
	out := h.Act(t.Context(), Input{starting(maintainer, 1), []byte(full)})
	if out.Status != pipeline.Failed || out.Code != pipeline.StoreFailed {
		t.Errorf("%s %s, want store_failed", out.Status, out.Code)
	}
	untouched(t, m)
	h, _, p = budgeted(t, true, 0, perRecipe(plan.Runs, 10))
	p.fail = errors.New("SECRET")
	if a := h.Admit(t.Context(), AdmitInput{Envelope: starting(maintainer, 1)}); a.Code != pipeline.StoreFailed {
		t.Errorf("admitted with %q", a.Code)
	}
}

func TestBudgetsWithoutAStoreAreRefused(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		m    plan.Measure
		live bool
		ok   bool
	}{{plan.Runs, true, false}, {plan.Runs, false, true}, {plan.ModelCost, false, false}, {plan.ModelCost, true, false}} {
		h, _, _ := budgeted(t, tc.live, 1, perRecipe(tc.m, 10))
		h.Budgets = nil
		if err := h.Check(); (err == nil) != tc.ok {
			t.Errorf("%s, live %t: got %v", tc.m, tc.live, err)
		}
	}
}

// deep is a shape whose handles stand in lists and objects.
type deep struct {
	Items []struct {
		ID   shape.Token  `json:"id"   jsonschema:"pattern=^[a-z]{3}$"`
		Note *shape.Quote `json:"note,omitempty" jsonschema:"maxLength=8"`
	} `json:"items" jsonschema:"maxItems=2"`
	Names []shape.Token `json:"names" jsonschema:"maxItems=2,pattern=^[0-9]{2}$"`
	Last  struct {
		Word shape.Text `json:"word" jsonschema:"maxLength=4"`
	} `json:"last"`
}

// No handle, however deep, is carried for nothing.
func TestEveryHandleHasItsBits(t *testing.T) {
	t.Parallel()
	s, err := shape.Of[deep]()
	if err != nil {
		t.Fatal(err)
	}
	bits := map[string]float64{}
	for _, f := range s.Fields() {
		bits[f.Name] = f.Bits
	}
	s.Skeletons(func(k shape.Skeleton) bool {
		_, handles, err := shape.LiftSkeleton[deep](s, k)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range handles.All() {
			if bits[instance.ReplaceAllString(h.Path(), "[]")] <= 0 {
				t.Errorf("%s carries nothing", h)
			}
		}
		return !t.Failed()
	})
}
