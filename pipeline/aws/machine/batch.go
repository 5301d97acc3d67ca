package machine

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"strings"
	"time"

	"decant.dev/pipeline"
)

// The names of the states that a batch has beside the endings of a run. An
// item's states are those of a run with itemPrefix before their names, which
// must be unique in a definition.
const (
	list       = "List"
	listed     = "Listed"
	address    = "Address"
	items      = "Items"
	finish     = "Finish"
	handOver   = "HandOver" // of an item
	itemPrefix = "Item"
)

// Own names what the machine of batches speaks to beside the Resources.
type Own struct {
	Bucket string // name of the bucket of manifests
	Runs   string // ARN of the machine of runs, which items that wait for a person go to
}

// Batches bound one batch.
type Batches struct {
	Items       int // how many items of a tick are carried, at most MaxItems
	Concurrency int // how many of them at a time
}

// MaxItems is the most that fetch lists for one tick.
const MaxItems = 1000

// MaxConcurrency bounds the items under way of one batch: each holds at most
// one invocation, of the 1,000 that an account has by default.
const MaxConcurrency = 500

// DefaultBatches returns the bounds that infra deploys with.
func DefaultBatches() Batches { return Batches{Items: MaxItems, Concurrency: 40} }

// Check reports the first bound that is out of its own: 1 to MaxItems items
// and 1 to MaxConcurrency at a time.
func (b Batches) Check() error {
	switch {
	case b.Items < 1 || b.Items > MaxItems:
		return fmt.Errorf("items of a batch: want 1 to %d, got %d", MaxItems, b.Items)
	case b.Concurrency < 1 || b.Concurrency > MaxConcurrency:
		return fmt.Errorf("concurrency of a batch: want 1 to %d, got %d", MaxConcurrency, b.Concurrency)
	}
	return nil
}

// Total is the budget of one batch with all its retries, where each item
// takes the whole of its own. None waits for a person in its batch, so that
// the largest budget is within the year that an execution may last
// (docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html).
func (b Batches) Total(l Limits) time.Duration {
	waves := time.Duration((b.Items + b.Concurrency - 1) / b.Concurrency)
	const tasks = 3                   // finish, or record and enqueue after it failed
	item := l.phases(3, serviceTasks) // admitted twice, and performed or handed over
	return attempts(l.Act) + attempts(l.Fetch) + tasks*attempts(serviceLimit) + waves*item
}

// toleratedPercent is how many of a batch's items may be lost before the rest
// is given up. An item fails only where nothing could be kept of it: what an
// item says, and what becomes of it, ends in its record and counts for none.
const toleratedPercent = 10

// BatchDefinition returns the definition of the machine that carries a tick
// and the items that it lists: each is an execution of its own, with the
// states of a run. Items are read from the manifest in the bucket, whose key
// is made here from the tick and not taken from fetch's answer; and an item's
// envelope is the tick's, but for run and digest. An item that waits for a
// person is handed over to the machine of runs, under its own name, so that
// its question holds up no other item. The same arguments give the same bytes.
func BatchDefinition(r Resources, own Own, l Limits, n Batches) ([]byte, error) {
	if err := r.check(l); err != nil {
		return nil, err
	}
	switch {
	case own.Bucket == "":
		return nil, errors.New("definition: resource Bucket is not named")
	case own.Runs == "":
		return nil, errors.New("definition: resource Runs is not named")
	}
	if err := n.Check(); err != nil {
		return nil, fmt.Errorf("definition: %w", err)
	}
	b := builder{Resources: r, limits: l, states: map[string]state{}}
	b.batch(own, n)
	b.endings()
	return encode(definition{
		Comment:        "decant: a tick's items, each a run of its own",
		QueryLanguage:  "JSONPath",
		StartAt:        begin,
		TimeoutSeconds: int(n.Total(l) / time.Second),
		States:         b.states,
	})
}

