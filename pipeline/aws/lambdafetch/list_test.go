package lambdafetch

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/function"
	"decant.dev/pipeline/aws/machine"
)

func tick(recipe string) pipeline.Envelope {
	return pipeline.NewEnvelope(recipe, strings.Repeat("ab", 32), pipeline.TickSource, []byte("{}"), pipeline.Actor{ID: pipeline.ScheduleActor, Kind: pipeline.System},
		"schedule:nightly", pipeline.Target{Event: pipeline.Tick}, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
}

func askTick(t *testing.T, h *Handler, env pipeline.Envelope) (function.Reply, pipeline.Code, error) {
	t.Helper()
	b, err := env.Encode()
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Handle(t.Context(), []byte(`{"tick":`+string(b)+`}`))
	var fault *pipeline.Fault
	if errors.As(err, &fault) {
		return r, fault.Code, nil
	}
	return r, r.Code, err
}

// Each item of the manifest leads, with the tick, to an envelope that is in
// order and whose content is stored; the manifest is stored last.
func TestManifestNamesStoredItemsOnceEach(t *testing.T) {
	t.Parallel()
	w, h, _ := begin(t)
	w.items = [][]byte{[]byte("zz9 one"), []byte("zz9 two"), []byte("zz9 one"), make([]byte, fetch.MaxItemBytes+1)}
	env := tick("notes")
	r, code, err := askTick(t, h, env)
	if err != nil || code != "" || r.Answer != (listed{function.Good, 2, 1}) || r.Run != env.Run {
		t.Fatalf("got %+v, %s, %v", r, code, err)
	}
	if len(r.Counts) != 1 || r.Counts[0] != (function.Count{Name: "ItemsLeft", Dimension: "recipe", Value: "notes", Times: 1}) {
		t.Errorf("counted %v", r.Counts)
	}
	var entries []Entry
	if err := json.Unmarshal(w.prompts["manifest "+env.Run], &entries); err != nil || len(entries) != 2 {
		t.Fatalf("got %v, %v", entries, err)
	}
	for i, e := range entries {
		one := env
		one.Run, one.Item = e.Run, e.Item
		if one.Check() != nil || string(w.bodies[e.Run]) != string(w.items[i]) {
			t.Errorf("entry %d: %v, body %q", i, one.Check(), w.bodies[e.Run])
		}
	}
	if last := len(w.stored) - 1; last != 3 || w.stored[last-1] != "manifest "+env.Run || w.stored[last] != "cursor "+env.Feed() {
		t.Errorf("stored %v, want the manifest after the items and the cursor last", w.stored)
	}
	if !slices.Equal(w.hosts, []string{"feed.example.com:443"}) {
		t.Errorf("the client reaches %v", w.hosts)
	}
	if b, err := json.Marshal(r.Answer); err != nil || string(b) != `{"verdict":"ok","items":2,"left":1}` || strings.Contains(string(w.prompts["manifest "+env.Run]), "zz9") {
		t.Errorf("got answer %s and manifest %s", b, w.prompts["manifest "+env.Run])
	}
}

func TestEmptyListHasAnEmptyManifest(t *testing.T) {
	t.Parallel()
	w, h, _ := begin(t)
	env := tick("notes")
	r, code, err := askTick(t, h, env)
	if err != nil || code != "" || len(r.Counts) != 0 || r.Answer != (listed{function.Good, 0, 0}) || string(w.prompts["manifest "+env.Run]) != "[]" {
		t.Errorf("got %+v, %s, %v, manifest %s", r, code, err, w.prompts["manifest "+env.Run])
	}
}

func TestMostItemsAreStored(t *testing.T) {
	t.Parallel()
	w, h, _ := begin(t)
	for i := range fetch.MaxItems {
		w.items = append(w.items, fmt.Append(nil, i))
	}
	if r, code, err := askTick(t, h, tick("notes")); err != nil || code != "" || r.Answer != (listed{function.Good, fetch.MaxItems, 0}) || len(w.bodies) != fetch.MaxItems+1 {
		t.Errorf("got %+v, %s, %v, %d bodies", r, code, err, len(w.bodies))
	}
}

// The next tick is listed from where the last one left off, and what that did
// not have to read is counted.
func TestTheNextTickBeginsAtTheCursor(t *testing.T) {
	t.Parallel()
	w, h, _ := begin(t)
	later := tick("notes")
	for i := range 3 {
		r, code, err := askTick(t, h, later)
		if err != nil || code != "" || len(r.Counts) != min(i, 1) || i > 0 && (r.Counts[0].Name != "ItemsUnchanged" || r.Counts[0].Times != i) {
			t.Errorf("tick %d: got %+v, %s, %v", i, r.Counts, code, err)
		}
	}
	w.kept = client.RetryableError{}
	if _, _, err := askTick(t, h, later); (err != client.RetryableError{}) {
		t.Errorf("a cursor that is not stored: %v, want the tick to be asked again", err)
	}
}

func TestATicksFaultsAreCodesOfThePhase(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env   pipeline.Envelope
		spoil func(*world)
		code  pipeline.Code
		again bool
	}{
		"an item of a tick":    {tick("notes").OfItem([]byte("a")), func(*world) {}, pipeline.PhaseMisbehave, false},
		"another recipe":       {tick("other"), func(*world) {}, pipeline.PhaseMisbehave, false},
		"a throttled item":     {tick("notes"), func(w *world) { w.item = client.RetryableError{} }, "", true},
		"a denied item":        {tick("notes"), func(w *world) { w.item = pipeline.StoreFailed.Error("zz9") }, pipeline.PhaseMisbehave, false},
		"a throttled manifest": {tick("notes"), func(w *world) { w.put = client.RetryableError{} }, "", true},
		"a throttled cursor":   {tick("notes"), func(w *world) { w.lost = client.RetryableError{} }, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, h, _ := begin(t)
			w.items = [][]byte{[]byte("a"), []byte("b")}
			tc.spoil(w)
			_, code, err := askTick(t, h, tc.env)
			if (err == client.RetryableError{}) != tc.again || code != tc.code || w.item != nil && len(w.prompts) != 0 {
				t.Errorf("got %q, %v, %d manifests; want %q, to be asked again: %t", code, err, len(w.prompts), tc.code, tc.again)
			}
		})
	}
}

func TestABatchTakesWhatFetchLists(t *testing.T) {
	t.Parallel()
	if machine.MaxItems != fetch.MaxItems {
		t.Errorf("a batch takes %d items, fetch lists %d", machine.MaxItems, fetch.MaxItems)
	}
}
