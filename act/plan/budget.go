package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Measure is what a budget counts. The zero Measure is invalid.
type Measure uint8

// What is counted.
const (
	Runs        Measure = iota + 1 // runs that were admitted
	Actions                        // actions that were performed, of one kind or of all
	CarriedBits                    // bits of the tokens, texts and quotes in performed actions, each at its field's largest
	ModelCost                      // millionths of a dollar, reserved at a run's worst before extract
)

// Measures lists every measure.
func Measures() []Measure { return []Measure{Runs, Actions, CarriedBits, ModelCost} }

// String returns the measure's words, "invalid" for the zero value.
func (m Measure) String() string {
	switch m {
	case Runs:
		return "runs"
	case Actions:
		return "actions"
	case CarriedBits:
		return "carried bits"
	case ModelCost:
		return "model cost"
	default:
		return "invalid"
	}
}

// Per is whose use one counter of a budget holds. The zero Per is invalid.
type Per uint8

// Whose use is counted together.
const (
	PerRecipe Per = iota + 1 // every run of the recipe
	PerSource                // the runs of one channel: a repository, a mailbox, a feed
	PerActor                 // the runs that one actor started
)

// String returns "recipe", "source" or "actor", "invalid" for the zero value.
func (p Per) String() string {
	switch p {
	case PerRecipe:
		return "recipe"
	case PerSource:
		return "source"
	case PerActor:
		return "actor"
	default:
		return "invalid"
	}
}

// Bounds of a budget.
const (
	MinWindow  = time.Minute
	MaxWindow  = 31 * 24 * time.Hour
	MaxLimit   = 1 << 40
	MaxBudgets = 16 // in one recipe
)

// strangersShare is how much of a limit runs of label unverified may use where
// a budget does not say, in percent.
const strangersShare = 50

// Budget bounds what the runs of a recipe may use in a window of time. Windows
// begin at whole multiples of their length since 1 January 1970 UTC.
type Budget struct {
	Measure Measure
	Kind    Kind // with Actions: the kind that is counted; empty counts all
	Per     Per
	Window  time.Duration // whole seconds, MinWindow to MaxWindow
	Limit   int64         // 1 to MaxLimit
	// Shares is how much of Limit the runs of a label may use at most, in
	// percent from 1 to 100. A label left out has 100, and Unverified 50, so
	// that strangers cannot use up what maintainers need. A budget per actor
	// has one user alone, and there a label left out has 100.
	Shares map[Label]int
}

// String is "at most 2000 runs per source in an hour, of which unverified 50 %".
func (b Budget) String() string {
	what := b.Measure.String()
	switch {
	case b.Kind != "":
		what = string(b.Kind)
	case b.Measure == ModelCost:
		what = "millionths of a dollar of model cost"
	}
	s := fmt.Sprintf("at most %d %s per %s in %s", b.Limit, what, b.Per, span(b.Window))
	join := ", of which "
	for _, l := range Labels() {
		if share := b.Share(l); share < 100 {
			s += fmt.Sprintf("%s%s %d %%", join, l, share)
			join = ", "
		}
	}
	return s
}

// span is a window in the largest unit that it is whole in.
func span(d time.Duration) string {
	for _, u := range []struct {
		of        time.Duration
		one, name string
	}{{24 * time.Hour, "a day", "day"}, {time.Hour, "an hour", "hour"}, {time.Minute, "a minute", "minute"}, {time.Second, "a second", "second"}} {
		if n := int64(d / u.of); d > 0 && d%u.of == 0 {
			if n == 1 {
				return u.one
			}
			return fmt.Sprintf("%d %ss", n, u.name)
		}
	}
	return d.String()
}

// Share returns how much of the limit a label's runs may use, in percent.
func (b Budget) Share(l Label) int {
	if share, ok := b.Shares[l]; ok {
		return share
	}
	if l <= Unverified && b.Per != PerActor {
		return strangersShare
	}
	return 100
}

// Check reports what is wrong with a budget, naming what was wanted.
func (b Budget) Check() error {
	switch {
	case b.Measure.String() == "invalid":
		return fmt.Errorf("want a Measure: Runs, Actions, CarriedBits or ModelCost")
	case b.Per.String() == "invalid":
		return fmt.Errorf("want Per: PerRecipe, PerSource or PerActor")
	case b.Kind != "" && (b.Measure != Actions || !b.Kind.Known()):
		return fmt.Errorf("its Kind %.64q: want a kind of action, and only with Actions", b.Kind)
	case b.Window < MinWindow || b.Window > MaxWindow || b.Window%time.Second != 0:
		return fmt.Errorf("its Window %s: want whole seconds from %s to %s", b.Window, MinWindow, MaxWindow)
	case b.Limit < 1 || b.Limit > MaxLimit:
		return fmt.Errorf("its Limit %d: want 1 to %d", b.Limit, int64(MaxLimit))
	}
	for l, share := range b.Shares {
		if !l.Valid() || share < 1 || share > 100 {
			return fmt.Errorf("its Shares: %s with %d: want labels with 1 to 100 percent", l, share)
		}
	}
	for _, l := range Labels() {
		if b.Limit*int64(b.Share(l)) < 100 {
			return fmt.Errorf("its Limit %d: %s has %d percent of it, which is nothing: want a higher limit or share", b.Limit, l, b.Share(l))
		}
	}
	return nil
}

// Use is who uses something, and when.
type Use struct {
	Recipe, Channel, Actor string
	Label                  Label
	At                     time.Time
}

// Spend is an amount to be added to one counter, which then holds at most
// Limit.
type Spend struct {
	Key    string // names the counter and its window; holds a digest of whose it is
	Amount int64  // 1 or more
	Limit  int64
	Until  time.Time // when the window ends
}

// Spends are what a use of amount adds to the budget's counters: one of all
// labels, and one of the label where it has a share of its own. A use of
// nothing adds to none.
func (b Budget) Spends(u Use, amount int64) []Spend {
	if amount <= 0 {
		return nil
	}
	window := int64(b.Window / time.Second)
	start := u.At.Unix() / window * window
	whose := map[Per]string{PerSource: u.Channel, PerActor: u.Actor}[b.Per]
	digest := sha256.Sum256([]byte(whose))
	key := func(label string) string {
		return fmt.Sprintf("%s/%d/%s/%s/%s/%s/%d/%d", u.Recipe, b.Measure, b.Kind, b.Per, hex.EncodeToString(digest[:16]), label, window, start)
	}
	until := time.Unix(start+window, 0).UTC()
	spends := []Spend{{key("all"), amount, b.Limit, until}}
	label := u.Label
	if !label.Valid() {
		label = Unverified
	}
	if share := b.Share(label); share < 100 {
		spends = append(spends, Spend{key(label.String()), amount, b.Limit * int64(share) / 100, until})
	}
	return spends
}
