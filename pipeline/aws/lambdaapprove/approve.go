// Package lambdaapprove is the Lambda entry that keeps what wakes a waiting
// run, records a person's answer to it, and wakes the run.
//
// What wakes a run carries no answer: act reads the record. Whoever may invoke
// it says which person answers; it checks that the person is asked.
package lambdaapprove

import (
	"context"
	"errors"
	"os"
	"time"

	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/aws/approvals"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/environment"
	"decant.dev/pipeline/aws/execution"
	"decant.dev/pipeline/aws/function"
	"decant.dev/pipeline/aws/grants"
)

// Main serves questions and answers. It does not return.
func Main() {
	env, err := environment.Read(os.LookupEnv, environment.ApprovalsTable, environment.GrantsTable, environment.OwnIdentities)
	if err != nil {
		function.Exit(err)
	}
	region, endpoint := env.Get(environment.Region), env.Get(environment.Endpoint)
	h, err := New(approval.Book{
		Store:      approvals.Open(region, endpoint, env.Get(environment.ApprovalsTable)),
		Authorizer: grants.Open(region, endpoint, env.Get(environment.GrantsTable)),
		Own:        env.Own(), Clock: time.Now,
	}, execution.Open(region, endpoint))
	if err != nil {
		function.Exit(err)
	}
	function.New(env, h.Handle).Start()
}

// Waker lets a waiting run go on; false means that nothing waits any more.
type Waker interface {
	Wake(ctx context.Context, token string) (bool, error)
}

// Handler answers both operations.
type Handler struct {
	book  approval.Book
	waker Waker
}

// New checks what approve is made of.
func New(b approval.Book, w Waker) (*Handler, error) {
	if b.Store == nil || b.Authorizer == nil || b.Clock == nil || w == nil {
		return nil, errors.New("approve: want a table of approvals, grants, a clock and a waker")
	}
	return &Handler{b, w}, nil
}

// Question is one of two: the state machine says what wakes the run, or a
// person answers.
type Question struct {
	Op        string          `json:"op"` // OpAsk or OpAnswer
	Run       string          `json:"run"`
	TaskToken string          `json:"task_token,omitzero"` // to ask
	Binding   string          `json:"binding,omitzero"`    // to answer: what the person was shown
	Person    string          `json:"person,omitzero"`
	Answer    approval.Answer `json:"answer,omitzero"`
}

// The operations.
const (
	OpAsk    = "ask"
	OpAnswer = "answer"
)

// Answered is what came of an answer: how the question stands, or why the
// answer was not taken.
type Answered struct {
	function.Verdict
	State   approval.State   `json:"state,omitzero"`
	Refused approval.Refusal `json:"refused,omitzero"`
}

// Handle answers one operation.
func (h *Handler) Handle(ctx context.Context, payload []byte) (function.Reply, error) {
	q, err := function.Decode[Question](payload)
	if err != nil {
		return function.Reply{}, err
	}
	if !pipeline.IsRunID(q.Run) {
		return function.Reply{}, pipeline.PhaseMisbehave.Error("run: want a run's id")
	}
	reply := function.Reply{Run: q.Run, Answer: function.Good}
	switch q.Op {
	case OpAsk:
		if q.TaskToken == "" || len(q.TaskToken) > approval.MaxTokenBytes || q.Answer != "" || q.Person != "" || q.Binding != "" {
			return reply, pipeline.PhaseMisbehave.Error("ask: want a task token of at most %d bytes and nothing else", approval.MaxTokenBytes)
		}
		return reply, h.ask(ctx, q)
	case OpAnswer:
		if q.TaskToken != "" || !pipeline.IsActorID(q.Person) || q.Answer != approval.Approve && q.Answer != approval.Deny {
			return reply, pipeline.PhaseMisbehave.Error("answer: want a person's id, %s or %s, and no task token", approval.Approve, approval.Deny)
		}
		reply.Answer, err = h.answer(ctx, q)
		return reply, err
	default:
		return reply, pipeline.PhaseMisbehave.Error("op: want %s or %s", OpAsk, OpAnswer)
	}
}

// ask keeps what wakes the run, and wakes one that was answered before. The
// state machine heeds no answer while it waits for the token, only an error:
// so every failure is one, or the run would wait until its time is over.
func (h *Handler) ask(ctx context.Context, q Question) (err error) {
	defer func() {
		if recover() != nil || err != nil {
			err = client.RetryableError{}
		}
	}()
	waits, err := h.book.Wait(ctx, q.Run, q.TaskToken)
	if err == nil && !waits {
		_, err = h.waker.Wake(ctx, q.TaskToken)
	}
	return err
}

func (h *Handler) answer(ctx context.Context, q Question) (Answered, error) {
	record, err := h.book.Give(ctx, q.Run, q.Binding, q.Person, q.Answer)
	var refused approval.Refusal
	if errors.As(err, &refused) {
		return Answered{Verdict: function.Good, Refused: refused}, nil
	}
	if err != nil || record.State == approval.Waiting || record.Token == "" {
		return Answered{Verdict: function.Good, State: record.State}, err
	}
	woken, err := h.waker.Wake(ctx, record.Token)
	if err == nil && !woken {
		return Answered{Verdict: function.Good, Refused: approval.NotAsked}, nil
	}
	return Answered{Verdict: function.Good, State: record.State}, err
}
