package emulators

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/aws/approvals"
	"decant.dev/pipeline/aws/machine"
)

// createMachine gives the generated definition to the emulator. It knows no
// tasks of DynamoDB and SNS, no intrinsic functions, and no names in its queue
// tasks, so that those that journal, announce and record become passes; every
// choice, every phase and the wait for a person stay as they are.
func (c *cloud) createMachine(t *testing.T) string {
	t.Helper()
	arn := func(name string) string { return "arn:aws:lambda:" + region + ":" + account + ":function:" + name }
	b, err := machine.Definition(machine.Resources{
		Partition: "aws", Act: arn("act"), Fetch: arn("fetch"), ExtractUnverified: arn("extract-unverified"), ExtractRest: arn("extract-rest"),
		Approve: arn("approve"), RunsTable: "Runs", FailureQueue: c.url + "/" + account + "/failures", ApprovalTopic: "arn:aws:sns:" + region + ":" + account + ":approvals",
	}, machine.DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var d map[string]any
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	passes(d["States"].(map[string]any))
	out, err := c.sfn.CreateStateMachine(t.Context(), &sfn.CreateStateMachineInput{
		Name: aws.String(strings.ReplaceAll(t.Name(), "/", "-")), RoleArn: aws.String("arn:aws:iam::" + account + ":role/machine"), Definition: aws.String(text(t, d)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return *out.StateMachineArn
}

// passes turns tasks that the emulator does not know into passes.
func passes(states map[string]any) {
	for name, s := range states {
		resource, _ := s.(map[string]any)["Resource"].(string)
		if strings.Contains(resource, ":states:::") && !strings.Contains(resource, ":lambda:") {
			states[name] = map[string]any{"Type": "Pass", "Next": s.(map[string]any)["Next"]}
		}
	}
}

func (c *cloud) execute(t *testing.T, machine string, envelope object) string {
	t.Helper()
	out, err := c.sfn.StartExecution(t.Context(), &sfn.StartExecutionInput{
		StateMachineArn: &machine, Name: aws.String(envelope["run"].(string)), Input: aws.String(text(t, object{"envelope": envelope})),
	})
	if err != nil {
		t.Fatal(err)
	}
	return *out.ExecutionArn
}

// until asks again until done holds or the test's time is over.
func until(t *testing.T, what string, done func(context.Context) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done(ctx) {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: did not come", what)
		}
	}
}

func (c *cloud) ended(t *testing.T, execution string) types.ExecutionStatus {
	t.Helper()
	var status types.ExecutionStatus
	until(t, "end of the execution", func(ctx context.Context) bool {
		out, err := c.sfn.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &execution})
		if err != nil {
			t.Fatal(err)
		}
		status = out.Status
		return status != types.ExecutionStatusRunning
	})
	return status
}

func TestTheMachineCarriesARun(t *testing.T) {
	testCredentials(t)
	c := open(t)
	envelope := c.deliver(t, opened(201, 7001, "The exporter crashes", report))
	if s := c.ended(t, c.execute(t, c.createMachine(t), envelope)); s != types.ExecutionStatusSucceeded {
		t.Fatalf("got %s", s)
	}
	id := envelope["run"].(string)
	if r := c.run(t, id); r.Status != pipeline.Done || len(c.rows(t, id)) != 1 {
		t.Errorf("got %+v and %d rows, want done and one", r, len(c.rows(t, id)))
	}
}

// answer gives a person's answer to what a run asks, once it waits.
func (c *cloud) answer(t *testing.T, execution, id, person string, a approval.Answer) object {
	t.Helper()
	book := approvals.Open(region, c.url, "Approvals")
	var got object
	until(t, "question", func(ctx context.Context) bool {
		if out, err := c.sfn.DescribeExecution(ctx, &sfn.DescribeExecutionInput{ExecutionArn: &execution}); err != nil || out.Status != types.ExecutionStatusRunning {
			t.Fatalf("the run did not wait: %v, %v, run %+v", out.Status, err, c.run(t, id))
		}
		r, asked, err := book.Get(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		if !asked || r.Token == "" {
			return false
		}
		got, _ = c.invoke(t, "approve", object{"op": "answer", "run": id, "binding": r.Binding, "person": person, "answer": string(a)})
		return true
	})
	return got
}

func spam(number int) []byte {
	return opened(number, 7001, "buy cheap followers now", "Casino bonus! Buy cheap followers, click here https://example.com/casino crypto giveaway")
}

// An outcome that policy wants asked waits by task token. Only an approver's
// answer wakes the run, and what woke it held no answer: act read the record,
// and wrote once.
func TestTheMachineWaitsForAPerson(t *testing.T) {
	const approver = "github:44"
	for answer, want := range map[approval.Answer]struct {
		number int
		status pipeline.Status
		code   pipeline.Code
		rows   int
	}{
		approval.Approve: {202, pipeline.Done, pipeline.OK, 1},
		approval.Deny:    {203, pipeline.Refused, pipeline.ApprovalDenied, 0},
	} {
		t.Run(string(answer), func(t *testing.T) {
			testCredentials(t)
			c := open(t)
			c.grant(t, approver, approval.Channel("issues"))
			envelope := c.deliver(t, spam(want.number))
			id := envelope["run"].(string)
			execution := c.execute(t, c.createMachine(t), envelope)
			if got := c.answer(t, execution, id, "github:45", answer); got["refused"] != string(approval.WrongPerson) {
				t.Fatalf("a stranger's answer: got %v", got)
			}
			if got := c.answer(t, execution, id, approver, answer); got["verdict"] != "ok" || got["refused"] != nil {
				t.Fatalf("got %v", got)
			}
			if s := c.ended(t, execution); s != types.ExecutionStatusSucceeded {
				t.Fatalf("got %s", s)
			}
			if r := c.run(t, id); r.Status != want.status || r.Code != want.code || len(c.rows(t, id)) != want.rows {
				t.Errorf("got %+v and %d rows, want %s and %d", r, len(c.rows(t, id)), want.status, want.rows)
			}
		})
	}
}
