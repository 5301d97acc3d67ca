package emulators

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"decant.dev/act"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/tables"
)

type object = map[string]any

// deliver gives a body to the ingress and returns the envelope that the run
// was started with.
func (c *cloud) deliver(t *testing.T, body []byte) object {
	t.Helper()
	a, failed := c.invoke(t, "ingress", signed(t, "issues", body))
	if failed || a["statusCode"] != 202.0 {
		t.Fatalf("ingress: got %v", a)
	}
	var answer struct{ Runs []string }
	if err := json.Unmarshal([]byte(a["body"].(string)), &answer); err != nil || len(answer.Runs) != 1 {
		t.Fatalf("ingress: got %v", a)
	}
	arn := strings.Replace(c.machine, ":stateMachine:", ":execution:", 1) + ":" + answer.Runs[0]
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

// carry asks the phases about a run in the order of the state machine and
// returns act's answer with every answer on the way.
func (c *cloud) carry(t *testing.T, envelope object) (last object, outputs []object) {
	t.Helper()
	ask := func(name string, payload object) object {
		a, failed := c.invoke(t, name, payload)
		if failed {
			t.Fatalf("%s: failed with %v", name, a)
		}
		outputs = append(outputs, a)
		return a
	}
	a := ask("act", object{"envelope": envelope})
	if a["verdict"] != "ok" {
		return a, outputs
	}
	class := a["class"].(string)
	if a = ask("fetch", object{"envelope": envelope}); a["verdict"] != "ok" {
		return a, outputs
	}
	a = ask("extract-"+class, object{"recipe": envelope["recipe"], "run": envelope["run"]})
	if a["verdict"] != "ok" {
		return a, outputs
	}
	return ask("act", object{"envelope": envelope, "structure": a["structure"]}), outputs
}

const (
	marker = "zq7marker"
	report = "The exporter stops since version 2.4.1. " + marker + "\n\nSteps to reproduce:\n1. Open any project\n\nExpected a file, got a panic. It happens every time."
)

func (c *cloud) rows(t *testing.T, run string) (rows []tables.Row) {
	t.Helper()
	all, err := tables.Open(region, c.url).Ledger("Act").Rows(t.Context(), "triage")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		if r.Run == run {
			rows = append(rows, r)
		}
	}
	return rows
}

