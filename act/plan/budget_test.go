package plan

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func hourly(limit int64) Budget {
	return Budget{Measure: Runs, Per: PerRecipe, Window: time.Hour, Limit: limit}
}

// Every field of a budget is held to its bounds.
func TestABudgetIsCheckedFieldByField(t *testing.T) {
	t.Parallel()
	change := func(f func(*Budget)) Budget {
		b := hourly(100)
		f(&b)
		return b
	}
	for want, b := range map[string]Budget{
		"":            hourly(100),
		"Measure":     change(func(b *Budget) { b.Measure = 0 }),
		"a Measure":   change(func(b *Budget) { b.Measure = ModelCost + 1 }),
		"Per":         change(func(b *Budget) { b.Per = 0 }),
		"PerActor":    change(func(b *Budget) { b.Per = PerActor + 1 }),
		"Kind":        change(func(b *Budget) { b.Kind = KindTableRow }),
		"no.such":     change(func(b *Budget) { b.Measure, b.Kind = Actions, "no.such" }),
		"Window 59":   change(func(b *Budget) { b.Window = MinWindow - time.Second }),
		"Window 744":  change(func(b *Budget) { b.Window = MaxWindow + time.Second }),
		"Window 1m":   change(func(b *Budget) { b.Window = MinWindow + 1 }),
		"Limit 0":     change(func(b *Budget) { b.Limit = 0 }),
		"Limit -1":    change(func(b *Budget) { b.Limit = -1 }),
		"Limit 10995": change(func(b *Budget) { b.Limit = MaxLimit + 1 }),
		"nothing":     change(func(b *Budget) { b.Limit = 1 }), // half of one run
		"with 0":      change(func(b *Budget) { b.Shares = map[Label]int{Trigger: 0} }),
		"with 101":    change(func(b *Budget) { b.Shares = map[Label]int{Trigger: 101} }),
		"invalid":     change(func(b *Budget) { b.Shares = map[Label]int{0: 50} }),
	} {
		if err := b.Check(); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got %v, want %q named", b, err, want)
		}
	}
	for _, b := range []Budget{
		{Measure: Actions, Kind: KindTableRow, Per: PerActor, Window: MinWindow, Limit: 1},
		{Measure: CarriedBits, Per: PerSource, Window: MaxWindow, Limit: MaxLimit},
	} {
		if err := b.Check(); err != nil {
			t.Errorf("%+v: %v", b, err)
		}
	}
}

