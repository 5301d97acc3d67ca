package machine

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"decant.dev/pipeline"
)

// itemsMap is the Map of the batch's definition.
func itemsMap(t *testing.T) map[string]any {
	t.Helper()
	return parsed(t, generateBatch(t))[items]
}

// An item's states are a run's, to the letter: nothing is asked, retried or
// decided otherwise because a run is one of a batch. Only where it waits for a
// person, and what is handed on at the end, differ.
func TestItemsAreRuns(t *testing.T) {
	t.Parallel()
	processor := itemsMap(t)["ItemProcessor"].(map[string]any)
	if processor["StartAt"] != itemPrefix+begin {
		t.Errorf("an item starts at %v", processor["StartAt"])
	}
	if !reflect.DeepEqual(processor["ProcessorConfig"], map[string]any{"Mode": "DISTRIBUTED", "ExecutionType": "STANDARD"}) {
		t.Errorf("processor is %v", processor["ProcessorConfig"])
	}
	run := parsed(t, generate(t))
	got := processor["States"].(map[string]any)
	for name, s := range got {
		name = strings.TrimPrefix(name, itemPrefix)
		item, want := plain(s).(map[string]any), run[name]
		switch name {
		case handOver:
			continue
		case acted: // but for where a run that waits goes
			for _, c := range item["Choices"].([]any) {
				if c := c.(map[string]any); c["Next"] == handOver {
					c["Next"] = announce
				}
			}
		case ended:
			if path, ok := item["OutputPath"]; !ok || path != nil {
				t.Errorf("an item hands on %v at its end", item)
			}
			delete(item, "OutputPath")
		}
		if !reflect.DeepEqual(item, want) {
			t.Errorf("%s of an item is %v, of a run %v", name, item, want)
		}
	}
	left := []string{}
	for name := range run {
		if got[itemPrefix+name] == nil {
			left = append(left, name)
		}
	}
	slices.Sort(left)
	if want := []string{announce, approvalExpired, ask}; !slices.Equal(left, want) {
		t.Errorf("an item has no %v, want all but %v", left, want)
	}
	outer := parsed(t, generateBatch(t))
	for name := range got {
		if outer[name] != nil {
			t.Errorf("%s stands in the batch and in its items", name)
		}
	}
}

// plain takes the prefix from the names that a state leads to.
func plain(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for k, x := range v {
			if to, ok := x.(string); ok && (k == "Next" || k == "Default") {
				x = strings.TrimPrefix(to, itemPrefix)
			}
			out[k] = plain(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = plain(x)
		}
		return out
	default:
		return v
	}
}

// The execution that waits in an item's place bears its run as name and gets
// its envelope alone; one that exists is success.
func TestAWaitingItemIsHandedOver(t *testing.T) {
	t.Parallel()
	s := itemsMap(t)["ItemProcessor"].(map[string]any)["States"].(map[string]any)[itemPrefix+handOver].(map[string]any)
	want := map[string]any{"StateMachineArn": own.Runs, "Name.$": "$.envelope.run", "Input": map[string]any{"envelope.$": "$.envelope"}}
	if s["Resource"] != "arn:aws:states:::states:startExecution" || !reflect.DeepEqual(s["Parameters"], want) {
		t.Errorf("got %v with %v", s["Resource"], s["Parameters"])
	}
	catches := s["Catch"].([]any)
	if first := catches[0].(map[string]any); len(catches) != 2 || first["Next"] != itemPrefix+ended || first["ResultPath"] != nil || reflect.DeepEqual(first["ErrorEquals"], []any{"States.ALL"}) {
		t.Errorf("catches %v", catches)
	}
}

func TestItemsStatesAreReached(t *testing.T) {
	t.Parallel()
	states := map[string]map[string]any{}
	for name, s := range itemsMap(t)["ItemProcessor"].(map[string]any)["States"].(map[string]any) {
		states[name] = s.(map[string]any)
	}
	checkReached(t, states, itemPrefix+begin)
}

