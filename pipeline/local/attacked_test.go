package local

import (
	"context"
	"strings"
	"testing"

	"decant.dev/internal/escape"
	"decant.dev/internal/hostile"
	"decant.dev/pipeline"
)

// An engine that was not opened for an attack takes no forged envelope, and
// its children make no attempts.
func TestAnEngineIsAttackedOnlyWhereItWasOpenedSo(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Config{})
	made := false
	forge := func(string) pipeline.Envelope { made = true; return pipeline.Envelope{} }
	if r := e.Put(context.Background(), "issues", forge, nil); r.Reason != pipeline.UnknownRecipe || made {
		t.Errorf("forged: %s, envelope made %t", r.Reason, made)
	}
	if _, err := e.Escape(context.Background(), escape.Env{}); err == nil {
		t.Error("an honest child made attempts")
	}
	body := payload(1, hostile.Order{Deed: hostile.Reply, Bytes: []byte(`{"areas":[],"kind":"spam","missing":[],"reproducible":"no","severity":0}`)}.Encode(), report, 2000)
	if r := e.Deliver(context.Background(), delivery(t, body))[0]; r.Status != pipeline.Staged || strings.Contains(string(r.Structure), "spam") {
		t.Errorf("an order to an honest extractor was obeyed: %s %s", r.Status, r.Structure)
	}
	forged := openEngine(t, Config{HostileFetch: true})
	if r := forged.Put(context.Background(), "nobody", forge, nil); r.Reason != pipeline.UnknownRecipe || made {
		t.Errorf("a recipe that is not built in: %s", r.Reason)
	}
}
