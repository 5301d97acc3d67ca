package machine

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"decant.dev/pipeline"
)

// batchRun is one execution of the machine of batches.
type batchRun struct {
	execution
	Items []any `json:"items"` // of the manifest
}

// MarshalJSON writes the execution's members beside the items.
func (b batchRun) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]any{"name": b.Name, "input": b.Input, "script": b.Script, "items": b.Items})
}

// readable is the definition with the manifest given by the test: the
// emulator reads no items from S3. All else is executed as it stands.
func readable(t *testing.T) []byte {
	t.Helper()
	var d map[string]any
	if err := json.Unmarshal(generateBatch(t), &d); err != nil {
		t.Fatal(err)
	}
	m := d["States"].(map[string]any)[items].(map[string]any)
	delete(m, "ItemReader")
	m["ItemsPath"] = "$$.Manifest"
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// tickInput is a batch's input, with every field of an envelope.
func tickInput() map[string]any {
	return map[string]any{"envelope": map[string]any{
		"schema": "envelope.v1", "run": run, "recipe": "feeds", "recipe_digest": "d", "source": "schedule", "body_sha256": "b",
		"actor": map[string]any{"id": "system:schedule", "kind": "system"}, "channel": "schedule:nightly", "target": map[string]any{"event": "schedule.tick"}, "received": "2026-12-01T00:00:00Z",
	}}
}

func itemRun(i int) string { return fmt.Sprintf("%032x", i) }

func manifest(n int) (all []any) {
	for i := range n {
		all = append(all, map[string]any{"run": itemRun(i), "item": fmt.Sprintf("%064x", i)})
	}
	return all
}

// ofItems is a script for the states of items.
func ofItems(s script) script {
	out := script{}
	for name, steps := range s {
		out[itemPrefix+name] = steps
	}
	return out
}

func listing(n any) []step {
	return []step{{Return: map[string]any{"verdict": "ok", "items": n, "left": 0}}}
}

func batch(name string, n int, changes script) batchRun {
	s := ofItems(good())
	s[admit], s[list] = good()[admit], listing(n)
	for state, steps := range changes {
		s[state] = steps
	}
	return batchRun{execution{name, tickInput(), s}, manifest(n)}
}

func TestBatchCarriesEachItemOnItsOwn(t *testing.T) {
	t.Parallel()
	hostile := script{
		itemPrefix + fetch + "@" + itemRun(1):             {{Return: map[string]any{"verdict": marker}}},
		itemPrefix + extractUnverified + "@" + itemRun(2): {{Error: marker, Cause: marker}},
		itemPrefix + admit + "@" + itemRun(3):             {{Error: "States.Timeout"}},
		itemPrefix + act + "@" + itemRun(4):               {{Return: map[string]any{"verdict": "unlisted_outcome"}}},
	}
	o := executeOn(t, readable(t), []batchRun{batch("six", 6, hostile)})["six"]
	if o.Status != "succeeded" {
		t.Fatalf("got %s %s", o.Status, o.Error)
	}
	// The cost table of docs/deploy.md counts on this.
	tick := 0
	for _, name := range o.Visited {
		if !strings.HasPrefix(name, itemPrefix) || name == items {
			tick++
		}
	}
	if tick != 9 {
		t.Errorf("a tick passes %d states, want 9: %v", tick, o.Visited)
	}
	codes, acted := map[string]string{}, map[string]bool{}
	for _, c := range o.Calls {
		switch c.State {
		case itemPrefix + record:
			values := c.Input["ExpressionAttributeValues"].(map[string]any)
			codes[c.Input["Key"].(map[string]any)["pk"].(map[string]any)["S"].(string)] = values[":code"].(map[string]any)["S"].(string)
		case itemPrefix + act:
			envelope := c.Input["envelope"].(map[string]any)
			acted[envelope["run"].(string)] = true
			if len(envelope) != 11 || envelope["item"] == nil || envelope["body_sha256"] != "b" || len(c.Input) != 2 {
				t.Errorf("act is given %v", c.Input)
			}
		}
	}
	want := map[string]string{itemRun(1): "phase_misbehave", itemRun(2): "phase_died", itemRun(3): "phase_timeout", itemRun(4): "unlisted_outcome"}
	if fmt.Sprint(codes) != fmt.Sprint(want) {
		t.Errorf("recorded %v, want %v", codes, want)
	}
	for i := range 6 {
		if acted[itemRun(i)] != (i == 0 || i == 4 || i == 5) {
			t.Errorf("item %d: act was asked: %t", i, acted[itemRun(i)])
		}
	}
	if o.calls(finish) != 1 || o.calls(record) != 0 {
		t.Errorf("the tick was finished %d times and quarantined %d times", o.calls(finish), o.calls(record))
	}
	for _, s := range o.Seen {
		if (s.State == finish || s.State == ended) && bytes.Contains(s.Input, []byte(marker)) {
			t.Errorf("text reached %s", s.State)
		}
	}
}

// Nothing is carried on any answer of fetch but a good verdict with a number
// of items; the tick is recorded with a code instead.
func TestNoItemIsCarriedOnAnyAnswerButTheGoodOne(t *testing.T) {
	t.Parallel()
	bad := map[string]step{
		"no number":           {Return: map[string]any{"verdict": "ok"}},
		"a word":              {Return: map[string]any{"verdict": "ok", "items": "3"}},
		"below zero":          {Return: map[string]any{"verdict": "ok", "items": -1}},
		"null":                {Return: map[string]any{"verdict": "ok", "items": nil}},
		"a list":              {Return: map[string]any{"verdict": "ok", "items": []int{3}}},
		"another verdict":     {Return: map[string]any{"verdict": marker, "items": 3}},
		"true":                {Return: map[string]any{"verdict": true, "items": 3}},
		"no verdict":          {Return: map[string]any{"items": 3}},
		"prose":               {Return: marker},
		"nothing":             {Undefined: true},
		"an error":            {Error: marker, Cause: marker},
		"a time-out":          {Error: "States.Timeout"},
		"a code":              {Return: map[string]any{"verdict": "unreadable", "items": 3}},
		"a code of act's own": {Return: map[string]any{"verdict": "unlisted_outcome"}},
	}
	var cases []batchRun
	for name, s := range bad {
		cases = append(cases, batch(name, 3, script{list: {s}}))
	}
	cases = append(cases, batch("none", 0, nil), batch("throttled", 2, script{list: {{Error: "RetryableError"}, listing(2)[0]}}))
	outcomes := executeOn(t, readable(t), cases)
	for name, s := range bad {
		o := outcomes[name]
		want := pipeline.PhaseMisbehave
		switch {
		case s.Error == "States.Timeout":
			want = pipeline.PhaseTimeout
		case s.Error != "":
			want = pipeline.PhaseDied
		case name == "a code":
			want = pipeline.Unreadable
		}
		status, code, told := o.end()
		if o.Status != "succeeded" || code != string(want) || status != string(want.Status()) || !told || o.calls(itemPrefix+admit) != 0 || o.calls(finish) != 0 {
			t.Errorf("%s: %s, recorded as %q %q, queue told: %t, %d items; want %s and none", name, o.Status, status, code, told, o.calls(itemPrefix+admit), want)
		}
		for _, s := range o.Seen {
			if (s.State == record || s.State == enqueue) && bytes.Contains(s.Input, []byte(marker)) {
				t.Errorf("%s: text reached %s", name, s.State)
			}
		}
	}
	if o := outcomes["none"]; o.Status != "succeeded" || o.calls(finish) != 1 || o.calls(itemPrefix+admit) != 0 {
		t.Errorf("an empty list: %s, finished %d times", o.Status, o.calls(finish))
	}
	if o := outcomes["throttled"]; o.calls(list) != 2 || o.calls(itemPrefix+act) != 2 || o.calls(finish) != 1 {
		t.Errorf("a throttled list: listed %d times, %d items acted", o.calls(list), o.calls(itemPrefix+act))
	}
}

// A batch whose items are lost ends with a record, and so does one whose
// manifest names what is no run; one whose manifest is no list of entries
// fails, which an alarm sees. No item is carried then. The emulator gives up at
// the first item that fails, where Step Functions tolerates some.
func TestLostItemsAndForgedManifestsEndInARecord(t *testing.T) {
	t.Parallel()
	lose := script{itemPrefix + fetch: {{Return: map[string]any{}}}, itemPrefix + record: {{Error: "x"}}, itemPrefix + enqueue: {{Error: "x"}}}
	forged := batch("forged", 1, nil)
	forged.Items = []any{map[string]any{"key": marker}}
	numbered := batch("numbered", 1, nil)
	numbered.Items = []any{map[string]any{"run": 7, "item": marker}}
	outcomes := executeOn(t, readable(t), []batchRun{batch("lost", 1, lose), forged, numbered, batch("not finished", 1, script{finish: {{Error: "x"}}}), batch("not admitted", 1, script{admit: {{Return: map[string]any{"verdict": "recipe_changed"}}}})})
	for _, name := range []string{"lost", "numbered", "not finished"} {
		o := outcomes[name]
		if _, code, told := o.end(); o.Status != "succeeded" || code != string(pipeline.StoreFailed) || !told {
			t.Errorf("%s: %s, recorded as %q, queue told: %t", name, o.Status, code, told)
		}
	}
	if o := outcomes["not admitted"]; o.calls(list) != 0 || o.calls(record) != 1 || o.calls(itemPrefix+admit) != 0 {
		t.Errorf("a tick that was refused: listed %d times, recorded %d times", o.calls(list), o.calls(record))
	}
	if o := outcomes["forged"]; o.Status != "failed" {
		t.Errorf("forged: %s", o.Status)
	}
	for _, name := range []string{"forged", "numbered"} {
		if o := outcomes[name]; o.calls(itemPrefix+admit) != 0 || o.calls(finish) != 0 || strings.Contains(fmt.Sprint(o.Calls), marker) {
			t.Errorf("%s: reached %v", name, o.Calls)
		}
	}
}

// An item that waits for a person is handed over and ends, also where it was
// handed over before; where it cannot be, it is recorded so.
func TestWaitingItemsHoldUpNoOther(t *testing.T) {
	t.Parallel()
	waits := []step{{Return: map[string]any{"verdict": "ok", "status": "waiting"}}}
	o := executeOn(t, readable(t), []batchRun{batch("four", 4, script{
		itemPrefix + act + "@" + itemRun(0): waits, itemPrefix + act + "@" + itemRun(1): waits, itemPrefix + act + "@" + itemRun(2): waits,
		itemPrefix + handOver: {{Return: map[string]any{}}, {Error: "StepFunctions.ExecutionAlreadyExistsException", Cause: marker}, {Error: "StepFunctions.StateMachineDoesNotExistException", Cause: marker}},
	})})["four"]
	if o.Status != "succeeded" || o.calls(itemPrefix+handOver) != 3 || o.calls(finish) != 1 || o.calls(itemPrefix+record) != 1 {
		t.Errorf("got %s, %d handed over, %d recorded", o.Status, o.calls(itemPrefix+handOver), o.calls(itemPrefix+record))
	}
	for _, c := range o.Calls {
		switch c.State {
		case itemPrefix + handOver:
			if in := c.Input["Input"].(map[string]any); len(in) != 1 || in["envelope"].(map[string]any)["run"] != c.Input["Name"] {
				t.Errorf("handed over %v", c.Input)
			}
		case itemPrefix + record:
			if code := c.Input["ExpressionAttributeValues"].(map[string]any)[":code"]; fmt.Sprint(code) != "map[S:store_failed]" {
				t.Errorf("recorded %v", code)
			}
		}
	}
}