// An item is given an envelope and nothing else, whose every field is the
// tick's but run and digest.
func TestItemsEnvelopeIsTheTicksButForRunAndItem(t *testing.T) {
	t.Parallel()
	tick := pipeline.NewEnvelope("feeds", strings.Repeat("ab", 32), pipeline.TickSource, nil, pipeline.Actor{ID: pipeline.ScheduleActor, Kind: pipeline.System},
		"schedule:nightly", pipeline.Target{Event: pipeline.Tick, Repository: "o/r", Number: 1}, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
	b, err := tick.OfItem([]byte("a")).Encode()
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]any
	if err := json.Unmarshal(b, &fields); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{}
	for name := range fields {
		want[name+".$"] = "$.envelope." + name
	}
	want["run.$"], want["item.$"] = "$$.Map.Item.Value.run", "$$.Map.Item.Value.item"
	if got := itemsMap(t)["ItemSelector"]; !reflect.DeepEqual(got, map[string]any{"envelope": want}) {
		t.Errorf("an item is given %v, want %v", got, want)
	}
}

func TestMapReadsTheManifestOfItsOwnTickWithinItsBounds(t *testing.T) {
	t.Parallel()
	m := itemsMap(t)
	want := map[string]any{
		"Resource":     "arn:aws:states:::s3:getObject",
		"ReaderConfig": map[string]any{"InputType": "JSON", "MaxItems": 1000.0},
		"Parameters":   map[string]any{"Bucket": "text", "Key.$": "$.key"},
	}
	if !reflect.DeepEqual(m["ItemReader"], want) {
		t.Errorf("items are read by %v, want %v", m["ItemReader"], want)
	}
	if m["MaxConcurrency"] != 40.0 || m["ToleratedFailurePercentage"] != 10.0 || m["Retry"] != nil {
		t.Errorf("got %v at a time, %v percent lost, retries %v", m["MaxConcurrency"], m["ToleratedFailurePercentage"], m["Retry"])
	}
	if path, ok := m["ResultPath"]; !ok || path != nil {
		t.Error("what items ended with is kept in the batch")
	}
	wantCatch := []any{map[string]any{"ErrorEquals": []any{"States.ALL"}, "ResultPath": nil, "Next": storeFailed}}
	if !reflect.DeepEqual(m["Catch"], wantCatch) {
		t.Errorf("a batch that fails leads to %v", m["Catch"])
	}
	states := parsed(t, generateBatch(t))
	if got := states[address]["Parameters"]; !reflect.DeepEqual(got, map[string]any{
		"envelope.$": "$.envelope", "key.$": "States.Format('manifest/{}/{}.json', $.envelope.recipe, $.envelope.run)",
	}) {
		t.Errorf("the manifest is looked for by %v", got)
	}
	if states[list]["Resource"] != sample().Fetch || !reflect.DeepEqual(states[list]["Parameters"], map[string]any{"tick.$": "$.envelope"}) {
		t.Errorf("the items are listed by %v with %v", states[list]["Resource"], states[list]["Parameters"])
	}
}

func TestBatchRefusesBoundsAndNoBucket(t *testing.T) {
	t.Parallel()
	for name, n := range map[string]Batches{"items": {0, 1}, "items of": {MaxItems + 1, 1}, "concurrency": {1, 0}, "concurrency of": {1, MaxConcurrency + 1}} {
		if _, err := BatchDefinition(sample(), own, DefaultLimits(), n); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%+v: got %v, want an error that names %s", n, err, name)
		}
	}
	for _, n := range []Batches{{1, 1}, {MaxItems, MaxConcurrency}} {
		if _, err := BatchDefinition(sample(), own, DefaultLimits(), n); err != nil {
			t.Errorf("%+v: %v", n, err)
		}
	}
	for name, without := range map[string]Own{"Bucket": {Runs: own.Runs}, "Runs": {Bucket: own.Bucket}} {
		if _, err := BatchDefinition(sample(), without, DefaultLimits(), DefaultBatches()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("without %s: got %v", name, err)
		}
	}
	if _, err := BatchDefinition(sample(), own, Limits{}, DefaultBatches()); err == nil {
		t.Error("limits out of bounds are taken")
	}
}

func TestBatchLastsAsLongAsItsItemsAndAtMostAYear(t *testing.T) {
	t.Parallel()
	l := DefaultLimits()
	item := l.phases(3, 3) // admitted, lowered and performed; journalled, recorded and told
	one, two := (Batches{1, 1}).Total(l), (Batches{2, 1}).Total(l)
	if one <= item || two-one <= item || (Batches{2, 2}).Total(l) != one || two > l.Approval {
		t.Errorf("one item %s, two %s", one, two)
	}
	if got := (Batches{MaxItems, 1}).Total(Limits{MaxPhase, MaxPhase, MaxPhase, MaxApproval}); got > 365*24*time.Hour {
		t.Errorf("got %s, want at most a year", got)
	}
}
