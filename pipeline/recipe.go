// Package pipeline holds the pure types that every phase may import: the
// recipe, the envelope, and the statuses and codes of a run.
//
// It performs no I/O. What a recipe could ever do is computed here, from its
// shape, plan and policy, before anything runs.
package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
)

// MaxSkeletons is the largest number of skeletons that an audit enumerates.
// A recipe with more is a breach.
const MaxSkeletons = 1 << 20

// MaxApprovals is the most persons that a recipe can want to approve.
const MaxApprovals = 2

// Event is one of a source's events that a recipe handles.
type Event struct {
	Name string // the source's name, as "issues.opened"
	// Reads is the lowest trust that any origin read for this event can have,
	// given that the actor has theirs. ActorsWords means that all text read
	// was written by the actor; the zero value is OthersWords.
	Reads Reads
}

// Reads says whose words an event makes a run read.
type Reads uint8

// Whose words a run reads.
const (
	OthersWords Reads = iota // anyone's: the label is unverified whoever acts
	ActorsWords              // only the actor's own: the label is the actor's trust
)

// Spec is one pipeline as its author writes it. T is the shape: a struct of
// choices, tokens, texts and quotes.
type Spec[T any] struct {
	Name     string                             // matches ^[a-z][a-z0-9-]{0,31}$
	Plan     func(T, plan.Target) []plan.Action // a pure function, safe for concurrent use
	Policy   plan.Policy
	Outcomes []byte  // the embedded outcomes.json; empty until decant audit --write
	Events   []Event // what starts a run; empty leaves the event's name out of the plan's sight
	// Schedules are the clocks that start batches of the recipe. Events must
	// then name Tick, and say whose words a batch reads.
	Schedules []Schedule
	// MaxDecide and MaxCarry are the limits, in bits, of what a structure may
	// decide and carry. Zero means none may.
	MaxDecide, MaxCarry float64
	// Readers is who can read what the intake reads, at the narrowest; zero
	// means those who may read the event's channel. A sink with a wider audience
	// is a breach, unless Widens says that it is meant.
	Readers plan.Audience
	Widens  bool
	// Approvals is how many persons have to approve an outcome that policy
	// asks about, 1 or 2; zero means 1.
	Approvals int
	// Budgets bound what the runs of the recipe use in a window of time, at most
	// plan.MaxBudgets. Without any, nothing bounds how often it acts.
	Budgets []plan.Budget
	// RunCost is what the extractor may cost in one run at its worst, in
	// millionths of a dollar. It is reserved before extract; zero is an extractor
	// that costs nothing.
	RunCost int64
}

// Recipe is a checked Spec. It is immutable and safe for concurrent use.
type Recipe struct {
	name                string
	policy              plan.Policy
	events              []Event
	schedules           []Schedule
	outcomes            []byte
	list                *plan.List
	listCode            Code
	bits                shape.Bits
	shape               *shape.Shape
	pkgPath             string
	maxDecide, maxCarry float64
	approvals           int
	budgets             []plan.Budget
	runCost             int64
	readers             plan.Audience
	widens              bool
	decide              func(*shape.Value, plan.Target) ([]plan.Action, shape.Handles, error)
	skeletons           func(plan.Target, func([]plan.Action) bool) error
	violations          []Violation
}

// Violation is one way in which a recipe breaks the rules that New and the
// audit hold it to.
type Violation struct {
	Rule  string `json:"rule"`  // one word of a closed list
	Where string `json:"where"` // the field, kind or file
	Mend  string `json:"mend"`  // what is wrong and how to mend it
}

// String renders a violation in one line.
func (v Violation) String() string { return v.Where + ": " + v.Mend + " [" + v.Rule + "]" }

// New checks a spec and builds its recipe. It panics on a shape that is not
// bounded or exceeds its limits, on a bad name and on a malformed policy,
// naming the field, what is missing and how to mend it. In a program started
// as `decant audit` it does not panic: the audit reports the same faults of
// all recipes at once.
//
// A list that is empty or stale is no panic: the audit reports it and act
// refuses on it.
func New[T any](s Spec[T]) *Recipe {
	r := Build(s)
	if len(r.violations) > 0 && !auditing() {
		panic(r.fault())
	}
	return r
}

// auditing reports whether this program was started as `decant audit`.
func auditing() bool { return len(os.Args) > 1 && os.Args[1] == "audit" }

