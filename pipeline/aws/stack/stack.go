// Package stack lets a person at a terminal work with a deployed stack: what
// became of runs, questions that wait for an answer, grants and pauses.
//
// It acts with the person's own credentials and what IAM gives to them, finds
// the stack's resources by its outputs, and reads neither bodies nor prompts.
// An answer goes through the approve function, which keeps the rules.
package stack

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/arn"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/sfn"

	"github.com/go-json-experiment/json"

	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/aws/approvals"
	"decant.dev/pipeline/aws/bucket"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/grants"
	"decant.dev/pipeline/aws/lambdaapprove"
	"decant.dev/pipeline/aws/tables"
)

// The outputs of a stack that are needed here (infra.Pipeline.Outputs).
const (
	runsOutput      = "RunsTableName"
	grantsOutput    = "GrantsTableName"
	approvalsOutput = "ApprovalsTableName"
	approveOutput   = "ApproveFunctionName"
	machineOutput   = "StateMachineArn"
)

// Outputs that single commands need.
const (
	actOutput = "ActTableName"
	rawOutput = "RawBucketName"
)

var needed = []string{runsOutput, grantsOutput, approvalsOutput, approveOutput, machineOutput}

// nameForm is a stack's name (docs.aws.amazon.com/AWSCloudFormation,
// API_CreateStack).
var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,127}$`)

// Stack is one deployed stack. It is safe for concurrent use.
type Stack struct {
	outputs   map[string]string
	runs      *tables.Runs
	grants    *grants.Grants
	approvals *approvals.Approvals
	db        *dynamodb.Client
	s3        *s3.Client
	lambda    *lambda.Client
	sfn       *sfn.Client
	clock     func() time.Time
}

// Open finds the stack with the credentials and the region of the
// environment, as the AWS command does.
func Open(ctx context.Context, name string, clock func() time.Time) (*Stack, error) {
	if !nameForm.MatchString(name) {
		return nil, fmt.Errorf("stack %.64q: want %s", name, nameForm)
	}
	c, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, errors.New("stack: the AWS configuration of this environment is malformed: want what the AWS command takes")
	}
	if c.Region == "" {
		return nil, errors.New("stack: no region: want $AWS_REGION or a profile that names one")
	}
	outputs, err := describe(ctx, c, name)
	if err != nil {
		return nil, err
	}
	return New(c, outputs, clock)
}

// describe reads a stack's outputs.
func describe(ctx context.Context, c aws.Config, name string) (map[string]string, error) {
	out, err := cloudformation.NewFromConfig(c).DescribeStacks(ctx, &cloudformation.DescribeStacksInput{StackName: &name})
	if err != nil {
		return nil, fmt.Errorf("stack %s: %s: want a stack of this account and region, and the right to describe it", name, client.Code(err))
	}
	outputs := map[string]string{}
	for _, s := range out.Stacks {
		for _, o := range s.Outputs {
			outputs[aws.ToString(o.OutputKey)] = aws.ToString(o.OutputValue)
		}
	}
	return outputs, nil
}

// New is a stack of these outputs.
func New(c aws.Config, outputs map[string]string, clock func() time.Time) (*Stack, error) {
	for _, name := range needed {
		if outputs[name] == "" {
			return nil, fmt.Errorf("stack: no output %s: want a stack that infra.NewPipeline made, with Outputs", name)
		}
	}
	db := dynamodb.NewFromConfig(c)
	return &Stack{
		outputs: outputs, db: db, s3: s3.NewFromConfig(c), runs: tables.New(db).Runs(outputs[runsOutput], clock), grants: grants.New(db, outputs[grantsOutput]),
		approvals: approvals.New(db, outputs[approvalsOutput]), lambda: lambda.NewFromConfig(c), sfn: sfn.NewFromConfig(c), clock: clock,
	}, nil
}

// Grants are who holds trigger where.
func (s *Stack) Grants() *grants.Grants { return s.grants }

// Runs returns the runs that changed last first, at most limit, of one status
// or, where status is empty, of all.
func (s *Stack) Runs(ctx context.Context, status pipeline.Status, limit int) ([]tables.Run, error) {
	all, err := s.runs.List(ctx, "", status)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b tables.Run) int { return strings.Compare(b.Updated+b.Run, a.Updated+a.Run) })
	return all[:min(limit, len(all))], nil
}

// Find returns the runs whose id begins with prefix.
func (s *Stack) Find(ctx context.Context, prefix string) ([]tables.Run, error) {
	if !pipeline.IsRunID(prefix) {
		return s.runs.List(ctx, prefix, "")
	}
	r, ok, err := s.runs.Get(ctx, prefix)
	if err != nil || !ok {
		return nil, err
	}
	return []tables.Run{r}, nil
}

// Ledger returns act's receipts.
func (s *Stack) Ledger() (*tables.Ledger, error) {
	if s.outputs[actOutput] == "" {
		return nil, fmt.Errorf("stack: no output %s", actOutput)
	}
	return tables.New(s.db).Ledger(s.outputs[actOutput]), nil
}

// Forget removes every version of what strangers wrote of a run from the
// bucket, and from its record what it carried. Its receipts are kept.
func (s *Stack) Forget(ctx context.Context, recipe, run string) error {
	if s.outputs[rawOutput] == "" {
		return fmt.Errorf("stack: no output %s", rawOutput)
	}
	parsed, err := arn.Parse(s.outputs[machineOutput])
	if err != nil {
		return fmt.Errorf("stack: output %s is no ARN", machineOutput)
	}
	if err := bucket.New(s.s3, s.outputs[rawOutput], parsed.AccountID).Forget(ctx, recipe, run); err != nil {
		return err
	}
	return s.runs.Forget(ctx, run)
}

// Question returns what a run asks a person, and false where it asks nothing.
func (s *Stack) Question(ctx context.Context, run string) (approval.Record, bool, error) {
	return s.approvals.Get(ctx, run)
}

// Answer gives a person's answer through the approve function. The error is
// an approval.Refusal where it was not taken.
func (s *Stack) Answer(ctx context.Context, run, binding, person string, a approval.Answer) (approval.State, error) {
	payload, err := json.Marshal(lambdaapprove.Question{Op: lambdaapprove.OpAnswer, Run: run, Binding: binding, Person: person, Answer: a})
	if err != nil {
		return "", err
	}
	out, err := s.lambda.Invoke(ctx, &lambda.InvokeInput{FunctionName: aws.String(s.outputs[approveOutput]), Payload: payload})
	if err != nil {
		return "", client.Fault("invoke approve", err)
	}
	var got lambdaapprove.Answered
	if out.FunctionError != nil || json.Unmarshal(out.Payload, &got) != nil {
		return "", pipeline.StoreFailed.Error("approve did not answer: try again")
	}
	switch {
	case got.Refused.Known():
		return "", got.Refused
	case got.Verdict.Verdict != "ok" || got.State == "":
		return "", pipeline.PhaseMisbehave.Error("approve refused the question: want a stack of this version")
	}
	return got.State, nil
}

// Again starts a run once more, from its stored body, under the recipe of
// digest. What has receipts is not written twice.
func (s *Stack) Again(ctx context.Context, env pipeline.Envelope, digest string) error {
	env.RecipeDigest = digest
	b, err := env.Encode()
	if err != nil {
		return err
	}
	_, err = s.sfn.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: aws.String(s.outputs[machineOutput]), Name: aws.String(fmt.Sprintf("%s-%d", env.Run, s.clock().Unix())),
		Input: aws.String(`{"envelope":` + string(b) + `}`),
	})
	return client.Fault("start execution", err)
}