func (c *cloud) receipts(t *testing.T, run string) []act.Receipt {
	t.Helper()
	r, err := tables.Open(region, c.url).Ledger("Act").Receipts(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (c *cloud) run(t *testing.T, id string) tables.Run {
	t.Helper()
	r, found, err := tables.Open(region, c.url).Runs("Runs", time.Now).Get(t.Context(), id)
	if err != nil || !found {
		t.Fatalf("run: got %t, %v", found, err)
	}
	return r
}

func TestARunGoesThroughAllFunctionsAndWritesOnce(t *testing.T) {
	testCredentials(t)
	c := open(t)
	body := opened(101, 7001, "The exporter crashes", report)
	envelope := c.deliver(t, body)
	id := envelope["run"].(string)
	last, _ := c.carry(t, envelope)
	if last["verdict"] != "ok" || last["status"] != "done" {
		t.Fatalf("got %v, want done", last)
	}
	first := c.receipts(t, id)
	rows := c.rows(t, id)
	if len(first) != 1 || len(rows) != 1 || rows[0].Key != "octo-org/sample#101" || rows[0].Label != "unverified" || rows[0].Columns["kind"] != "bug" {
		t.Fatalf("got receipts %v, rows %v", first, rows)
	}
	if r := c.run(t, id); r.Status != pipeline.Done || r.Code != pipeline.OK || r.Label != "unverified" || r.Structure == nil || r.Actions == nil || r.Envelope == nil {
		t.Errorf("got run %+v", r)
	}

	t.Run("duplicate delivery is the same run", func(t *testing.T) {
		again := c.deliver(t, body)
		if again["run"] != id || again["received"] != envelope["received"] {
			t.Errorf("got another run or start: %v", again)
		}
	})
	t.Run("a redelivery after success writes nothing more", func(t *testing.T) {
		last, _ := c.carry(t, envelope)
		if last["verdict"] != "ok" || last["status"] != "done" {
			t.Errorf("got %v", last)
		}
		if again := c.receipts(t, id); fmt.Sprint(again) != fmt.Sprint(first) {
			t.Errorf("got receipts %v, want %v", again, first)
		}
	})
}

func TestTwoAtOnceWriteOnce(t *testing.T) {
	testCredentials(t)
	c := open(t)
	body := opened(102, 7001, "The exporter crashes", report)
	const n = 4
	var together sync.WaitGroup
	answers := make([]object, n)
	envelopes := make([]object, n)
	for i := range n {
		together.Go(func() {
			envelopes[i] = c.deliver(t, body)
			answers[i], _ = c.carry(t, envelopes[i])
		})
	}
	together.Wait()
	for i, a := range answers {
		if a["verdict"] != "ok" || a["status"] != "done" || envelopes[i]["run"] != envelopes[0]["run"] {
			t.Errorf("attempt %d: got %v of run %v", i, a, envelopes[i]["run"])
		}
	}
	id := envelopes[0]["run"].(string)
	if r := c.receipts(t, id); len(r) != 1 {
		t.Errorf("got %d receipts, want 1", len(r))
	}
	if r := c.rows(t, id); len(r) != 1 {
		t.Errorf("got %d rows, want 1", len(r))
	}
}

func TestTheClassFollowsTheGrantsOfNow(t *testing.T) {
	testCredentials(t)
	c := open(t)
	revoke := c.grant(t, "github:7003", "github:octo-org/sample")
	envelope := c.deliver(t, opened(103, 7003, "The exporter crashes", report))
	a, _ := c.invoke(t, "act", object{"envelope": envelope})
	if a["verdict"] != "ok" || a["class"] != "rest" || a["label"] != "trigger" {
		t.Errorf("with a grant: got %v", a)
	}
	revoke()
	a, _ = c.invoke(t, "act", object{"envelope": envelope})
	if a["verdict"] != "ok" || a["class"] != "unverified" || a["label"] != "unverified" {
		t.Errorf("without: got %v", a)
	}
}

func attributes(o object) map[string]ddb.AttributeValue {
	out := map[string]ddb.AttributeValue{}
	for k, v := range o {
		out[k] = &ddb.AttributeValueMemberS{Value: v.(string)}
	}
	return out
}

// Whatever is wrong with what a function is asked, it answers with a code of
// the closed list and not with an error, and no word of it comes back.
func TestBadInputIsACode(t *testing.T) {
	testCredentials(t)
	c := open(t)
	envelope := c.deliver(t, opened(104, 7001, "The exporter crashes", report))
	run := envelope["run"].(string)
	with := func(key string, v any) object {
		o := object{}
		for k, x := range envelope {
			o[k] = x
		}
		o[key] = v
		return o
	}
	structure := object{"kind": "bug"}
	if a, failed := c.invoke(t, "act", object{"envelope": envelope}); failed || a["verdict"] != "ok" {
		t.Fatalf("admit: got %v, failed %t", a, failed)
	}
	body := opened(105, 7001, "t", "b")
	unsigned := []byte(strings.Replace(string(signed(t, "issues", body)), "sha256=", "sha256=0", 1))
	for _, tc := range []struct {
		name, function string
		payload        any
		want           pipeline.Code
		status         float64
	}{
		{"wrong signature", "ingress", unsigned, "", 401},
		{"not an HTTP event", "ingress", []byte(`{"` + marker + `":{}}`), "", 401},
		{"body of another kind", "ingress", signed(t, "issues", []byte(`{"zen":"`+marker+`","hook_id":1,"hook":{}}`)), "", 400},
		{"event that nobody handles", "ingress", signed(t, "star", []byte(`{"action":"created","`+marker+`":1}`)), "", 202},
		{"another recipe version", "act", object{"envelope": with("recipe_digest", strings.Repeat("0", 64))}, pipeline.RecipeChanged, 0},
		{"an app", "act", object{"envelope": with("actor", object{"id": "github:9", "kind": "app"})}, pipeline.AgentsNeverTrigger, 0},
		{"our own identity", "act", object{"envelope": with("actor", object{"id": "github:777", "kind": "person"})}, pipeline.AgentsNeverTrigger, 0},
		{"a run that is not the digest", "act", object{"envelope": with("run", strings.Repeat("0", 32))}, pipeline.PhaseMisbehave, 0},
		{"a member beside", "act", object{"envelope": envelope, "structure": structure, "trace": marker}, pipeline.PhaseMisbehave, 0},
		{"a structure of a run that was not admitted", "act", object{"envelope": unstored(t, envelope), "structure": structure}, pipeline.NotAdmitted, 0},
		{"a ceiling beside a structure", "act", object{"envelope": envelope, "ceiling": "unverified", "structure": structure}, pipeline.MalformedEvent, 0},
		{"structure of another shape", "act", object{"envelope": envelope, "structure": structure}, pipeline.NotCanonical, 0},
		{"structure of another type", "act", object{"envelope": envelope, "structure": marker}, pipeline.NotCanonical, 0},
		{"no structure but null", "act", []byte(`{"envelope":` + text(t, envelope) + `,"structure":null}`), pipeline.NotCanonical, 0},
		{"duplicate key", "act", []byte(`{"envelope":` + text(t, envelope) + `,"structure":{"kind":"bug","kind":"spam"}}`), pipeline.PhaseMisbehave, 0},
		{"not an object", "fetch", []byte(`["` + marker + `"]`), pipeline.PhaseMisbehave, 0},
		{"no body stored", "fetch", object{"envelope": unstored(t, envelope)}, pipeline.Unreadable, 0},
		{"no prompt stored", "extract-rest", object{"recipe": "issues", "run": run}, pipeline.Unreadable, 0},
		{"unknown recipe", "extract-rest", object{"recipe": marker, "run": run}, pipeline.PhaseMisbehave, 0},
		{"a path for a run", "extract-rest", object{"recipe": "issues", "run": "../raw/issues/" + run}, pipeline.PhaseMisbehave, 0},
		{"an op of nobody's", "approve", object{"op": marker, "run": run}, pipeline.PhaseMisbehave, 0},
		{"an answer of another word", "approve", object{"op": "answer", "run": run, "person": "github:44", "answer": marker}, pipeline.PhaseMisbehave, 0},
		{"an answer of nobody", "approve", object{"op": "answer", "run": run, "person": marker, "answer": "approve"}, pipeline.PhaseMisbehave, 0},
	} {
		t.Run(tc.function+": "+tc.name, func(t *testing.T) {
			a, failed := c.invoke(t, tc.function, tc.payload)
			switch {
			case failed || strings.Contains(fmt.Sprint(a), marker):
				t.Errorf("got %v, failed %t", a, failed)
			case tc.status != 0 && a["statusCode"] != tc.status, tc.status == 0 && a["verdict"] != string(tc.want):
				t.Errorf("got %v, want %s %v", a, tc.want, tc.status)
			}
		})
	}
	if r := c.receipts(t, run); len(r) != 0 {
		t.Errorf("got receipts %v of a run that was never good", r)
	}
}

func text(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// unstored is the envelope of a body that was never stored.
func unstored(t *testing.T, like object) object {
	t.Helper()
	env := pipeline.NewEnvelope("issues", like["recipe_digest"].(string), "github", []byte("never stored"),
		pipeline.Actor{ID: "github:1", Kind: pipeline.Person}, "github:octo-org/sample",
		pipeline.Target{Event: "issues.opened", Repository: "octo-org/sample", Number: 1}, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
	var o object
	if err := json.Unmarshal([]byte(text(t, env)), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// Raw text is in the bodies and prompts of the bucket and nowhere else. The
// structure's own quote is a text that it carries by its shape, so that this
// run's text is one that no quote takes.
func TestRawTextIsInTheBucketOnly(t *testing.T) {
	testCredentials(t)
	c := open(t)
	const secret = "zz0only0in0the0bucket"
	var outputs []object
	for i, title := range []string{"The exporter crashes", "How do I export?", secret} {
		envelope := c.deliver(t, opened(110+i, 7001, title, "A line.\n\n```\n"+secret+"\n```\n\n> "+secret+"\n"))
		last, all := c.carry(t, envelope)
		outputs = append(outputs, all...)
		outputs = append(outputs, envelope, last)
	}
	if s := fmt.Sprint(outputs); strings.Contains(s, secret) {
		t.Errorf("raw text in an output: %.400s", s)
	}
	if strings.Contains(c.logs.String(), secret) || strings.Contains(c.logs.String(), marker) {
		t.Error("raw text in a log")
	}
	for _, name := range []string{"Act", "Grants", "Runs", "Approvals"} {
		out, err := c.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: &name})
		if err != nil {
			t.Fatal(err)
		}
		if s := text(t, out.Items); strings.Contains(s, secret) {
			t.Errorf("raw text in table %s", name)
		}
		if len(out.Items) == 0 && (name == "Act" || name == "Runs") {
			t.Errorf("table %s is empty: nothing was looked at", name)
		}
	}
	listed, err := c.s3.ListObjectsV2(t.Context(), &s3.ListObjectsV2Input{Bucket: aws.String("raw")})
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]int{}
	for _, o := range listed.Contents {
		parts := strings.Split(strings.TrimSuffix(strings.TrimSuffix(*o.Key, ".token"), ".json"), "/")
		ids := len(parts) == 3 && slices.Contains([]string{"raw", "prompt", "start", "manifest", "cursor"}, parts[0]) && pipeline.IsRecipeName(parts[1]) && pipeline.IsRunID(parts[2])
		bundles := len(parts) == 3 && parts[0] == "bundle" && pipeline.IsRunID(parts[1]) && len(parts[2]) == 64 && strings.Trim(parts[2], "0123456789abcdef") == ""
		if !ids && !bundles {
			t.Errorf("key of %d bytes holds more than ids", len(*o.Key))
			continue
		}
		out, err := c.s3.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("raw"), Key: o.Key})
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(out.Body)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(b), secret) {
			places[parts[0]]++
		}
	}
	if places["raw"] != 3 || places["prompt"] != 3 || places["bundle"] != 3 || len(places) != 3 {
		t.Errorf("got the text in %v, want in 3 bodies, prompts and bundles alone: otherwise this test saw nothing", places)
	}
	history, err := c.sfn.ListExecutions(context.Background(), &sfn.ListExecutionsInput{StateMachineArn: &c.machine})
	if err != nil || len(history.Executions) == 0 {
		t.Fatalf("got %d executions, %v", len(history.Executions), err)
	}
	for _, e := range history.Executions {
		out, err := c.sfn.GetExecutionHistory(t.Context(), &sfn.GetExecutionHistoryInput{ExecutionArn: e.ExecutionArn, IncludeExecutionData: aws.Bool(true)})
		if err == nil && strings.Contains(text(t, out.Events), secret) || strings.Contains(*e.Name, secret) {
			t.Error("raw text in an execution's history or name")
		}
	}
}

