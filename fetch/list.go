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
	MaxItems       = 1000    // items of one batch
	MaxItemBytes   = 1 << 20 // of one item
	MaxListBytes   = 5 << 20 // of all items: what one answer of a child takes in base64, with room
	MaxCursorBytes = 3 << 20 // of a cursor: 100,000 items at 24 bytes, with room
)

// Lister answers what is new at one tick. Its error may be a pipeline.Fault.
type Lister func(ctx context.Context, tick Asked) (Listed, error)

// Asked is one tick, with what the lister left the last time.
type Asked struct {
	Tick   pipeline.Envelope
	Cursor []byte       // of the last Listed whose items are durable; empty at first, and where it was lost
	Client *http.Client // reaches the intake's Hosts and no other
}

// Listed is what a lister found. An item beyond the bounds of a batch is left
// out of it, so a lister that remembers what it has listed lists no more than
// MaxItems and MaxListBytes, and the rest at the next tick.
type Listed struct {
	Items     [][]byte // new or changed, raw, in the order of their importance
	Unchanged int      // items that were listed before and are the same
	Gone      int      // items that were listed before and are there no more
	// Cursor is what the lister wants to be asked with at the next tick, at most
	// MaxCursorBytes. It is kept once the items are durable, and not before: what
	// is lost in between is listed again.
	Cursor []byte
}

// Listing is what a tick listed, or the code that ended it.
type Listing struct {
	Items     [][]byte      `json:"items,omitzero"`     // each once, by its digest, within the bounds
	Left      int           `json:"left,omitzero"`      // how many were left out
	Unchanged int           `json:"unchanged,omitzero"` // as Listed has it
	Gone      int           `json:"gone,omitzero"`      // as Listed has it
	Cursor    []byte        `json:"cursor,omitzero"`
	Code      pipeline.Code `json:"code,omitzero"`
}

// List answers the items of one tick. Its only failures are codes. An item
// that stands in the list twice is one.
func (h *Handler) List(ctx context.Context, asked Asked) Listing {
	tick := asked.Tick
	intake, ok := h.Intakes[tick.Recipe]
	switch {
	case !ok:
		return Listing{Code: pipeline.UnknownRecipe}
	case tick.Item != "" || tick.Source != pipeline.TickSource:
		return Listing{Code: pipeline.PhaseMisbehave}
	case intake.List == nil:
		return Listing{Code: pipeline.Unreadable}
	}
	all, err := intake.List(ctx, asked)
	if err != nil {
		return Listing{Code: faultCode(err)}
	}
	if len(all.Cursor) > MaxCursorBytes {
		return Listing{Code: pipeline.SourceTooLarge}
	}
	l := Bounded(all.Items)
	l.Unchanged, l.Gone, l.Cursor = all.Unchanged, all.Gone, all.Cursor
	return l
}

// Items answers the items of a document that was given for a recipe. Its only
// failures are codes.
func (h *Handler) Items(recipe string, document []byte) Listing {
	intake, ok := h.Intakes[recipe]
	switch {
	case !ok:
		return Listing{Code: pipeline.UnknownRecipe}
	case intake.Items == nil:
		return Bounded([][]byte{document})
	}
	items, err := intake.Items(document)
	if err != nil {
		return Listing{Code: faultCode(err)}
	}
	return Bounded(items)
}

// faultCode is the code of what could not be read.
func faultCode(err error) pipeline.Code {
	var fault *pipeline.Fault
	if errors.As(err, &fault) && fault.Code != pipeline.OK && fault.Code.Known() {
		return fault.Code
	}
	return pipeline.Unreadable
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
