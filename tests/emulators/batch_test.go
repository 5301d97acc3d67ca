package emulators

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/bucket"
	"decant.dev/pipeline/aws/execution"
	"decant.dev/pipeline/aws/lambdasweep"
	"decant.dev/pipeline/aws/machine"
	"decant.dev/pipeline/aws/runs"
	"decant.dev/pipeline/aws/tables"
)

// started returns the envelope that an execution of a machine was started
// with.
func (c *cloud) started(t *testing.T, machine, run string) object {
	t.Helper()
	arn := strings.Replace(machine, ":stateMachine:", ":execution:", 1) + ":" + run
	out, err := c.sfn.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if err != nil {
		t.Fatal(err)
	}
	var input struct{ Envelope object }
	if err := json.Unmarshal([]byte(*out.Input), &input); err != nil {
		t.Fatal(err)
	}
	return input.Envelope
}

// createBatch gives the generated definition of batches to the emulator, with
// its Map as it stands. It knows no intrinsic functions, so that the key is
// put in; what else becomes a pass is as in createMachine.
func (c *cloud) createBatch(t *testing.T, key string) string {
	t.Helper()
	arn := func(name string) string { return "arn:aws:lambda:" + region + ":" + account + ":function:" + name }
	b, err := machine.BatchDefinition(machine.Resources{
		Partition: "aws", Act: arn("feeds-act"), Fetch: arn("feeds-fetch"), ExtractUnverified: arn("feeds-extract"), ExtractRest: arn("feeds-extract"),
		Approve: arn("approve"), RunsTable: "Runs", FailureQueue: c.url + "/" + account + "/failures", ApprovalTopic: "arn:aws:sns:" + region + ":" + account + ":approvals",
	}, machine.Own{Bucket: "raw", Runs: c.machine}, machine.DefaultLimits(), machine.DefaultBatches())
	if err != nil {
		t.Fatal(err)
	}
	var d object
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	states := d["States"].(object)
	passes(states)
	passes(states["Items"].(object)["ItemProcessor"].(object)["States"].(object))
	states["Address"].(object)["Parameters"] = object{"envelope.$": "$.envelope", "key": key}
	out, err := c.sfn.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String(t.Name()), RoleArn: aws.String("arn:aws:iam::" + account + ":role/machine"), Definition: aws.String(text(t, d)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return *out.StateMachineArn
}

const tick = `{"tick":{"recipe":"feeds","schedule":"nightly","instant":"2026-12-01T00:00:00Z"}}`

// A tick goes from the ingress to the rows of its items: the real functions,
// the real manifest, and the generated Map with an execution for each item.
func TestATickBecomesARunForEachItem(t *testing.T) {
	testCredentials(t)
	c := open(t)
	a, failed := c.invoke(t, "feeds-ingress", []byte(tick))
	if failed || a["verdict"] != "ok" {
		t.Fatalf("ingress: got %v", a)
	}
	run := a["run"].(string)
	envelope := c.started(t, c.batches, run)
	if again, _ := c.invoke(t, "feeds-ingress", []byte(tick)); again["run"] != run {
		t.Errorf("the same tick again: got %v", again)
	}
	key := "manifest/feeds/" + run + ".json"
	arn := c.createBatch(t, key)
	if s := c.ended(t, c.execute(t, arn, envelope)); s != types.ExecutionStatusSucceeded {
		t.Fatalf("got %s", s)
	}
	if r := c.run(t, run); r.Envelope == nil || r.Label != "unverified" {
		t.Errorf("the tick's record: got %+v", r)
	}

	object, err := c.s3.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("raw"), Key: &key})
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct{ Run, Item string }
	b, err := io.ReadAll(object.Body)
	if err != nil || json.Unmarshal(b, &entries) != nil || len(entries) != 3 {
		t.Fatalf("manifest: got %s, %v", b, err)
	}
	keys := map[string]bool{}
	for i, e := range entries {
		rows, err := tables.Open(region, c.url).Ledger("Act").Rows(t.Context(), "feeds")
		if err != nil {
			t.Fatal(err)
		}
		of := 0
		for _, r := range rows {
			if r.Run == e.Run {
				of++
				keys[r.Key] = r.Key == "feed:sample#"+e.Item[:32] && r.Label == "unverified" && r.Source == "schedule"
			}
		}
		bad := i == 1
		r := c.run(t, e.Run)
		if of == 1 == bad || (r.Status == pipeline.Done) == bad {
			t.Errorf("item %d: %d rows, %+v", i, of, r)
		}
		if env, err := pipeline.DecodeEnvelope(r.Envelope); err != nil || env.Item != e.Item || env.BodySHA256 != envelope["body_sha256"] {
			t.Errorf("item %d: %+v, %v", i, env, err)
		}
	}
	if len(keys) != 2 || !keys["feed:sample#"+entries[0].Item[:32]] {
		t.Errorf("got rows at %v", keys)
	}
	c.silent(t, arn)
}

