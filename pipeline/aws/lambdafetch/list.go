package lambdafetch

import (
	"context"
	"sync"

	"github.com/go-json-experiment/json"

	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/function"
)

// together is how many items are stored at a time.
const together = 16

// Entry is one item in a manifest, which is a JSON array of them. It names the
// item's run and digest, so that the batch machine builds the item's envelope
// from it and from the tick's; act checks that the one follows from the other.
type Entry struct {
	Run  string `json:"run"`
	Item string `json:"item"`
}

// listed is the good answer about a tick. Where the manifest stands is not
// fetch's to say: the machine derives it from the tick.
type listed struct {
	function.Verdict
	Items int `json:"items"` // in the manifest
	Left  int `json:"left"`  // beyond the bounds of a batch
}

// list stores a tick's items and then their manifest, so that no entry names
// a body that is not there, and the cursor last, so that nothing that was
// lost on the way counts as listed. Asked again, it stores what is new and
// writes the manifest anew.
func (h *Handler) list(ctx context.Context, env pipeline.Envelope) (function.Reply, error) {
	tick, err := function.Envelope{Envelope: env}.Checked()
	if err != nil {
		return function.Reply{}, err
	}
	reply := function.Reply{Run: tick.Run, Answer: function.Good}
	if _, ok := h.fetch.Intakes[tick.Recipe]; !ok {
		return reply, pipeline.PhaseMisbehave.Error("recipe is not built in")
	}
	cursors := h.config.Cursors(tick.Recipe)
	cursor, _, err := cursors.Get(ctx, tick.Feed())
	if err != nil {
		return reply, phaseError(err)
	}
	out := h.fetch.List(ctx, fetch.Asked{Tick: tick, Cursor: cursor, Client: h.clients[tick.Recipe]})
	if reply.Code = pipeline.FromList(out.Code); reply.Code != pipeline.OK {
		return reply, nil
	}
	entries := make([]Entry, len(out.Items))
	faults := make([]error, len(out.Items))
	raw, limit := h.config.Raw(tick.Recipe), make(chan struct{}, together)
	var storing sync.WaitGroup
	for i, item := range out.Items {
		one := tick.OfItem(item)
		entries[i] = Entry{one.Run, one.Item}
		limit <- struct{}{}
		storing.Go(func() {
			faults[i] = raw.PutOnce(ctx, one.Run, item)
			<-limit
		})
	}
	storing.Wait()
	for _, err := range faults {
		if err != nil {
			return reply, phaseError(err)
		}
	}
	manifest, err := json.Marshal(entries)
	if err != nil {
		return reply, pipeline.PhaseMisbehave.Error("manifest could not be encoded")
	}
	reply.Answer = listed{function.Good, len(entries), out.Left}
	for name, n := range map[string]int{"ItemsLeft": out.Left, "ItemsUnchanged": out.Unchanged, "ItemsGone": out.Gone} {
		if n > 0 {
			reply.Counts = append(reply.Counts, function.Count{Name: name, Dimension: "recipe", Value: tick.Recipe, Times: n})
		}
	}
	if err := h.config.Manifests(tick.Recipe).Put(ctx, tick.Run, manifest); err != nil {
		return reply, phaseError(err)
	}
	return reply, phaseError(cursors.Put(ctx, tick.Feed(), out.Cursor))
}