// batch are the states from a tick to the end of its last item.
func (b builder) batch(own Own, n Batches) {
	b.begin(admit)
	// Act records the tick as it admits it, and refuses here what it would
	// refuse of each item.
	b.lambda(admit, b.Act, b.limits.Act, object{"envelope.$": "$.envelope"}, admitted)
	b.verdict(admitted, admitPhase, class("unverified", list), class("rest", list))
	b.lambda(list, b.Fetch, b.limits.Fetch, object{"tick.$": "$.envelope"}, listed)
	const count = "$.answer.items"
	counted := func(t test, next string) choice { return choice{and(present(count), isNumber(count), t), next} }
	b.verdict(listed, listPhase, counted(isCount(count, 0), finish), counted(atLeast(count, 1), address))
	b.states[address] = state{
		Type: "Pass", Next: items,
		Parameters: object{"envelope.$": "$.envelope", "key.$": "States.Format('manifest/{}/{}.json', $.envelope.recipe, $.envelope.run)"},
	}
	b.states[items] = state{
		Type: "Map", Label: items,
		ItemReader: &reader{
			Resource:     "arn:" + b.Partition + ":states:::s3:getObject",
			ReaderConfig: object{"InputType": "JSON", "MaxItems": n.Items},
			Parameters:   object{"Bucket": own.Bucket, "Key.$": "$.key"},
		},
		ItemSelector: object{"envelope": itemEnvelope()},
		ItemProcessor: &processor{
			ProcessorConfig: object{"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
			StartAt:         itemPrefix + begin,
			States:          itemStates(b.Resources, own, b.limits),
		},
		MaxConcurrency: n.Concurrency, ToleratedFailurePercentage: toleratedPercent,
		ResultPath: null, Catch: []catcher{caught(storeFailed)}, Next: finish,
	}
	b.update(finish, "SET #status = :status, #updated = :updated", "", object{"#status": "status", "#updated": "updated"}, object{
		":status": object{"S": string(pipeline.Done)}, ":updated": object{"S.$": "$$.State.EnteredTime"},
	}, "$.envelope.run", ended, storeFailed)
}

// itemEnvelope builds an item's envelope from the tick's and from its entry in
// the manifest, which gives run and digest alone.
func itemEnvelope() object {
	out := object{}
	for t, i := reflect.TypeFor[pipeline.Envelope](), 0; i < t.NumField(); i++ {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out[name+".$"] = "$.envelope." + name
	}
	for _, name := range []string{"run", "item"} {
		out[name+".$"] = "$$.Map.Item.Value." + name
	}
	return out
}

// waiting makes the run that policy wants asked another execution's, and
// leaves out the states that are then never reached. The run goes through its
// phases once more there; nothing was performed here.
func (b builder) waiting(own Own) {
	b.service(handOver, "states:startExecution", object{
		"StateMachineArn": own.Runs, "Name.$": "$.envelope.run", "Input": object{"envelope.$": "$.envelope"},
	}, ended, storeFailed)
	s := b.states[handOver]
	s.Retry = []retrier{retry([]string{"StepFunctions.ThrottlingException"}, maxTransient)}
	s.Catch = append([]catcher{{ErrorEquals: handedOver, ResultPath: null, Next: ended}}, s.Catch...)
	b.states[handOver] = s
	for i, c := range b.states[acted].Choices {
		if c.Next == announce {
			b.states[acted].Choices[i].Next = handOver
		}
	}
	reached := map[string]bool{}
	var visit func(string)
	visit = func(name string) {
		if name == "" || reached[name] {
			return
		}
		reached[name] = true
		s := b.states[name]
		visit(s.Next)
		visit(s.Default)
		for _, c := range s.Catch {
			visit(c.Next)
		}
		for _, c := range s.Choices {
			visit(c.Next)
		}
	}
	visit(begin)
	maps.DeleteFunc(b.states, func(name string, _ state) bool { return !reached[name] })
}

// handedOver is what Step Functions answers where the run's execution exists
// (API_StartExecution), which is success.
var handedOver = []string{"StepFunctions.ExecutionAlreadyExistsException", "StepFunctions.ExecutionAlreadyExists"}

// itemStates are the states of a run, renamed. An item that has ended hands
// nothing on: the outputs of all items would exceed what a state may hold.
func itemStates(r Resources, own Own, l Limits) map[string]state {
	b := builder{Resources: r, limits: l, states: runStates(r, l)}
	b.waiting(own)
	out := map[string]state{}
	for name, s := range b.states {
		rename := func(to *string) {
			if *to != "" {
				*to = itemPrefix + *to
			}
		}
		rename(&s.Next)
		rename(&s.Default)
		for i := range s.Catch {
			rename(&s.Catch[i].Next)
		}
		for i := range s.Choices {
			rename(&s.Choices[i].Next)
		}
		if s.Type == "Succeed" {
			s.OutputPath = null
		}
		out[itemPrefix+name] = s
	}
	return out
}