// silent looks for the items' words in all that the batch's executions hold.
func (c *cloud) silent(t *testing.T, machine string) {
	t.Helper()
	all, err := c.sfn.ListExecutions(t.Context(), &sfn.ListExecutionsInput{StateMachineArn: &machine})
	if err != nil || len(all.Executions) == 0 {
		t.Fatalf("got %d executions, %v", len(all.Executions), err)
	}
	looked := 0
	for _, e := range all.Executions {
		out, err := c.sfn.GetExecutionHistory(t.Context(), &sfn.GetExecutionHistoryInput{ExecutionArn: e.ExecutionArn, IncludeExecutionData: aws.Bool(true)})
		if err != nil {
			continue
		}
		looked += len(out.Events)
		if strings.Contains(text(t, out.Events), marker) {
			t.Error("an item's words in an execution's history")
		}
	}
	if looked == 0 {
		t.Error("no history was looked at")
	}
	if strings.Contains(c.logs.String(), marker) {
		t.Error("an item's words in a log")
	}
}

// A forged envelope of an item does not pass act, whatever fetch's manifest
// says: the run must be the digest of the tick and of the item.
func TestAForgedItemIsRefusedByAct(t *testing.T) {
	testCredentials(t)
	c := open(t)
	a, _ := c.invoke(t, "feeds-ingress", []byte(strings.Replace(tick, "12-01", "12-02", 1)))
	envelope := c.started(t, c.batches, a["run"].(string))
	item := strings.Repeat("ab", 32)
	for name, spoil := range map[string]func(object){
		"the tick's run":        func(o object) { o["item"] = item },
		"another run":           func(o object) { o["item"], o["run"] = item, strings.Repeat("0", 32) },
		"an item of no digest":  func(o object) { o["item"] = marker },
		"a run that is a title": func(o object) { o["item"], o["run"] = item, marker },
		"a number":              func(o object) { o["item"], o["run"] = 7, 7 },
	} {
		forged := object{}
		for k, v := range envelope {
			forged[k] = v
		}
		spoil(forged)
		if got, failed := c.invoke(t, "feeds-act", object{"envelope": forged}); failed || got["verdict"] != string(pipeline.PhaseMisbehave) || strings.Contains(fmt.Sprint(got), marker) {
			t.Errorf("%s: got %v, failed %t", name, got, failed)
		}
	}
}