func (r *Recipe) fault() string {
	lines := make([]string, 0, len(r.violations)+1)
	lines = append(lines, fmt.Sprintf("recipe %q breaks %d rules:", r.name, len(r.violations)))
	for _, v := range r.violations {
		lines = append(lines, "\t"+v.String())
	}
	return strings.Join(lines, "\n")
}

// Build is New without the panic: faults are gathered in Violations, and a
// recipe that has any refuses every run.
func Build[T any](s Spec[T]) *Recipe {
	r := &Recipe{
		name: s.Name, policy: s.Policy, events: slices.Clone(s.Events), outcomes: s.Outcomes,
		schedules: slices.Clone(s.Schedules), maxDecide: s.MaxDecide, maxCarry: s.MaxCarry, approvals: max(s.Approvals, 1),
		budgets: slices.Clone(s.Budgets), runCost: s.RunCost,
		readers: s.Readers, widens: s.Widens,
	}
	if r.readers == 0 {
		r.readers = plan.ChannelReaders
	}
	if !r.readers.Valid() {
		r.breach("readers", "Readers", "want one of %v", plan.Audiences())
	}
	r.pkgPath = reflect.TypeFor[T]().PkgPath() // holds under -trimpath, where a caller's file name does not
	if !IsRecipeName(s.Name) {
		r.breach("recipe_name", "Name", "want %s", nameForm)
	}
	for i, e := range s.Events {
		if slices.ContainsFunc(s.Events[:i], func(o Event) bool { return o.Name == e.Name }) {
			r.breach("event_name", "Events", "%.64q is named twice: want each event once, with the lowest trust that it reads", e.Name)
		}
		if !isEvent(e.Name) {
			r.breach("event_name", "Events", "%.64q: want %s", e.Name, eventForm)
		}
	}
	if s.Approvals < 0 || s.Approvals > MaxApprovals {
		r.breach("approvals", "Approvals", "%d: want 1 or %d persons", s.Approvals, MaxApprovals)
	}
	r.checkSchedules()
	r.checkBudgets()
	for _, err := range s.Policy.Check() {
		r.breach("policy_row", "Policy", "%v", err)
	}
	if s.Plan == nil {
		r.breach("no_plan", "Plan", "want a function from the shape and the target to actions")
	}
	r.listCode = OutcomesStale
	sh, err := shape.Of[T]()
	if err != nil {
		r.breachShape(err)
		return r
	}
	r.shape, r.bits = sh, sh.Bits(TerminalCodes())
	r.checkLimits()
	r.readList()
	if s.Plan == nil {
		return r
	}
	r.decide = func(v *shape.Value, at plan.Target) ([]plan.Action, shape.Handles, error) {
		t, handles, err := shape.Lift[T](sh, v)
		if err != nil {
			return nil, handles, err
		}
		actions, err := safely(func() []plan.Action { return s.Plan(t, at) })
		return actions, handles, err
	}
	r.skeletons = func(at plan.Target, yield func([]plan.Action) bool) error {
		var fault error
		sh.Skeletons(func(k shape.Skeleton) bool {
			t, _, err := shape.LiftSkeleton[T](sh, k)
			if err != nil {
				fault = err
				return false
			}
			actions, err := safely(func() []plan.Action { return s.Plan(t, at) })
			if err != nil {
				fault = err
				return false
			}
			return yield(actions)
		})
		return fault
	}
	return r
}

// safely runs a plan and turns a panic into an error that names no value.
func safely(f func() []plan.Action) (actions []plan.Action, err error) {
	defer func() {
		if recover() != nil {
			actions, err = nil, errors.New("the plan panicked")
		}
	}()
	return f(), nil
}

func (r *Recipe) breach(rule, where, format string, args ...any) {
	r.violations = append(r.violations, Violation{rule, where, fmt.Sprintf(format, args...)})
}

func (r *Recipe) breachShape(err error) {
	var faults shape.BoundErrors
	if !errors.As(err, &faults) {
		r.breach("shape_not_bounded", "shape", "%v", err)
		return
	}
	for _, f := range faults {
		rule := "shape_not_bounded"
		if f.TokenIsText {
			rule = "token_is_text"
		}
		r.breach(rule, f.Field, "%s: %s", f.Missing, f.Mend)
	}
}

