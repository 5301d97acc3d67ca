package act

import (
	"errors"
	"strings"
	"testing"
	"time"

	"decant.dev/act/plan"
	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
)

const (
	approver  = "github:44"
	approver2 = "github:45"
	speak     = `{"kind":"speak","parts":[]}`
)

// desk is act with a person who may answer.
type desk struct {
	*Handler
	ledger  *memory
	records *records
	holds   map[string]bool
	now     time.Time
}

func deskOf(t *testing.T, r *pipeline.Recipe) *desk {
	t.Helper()
	h, m := handlerOf(r, true)
	d := &desk{Handler: h, ledger: m, records: h.Approvals.(*records), now: noon}
	d.holds = map[string]bool{
		maintainer + " " + channel: true, approver + " " + approval.Channel("reports"): true, approver2 + " " + approval.Channel("reports"): true,
	}
	h.Authorizer = grants{holds: d.holds}
	h.Clock = func() time.Time { return d.now }
	return d
}

func (d *desk) answer(t *testing.T, in Input, person string, a approval.Answer) {
	t.Helper()
	book := approval.Book{Store: d.Approvals, Authorizer: d.Authorizer, Own: d.Own, Clock: d.Clock}
	r, ok, err := d.Approvals.Get(t.Context(), in.Envelope.Run)
	if err != nil || !ok {
		t.Fatalf("no question: %v", err)
	}
	if _, err := book.Give(t.Context(), in.Envelope.Run, r.Binding, person, a); err != nil {
		t.Fatal(err)
	}
}

// want runs act once more and compares.
func (d *desk) want(t *testing.T, in Input, status pipeline.Status, code pipeline.Code, commits int) {
	t.Helper()
	out := run(t, d.Handler, in)
	if out.Status != status || out.Code != code || len(d.ledger.receipts) != commits {
		t.Errorf("got %s %q with %d runs that have receipts; want %s %q with %d", out.Status, out.Code, len(d.ledger.receipts), status, code, commits)
	}
}

func TestWhatPolicyAsksWaitsAndIsPerformedOnceItIsApproved(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ actor, person string }{
		"asked of who triggered the run": {maintainer, maintainer},
		"asked of an approver":           {"github:13", approver},
	} {
		d := deskOf(t, listed(t, spec()))
		in := input("own.words", tc.actor, speak)
		d.want(t, in, pipeline.Waiting, pipeline.ApprovalNeeded, 0)
		d.want(t, in, pipeline.Waiting, pipeline.ApprovalNeeded, 0)
		d.answer(t, in, tc.person, approval.Approve)
		d.want(t, in, pipeline.Done, pipeline.OK, 1)
		d.want(t, in, pipeline.Done, pipeline.OK, 1)
		if d.ledger.commits > 2 || d.records.of[in.Envelope.Run].State != approval.Used {
			t.Errorf("%s: %d commits, record %s; want one use", name, d.ledger.commits, d.records.of[in.Envelope.Run].State)
		}
	}
}

func TestARefusalEndsTheRunWithItsReason(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		change func(*testing.T, *desk, Input)
		code   pipeline.Code
	}{
		"denied":  {func(t *testing.T, d *desk, in Input) { d.answer(t, in, approver, approval.Deny) }, pipeline.ApprovalDenied},
		"expired": {func(_ *testing.T, d *desk, _ Input) { d.now = noon.Add(approval.MaxAge) }, pipeline.ApprovalExpired},
		"the approver lost the right": {func(t *testing.T, d *desk, in Input) {
			d.answer(t, in, approver, approval.Approve)
			delete(d.holds, approver+" "+approval.Channel("reports"))
		}, pipeline.ApproverLost},
		"paused meanwhile": {func(t *testing.T, d *desk, in Input) {
			d.answer(t, in, approver, approval.Approve)
			d.records.paused["reports"] = true
		}, pipeline.Paused},
		"another version of the recipe": {func(t *testing.T, d *desk, in Input) {
			d.answer(t, in, approver, approval.Approve)
			d.Digests["reports"] = strings.Repeat("cd", 32)
		}, pipeline.RecipeChanged},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskOf(t, listed(t, spec()))
			in := input("own.words", "github:13", speak)
			d.want(t, in, pipeline.Waiting, pipeline.ApprovalNeeded, 0)
			tc.change(t, d, in)
			d.want(t, in, pipeline.Refused, tc.code, 0)
		})
	}
}

