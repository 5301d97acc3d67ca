// Package machine generates the state machine that carries a run through its
// phases on AWS: admit, fetch, extract, act, and an approval in between where
// policy asks for one.
//
// The definition is Amazon States Language (states-language.net/spec.html) in
// JSONPath mode. It holds four walls that the phases cannot move:
//
//   - A run goes on only on an explicit good verdict. A verdict that is
//     missing, of another type or off the phase's list ends the run before the
//     next phase is asked.
//   - Act's input is exactly {envelope, structure}. What fetch and extract
//     answered besides, the trace among it, is gone from the state by then.
//   - What a batch reads and whose envelope an item bears follow from the tick;
//     what lists items gives their runs and digests alone.
//   - What a failure says is thrown away: each Catch discards its error, and
//     what is recorded is a constant of this package or a verdict that was
//     compared with one.
//
// It does not promise that a structure fits its shape; act decides that.
package machine

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
)

// MaxDefinitionBytes is the largest definition that Step Functions takes
// (AWS::StepFunctions::StateMachine, DefinitionString).
const MaxDefinitionBytes = 1 << 20

// Resources names what the machine speaks to. Each value is put into the
// definition as it stands, so that a template may give "${Name}" for it and
// the value beside the definition.
type Resources struct {
	Partition         string // "aws", or another of the partitions
	Act               string // ARN of the act function, which also admits
	Fetch             string // ARN of the fetch function
	ExtractUnverified string // ARN of the extract function for the label unverified
	ExtractRest       string // ARN of the extract function for every other label
	Approve           string // ARN of the approve function
	RunsTable         string // name of the table of runs
	FailureQueue      string // URL of the queue that is told of failed runs
	ApprovalTopic     string // ARN of the topic that is told of waiting runs
}

// Limits bound how long a run may take.
type Limits struct {
	Act      time.Duration // one answer of act, as the function's own limit
	Fetch    time.Duration // one answer of fetch
	Extract  time.Duration // one answer of extract
	Approval time.Duration // how long a run waits for a person; then it ends
}

// DefaultLimits returns the limits that infra deploys with.
func DefaultLimits() Limits {
	return Limits{Act: 30 * time.Second, Fetch: time.Minute, Extract: 2 * time.Minute, Approval: 7 * 24 * time.Hour}
}

// MaxPhase is the longest that one answer may take (Lambda's own limit).
const MaxPhase = 15 * time.Minute

// MaxApproval is the longest that a run may wait for a person: the record of
// its approval takes no answer after that.
const MaxApproval = approval.MaxAge

// Check reports the first limit that is out of its bounds: a phase takes 1 s
// to MaxPhase, an approval 1 min to MaxApproval, all in whole seconds.
func (l Limits) Check() error {
	for _, phase := range []struct {
		name string
		d    time.Duration
	}{{"act", l.Act}, {"fetch", l.Fetch}, {"extract", l.Extract}} {
		if phase.d < time.Second || phase.d > MaxPhase || phase.d%time.Second != 0 {
			return fmt.Errorf("limit of %s: want whole seconds from 1s to %s, got %s", phase.name, MaxPhase, phase.d)
		}
	}
	if l.Approval < time.Minute || l.Approval > MaxApproval || l.Approval%time.Second != 0 {
		return fmt.Errorf("limit of approval: want whole seconds from 1m to %s, got %s", MaxApproval, l.Approval)
	}
	return nil
}

// slack is what a task waits beyond its function's own limit, so that the
// function's time-out is seen first and no second copy runs beside it.
const slack = 5 * time.Second

// Total is the budget of one run with all its retries. Step Functions ends a
// run that exceeds it; no state can catch that, so an alarm does.
func (l Limits) Total() time.Duration {
	// Admitted twice, asked, asked anew, and performed.
	return l.phases(5, serviceTasks) + 2*l.Approval
}

// phases is what a run takes that asks act and other services so often.
func (l Limits) phases(acts, services time.Duration) time.Duration {
	return acts*attempts(l.Act) + attempts(l.Fetch) + attempts(l.Extract) + services*attempts(serviceLimit)
}

// attempts is the longest that one task takes with its retries.
func attempts(limit time.Duration) time.Duration {
	n := time.Duration(1 + maxTransient + maxTimedOut)
	return n*(limit+slack) + (n-1)*maxDelay
}

// Definition returns the machine's definition, indented, with its states in
// the order of their names: the same resources and limits give the same bytes.
// It fails on a resource that is not named and on limits out of bounds.
func Definition(r Resources, l Limits) ([]byte, error) {
	if err := r.check(l); err != nil {
		return nil, err
	}
	return encode(definition{
		Comment:        "decant: fetch reads the world, extract reads the fenced text, act writes and has seen neither",
		QueryLanguage:  "JSONPath",
		StartAt:        begin,
		TimeoutSeconds: int(l.Total() / time.Second),
		States:         runStates(r, l),
	})
}

// check reports the first resource that is not named, and limits out of
// bounds.
func (r Resources) check(l Limits) error {
	for v, i := reflect.ValueOf(r), 0; i < v.NumField(); i++ {
		if v.Field(i).String() == "" {
			return fmt.Errorf("definition: resource %s is not named", v.Type().Field(i).Name)
		}
	}
	if err := l.Check(); err != nil {
		return fmt.Errorf("definition: %w", err)
	}
	return nil
}

// runStates are the states that carry one run, from begin.
func runStates(r Resources, l Limits) map[string]state {
	b := builder{Resources: r, limits: l, states: map[string]state{}}
	b.phases()
	b.approval()
	b.endings()
	return b.states
}

func encode(d definition) ([]byte, error) {
	out, err := json.Marshal(d, json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		return nil, fmt.Errorf("definition: %w", err)
	}
	if len(out) > MaxDefinitionBytes {
		return nil, errors.New("definition: exceeds 1 MiB")
	}
	return append(out, '\n'), nil
}

// phase is one that answers the machine with a verdict.
type phase uint8

const (
	admitPhase phase = iota + 1
	fetchPhase
	listPhase
	extractPhase
	actPhase
)

// codes lists, in a fixed order, what a phase may end a run with. A phase
// that is taken over picks among these and no more.
func (p phase) codes() []pipeline.Code {
	switch p {
	case fetchPhase, extractPhase:
		return passed(pipeline.FromPhase)
	case listPhase:
		return passed(pipeline.FromList)
	case admitPhase:
		return admitCodes
	case actPhase:
		return sorted(append([]pipeline.Code{
			pipeline.NotCanonical, pipeline.PlanFailed, pipeline.UnlistedOutcome, pipeline.PolicyNever, pipeline.NotAdmitted,
			pipeline.ApprovalDenied, pipeline.ApprovalExpired, pipeline.ApproverLost,
		}, admitCodes...))
	default:
		return nil
	}
}

// passed lists the codes that a filter lets through.
func passed(filter func(pipeline.Code) pipeline.Code) []pipeline.Code {
	return sorted(slices.DeleteFunc(pipeline.Codes(), func(c pipeline.Code) bool { return filter(c) != c }))
}

// admitCodes are what act ends a run with on its envelope alone.
var admitCodes = sorted([]pipeline.Code{
	pipeline.MalformedEvent, pipeline.UnknownRecipe, pipeline.RecipeChanged,
	pipeline.OutcomesEmpty, pipeline.OutcomesStale, pipeline.Paused, pipeline.AgentsNeverTrigger,
	pipeline.StoreFailed, pipeline.PhasePanic, pipeline.PhaseMisbehave,
})