func TestABudgetReadsAsASentence(t *testing.T) {
	t.Parallel()
	for want, b := range map[string]Budget{
		"at most 2000 runs per recipe in an hour, of which unverified 50 %":                                             hourly(2000),
		"at most 60 runs per actor in 90 minutes":                                                                       {Measure: Runs, Per: PerActor, Window: 90 * time.Minute, Limit: 60},
		"at most 5 table.row per source in a day, of which authorized 20 %, unverified 50 %":                            {Measure: Actions, Kind: KindTableRow, Per: PerSource, Window: 24 * time.Hour, Limit: 5, Shares: map[Label]int{Authorized: 20}},
		"at most 9 millionths of a dollar of model cost per recipe in 61 seconds":                                       {Measure: ModelCost, Per: PerRecipe, Window: 61 * time.Second, Limit: 9, Shares: map[Label]int{Unverified: 100}},
		"at most 8 carried bits per actor in 31 days, of which system 1 %, trigger 2 %, authorized 3 %, unverified 4 %": {Measure: CarriedBits, Per: PerActor, Window: MaxWindow, Limit: 8, Shares: map[Label]int{System: 1, Trigger: 2, Authorized: 3, Unverified: 4}},
	} {
		if got := b.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// A spend's counter depends on recipe, measure, kind, whose and window, and on
// nothing else; its key holds nothing that a stranger chose.
func TestACounterIsOfOneWindowAndOneUser(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 29, 12, 59, 59, 0, time.FixedZone("", 7200))
	use := Use{Recipe: "issues", Channel: "github:evil\n/all/repo", Actor: "github:1", Label: Unverified, At: at}
	b := Budget{Measure: Runs, Per: PerSource, Window: time.Hour, Limit: 7}
	first := b.Spends(use, 3)
	if len(first) != 2 || first[0].Limit != 7 || first[1].Limit != 3 || first[0].Amount != 3 || !first[0].Until.Equal(at.Add(time.Second)) {
		t.Fatalf("%+v", first)
	}
	for _, s := range first {
		if strings.Contains(s.Key, "evil") || strings.ContainsAny(s.Key, "\n ") || !strings.HasPrefix(s.Key, "issues/") {
			t.Errorf("key %q", s.Key)
		}
	}
	keys := map[string]string{}
	same := func(name string, b Budget, u Use, want bool) {
		got := b.Spends(u, 1)[0].Key
		if (got == first[0].Key) != want {
			t.Errorf("%s: same counter %t, want %t", name, !want, want)
		}
		if before := keys[got]; !want && before != "" {
			t.Errorf("%s and %s share a counter", name, before)
		}
		keys[got] = name
	}
	other := func(f func(*Budget, *Use)) (Budget, Use) {
		b, u := b, use
		f(&b, &u)
		return b, u
	}
	for name, f := range map[string]func(*Budget, *Use){
		"actor":          func(_ *Budget, u *Use) { u.Actor = "github:2" },
		"label":          func(_ *Budget, u *Use) { u.Label = Trigger },
		"same window":    func(_ *Budget, u *Use) { u.At = at.Truncate(time.Hour) },
		"the same limit": func(b *Budget, _ *Use) { b.Limit = 90 },
	} {
		b, u := other(f)
		same(name, b, u, true)
	}
	for name, f := range map[string]func(*Budget, *Use){
		"recipe":       func(_ *Budget, u *Use) { u.Recipe = "inbox" },
		"channel":      func(_ *Budget, u *Use) { u.Channel = "github:other/repo" },
		"next window":  func(_ *Budget, u *Use) { u.At = at.Add(time.Second) },
		"other window": func(b *Budget, _ *Use) { b.Window = 30 * time.Minute },
		"measure":      func(b *Budget, _ *Use) { b.Measure = CarriedBits },
		"all actions":  func(b *Budget, _ *Use) { b.Measure = Actions },
		"rows":         func(b *Budget, _ *Use) { b.Measure, b.Kind = Actions, KindTableRow },
		"per recipe":   func(b *Budget, _ *Use) { b.Per = PerRecipe },
		"per actor":    func(b *Budget, _ *Use) { b.Per = PerActor },
	} {
		b, u := other(f)
		same(name, b, u, false)
	}
	if b.Spends(use, 0) != nil || b.Spends(use, -1) != nil {
		t.Error("nothing was used, and spent")
	}
}

// The shares of what a budget admits never exceed it, and an invalid label is
// a stranger's.
func TestASpendIsWithinItsBudget(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		b := hourly(rapid.Int64Range(1, MaxLimit).Draw(t, "limit"))
		b.Per = Per(rapid.IntRange(1, 3).Draw(t, "per"))
		for _, l := range Labels() {
			if share := rapid.IntRange(0, 100).Draw(t, l.String()); share > 0 {
				if b.Shares == nil {
					b.Shares = map[Label]int{}
				}
				b.Shares[l] = share
			}
		}
		if b.Check() != nil {
			return
		}
		l := Label(rapid.IntRange(0, 5).Draw(t, "label"))
		spends := b.Spends(Use{Recipe: "issues", Label: l, At: time.Unix(rapid.Int64Range(0, 1<<33).Draw(t, "at"), 0)}, 1)
		for _, s := range spends {
			if s.Limit < 1 || s.Limit > b.Limit || s.Amount != 1 {
				t.Fatalf("%+v of %+v", s, b)
			}
		}
		if !l.Valid() && b.Share(Unverified) < 100 && (len(spends) != 2 || !strings.Contains(spends[1].Key, "/unverified/")) {
			t.Fatalf("label %d: %+v", l, spends)
		}
	})
}
