package machine

import (
	"errors"
	"fmt"
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
	itemPrefix = "Item"
)

// ItemsLabel is the label of the Map of a batch's items. Their executions
// belong to the machine's ARN with "/" and the label after it.
const ItemsLabel = items

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

// maxExecution is the longest that an execution may last
// (docs.aws.amazon.com/step-functions/latest/dg/service-quotas.html).
const maxExecution = 365 * 24 * time.Hour

// Total is the budget of one batch with all its retries, where each item
// takes the whole of its own and waits for a person too.
func (b Batches) Total(l Limits) time.Duration {
	waves := time.Duration((b.Items + b.Concurrency - 1) / b.Concurrency)
	const tasks = 3 // finish, or record and enqueue after it failed
	return min(attempts(l.Act)+attempts(l.Fetch)+tasks*attempts(serviceLimit)+waves*l.Total(), maxExecution)
}

// toleratedPercent is how many of a batch's items may be lost before the rest
// is given up. An item fails only where nothing could be kept of it: what an
// item says, and what becomes of it, ends in its record and counts for none.
const toleratedPercent = 10

// BatchDefinition returns the definition of the machine that carries a tick
// and the items that it lists: each is an execution of its own, with the
// states of a run. Items are read from the manifest in the bucket, whose key
// is made here from the tick and not taken from fetch's answer; and an item's
// envelope is the tick's, but for run and digest. The same arguments give the
// same bytes.
func BatchDefinition(r Resources, bucket string, l Limits, n Batches) ([]byte, error) {
	if err := r.check(l); err != nil {
		return nil, err
	}
	if bucket == "" {
		return nil, errors.New("definition: resource Bucket is not named")
	}
	if err := n.Check(); err != nil {
		return nil, fmt.Errorf("definition: %w", err)
	}
	b := builder{Resources: r, limits: l, states: map[string]state{}}
	b.batch(bucket, n)
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
func (b builder) batch(bucket string, n Batches) {
	b.begin(admit)
	// Act records the tick as it admits it, and refuses here what it would
	// refuse of each item.
	b.lambda(admit, b.Act, b.limits.Act, object{"envelope.$": "$.envelope"}, admitted)
	b.verdict(admitted, admitPhase, class("unverified", list), class("rest", list))
	b.lambda(list, b.Fetch, b.limits.Fetch, object{"tick.$": "$.envelope"}, listed)
	const count = "$.answer.items"
	counted := func(t test, next string) choice { return choice{and(present(count), isNumber(count), t), next} }
	b.verdict(listed, fetchPhase, counted(isCount(count, 0), finish), counted(atLeast(count, 1), address))
	b.states[address] = state{
		Type: "Pass", Next: items,
		Parameters: object{"envelope.$": "$.envelope", "key.$": "States.Format('manifest/{}/{}.json', $.envelope.recipe, $.envelope.run)"},
	}
	b.states[items] = state{
		Type: "Map", Label: ItemsLabel,
		ItemReader: &reader{
			Resource:     "arn:" + b.Partition + ":states:::s3:getObject",
			ReaderConfig: object{"InputType": "JSON", "MaxItems": n.Items},
			Parameters:   object{"Bucket": bucket, "Key.$": "$.key"},
		},
		ItemSelector: object{"envelope": itemEnvelope()},
		ItemProcessor: &processor{
			ProcessorConfig: object{"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"},
			StartAt:         itemPrefix + begin,
			States:          itemStates(b.Resources, b.limits),
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

// itemStates are the states of a run, renamed. An item that has ended hands
// nothing on: the outputs of all items would exceed what a state may hold.
func itemStates(r Resources, l Limits) map[string]state {
	out := map[string]state{}
	for name, s := range runStates(r, l) {
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
