package lambdaingress

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"decant.dev/events"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
)

// queued is a queue's event; ids and bodies alternate.
func queued(t *testing.T, pairs ...string) []byte {
	t.Helper()
	records := []map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		records = append(records, map[string]any{
			"messageId": pairs[i], "body": pairs[i+1], "receiptHandle": "h", "eventSource": "aws:sqs", "attributes": map[string]string{"ApproximateReceiveCount": "1"},
		})
	}
	b, err := json.Marshal(map[string]any{"Records": records})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func (w *world) failing(t *testing.T, h *Handler, ctx context.Context, payload []byte) (ids []string, codes []string, err error) {
	t.Helper()
	r, err := h.Handle(ctx, payload)
	if err != nil {
		return nil, nil, err
	}
	for _, f := range r.Answer.(failures).Items {
		ids = append(ids, f.ID)
	}
	for _, c := range r.Counts {
		if c.Name == "Messages" {
			codes = append(codes, c.Value)
		}
	}
	return ids, codes, nil
}

// Each message ends on its own: what is refused for what it says does not
// come again and holds up nothing, and equal messages are one run.
func TestPoisonedMessagesHoldUpNoOther(t *testing.T) {
	t.Parallel()
	w, h := build(t, nil)
	good := string(delivery(t, "issues", opened("zz9"), key))
	ids, codes, err := w.failing(t, h, t.Context(), queued(t,
		"1", "zz9 no event", "2", string(delivery(t, "issues", opened("zz9"), "another key")), "3", good, "4", good, "3", good,
		"5", string(delivery(t, "ping", `{"zen":"z","hook_id":1,"hook":{}}`, key)), "6", string(delivery(t, "issues", "zz9", key)), "7", ""))
	if err != nil || len(ids) != 0 {
		t.Fatalf("got %v, %v, want none to come again", ids, err)
	}
	if want := "[malformed_event bad_signature ok ok ok ping malformed_body malformed_event]"; fmt.Sprint(codes) != want {
		t.Errorf("counted %v, want %s", codes, want)
	}
	if len(w.started) != 1 || len(w.bodies) != 1 {
		t.Errorf("got %d runs and %d bodies of one delivery", len(w.started), len(w.bodies))
	}
}

// flaky fails the start of one run.
type flaky struct {
	*world
	run string
	err error
	die bool
}

func (f flaky) Start(ctx context.Context, env pipeline.Envelope) error {
	if env.Run == f.run {
		if f.die {
			panic("zz9")
		}
		return f.err
	}
	return f.world.Start(ctx, env)
}

func TestOnlyWhatMetAFaultComesAgain(t *testing.T) {
	t.Parallel()
	bodies := []string{opened("one"), opened("two"), opened("three")}
	for name, f := range map[string]flaky{
		"throttled": {err: client.RetryableError{}}, "denied": {err: pipeline.StoreFailed.Error("zz9")}, "unknown": {err: errors.New("zz9")}, "died": {die: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, h := build(t, nil)
			f.world = w
			d, err := events.GitHubDelivery("issues", []byte(bodies[1]))
			if err != nil {
				t.Fatal(err)
			}
			r := h.byName["issues"]
			f.run = pipeline.NewEnvelope("issues", r.Digest(), d.Source, d.Body, d.Actor, d.Channel, d.Target, h.Clock()).Run
			h.Runs = f
			var pairs []string
			for i, b := range bodies {
				pairs = append(pairs, fmt.Sprint("m", i), string(delivery(t, "issues", b, key)))
			}
			ids, codes, err := w.failing(t, h, t.Context(), queued(t, append(pairs, pairs[2:4]...)...))
			if err != nil || !slices.Equal(ids, []string{"m1"}) || len(w.started) != 2 || strings.Contains(fmt.Sprint(codes), "zz9") {
				t.Errorf("got %v, %v, codes %v, %d started; want m1 once and the others started", ids, err, codes, len(w.started))
			}
		})
	}
}