// A queue's batch ends message by message: what is poisoned is not named, and
// where the machine is not there only what was good comes again.
func TestAQueuesBatchEndsMessageByMessage(t *testing.T) {
	testCredentials(t)
	c := open(t)
	good, other := opened(301, 7001, "The exporter crashes", report), opened(302, 7001, "The importer crashes", report)
	message := func(id string, body []byte) object {
		return object{"messageId": id, "receiptHandle": "h", "body": string(body), "eventSource": "aws:sqs", "awsRegion": region}
	}
	unsigned := bytes.Replace(signed(t, "issues", good), []byte("sha256="), []byte("sha256=00"), 1)
	batch := object{"Records": []object{
		message("poisoned", []byte(marker)), message("first", signed(t, "issues", good)), message("unsigned", unsigned),
		message("equal", signed(t, "issues", good)), message("second", signed(t, "issues", other)),
	}}
	named := func(a object) (ids []string) {
		for _, f := range a["batchItemFailures"].([]any) {
			ids = append(ids, f.(object)["itemIdentifier"].(string))
		}
		return ids
	}
	a, failed := c.invoke(t, "ingress-broken", batch)
	if failed || !slices.Equal(named(a), []string{"first", "equal", "second"}) {
		t.Fatalf("without a machine: got %v, failed %t", a, failed)
	}
	if a, failed = c.invoke(t, "ingress", batch); failed || len(named(a)) != 0 {
		t.Fatalf("got %v, failed %t", a, failed)
	}
	all, err := c.sfn.ListExecutions(t.Context(), &sfn.ListExecutionsInput{StateMachineArn: &c.machine, MaxResults: 1000})
	if err != nil {
		t.Fatal(err)
	}
	for _, body := range [][]byte{good, other} {
		run, n := c.deliver(t, body)["run"].(string), 0
		for _, e := range all.Executions {
			if *e.Name == run {
				n++
			}
		}
		if n != 1 {
			t.Errorf("got %d executions of a delivery", n)
		}
	}
}

// What the ingress stored and did not start is found and started, once, and
// its marker is gone when the run has a record.
func TestTheSweepStartsWhatWasStored(t *testing.T) {
	testCredentials(t)
	c := open(t)
	lost := opened(310, 7001, "Stored and not started", report)
	if a, failed := c.invoke(t, "ingress-broken", signed(t, "issues", lost)); failed || a["statusCode"] != 500.0 {
		t.Fatalf("without a machine: got %v", a)
	}
	if a, failed := c.invoke(t, "sweep", object{}); failed || a["verdict"] != "ok" || a["markers"].(object)["young"] == nil {
		t.Errorf("the function: got %v, failed %t; want the marker too young", a, failed)
	}
	store := bucket.Open(region, c.url, "raw", account)
	machines := execution.Open(region, c.url)
	h, err := lambdasweep.New(lambdasweep.Config{
		Markers: store, Starts: func(r string) lambdasweep.Starts { return store.Starts(r) }, Bodies: func(r string) lambdasweep.Bodies { return store.Raw(r) },
		Records: runs.Open(region, c.url, "Runs"), Runs: machines.Machine(c.machine), Batches: machines.Machine(c.batches),
		Clock: func() time.Time { return time.Now().Add(lambdasweep.MinAge + time.Minute) },
	})
	if err != nil {
		t.Fatal(err)
	}
	sweep := func() string {
		r, err := h.Handle(context.Background(), []byte("{}"))
		if err != nil {
			t.Fatal(err)
		}
		return text(t, r.Answer)
	}
	if got := sweep(); !strings.Contains(got, `"started":`) || strings.Contains(got, "faulty") {
		t.Fatalf("got %s", got)
	}
	envelope := c.deliver(t, lost) // finds the execution that the sweep started
	run := envelope["run"].(string)
	if b, found, err := store.Starts("issues").Get(t.Context(), run); err != nil || !found || !bytes.Contains(b, []byte(envelope["received"].(string))) {
		t.Errorf("the marker: got %t, %v; want the envelope that was started", found, err)
	}
	if last, _ := c.carry(t, envelope); last["status"] != "done" {
		t.Errorf("got %v", last)
	}
	sweep()
	if _, found, err := store.Starts("issues").Get(t.Context(), run); err != nil || found {
		t.Errorf("the marker of a run with a record: found %t, %v", found, err)
	}
	if rows := c.rows(t, run); len(rows) != 1 {
		t.Errorf("got %d rows", len(rows))
	}
}
