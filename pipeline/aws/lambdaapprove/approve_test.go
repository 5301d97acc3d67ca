package lambdaapprove

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/aws/client"
)

// world is one record, who may answer, and who was woken.
type world struct {
	record approval.Record
	woken  []string
	gone   bool
	fail   error
	panics bool
	now    time.Time
}

func (w *world) Get(context.Context, string) (approval.Record, bool, error) {
	if w.panics {
		panic("zz9")
	}
	return w.record, w.record.Run != "", w.fail
}

func (w *world) Put(_ context.Context, r approval.Record) (bool, error) {
	if w.fail != nil || r.Version != w.record.Version {
		return false, w.fail
	}
	r.Version++
	w.record = r
	return true, nil
}

func (w *world) HoldsTrigger(_ context.Context, person, channel string) (bool, error) {
	return person == approver && channel == approval.Channel("issues"), nil
}

func (w *world) Wake(_ context.Context, token string) (bool, error) {
	w.woken = append(w.woken, token)
	return !w.gone, w.fail
}

const (
	run      = "0123456789abcdef0123456789abcdef"
	approver = "github:44"
)

var (
	noon    = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	binding = strings.Repeat("ab", 32)
)

// waiting is a world in which act has asked.
func waiting(t *testing.T) *world {
	t.Helper()
	w := &world{now: noon}
	book := approval.Book{Store: w, Authorizer: w, Clock: func() time.Time { return w.now }}
	if _, err := book.Ask(t.Context(), approval.Question{Run: run, Binding: binding, Recipe: "issues", Channel: "github:octo-org/sample", Wanted: 1}); err != nil {
		t.Fatal(err)
	}
	return w
}

func handle(t *testing.T, w *world, payload string) (Answered, pipeline.Code, error) {
	t.Helper()
	h, err := New(approval.Book{Store: w, Authorizer: w, Own: []string{"github:777"}, Clock: func() time.Time { return w.now }}, w)
	if err != nil {
		t.Fatal(err)
	}
	reply, err := h.Handle(t.Context(), []byte(payload))
	var fault *pipeline.Fault
	if errors.As(err, &fault) {
		return Answered{}, fault.Code, nil
	}
	var a Answered
	b, fail := json.Marshal(reply.Answer)
	if fail != nil || json.Unmarshal(b, &a) != nil {
		t.Fatalf("answer %s: %v", b, fail)
	}
	return a, reply.Code, err
}

func op(rest string) string { return `{"run":"` + run + `",` + rest + `}` }

func answer(person string, a approval.Answer) string {
	return op(`"op":"answer","binding":"` + binding + `","person":"` + person + `","answer":"` + string(a) + `"`)
}

func TestAnAnswerWakesTheRunOnceItIsRecorded(t *testing.T) {
	t.Parallel()
	for given, want := range map[approval.Answer]approval.State{approval.Approve: approval.Approved, approval.Deny: approval.Denied} {
		w := waiting(t)
		for _, token := range []string{"first", "second"} { // a retried question has another token
			if _, code, err := handle(t, w, op(`"op":"ask","task_token":"`+token+`"`)); code != "" || err != nil {
				t.Fatalf("got %s, %v", code, err)
			}
		}
		if a, _, err := handle(t, w, answer("github:45", given)); a.Refused != approval.WrongPerson || err != nil || len(w.woken) != 0 {
			t.Errorf("a stranger: got %+v, %v, woken %v", a, err, w.woken)
		}
		if a, _, err := handle(t, w, answer(approver, given)); a.State != want || err != nil || strings.Join(w.woken, " ") != "second" {
			t.Errorf("got %+v, %v, woken %v", a, err, w.woken)
		}
		if a, _, err := handle(t, w, answer(approver, given)); a.State != want || err != nil || len(w.woken) != 2 {
			t.Errorf("the same again, since a reply was lost: got %+v, %v, woken %v", a, err, w.woken)
		}
		if _, code, _ := handle(t, w, op(`"op":"ask","task_token":"third"`)); code != "" || w.woken[len(w.woken)-1] != "third" {
			t.Errorf("a question after the answer: got %s, woken %v", code, w.woken)
		}
	}
}

func TestARunThatDoesNotWaitIsNotWoken(t *testing.T) {
	t.Parallel()
	w := &world{now: noon}
	if a, _, err := handle(t, w, answer(approver, approval.Approve)); a.Refused != approval.NotAsked || err != nil || len(w.woken) != 0 {
		t.Errorf("got %+v, %v, woken %v", a, err, w.woken)
	}
	w = waiting(t)
	w.record.Token, w.gone = "token", true
	if a, _, err := handle(t, w, answer(approver, approval.Approve)); a.Refused != approval.NotAsked || err != nil {
		t.Errorf("gone: got %+v, %v", a, err)
	}
	w = waiting(t)
	w.record.Token, w.now = "token", noon.Add(approval.MaxAge)
	if a, _, err := handle(t, w, answer(approver, approval.Approve)); a.Refused != approval.TooLate || err != nil || len(w.woken) != 0 {
		t.Errorf("too late: got %+v, %v", a, err)
	}
	w = waiting(t)
	w.fail = client.RetryableError{}
	if _, _, err := handle(t, w, answer(approver, approval.Approve)); err != (client.RetryableError{}) || len(w.woken) != 0 {
		t.Errorf("throttled: got %v, woken %v", err, w.woken)
	}
}

// The machine heeds no answer while it waits for the token: whatever goes
// wrong as it asks is an error, without its cause.
func TestWhateverGoesWrongAsTheMachineAsksIsAnError(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*world{
		"no question": {now: noon}, "a panic": {now: noon, panics: true}, "a store that refuses": {now: noon, fail: pipeline.StoreFailed.Error("zz9")},
	} {
		if _, code, err := handle(t, w, op(`"op":"ask","task_token":"t"`)); err != (client.RetryableError{}) || code != "" {
			t.Errorf("%s: got %s, %v", name, code, err)
		}
	}
}

func TestMalformedQuestionsAreRefused(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		``, `{}`, op(`"op":"zz9"`), op(`"op":"ask"`), op(`"op":"ask","task_token":"` + strings.Repeat("x", approval.MaxTokenBytes+1) + `"`),
		op(`"op":"ask","task_token":"t","answer":"approve"`), strings.Replace(answer(approver, approval.Approve), `"op"`, `"task_token":"t","op"`, 1),
		strings.Replace(answer(approver, approval.Approve), `"op"`, `"zz9":1,"op"`, 1), strings.Replace(answer(approver, approval.Approve), run, "zz9", 1),
		answer("", approval.Approve), answer("zz9", approval.Approve), answer(approver, "approved"), answer(approver, ""),
	} {
		w := waiting(t)
		if _, code, err := handle(t, w, bad); code != pipeline.PhaseMisbehave || err != nil || len(w.woken) != 0 || w.record.State != approval.Waiting {
			t.Errorf("%.60q: got %s, %v", bad, code, err)
		}
	}
}
