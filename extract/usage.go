package extract

import (
	"fmt"
	"math/bits"
)

// Bounds of a Usage. MaxMicrodollars is a thousand dollars and some: no run
// costs as much, and sums of a million runs still fit.
const (
	MaxTokens       = 1 << 30
	MaxMicrodollars = 1 << 30
)

// Usage is what a model reported of the answers of one run, and what that
// costs. Each token is counted once. Budgets never rely on it.
type Usage struct {
	InputTokens      int   `json:"input_tokens,omitempty"`       // read, without those below
	OutputTokens     int   `json:"output_tokens,omitempty"`      // written, with those of a reasoning
	CacheReadTokens  int   `json:"cache_read_tokens,omitempty"`  // read from the provider's cache
	CacheWriteTokens int   `json:"cache_write_tokens,omitempty"` // read, and written to the provider's cache
	Microdollars     int64 `json:"microdollars,omitempty"`       // at the configured prices, 0 where there are none
}

// Plus is the usage of two answers, within the bounds of one.
func (u Usage) Plus(v Usage) Usage {
	u, v = u.bounded(), v.bounded()
	return Usage{
		u.InputTokens + v.InputTokens, u.OutputTokens + v.OutputTokens,
		u.CacheReadTokens + v.CacheReadTokens, u.CacheWriteTokens + v.CacheWriteTokens, u.Microdollars + v.Microdollars,
	}.bounded()
}

func (u Usage) bounded() Usage {
	return Usage{
		clamp(u.InputTokens, MaxTokens), clamp(u.OutputTokens, MaxTokens),
		clamp(u.CacheReadTokens, MaxTokens), clamp(u.CacheWriteTokens, MaxTokens), clamp(u.Microdollars, MaxMicrodollars),
	}
}

// Prices are what a provider charges, in millionths of a US dollar for a
// million tokens: 3 dollars are 3000000. They are configuration, from the
// provider's own page; the zero value says that none are known, and costs
// nothing.
type Prices struct {
	Input, Output         int64
	CacheRead, CacheWrite int64
}

// maxPrice is 100,000 dollars for a million tokens.
const maxPrice = 100_000_000_000

// Check refuses prices below 0 and above 100,000 dollars.
func (p Prices) Check() error {
	for _, one := range []int64{p.Input, p.Output, p.CacheRead, p.CacheWrite} {
		if one < 0 || one > maxPrice {
			return fmt.Errorf("prices: want 0 to %d microdollars for a million tokens, got %d", int64(maxPrice), one)
		}
	}
	return nil
}

// Cost is what a usage costs in microdollars, rounded up, at most
// MaxMicrodollars.
func (p Prices) Cost(u Usage) int64 {
	u = u.bounded()
	var sum uint64
	for _, part := range []struct {
		tokens int
		price  int64
	}{{u.InputTokens, p.Input}, {u.OutputTokens, p.Output}, {u.CacheReadTokens, p.CacheRead}, {u.CacheWriteTokens, p.CacheWrite}} {
		sum += perMillion(uint64(part.tokens), uint64(clamp(part.price, maxPrice)))
	}
	return int64(min(sum, MaxMicrodollars))
}

// WorstCost is the most that a number of questions can cost, in microdollars,
// rounded up, at most MaxMicrodollars. A question sends at most inputBytes and
// is answered with at most outputTokens. No tokenizer makes more tokens than
// bytes, and the dearest way to read a token is what each is taken to cost.
// Numbers below 0 count as 0.
func WorstCost(p Prices, inputBytes, outputTokens, questions int) int64 {
	input := max(p.Input, p.CacheRead, p.CacheWrite)
	one := perMillion(uint64(clamp(inputBytes, MaxTokens)), uint64(clamp(input, maxPrice))) +
		perMillion(uint64(clamp(outputTokens, MaxTokens)), uint64(clamp(p.Output, maxPrice)))
	high, all := bits.Mul64(one, uint64(max(questions, 0)))
	if high > 0 {
		return MaxMicrodollars
	}
	return int64(min(all, MaxMicrodollars))
}

// perMillion is tokens at a price for a million of them, rounded up, at most
// MaxMicrodollars.
func perMillion(tokens, price uint64) uint64 {
	const million = 1_000_000
	high, low := bits.Mul64(tokens, price)
	if high >= million {
		return MaxMicrodollars
	}
	whole, rest := bits.Div64(high, low, million)
	if rest > 0 {
		whole++
	}
	return min(whole, MaxMicrodollars)
}

// Priced is implemented by extractors that cost money.
type Priced interface {
	// Worst is the most that it can cost, in microdollars, to ask the extract
	// phase once about a run whose prompt holds at most promptBytes: with the
	// correction, and with every attempt that may be charged for though no
	// answer came. Where an engine asks the phase again, it costs again. It is
	// a pure function of the configuration, and 0 where no prices are known.
	Worst(promptBytes int) int64
}

// WorstOf is what an extractor can cost at its worst: see Priced.
func WorstOf(x Extractor, promptBytes int) int64 {
	if p, ok := x.(Priced); ok {
		return clamp(p.Worst(promptBytes), MaxMicrodollars)
	}
	return 0
}
