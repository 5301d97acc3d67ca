package emulators

import (
	"fmt"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/tables"
)

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
