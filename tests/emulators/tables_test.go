package emulators

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/approvals"
	"decant.dev/pipeline/aws/tables"
)

func TestAnApprovalIsAnsweredOnceAndInTime(t *testing.T) {
	testCredentials(t)
	c := open(t)
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	a := approvals.Open(region, c.url, "Approvals", func() time.Time { return now })
	id := func(n int) string { return fmt.Sprintf("%032x", 0xa0000+n) }
	state := func(run string, want approvals.Answer, asked bool) {
		t.Helper()
		if got, ok, err := a.State(t.Context(), run); got != want || ok != asked || err != nil {
			t.Errorf("got %q, %t, %v; want %q, %t", got, ok, err, want, asked)
		}
	}
	record := func(run string, answer approvals.Answer, want string) {
		t.Helper()
		if token, ok, err := a.Record(t.Context(), run, answer); token != want || ok != (want != "") || err != nil {
			t.Errorf("%s: got a token of %d bytes, %t, %v; want %q", answer, len(token), ok, err, want)
		}
	}
	ask := func(run, token string, want bool) {
		t.Helper()
		if kept, err := a.Ask(t.Context(), run, token); kept != want || err != nil {
			t.Errorf("ask: got %t, %v; want %t", kept, err, want)
		}
	}
	state(id(1), "", false)
	record(id(1), approvals.Approved, "")
	ask(id(1), "first", true)
	ask(id(1), "second", true)
	state(id(1), approvals.Waiting, true)
	record(id(1), approvals.Denied, "second")
	record(id(1), approvals.Denied, "second")
	record(id(1), approvals.Approved, "")
	ask(id(1), "third", false)
	state(id(1), approvals.Denied, true)

	ask(id(2), "token", true)
	now = now.Add(approvals.MaxAge - time.Second)
	state(id(2), approvals.Waiting, true)
	now = now.Add(time.Second)
	state(id(2), approvals.Expired, true)
	record(id(2), approvals.Approved, "")
	for _, bad := range []approvals.Answer{"", approvals.Waiting, approvals.Used, approvals.Expired} {
		if _, ok, err := a.Record(t.Context(), id(1), bad); ok || err == nil {
			t.Errorf("answer %q: got %t, %v", bad, ok, err)
		}
	}
}

func TestWhatIsDoneStaysRecorded(t *testing.T) {
	testCredentials(t)
	c := open(t)
	now := time.Date(2026, 11, 30, 12, 0, 0, 345e6, time.UTC)
	runs := tables.Open(region, c.url).Runs("Runs", func() time.Time { return now })
	env := pipeline.NewEnvelope("issues", fmt.Sprintf("%064x", 1), "github", []byte("what is done"), pipeline.Actor{ID: "github:1", Kind: pipeline.Person},
		"github:octo-org/sample", pipeline.Target{Event: "issues.opened"}, now)
	if _, found, err := runs.Get(t.Context(), env.Run); found || err != nil {
		t.Fatalf("got %t, %v", found, err)
	}
	steps := []func() error{
		func() error { return runs.Admitted(t.Context(), env, act.Admission{Label: plan.Unverified}) },
		func() error {
			return runs.Acted(t.Context(), env.Run, jsontext.Value(`{"a":1}`), act.Output{Status: pipeline.Done, Label: plan.Unverified, Actions: []act.Action{}})
		},
		func() error { return runs.Admitted(t.Context(), env, act.Admission{Code: pipeline.RecipeChanged}) },
		func() error {
			return runs.Acted(t.Context(), env.Run, jsontext.Value(`{"a":2}`), act.Output{Status: pipeline.Refused, Code: pipeline.PolicyNever})
		},
	}
	for i, step := range steps {
		if err := step(); err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
	}
	got, found, err := runs.Get(t.Context(), env.Run)
	if err != nil || !found || got.Status != pipeline.Done || got.Code != "" || got.Label != "unverified" || string(got.Structure) != `{"a":1}` ||
		string(got.Actions) != "[]" || got.Updated != "2026-11-30T12:00:00.345Z" {
		t.Errorf("got %+v, %v", got, err)
	}
	if back, err := pipeline.DecodeEnvelope(got.Envelope); err != nil || back != env {
		t.Errorf("got envelope %+v, %v", back, err)
	}
}
