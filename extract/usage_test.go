package extract

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"decant.dev/pipeline"
)

// exact is tokens at a price for a million, rounded up, without a bound.
func exact(tokens int, price int64) *big.Int {
	n := new(big.Int).Mul(big.NewInt(int64(tokens)), big.NewInt(price))
	n.Add(n, big.NewInt(999_999))
	return n.Div(n, big.NewInt(1_000_000))
}

func sumOf(parts ...*big.Int) int64 {
	sum := new(big.Int)
	for _, p := range parts {
		sum.Add(sum, p)
	}
	if !sum.IsInt64() || sum.Int64() > MaxMicrodollars {
		return MaxMicrodollars
	}
	return sum.Int64()
}

func TestCostIsExactAndBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tokens := func(name string) int { return rapid.IntRange(0, MaxTokens).Draw(t, name) }
		price := func(name string) int64 { return rapid.Int64Range(0, maxPrice).Draw(t, name) }
		u := Usage{tokens("input"), tokens("output"), tokens("read"), tokens("written"), 0}
		p := Prices{price("input"), price("output"), price("read"), price("written")}
		want := sumOf(exact(u.InputTokens, p.Input), exact(u.OutputTokens, p.Output), exact(u.CacheReadTokens, p.CacheRead), exact(u.CacheWriteTokens, p.CacheWrite))
		if got := p.Cost(u); got != want {
			t.Fatalf("%+v at %+v: got %d, want %d", u, p, got, want)
		}
	})
}

// Whatever is used within what was asked for, in whatever way it is read,
// costs at most the worst.
func TestWorstCostIsTheWorst(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		bytes, most, questions := rapid.IntRange(0, 1<<24).Draw(t, "bytes"), rapid.IntRange(0, 1<<16).Draw(t, "most"), rapid.IntRange(0, 6).Draw(t, "questions")
		price := func(name string) int64 { return rapid.Int64Range(0, 1<<40).Draw(t, name) }
		p := Prices{price("input"), price("output"), price("read"), price("written")}
		var spent int64
		for range questions {
			read := rapid.IntRange(0, bytes).Draw(t, "tokens read")
			written := rapid.IntRange(0, bytes-read).Draw(t, "tokens written")
			spent += p.Cost(Usage{InputTokens: bytes - read - written, CacheReadTokens: read, CacheWriteTokens: written, OutputTokens: rapid.IntRange(0, most).Draw(t, "output")})
		}
		// Each part of a cost is rounded up by itself: at most 2 more than one sum.
		if worst := WorstCost(p, bytes, most, questions); spent > worst+int64(2*questions) && worst < MaxMicrodollars {
			t.Fatalf("worst %d, spent %d", worst, spent)
		}
	})
}

func TestCostsOfTheExtremes(t *testing.T) {
	t.Parallel()
	dear := Prices{maxPrice, maxPrice, maxPrice, maxPrice}
	for name, c := range map[string]struct{ got, want int64 }{
		"3 dollars for a million":     {WorstCost(Prices{Input: 3_000_000}, 1_000_000, 0, 1), 3_000_000},
		"rounded up":                  {WorstCost(Prices{Input: 1}, 1, 0, 1), 1},
		"the dearest way to read":     {WorstCost(Prices{Input: 1, CacheRead: 2, CacheWrite: 5}, 1_000_000, 0, 2), 10},
		"nothing known":               {WorstCost(Prices{}, 1<<20, 1<<20, 6), 0},
		"below 0":                     {WorstCost(dear, -1, -1, 6), 0},
		"no question":                 {WorstCost(dear, 1<<20, 1<<20, -3), 0},
		"more than is counted":        {WorstCost(dear, math.MaxInt, math.MaxInt, math.MaxInt), MaxMicrodollars},
		"price beyond its bound":      {WorstCost(Prices{Input: math.MaxInt64}, 1, 0, 1), 100_000},
		"cost of negative usage":      {dear.Cost(Usage{-1, -1, -1, -1, -1}), 0},
		"cost beyond what is counted": {dear.Cost(Usage{math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt, 0}), MaxMicrodollars},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %d, want %d", name, c.got, c.want)
		}
	}
	if dear.Check() != nil || (Prices{}).Check() != nil {
		t.Error("want prices within bounds taken")
	}
	for _, p := range []Prices{{Input: -1}, {Output: maxPrice + 1}, {CacheRead: -1}, {CacheWrite: math.MaxInt64}} {
		if p.Check() == nil {
			t.Errorf("%+v was taken", p)
		}
	}
}

// priced costs what it says.
type priced struct {
	*scripted
	worst int64
}

func (x priced) Worst(int) int64 { return x.worst }

func TestWorstOfIsBounded(t *testing.T) {
	t.Parallel()
	for in, want := range map[int64]int64{-5: 0, 0: 0, 7: 7, math.MaxInt64: MaxMicrodollars} {
		if got := WorstOf(priced{worst: in}, 1); got != want {
			t.Errorf("%d: got %d, want %d", in, got, want)
		}
	}
	if got := WorstOf(&scripted{}, 1<<20); got != 0 {
		t.Errorf("an extractor that costs nothing: got %d", got)
	}
}

// A run's usage is that of both its turns.
func TestUsageIsOfBothTurns(t *testing.T) {
	t.Parallel()
	n := 0
	x := &scripted{answer: func(Request) (Answer, error) {
		n++
		return Answer{Candidate: []byte([]string{`{}`, `{"kind":"a"}`}[n-1]), Usage: Usage{100, n, 10, 5, 7}}, nil
	}}
	if out := ask(t, x, input(t)); out.Code != pipeline.OK || out.Trace.Usage != (Usage{200, 3, 20, 10, 14}) {
		t.Errorf("got %q, %+v", out.Code, out.Trace.Usage)
	}
	most := Usage{math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt, math.MaxInt64}
	if got := most.Plus(most); got != (Usage{MaxTokens, MaxTokens, MaxTokens, MaxTokens, MaxMicrodollars}) {
		t.Errorf("got %+v", got)
	}
}

// Null stands for absence where the answer says that it was asked for so, and
// nowhere else.
func TestNullStandsForAbsenceWhereProjected(t *testing.T) {
	t.Parallel()
	for projected, want := range map[bool]pipeline.Code{true: pipeline.OK, false: pipeline.Undecodable} {
		x := &scripted{answer: func(Request) (Answer, error) {
			return Answer{Candidate: []byte(`{"kind":"a","note":null}`), Projected: projected}, nil
		}}
		if out := ask(t, x, input(t)); out.Code != want {
			t.Errorf("projected %t: got %q, want %q", projected, out.Code, want)
		}
	}
}