// An approval is for all that the person was shown: whatever of it changes is
// asked anew, and nothing is written meanwhile.
func TestAnApprovalIsForNothingElse(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*desk, *Input){
		"structure": func(_ *desk, in *Input) { in.Structure = []byte(`{"kind":"speak","parts":["paper"]}`) },
		"text":      func(_ *desk, in *Input) { in.Structure = []byte(`{"kind":"speak","parts":[],"quote":"another"}`) },
		"target":    func(_ *desk, in *Input) { in.Envelope.Target.Number++ },
		"event":     func(_ *desk, in *Input) { in.Envelope.Target.Event = "others.words" },
		"channel":   func(_ *desk, in *Input) { in.Envelope.Channel = "github:octo-org/other" },
		"label": func(d *desk, in *Input) {
			d.holds[in.Envelope.Actor.ID+" "+channel] = true
		},
		"recipe digest": func(d *desk, in *Input) {
			in.Envelope.RecipeDigest = strings.Repeat("cd", 32)
			d.Digests["reports"] = in.Envelope.RecipeDigest
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deskOf(t, listed(t, spec()))
			in := input("own.words", "github:13", speak)
			d.want(t, in, pipeline.Waiting, pipeline.ApprovalNeeded, 0)
			d.answer(t, in, approver, approval.Approve)
			other := in
			change(d, &other)
			d.want(t, other, pipeline.Waiting, pipeline.ApprovalNeeded, 0)
			if r := d.records.of[in.Envelope.Run]; len(r.Answers) != 0 {
				t.Errorf("the answer stands: %+v", r)
			}
		})
	}
}

func TestARecipeThatWantsTwoWaitsForTwo(t *testing.T) {
	t.Parallel()
	s := spec()
	s.Approvals = 2
	d := deskOf(t, listed(t, s))
	in := input("own.words", maintainer, speak)
	d.want(t, in, pipeline.Waiting, pipeline.ApprovalNeeded, 0)
	d.answer(t, in, maintainer, approval.Approve)
	d.want(t, in, pipeline.Waiting, pipeline.ApprovalNeeded, 0)
	d.answer(t, in, approver2, approval.Approve)
	d.want(t, in, pipeline.Done, pipeline.OK, 1)
}

func TestAStoreThatFailsApprovesNothing(t *testing.T) {
	t.Parallel()
	d := deskOf(t, listed(t, spec()))
	in := input("own.words", "github:13", speak)
	d.want(t, in, pipeline.Waiting, pipeline.ApprovalNeeded, 0)
	d.answer(t, in, approver, approval.Approve)
	d.records.fail = errors.New("SECRET of the store")
	d.want(t, in, pipeline.Failed, pipeline.StoreFailed, 0)
	d.records.fail, d.ledger.fail = nil, errors.New("SECRET of the ledger")
	d.want(t, in, pipeline.Failed, pipeline.StoreFailed, 0)
	d.ledger.fail = nil
	d.Authorizer = broken
	d.want(t, in, pipeline.Failed, pipeline.StoreFailed, 0)
}

func TestAPausedRecipeIsNotAdmitted(t *testing.T) {
	t.Parallel()
	for _, live := range []bool{false, true} {
		h, m := handlerOf(listed(t, spec()), live)
		h.Paused.(*records).paused["reports"] = true
		in := input("own.words", maintainer, full)
		if a := h.Admit(t.Context(), AdmitInput{Envelope: in.Envelope}); a.Code != pipeline.Paused || a.Label != 0 {
			t.Errorf("live %t: got %+v", live, a)
		}
		if out := run(t, h, in); out.Code != pipeline.Paused || out.Status != pipeline.Refused {
			t.Errorf("live %t: got %+v", live, out)
		}
		untouched(t, m)
	}
}

// What is staged asks nobody.
func TestAStagedRunAsksNobody(t *testing.T) {
	t.Parallel()
	h, _ := handlerOf(listed(t, spec()), false)
	out := run(t, h, input("own.words", maintainer, speak))
	if out.Status != pipeline.Staged || out.Actions[1].Decision != plan.Ask || len(h.Approvals.(*records).of) != 0 {
		t.Errorf("got %+v", out)
	}
}