func (r *Recipe) checkLimits() {
	b := r.bits
	if b.Decide > r.maxDecide {
		r.breach("over_max_decide", "MaxDecide", "the shape decides %.2f bits and MaxDecide allows %g: take choices away or raise it", b.Decide, r.maxDecide)
	}
	if b.Carry > r.maxCarry {
		r.breach("over_max_carry", "MaxCarry", "the shape carries %.2f bits and MaxCarry allows %g: shorten its texts or raise it", b.Carry, r.maxCarry)
	}
}

// Name returns the recipe's name.
func (r *Recipe) Name() string { return r.name }

// Shape returns the recipe's shape, nil where it is not bounded.
func (r *Recipe) Shape() *shape.Shape { return r.shape }

// Policy returns the recipe's policy table.
func (r *Recipe) Policy() plan.Policy { return r.policy }

// Approvals returns how many persons have to approve what policy asks about.
func (r *Recipe) Approvals() int { return r.approvals }

// Readers returns who can read what the intake reads, at the narrowest, and
// whether the recipe says that sinks may tell it to more.
func (r *Recipe) Readers() (who plan.Audience, widens bool) { return r.readers, r.widens }

// Limits returns MaxDecide and MaxCarry, in bits.
func (r *Recipe) Limits() (decide, carry float64) { return r.maxDecide, r.maxCarry }

// Package returns the import path of the package that declares the shape,
// which is where outcomes.json stands.
func (r *Recipe) Package() string { return r.pkgPath }

// Events returns the events that start a run of the recipe.
func (r *Recipe) Events() []Event { return slices.Clone(r.events) }

// Handles reports whether the recipe names the event.
func (r *Recipe) Handles(event string) bool {
	return slices.ContainsFunc(r.events, func(e Event) bool { return e.Name == event })
}

// LabelFor returns the label of a run: the lower of the actor's trust and the
// lowest trust of any origin that the recipe reads for the event.
func (r *Recipe) LabelFor(event string, actor plan.Label) plan.Label {
	for _, e := range r.events {
		if e.Name == event && e.Reads == ActorsWords {
			return plan.Lower(actor, plan.System)
		}
	}
	return plan.Unverified
}

// Bits returns what one structure can say, terminal codes included; zero
// where the shape is not bounded.
func (r *Recipe) Bits() shape.Bits { return r.bits }

// Violations returns what Build found wrong.
func (r *Recipe) Violations() []Violation { return slices.Clone(r.violations) }

// readList decides whether the embedded list is in force.
func (r *Recipe) readList() {
	list, err := plan.DecodeList(r.outcomes)
	switch {
	case errors.Is(err, plan.ErrEmptyList):
		r.listCode = OutcomesEmpty
	case err != nil || len(r.violations) > 0:
		r.listCode = OutcomesStale
	case list.Recipe != r.name || list.Shape != r.shape.Digest() || list.Policy != r.policy.Digest():
		r.listCode = OutcomesStale
	default:
		r.list, r.listCode = list, OK
	}
}

// List returns the embedded outcome list and OK, or the code that says why
// act refuses on it: it is empty, malformed, or made for another recipe,
// shape or policy.
func (r *Recipe) List() (*plan.List, Code) { return r.list, r.listCode }

// OutcomesFile returns the embedded outcomes.json as it is, which may be
// empty, malformed or stale.
func (r *Recipe) OutcomesFile() []byte { return slices.Clone(r.outcomes) }

// Decide runs the plan on one structure with its tokens, texts and quotes
// lifted, and returns the outcome with the handles that resolve it.
func (r *Recipe) Decide(v *shape.Value, event string) (plan.Outcome, shape.Handles, error) {
	if r.decide == nil {
		return plan.Outcome{}, shape.Handles{}, errors.New("want a bounded shape and a plan")
	}
	if !r.Handles(event) {
		event = ""
	}
	actions, handles, err := r.decide(v, plan.NewTarget(event, nil))
	if err != nil {
		return plan.Outcome{}, handles, err
	}
	o, err := plan.NewOutcome(actions)
	return o, handles, err
}

