// Package extract is phase 2: it reads a run's fenced context and returns a
// bounded structure, and nothing else.
//
// An Extractor answers with candidate bytes; the strict decoder of package
// shape decides what they are worth. Whatever an extractor says, the result
// is a value of the recipe's shape or a code. Not promised: that the
// structure is true.
package extract

import (
	"context"

	"decant.dev/extract/shape"
	"decant.dev/fence"
)

// Request is one question to an extractor.
type Request struct {
	Prompt  fence.Prompt     // the turn as a model is shown it
	Context fence.RunContext // the elements' texts as fetched, for extractors that need no prompt
	Shape   *shape.Shape     // what an answer must be a value of
	Access  Access           // where an Adapter that wants it fetches the context; otherwise zero
	Broken  string           // the rule that the previous answer broke, empty on the first turn
}

// Answer is what an extractor came back with. Candidate is undecoded and may
// be anything.
type Answer struct {
	Candidate []byte
	Projected bool // it answers to a projection of the shape: null stands for the absence of an optional field
	Steps     []Step
	Usage     Usage
	Stage     string // the name of the part that answered, where an extractor has several
}

// Step is one entry of the closed trace: which rule decided a field. None of
// its fields holds text that a stranger wrote.
type Step struct {
	Field      string `json:"field"`             // JSON name of the shape's field
	Rule       string `json:"rule"`              // id of the rule, from the recipe's own list
	Confidence int    `json:"confidence"`        // 0 to 100
	Element    string `json:"element,omitempty"` // id of the element that the rule matched in
	Offset     int    `json:"offset,omitempty"`  // byte offset of the match in the element's text
	Length     int    `json:"length,omitempty"`  // bytes matched
}

// Extractor turns a fenced context into candidate bytes. Implementations are
// safe for use by one goroutine at a time.
type Extractor interface {
	// Name identifies the extractor in traces: "rules", "bedrock", …
	Name() string
	// Extract answers one request. An error means that no answer was had.
	Extract(ctx context.Context, r Request) (Answer, error)
}
