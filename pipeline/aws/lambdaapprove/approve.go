// Package lambdaapprove is the Lambda entry that keeps the question about a
// waiting run, records a person's answer to it, and wakes the run.
//
// What wakes a run carries no answer: act reads the record. It does not
// decide who may answer; whoever may invoke it with an answer does.
package lambdaapprove

import (
	"context"
	"errors"
	"os"
	"time"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/approvals"
	"decant.dev/pipeline/aws/environment"
	"decant.dev/pipeline/aws/execution"
	"decant.dev/pipeline/aws/function"
)

// Main serves questions and answers. It does not return.
func Main() {
	env, err := environment.Read(os.LookupEnv, environment.ApprovalsTable)
	if err != nil {
		function.Exit(err)
	}
	region, endpoint := env.Get(environment.Region), env.Get(environment.Endpoint)
	h, err := New(approvals.Open(region, endpoint, env.Get(environment.ApprovalsTable), time.Now), execution.Open(region, endpoint))
	if err != nil {
		function.Exit(err)
	}
	function.New(env, h.Handle).Start()
}

// Approvals keeps questions and their answers.
type Approvals interface {
	Ask(ctx context.Context, run, token string) (bool, error)
	Record(ctx context.Context, run string, answer approvals.Answer) (token string, ok bool, err error)
}

// Waker lets a waiting run go on; false means that nothing waits any more.
type Waker interface {
	Wake(ctx context.Context, token string) (bool, error)
}

// Handler answers both operations.
type Handler struct {
	approvals Approvals
	waker     Waker
}

// New checks what approve is made of.
func New(a Approvals, w Waker) (*Handler, error) {
	if a == nil || w == nil {
		return nil, errors.New("approve: want a table of approvals and a waker")
	}
	return &Handler{a, w}, nil
}

// question is one of two: the state machine asks with a task token, a person
// answers.
type question struct {
	Op        string           `json:"op"`
	Run       string           `json:"run"`
	TaskToken string           `json:"task_token,omitzero"`
	Answer    approvals.Answer `json:"answer,omitzero"`
}

// maxTokenBytes bounds a task token
// (docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskSuccess.html).
const maxTokenBytes = 2048

// Handle answers one operation. An answer that is refused, since the run does
// not wait, has another answer or waited too long, is pipeline.PolicyNever.
func (h *Handler) Handle(ctx context.Context, payload []byte) (function.Reply, error) {
	q, err := function.Decode[question](payload)
	if err != nil {
		return function.Reply{}, err
	}
	if !pipeline.IsRunID(q.Run) {
		return function.Reply{}, pipeline.PhaseMisbehave.Error("run: want a run's id")
	}
	reply := function.Reply{Run: q.Run, Answer: function.Good}
	switch q.Op {
	case "ask":
		if q.TaskToken == "" || len(q.TaskToken) > maxTokenBytes || q.Answer != "" {
			return reply, pipeline.PhaseMisbehave.Error("ask: want a task token of at most %d bytes and no answer", maxTokenBytes)
		}
		kept, err := h.approvals.Ask(ctx, q.Run, q.TaskToken)
		if err == nil && !kept {
			// The run was answered before this try: go on at once.
			_, err = h.waker.Wake(ctx, q.TaskToken)
		}
		return reply, err
	case "answer":
		if q.TaskToken != "" {
			return reply, pipeline.PhaseMisbehave.Error("answer: want no task token")
		}
		return h.answer(ctx, reply, q)
	default:
		return reply, pipeline.PhaseMisbehave.Error("op: want ask or answer")
	}
}

func (h *Handler) answer(ctx context.Context, reply function.Reply, q question) (function.Reply, error) {
	token, recorded, err := h.approvals.Record(ctx, q.Run, q.Answer)
	if err != nil {
		return reply, err
	}
	if recorded {
		recorded, err = h.waker.Wake(ctx, token)
	}
	if err == nil && !recorded {
		reply.Code = pipeline.PolicyNever
	}
	return reply, err
}