// What is wrong with all of a batch makes all of it come again, none of it
// deleted: by name, or by an error where they cannot be named.
func TestAWholeFaultReturnsAll(t *testing.T) {
	t.Parallel()
	good := string(delivery(t, "issues", opened("t"), key))
	three := queued(t, "1", good, "2", good, "3", good)
	stopped, stop := context.WithCancel(t.Context())
	stop()
	late, cancel := context.WithDeadline(t.Context(), time.Now().Add(reserve)) // its reserve and no more
	defer cancel()
	for name, tc := range map[string]struct {
		fail map[string]error
		ctx  context.Context
	}{
		"secrets throttled": {map[string]error{"secrets": client.RetryableError{}}, t.Context()},
		"no secret":         {map[string]error{"secrets": pipeline.NoSecret.Error("")}, t.Context()},
		"stopped":           {nil, stopped},
		"out of time":       {nil, late},
	} {
		w, h := build(t, tc.fail)
		ids, _, err := w.failing(t, h, tc.ctx, three)
		if err != nil || !slices.Equal(ids, []string{"1", "2", "3"}) || len(w.started) != 0 {
			t.Errorf("%s: got %v, %v, %d started", name, ids, err, len(w.started))
		}
	}
	for name, payload := range map[string]string{
		"no name": `{"Records":[{"messageId":"1","body":"x"},{"body":"x"}]}`, "cut": `{"Records":[{"messageId":"1"`, "no list": `{"Records":{"messageId":"1"}}`,
		"a name of another type": `{"Records":[{"messageId":7}]}`, "a name twice": `{"Records":[{"messageId":"1","messageId":"2"}]}`,
	} {
		_, h := build(t, nil)
		if _, err := h.Handle(t.Context(), []byte(payload)); err != (client.RetryableError{}) {
			t.Errorf("%s: got %v, want the whole batch to come again", name, err)
		}
	}
	_, h := build(t, nil)
	h.Secrets = nil // a fault of our own in each message
	r, err := h.Handle(t.Context(), three)
	if f, ok := r.Answer.(failures); err != nil || !ok || len(f.Items) != 3 {
		t.Errorf("a panic: got %+v, %v, want all named", r, err)
	}
}

// The answer always has its list, in the one spelling that Lambda reads.
func TestAnswerToAQueueIsSpeltAsLambdaReadsIt(t *testing.T) {
	t.Parallel()
	for want, in := range map[string]failures{
		`{"batchItemFailures":[]}`:                         {Items: []failure{}},
		`{"batchItemFailures":[{"itemIdentifier":"m-1"}]}`: {Items: []failure{{"m-1"}}},
	} {
		if b, err := json.Marshal(in); err != nil || string(b) != want {
			t.Errorf("got %s, %v, want %s", b, err, want)
		}
	}
	_, h := build(t, nil)
	r, err := h.Handle(t.Context(), []byte(`{"Records":[]}`))
	if b, _ := json.Marshal(r.Answer); err != nil || string(b) != `{"batchItemFailures":[]}` {
		t.Errorf("no message: got %s, %v", b, err)
	}
}

// Every code is a verdict on the message or makes it come again; a new code
// makes it come again until it is decided.
func TestEveryCodeOfAMessageIsDecided(t *testing.T) {
	t.Parallel()
	for _, c := range pipeline.Codes() {
		refused := c.HTTP() >= 400 && c.HTTP() < 500 && c != pipeline.NoSecret && c != pipeline.TriggerTooLarge
		if gone := refused || c == pipeline.Ping || c == pipeline.UnhandledEvent; comesAgain(c) == gone {
			t.Errorf("%s: comes again: %t", c, comesAgain(c))
		}
	}
	if comesAgain(pipeline.OK) || !comesAgain("zz9") {
		t.Error("what is done comes again, or what is not known does not")
	}
}
