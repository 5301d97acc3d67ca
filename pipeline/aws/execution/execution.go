// Package execution starts runs on a Step Functions state machine and wakes
// those that wait for a person.
//
// A run's execution bears its id as name, so that a repeated delivery starts
// nothing. What wakes a run is a constant: the answer itself stays in the
// approvals table.
package execution

import (
	"context"
	"errors"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
)

// Client speaks to Step Functions. It is safe for concurrent use.
type Client struct{ sfn *sfn.Client }

// Open makes a client.
func Open(region, endpoint string) *Client {
	return &Client{sfn.NewFromConfig(client.Config(region, endpoint, client.MaxAnswerBytes))}
}

// Machine is one state machine that runs are started on.
type Machine struct {
	client *Client
	arn    string
}

// Machine names the state machine.
func (c *Client) Machine(arn string) Machine { return Machine{c, arn} }

// Start starts an envelope's run. A run that was started before, be it under
// way or over, is success.
func (m Machine) Start(ctx context.Context, env pipeline.Envelope) error {
	b, err := env.Encode()
	if err != nil {
		return pipeline.MalformedEvent.Error("%v", err)
	}
	_, err = m.client.sfn.StartExecution(ctx, &sfn.StartExecutionInput{
		StateMachineArn: &m.arn, Name: aws.String(env.Run), Input: aws.String(`{"envelope":` + string(b) + `}`),
	})
	var exists *types.ExecutionAlreadyExists
	if errors.As(err, &exists) {
		return nil
	}
	return client.Fault("start execution", err)
}

// wakeOutput is all that a run is told when it is woken.
const wakeOutput = `{"verdict":"ok"}`

// Wake lets the run that waits for the task token go on. It reports false
// where nothing waits for it any more.
func (c *Client) Wake(ctx context.Context, token string) (bool, error) {
	_, err := c.sfn.SendTaskSuccess(ctx, &sfn.SendTaskSuccessInput{TaskToken: &token, Output: aws.String(wakeOutput)})
	var gone *types.TaskDoesNotExist
	var late *types.TaskTimedOut
	if errors.As(err, &gone) || errors.As(err, &late) {
		return false, nil
	}
	return err == nil, client.Fault("send task success", err)
}
