package lambdaingress

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/function"
)

// sqsEvent is the part of a queue's event that is looked at
// (docs.aws.amazon.com/lambda/latest/dg/with-sqs.html). Each body is one HTTP
// event, as API Gateway delivers it.
type sqsEvent struct {
	Records []struct {
		ID         string `json:"messageId"`
		Body       string `json:"body"`
		Attributes struct {
			Sent string `json:"SentTimestamp"` // milliseconds since 1970; written by the queue, not by the sender
		} `json:"attributes"`
	} `json:"Records"`
}

// came is when a message came: as the queue has it, so that one that waits
// stays within its sender's window. It is never after now.
func came(sent string, now time.Time) time.Time {
	ms, err := strconv.ParseInt(sent, 10, 64)
	if at := time.UnixMilli(ms); err == nil && ms > 0 && at.Before(now) {
		return at
	}
	return now
}

// failures names the messages that should come again
// (docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html).
// Where it is missing or of another form, Lambda deletes none or all; so it is
// always there, and what is wrong with a whole batch is an error instead.
type failures struct {
	Items []failure `json:"batchItemFailures"`
}

type failure struct {
	ID string `json:"itemIdentifier"`
}

// reserve is kept of an invocation's time for its answer.
const reserve = time.Second

// queue answers a batch of messages, each on its own: one that is refused for
// what it says is counted and gone, and holds up no other; one that met a
// fault comes again, and lands in the queue's own queue of failures if it
// does so too often.
func (h *Handler) queue(ctx context.Context, payload []byte) (reply function.Reply, err error) {
	defer func() {
		if recover() != nil { // an answer without failures would delete the messages
			reply, err = function.Reply{}, client.RetryableError{}
		}
	}()
	if d, ok := ctx.Deadline(); ok {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, d.Add(-reserve)) // a function that runs out of time names nothing
		defer cancel()
	}
	var in sqsEvent
	if json.Unmarshal(payload, &in) != nil {
		return function.Reply{}, client.RetryableError{}
	}
	out := failures{Items: []failure{}}
	again := map[string]bool{}
	for _, m := range in.Records {
		if m.ID == "" {
			return function.Reply{}, client.RetryableError{}
		}
		one, code := h.message(ctx, m.Body, came(m.Attributes.Sent, h.Clock()))
		reply.Counts = append(reply.Counts, one.Counts...)
		word := function.OK
		if code != pipeline.OK {
			word = string(code)
		}
		reply.Counts = append(reply.Counts, function.Count{Name: "Messages", Dimension: "code", Value: word})
		if comesAgain(code) && !again[m.ID] {
			again[m.ID] = true
			out.Items = append(out.Items, failure{m.ID})
		}
	}
	reply.Answer = out
	return reply, nil
}

// message delivers one message and returns its code.
func (h *Handler) message(ctx context.Context, body string, at time.Time) (reply function.Reply, code pipeline.Code) {
	defer func() {
		if recover() != nil {
			reply, code = function.Reply{}, pipeline.PhasePanic
		}
	}()
	if ctx.Err() != nil {
		return reply, pipeline.Stopped
	}
	reply, _, err := h.deliver(ctx, []byte(body), at)
	var fault *pipeline.Fault
	switch {
	case err == nil:
		return reply, pipeline.OK
	case errors.As(err, &fault) && fault.Code.Known():
		return reply, fault.Code
	default:
		return reply, pipeline.StoreFailed
	}
}

// comesAgain reports whether a message that ended with the code should come
// again: whatever is not a verdict on the message itself.
func comesAgain(c pipeline.Code) bool {
	switch c {
	case pipeline.OK, pipeline.BadSignature, pipeline.OutsideWindow, pipeline.BodyTooLarge, pipeline.MalformedEvent, pipeline.MalformedBody,
		pipeline.BodyMisfit, pipeline.Ping, pipeline.UnhandledEvent:
		return false
	default:
		return true
	}
}
