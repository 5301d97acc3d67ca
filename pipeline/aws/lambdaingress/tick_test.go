package lambdaingress

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
)

const nightly = `{"instant":"2026-12-01T00:00:00Z","recipe":"feeds","schedule":"nightly"}`

func TestATickBeginsItsBatchUnderItsOwnRun(t *testing.T) {
	t.Parallel()
	w, h := build(t, nil)
	for range 2 { // a clock may fire twice
		r, err := h.Handle(t.Context(), []byte(`{"tick":`+nightly+`}`))
		if err != nil || r.Code != pipeline.OK || w.batches[r.Run].Run != r.Run {
			t.Fatalf("got %+v, %v", r, err)
		}
	}
	if len(w.batches) != 1 || len(w.started) != 0 || !slices.Equal(w.did[:3], []string{"mark", "put", "start batch"}) {
		t.Errorf("got %d batches, %d runs, did %v", len(w.batches), len(w.started), w.did)
	}
	for run, env := range w.batches {
		if env.Check() != nil || w.bodies[run] != nightly || env.RecipeDigest != feeds.Digest() || env.Target.Repository != "o/r" || env.Actor.Kind != pipeline.System {
			t.Errorf("got %+v, body %s", env, w.bodies[run])
		}
	}
}

func TestATickThatIsNoneBeginsNothing(t *testing.T) {
	t.Parallel()
	for payload, want := range map[string]pipeline.Code{
		`{"tick":` + strings.Replace(nightly, "nightly", "hourly", 1) + `}`: pipeline.UnhandledEvent,
		`{"tick":` + strings.Replace(nightly, "feeds", "other", 1) + `}`:    pipeline.UnknownRecipe,
		`{"tick":` + strings.Replace(nightly, "feeds", "issues", 1) + `}`:   pipeline.UnhandledEvent,
		`{"tick":` + nightly + `,"zz9":1}`:                                  pipeline.MalformedEvent,
		`{"tick":null}`:                                                     pipeline.MalformedEvent,
		`{"tick":{"zz9":1}}`:                                                pipeline.MalformedEvent,
		`{"tick":"` + `zz9"}`:                                               pipeline.MalformedEvent,
	} {
		w, h := build(t, nil)
		r, err := h.Handle(t.Context(), []byte(payload))
		var fault *pipeline.Fault
		if !errors.As(err, &fault) || fault.Code != want || len(w.did) != 0 || strings.Contains(err.Error(), "zz9") {
			t.Errorf("%s: got %v, did %v; want %s and nothing done", payload, err, w.did, want)
		}
		if len(r.Counts) != 1 || r.Counts[0].Value != string(want) {
			t.Errorf("%s: counted %v", payload, r.Counts)
		}
	}
}

// A service that did not answer a tick is an error, on which Lambda invokes
// again; what was done is then found.
func TestATickThatMetAFaultComesAgain(t *testing.T) {
	t.Parallel()
	for i, step := range []string{"mark", "put", "start batch"} {
		w, h := build(t, map[string]error{step: client.RetryableError{}})
		if _, err := h.Handle(t.Context(), []byte(`{"tick":`+nightly+`}`)); err != (client.RetryableError{}) || len(w.did) != i+1 {
			t.Errorf("%s: got %v, did %v", step, err, w.did)
		}
	}
}

// Only the first member says what a payload is: a delivery whose sender names
// the others stays a delivery, and is refused unsigned.
func TestASenderCannotMakeADeliveryATick(t *testing.T) {
	t.Parallel()
	for _, payload := range []string{
		`{"version":"2.0","tick":` + nightly + `}`, `{"body":"{\"tick\":` + strings.ReplaceAll(nightly, `"`, `\"`) + `}","headers":{}}`,
		`{"version":"2.0","Records":[]}`, "  ", `["tick"]`, `"tick"`, `{"\u0074ick`,
	} {
		w, h := build(t, nil)
		_, err := h.Handle(t.Context(), []byte(payload))
		var fault *pipeline.Fault
		if !errors.As(err, &fault) || len(w.markers) != 0 {
			t.Errorf("%s: got %v, did %v", payload, err, w.did)
		}
	}
}