// Digest identifies what act knows of the recipe: name, shape, policy,
// approvals, events, schedules, budgets and outcome list.
func (r *Recipe) Digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "decant recipe digest v3\n%s\n%s\n%d\n", r.name, r.policy.Digest(), r.approvals)
	if r.shape != nil {
		fmt.Fprintln(h, r.shape.Digest())
	}
	for _, e := range r.events {
		fmt.Fprintln(h, e.Name, e.Reads)
	}
	for _, s := range r.schedules {
		fmt.Fprintf(h, "schedule %+q\n", []string{s.Name, s.Channel, s.Target.Repository, strconv.FormatInt(s.Target.Number, 10)})
	}
	for _, b := range r.budgets {
		fmt.Fprintf(h, "budget %d %q %d %d %d", b.Measure, b.Kind, b.Per, b.Window, b.Limit)
		for _, l := range plan.Labels() {
			fmt.Fprintf(h, " %d", b.Share(l))
		}
		fmt.Fprintln(h)
	}
	fmt.Fprintln(h, "cost", r.runCost)
	sum := sha256.Sum256(r.outcomes)
	h.Write(sum[:])
	return hex.EncodeToString(h.Sum(nil))
}

// Enumerate runs the plan on every skeleton of the shape and on every event,
// and returns the list of all outcomes with each breach found on the way.
func (r *Recipe) Enumerate() (*plan.List, []Violation) {
	breaches := slices.Clone(r.violations)
	if r.shape == nil || r.decide == nil {
		return nil, breaches
	}
	if n := r.shape.SkeletonCount(); n.Cmp(big.NewInt(MaxSkeletons)) > 0 {
		return nil, append(breaches, Violation{"too_many_skeletons", "shape",
			fmt.Sprintf("%s skeletons: want at most %d, so that every outcome can be listed", n, MaxSkeletons)})
	}
	c := collector{recipe: r, seen: map[string]bool{}}
	events := []string{""}
	if len(r.events) > 0 {
		events = events[:0]
		for _, e := range r.events {
			events = append(events, e.Name)
		}
	}
	for _, e := range events {
		asked := false
		if err := r.skeletons(plan.NewTarget(e, &asked), c.add); err != nil {
			c.breach("plan_failed", "Plan", "%v", err)
		}
		if !asked {
			break // the plan never looked: other events give the same outcomes
		}
	}
	breaches = append(breaches, c.breaches...)
	return plan.BuildList(r.name, r.shape.Digest(), r.policy, c.outcomes), breaches
}

// collector gathers the distinct outcomes of an enumeration and its breaches.
type collector struct {
	recipe   *Recipe
	outcomes []plan.Outcome
	seen     map[string]bool
	key      []byte
	breaches []Violation
}

func (c *collector) breach(rule, where, format string, args ...any) {
	v := Violation{rule, where, fmt.Sprintf(format, args...)}
	if k := "breach " + v.String(); !c.seen[k] {
		c.seen[k] = true
		c.breaches = append(c.breaches, v)
	}
}

func (c *collector) add(actions []plan.Action) bool {
	o, err := plan.NewOutcome(actions)
	if err != nil {
		rule := "invalid_action"
		if errors.Is(err, plan.ErrHandleInAddress) {
			rule = "handle_in_address"
		}
		c.breach(rule, "Plan", "%v", err)
		return len(c.breaches) < 16
	}
	if c.key = o.AppendKey(c.key[:0]); !c.seen[string(c.key)] { // which allocates nothing for an outcome that was seen
		c.seen[string(c.key)] = true
		c.outcomes = append(c.outcomes, o)
		c.check(o)
	}
	return true
}

// check looks at one new outcome for what policy must not allow.
func (c *collector) check(o plan.Outcome) {
	for i, a := range o.Actions {
		if to := a.Kind.Trait().Audience; to.Wider(c.recipe.readers) && !c.recipe.widens {
			c.breach("audience_wider", string(a.Kind), "its audience, %s, can read more than that of the sources, %s: take it away, or say Widens", to, c.recipe.readers)
		}
		row, ok := c.recipe.policy[a.Kind]
		if !ok {
			c.breach("kind_without_policy", string(a.Kind), "the plan uses it and Policy has no row: add one")
			continue
		}
		if !a.Kind.Trait().Speaks {
			continue
		}
		for _, p := range a.Params {
			for h := range p.Value.Handles {
				if h.Kind() == shape.KindToken {
					continue
				}
				for _, l := range plan.Labels() {
					if row.For(l) == plan.Auto {
						c.breach("speaks_text", string(a.Kind), "parameter %s carries the text %s and policy is auto for %s: ask, or carry a token (action %d)", p.Name, h.Path(), l, i)
					}
				}
			}
		}
	}
}
