package lambdaingress

import (
	"context"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/events"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/function"
)

// ticked is the good answer to a tick.
type ticked struct {
	function.Verdict
	Run string `json:"run"`
}

// tick begins the batch of a schedule's tick. The schedule must be one that
// the recipe has; its channel and target are the recipe's. A service that did
// not answer is an error, on which the invocation is made again; what is
// refused is counted, since nobody reads a clock's answer.
func (h *Handler) tick(ctx context.Context, payload []byte) (function.Reply, error) {
	reply, err := h.batch(ctx, payload)
	var fault *pipeline.Fault
	word := function.OK
	switch {
	case errors.As(err, &fault):
		word = string(fault.Code)
	case err != nil:
		word = "retry"
	}
	reply.Counts = []function.Count{{Name: "Ticks", Dimension: "code", Value: word}}
	return reply, err
}

func (h *Handler) batch(ctx context.Context, payload []byte) (function.Reply, error) {
	in, err := function.Decode[struct {
		Tick jsontext.Value `json:"tick"`
	}](payload)
	if err != nil {
		return function.Reply{}, pipeline.MalformedEvent.Error("tick of %d bytes: want one member", len(payload))
	}
	tick, err := events.ParseTick(in.Tick)
	if err != nil {
		return function.Reply{}, err
	}
	r := h.byName[tick.Recipe]
	if r == nil {
		return function.Reply{}, pipeline.UnknownRecipe.Error("recipe is not built in")
	}
	env, err := tick.Envelope(r, r.Digest(), h.Clock())
	if err != nil {
		return function.Reply{}, err
	}
	reply := function.Reply{Run: env.Run, Answer: ticked{function.Good, env.Run}}
	return reply, h.begin(ctx, env, tick.Bytes(), h.Batches)
}
