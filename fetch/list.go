package fetch

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"

	"decant.dev/pipeline"
)

// Bounds of what one tick lists. What is beyond them is left out and counted,
// so that one oversized item, or a source that lists without end, does not
// hold up the items before it.
const (
	MaxItems     = 1000    // items of one batch
	MaxItemBytes = 1 << 20 // of one item
	MaxListBytes = 5 << 20 // of all items: what one answer of a child takes in base64, with room
)

// Lister answers the items of one tick as raw bytes, in the order of their
// importance where a source has more than the bounds take. The client reaches
// the intake's Hosts and no other. Its error may be a pipeline.Fault.
type Lister func(ctx context.Context, tick pipeline.Envelope, client *http.Client) ([][]byte, error)

// Listing is what a tick listed, or the code that ended it.
type Listing struct {
	Items [][]byte      `json:"items,omitzero"` // each once, by its digest, within the bounds
	Left  int           `json:"left,omitzero"`  // how many were left out
	Code  pipeline.Code `json:"code,omitzero"`
}

// List answers the items of one tick. Its only failures are codes. An item
// that stands in the list twice is one.
func (h *Handler) List(ctx context.Context, tick pipeline.Envelope, client *http.Client) Listing {
	intake, ok := h.Intakes[tick.Recipe]
	switch {
	case !ok:
		return Listing{Code: pipeline.UnknownRecipe}
	case tick.Item != "" || tick.Source != pipeline.TickSource:
		return Listing{Code: pipeline.PhaseMisbehave}
	case intake.List == nil:
		return Listing{Code: pipeline.Unreadable}
	}
	all, err := intake.List(ctx, tick, client)
	if err != nil {
		var fault *pipeline.Fault
		if errors.As(err, &fault) && fault.Code != pipeline.OK && fault.Code.Known() {
			return Listing{Code: fault.Code}
		}
		return Listing{Code: pipeline.Unreadable}
	}
	return Bounded(all)
}

// Bounded keeps of items, in their order, each once and what the bounds take.
func Bounded(items [][]byte) Listing {
	l := Listing{Items: [][]byte{}}
	seen := map[[sha256.Size]byte]bool{}
	size := 0
	for _, item := range items {
		if len(item) > MaxItemBytes { // before it is read for its digest
			l.Left++
			continue
		}
		sum := sha256.Sum256(item)
		switch {
		case seen[sum]:
		case len(l.Items) == MaxItems, size+len(item) > MaxListBytes:
			l.Left++
		default:
			seen[sum] = true
			size += len(item)
			l.Items = append(l.Items, item)
		}
	}
	return l
}
