// Package function is what every Lambda function of the pipeline has in
// common: it answers each invocation with a verdict, and says nothing else.
//
// A handler's failure crosses as a code of pipeline's closed list. A panic is
// recovered and becomes a code. The one error that is returned to Lambda is
// client.RetryableError, which holds no cause. One line of log and one of
// metrics are written for an invocation, both of our own words, ids and
// numbers, so that no text of a stranger reaches an execution history or a
// log group.
package function

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdacontext"
	"github.com/go-json-experiment/json"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/environment"
)

// MaxPayloadBytes bounds what the state machine asks: its own limit for a
// state's data.
const MaxPayloadBytes = 256 << 10

// OK is the one good verdict.
const OK = "ok"

// Verdict is the part of every answer that the state machine decides on.
type Verdict struct {
	Verdict string `json:"verdict"` // OK or a code
}

// Good is the verdict of a handler that has an answer.
var Good = Verdict{OK}

// Reply is what a handler has to say.
type Reply struct {
	Run    string // for the log, empty where the payload named none
	Answer any    // encoded as JSON; has a verdict, unless Refuse is set
	Code   pipeline.Code
	Counts []Count // beside those that every invocation has
}

// Handler answers one payload. An error that is no pipeline.Fault and no
// client.RetryableError counts as pipeline.PhaseMisbehave.
type Handler func(ctx context.Context, payload []byte) (Reply, error)

// Function serves invocations. Its zero values are replaced: Out by standard
// output, Clock by time.Now, Refuse by a bare verdict, MaxPayload by
// MaxPayloadBytes.
type Function struct {
	Service    string
	Namespace  string
	Handle     Handler
	Refuse     func(pipeline.Code) any // the answer where there is a code
	MaxPayload int
	Out        io.Writer
	Clock      func() time.Time

	log  *slog.Logger
	warm bool
}

// New makes a function that is ready to serve.
func New(env environment.Values, handle Handler) *Function {
	return &Function{Service: env.Get(environment.Service), Namespace: env.Namespace(), Handle: handle}
}

// Start serves invocations until the process ends.
func (f *Function) Start() {
	f.ready()
	lambda.StartWithOptions(f)
}

// Exit ends a process whose function could not be built. The message is one
// of our own errors.
func Exit(err error) {
	log.SetFlags(0)
	log.Fatal("decant: ", err)
}

func (f *Function) ready() {
	if f.Out == nil {
		f.Out = os.Stdout
	}
	if f.Clock == nil {
		f.Clock = time.Now
	}
	if f.MaxPayload == 0 {
		f.MaxPayload = MaxPayloadBytes
	}
	if f.Refuse == nil {
		f.Refuse = func(c pipeline.Code) any { return Verdict{string(c)} }
	}
	if f.log == nil {
		h := slog.NewJSONHandler(f.Out, &slog.HandlerOptions{ReplaceAttr: lambdacontext.ReplaceAttr})
		f.log = slog.New(h).With("service", f.Service)
	}
}

// Invoke answers one invocation, as lambda.Handler.
func (f *Function) Invoke(ctx context.Context, payload []byte) ([]byte, error) {
	f.ready()
	begun := f.Clock()
	reply, err := f.guarded(ctx, payload)
	var again client.RetryableError
	retry := errors.As(err, &again)
	answer := reply.Answer
	if reply.Code = codeOf(reply.Code, err); reply.Code != pipeline.OK {
		answer = f.Refuse(reply.Code)
	}
	encoded, fault := json.Marshal(answer, json.Deterministic(true))
	if fault != nil {
		reply.Code, retry = pipeline.PhaseMisbehave, false
		encoded, fault = json.Marshal(f.Refuse(reply.Code))
	}
	f.report(ctx, reply, retry, f.Clock().Sub(begun))
	if retry {
		return nil, client.RetryableError{}
	}
	return encoded, fault
}

// guarded calls the handler and turns a panic into a code.
func (f *Function) guarded(ctx context.Context, payload []byte) (r Reply, err error) {
	defer func() {
		if recover() != nil {
			r, err = Reply{Code: pipeline.PhasePanic}, nil
		}
	}()
	if len(payload) > f.MaxPayload {
		return Reply{Code: pipeline.PhaseMisbehave}, nil
	}
	return f.Handle(ctx, payload)
}

// codeOf is the code of a reply and the error beside it: never one that is
// not on the list, and never none beside an error.
func codeOf(c pipeline.Code, err error) pipeline.Code {
	var fault *pipeline.Fault
	var again client.RetryableError
	switch {
	case errors.As(err, &fault) && fault.Code != pipeline.OK:
		c = fault.Code
	case errors.As(err, &again):
		c = pipeline.StoreFailed
	case err != nil:
		c = pipeline.PhaseMisbehave
	}
	if !c.Known() {
		return pipeline.PhaseMisbehave
	}
	return c
}

func (f *Function) report(ctx context.Context, r Reply, retry bool, took time.Duration) {
	word := string(r.Code)
	switch {
	case retry:
		word = "retry"
	case r.Code == pipeline.OK:
		word = OK
	}
	attrs := []slog.Attr{
		slog.String("code", word), slog.Float64("duration_ms", milliseconds(took)), slog.Bool("cold_start", !f.warm),
	}
	if pipeline.IsRunID(r.Run) {
		attrs = append(attrs, slog.String("run", r.Run))
	}
	if lc, ok := lambdacontext.FromContext(ctx); ok {
		attrs = append(attrs, slog.String("function_request_id", lc.AwsRequestID))
	}
	level := slog.LevelInfo
	if word != OK {
		level = slog.LevelWarn
	}
	f.log.LogAttrs(ctx, level, "answered", attrs...)
	f.measure(word, took, r.Counts)
	f.warm = true
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// Decode reads a payload strictly: unknown, duplicate and differently-cased
// keys, bad UTF-8 and trailing bytes are pipeline.PhaseMisbehave.
func Decode[T any](payload []byte) (T, error) {
	var v T
	if err := json.Unmarshal(payload, &v, json.RejectUnknownMembers(true)); err != nil {
		var none T
		return none, pipeline.PhaseMisbehave.Error("payload of %d bytes is malformed", len(payload))
	}
	return v, nil
}

// Envelope is a payload that holds nothing but an envelope.
type Envelope struct {
	Envelope pipeline.Envelope `json:"envelope"`
}

// Checked returns the envelope where each of its fields is within its bounds,
// and otherwise pipeline.PhaseMisbehave.
func (e Envelope) Checked() (pipeline.Envelope, error) {
	if err := e.Envelope.Check(); err != nil {
		return pipeline.Envelope{}, pipeline.PhaseMisbehave.Error("%v", err)
	}
	return e.Envelope, nil
}

// Recipes indexes recipes by name. Two of one name are an error, and so is
// none at all.
func Recipes(recipes []*pipeline.Recipe) (map[string]*pipeline.Recipe, error) {
	if len(recipes) == 0 {
		return nil, errors.New("recipes: want at least one")
	}
	byName := make(map[string]*pipeline.Recipe, len(recipes))
	for _, r := range recipes {
		if byName[r.Name()] != nil {
			return nil, fmt.Errorf("recipes: want one of the name %.64q, got two", r.Name())
		}
		byName[r.Name()] = r
	}
	return byName, nil
}

var _ lambda.Handler = (*Function)(nil)
