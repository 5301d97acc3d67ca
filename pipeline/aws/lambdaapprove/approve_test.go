package lambdaapprove

import (
	"context"
	"errors"
	"strings"
	"testing"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/approvals"
	"decant.dev/pipeline/aws/client"
)

// record is one approval and who was woken.
type record struct {
	state approvals.Answer
	token string
	woken []string
	gone  bool
	fail  error
}

func (r *record) Ask(_ context.Context, _, token string) (bool, error) {
	if r.state != "" && r.state != approvals.Waiting {
		return false, r.fail
	}
	r.state, r.token = approvals.Waiting, token
	return true, r.fail
}

func (r *record) Record(_ context.Context, _ string, a approvals.Answer) (string, bool, error) {
	if r.state != approvals.Waiting && r.state != a {
		return "", false, r.fail
	}
	r.state = a
	return r.token, true, r.fail
}

func (r *record) Wake(_ context.Context, token string) (bool, error) {
	r.woken = append(r.woken, token)
	return !r.gone, r.fail
}

const run = "0123456789abcdef0123456789abcdef"

func handle(t *testing.T, r *record, payload string) (pipeline.Code, error) {
	t.Helper()
	h, err := New(r, r)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := h.Handle(t.Context(), []byte(payload))
	var fault *pipeline.Fault
	if errors.As(err, &fault) {
		return fault.Code, nil
	}
	return reply.Code, err
}

func op(rest string) string { return `{"run":"` + run + `",` + rest + `}` }

func TestAnAnswerWakesTheRunOnceItIsRecorded(t *testing.T) {
	t.Parallel()
	for _, answer := range []approvals.Answer{approvals.Approved, approvals.Denied} {
		r := &record{}
		for _, token := range []string{"first", "second"} { // a retried question has another token
			if code, err := handle(t, r, op(`"op":"ask","task_token":"`+token+`"`)); code != "" || err != nil {
				t.Fatalf("got %s, %v", code, err)
			}
		}
		if code, err := handle(t, r, op(`"op":"answer","answer":"`+string(answer)+`"`)); code != "" || err != nil {
			t.Fatalf("got %s, %v", code, err)
		}
		if r.state != answer || strings.Join(r.woken, " ") != "second" {
			t.Errorf("got %s, woken %v", r.state, r.woken)
		}
		other := map[approvals.Answer]string{approvals.Approved: "denied", approvals.Denied: "approved"}[answer]
		if code, _ := handle(t, r, op(`"op":"answer","answer":"`+other+`"`)); code != pipeline.PolicyNever || r.state != answer {
			t.Errorf("another answer: got %s, state %s", code, r.state)
		}
		if code, _ := handle(t, r, op(`"op":"ask","task_token":"third"`)); code != "" || r.woken[len(r.woken)-1] != "third" {
			t.Errorf("a question after the answer: got %s, woken %v", code, r.woken)
		}
	}
}

func TestARunThatDoesNotWaitIsNotWoken(t *testing.T) {
	t.Parallel()
	r := &record{}
	if code, err := handle(t, r, op(`"op":"answer","answer":"approved"`)); code != pipeline.PolicyNever || err != nil || len(r.woken) != 0 {
		t.Errorf("got %s, %v, woken %v", code, err, r.woken)
	}
	r = &record{state: approvals.Waiting, gone: true}
	if code, err := handle(t, r, op(`"op":"answer","answer":"approved"`)); code != pipeline.PolicyNever || err != nil {
		t.Errorf("gone: got %s, %v", code, err)
	}
	r = &record{state: approvals.Waiting, fail: client.RetryableError{}}
	if _, err := handle(t, r, op(`"op":"answer","answer":"approved"`)); err != (client.RetryableError{}) || len(r.woken) != 0 {
		t.Errorf("throttled: got %v, woken %v", err, r.woken)
	}
}

func TestMalformedQuestionsAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		``, `{}`, op(`"op":"zz9"`), op(`"op":"ask"`), op(`"op":"ask","task_token":"` + strings.Repeat("x", maxTokenBytes+1) + `"`),
		op(`"op":"ask","task_token":"t","answer":"approved"`), op(`"op":"answer","answer":"approved","task_token":"t"`),
		op(`"op":"answer","answer":"approved","zz9":1`), `{"op":"answer","run":"zz9","answer":"approved"}`,
	} {
		r := &record{}
		if code, err := handle(t, r, bad); code != pipeline.PhaseMisbehave || err != nil || len(r.woken) != 0 || r.state != "" {
			t.Errorf("%.60q: got %s, %v", bad, code, err)
		}
	}
}