// Every line that a function writes is a log record or a metric with the
// members that these have, and nothing else.
func TestLinesAreRecordsAndMetrics(t *testing.T) {
	testCredentials(t)
	c := open(t)
	c.carry(t, c.deliver(t, opened(120, 7001, "The exporter crashes", report)))
	known := map[string]bool{}
	for _, name := range strings.Fields("timestamp level message service code duration_ms cold_start run function_request_id " +
		"_aws Verdicts Duration SignatureMatched secret ContextAnswered answer ColdStart function_name Messages Ticks Markers ending ItemsLeft ItemsUnchanged ItemsGone recipe HookMatched hook_secret Ignored event") {
		known[name] = true
	}
	records, metrics := 0, 0
	c.logs.each(t, func(line map[string]any) {
		for name, v := range line {
			if !known[name] {
				t.Errorf("member %q: want one of a record or a metric", name)
			}
			if name == "code" && v != "ok" && v != "retry" && !pipeline.Code(v.(string)).Known() {
				t.Errorf("code %v: want one of the list", v)
			}
		}
		if _, ok := line["_aws"]; ok {
			metrics++
		} else {
			records++
		}
	})
	if records < 5 || metrics < 5 {
		t.Errorf("got %d records and %d metrics", records, metrics)
	}
}
