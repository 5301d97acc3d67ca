// Package openai is an extractor that asks a model over the chat completions
// API: OpenAI's, or that of an endpoint that imitates it (Ollama, llama.cpp's
// server, vLLM, a gateway).
//
// One question is one POST of the prompt and of the shape's projection as a
// json_schema. The threat is the answer: a model that was steered by what it
// read, and an endpoint that answers beside the schema, cut off, refusing,
// empty, endless or not at all. What is no whole, single answer of text is an
// error; what is one goes to the strict decoder, whatever it says.
//
// Not promised: that an endpoint heeds the schema. Some answer unconstrained
// with status 200 where their grammar fails; only the decoder counts.
package openai

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/extract"
	"decant.dev/extract/internal/attempt"
	"decant.dev/extract/shape"
	"decant.dev/fence"
)

// MaxAnswerBytes bounds an endpoint's whole answer: a candidate with its
// escapes, and a reasoning beside it.
const MaxAnswerBytes = 4 << 20

// What an answer is refused for, beside a status. None tells what was in it.
var (
	ErrShape    = errors.New("openai: request of another shape: want the shape that New was given")
	ErrNoAnswer = errors.New("openai: want one choice with a message")
	ErrCut      = errors.New("openai: want an answer that the model ended itself")
	ErrRefused  = errors.New("openai: the model refused to answer")
	ErrTool     = errors.New("openai: want text, got a call of a tool")
)

// Status is an answer's status where that is not 200.
type Status int

// Error tells the number.
func (s Status) Error() string { return fmt.Sprintf("openai: want status 200, got %d", int(s)) }

// Extractor asks one model of one endpoint. It is safe for concurrent use.
type Extractor struct {
	config Config
	base   base
	shape  string // digest of the shape
	schema jsontext.Value
	client *http.Client
}

var (
	_ extract.Extractor = (*Extractor)(nil)
	_ extract.Digested  = (*Extractor)(nil)
	_ extract.Reaching  = (*Extractor)(nil)
	_ extract.Keyed     = (*Extractor)(nil)
	_ extract.Priced    = (*Extractor)(nil)
)

// New makes the extractor of a shape. The error names every fault of the
// configuration, and a shape that the schema's provider does not take.
func New(s *shape.Shape, c Config) (*Extractor, error) {
	if s == nil {
		return nil, errors.New("openai: want a shape")
	}
	c, at, err := c.complete()
	if err != nil {
		return nil, err
	}
	schema, err := s.Projection(c.Schema)
	if err != nil {
		return nil, fmt.Errorf("openai: %w", err)
	}
	return &Extractor{c, at, s.Digest(), schema, attempt.Client(c.Client, []string{at.host})}, nil
}

// Must is New for a configuration that is part of the program; it panics on an
// error.
func Must(s *shape.Shape, c Config) *Extractor {
	x, err := New(s, c)
	if err != nil {
		panic(err)
	}
	return x
}

// Name is "openai".
func (*Extractor) Name() string { return "openai" }

// Hosts is the endpoint's.
func (x *Extractor) Hosts() []string { return []string{x.base.host} }

// Environment names the variable of the key, if there is one.
func (x *Extractor) Environment() []string {
	if x.config.KeyVariable == "" {
		return nil
	}
	return []string{x.config.KeyVariable}
}

// Digest identifies the endpoint, the model and what it is asked for; not the
// key.
func (x *Extractor) Digest() string {
	c, temperature := x.config, "none"
	if c.Temperature != nil {
		temperature = fmt.Sprint(*c.Temperature)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "openai.v1\n%s\n%s\n%s\n%d\n%s\n%s\n", x.base.url, c.Model, c.Dialect, c.MaxTokens, temperature, x.schema))
	return hex.EncodeToString(sum[:])
}

// overhead is what a question holds beside prompt and schema: the correction,
// the names of the API, and what a chat template puts around messages.
const overhead = 4096

// Worst implements extract.Priced.
func (x *Extractor) Worst(promptBytes int) int64 {
	return extract.WorstCost(x.config.Prices, max(promptBytes, 0)+len(x.schema)+overhead, x.config.MaxTokens, attempt.Attempts*extract.MaxTurns)
}

// Extract asks the model. An error says that there was no answer: see the
// errors of this package.
func (x *Extractor) Extract(ctx context.Context, r extract.Request) (extract.Answer, error) {
	if r.Shape == nil || r.Shape.Digest() != x.shape {
		return extract.Answer{}, ErrShape
	}
	body, err := x.question(r.Prompt, extract.Correction(r.Broken))
	if err != nil {
		return extract.Answer{}, err
	}
	key, err := x.config.key(ctx)
	if err != nil {
		return extract.Answer{}, err
	}
	var a extract.Answer
	err = attempt.Do(ctx, x.config.Times, func(ctx context.Context) error {
		a, err = x.ask(ctx, body, key)
		return err
	})
	if err != nil {
		return extract.Answer{}, err
	}
	a.Usage.Microdollars = x.config.Prices.Cost(a.Usage)
	return a, nil
}

// ask is one attempt.
func (x *Extractor) ask(ctx context.Context, body []byte, key Key) (extract.Answer, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, x.base.url+"/chat/completions", bytes.NewReader(body))
	if err != nil {
		return extract.Answer{}, errors.New("openai: the request cannot be made")
	}
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Accept", "application/json")
	key.show(q.Header)
	a, err := x.client.Do(q)
	if err != nil {
		return extract.Answer{}, &attempt.Again{Err: errors.New("openai: the endpoint cannot be reached")}
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		if attempt.Transient(a.StatusCode) {
			return extract.Answer{}, &attempt.Again{Err: Status(a.StatusCode), After: attempt.After(a.Header)}
		}
		return extract.Answer{}, Status(a.StatusCode)
	}
	if err := attempt.JSON(a.Header); err != nil {
		return extract.Answer{}, fmt.Errorf("openai: %w", err)
	}
	all, err := io.ReadAll(attempt.Body(a.Body, MaxAnswerBytes))
	switch {
	case errors.Is(err, attempt.ErrLarge):
		return extract.Answer{}, fmt.Errorf("openai: %w", err)
	case err != nil:
		return extract.Answer{}, &attempt.Again{Err: errors.New("openai: the answer broke off")}
	}
	return decode(all)
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type schemaFormat struct {
	Name   string         `json:"name"`
	Strict bool           `json:"strict"`
	Schema jsontext.Value `json:"schema"`
}

type responseFormat struct {
	Type   string       `json:"type"`
	Schema schemaFormat `json:"json_schema"`
}

// request is the body of POST /chat/completions
// (platform.openai.com/docs/api-reference/chat/create).
type request struct {
	Model               string         `json:"model"`
	Messages            []message      `json:"messages"`
	Format              responseFormat `json:"response_format"`
	MaxCompletionTokens int            `json:"max_completion_tokens,omitzero"`
	MaxTokens           int            `json:"max_tokens,omitzero"`
	Temperature         *float64       `json:"temperature,omitzero"`
	Stream              bool           `json:"stream"`
}

// question places the prompt as it says of itself: its system parts, each a
// message, then the user message, which ends with the voice. A correction
// stands before everything else of the user message.
func (x *Extractor) question(p fence.Prompt, correction string) ([]byte, error) {
	if p.Voice() == "" {
		return nil, fence.ErrNoPrompt
	}
	c := x.config
	q := request{Model: c.Model, Temperature: c.Temperature,
		Format: responseFormat{"json_schema", schemaFormat{"structure", true, x.schema}}}
	for _, part := range p.System() {
		q.Messages = append(q.Messages, message{"system", part})
	}
	q.Messages = append(q.Messages, message{"user", correction + p.User()})
	switch c.Dialect {
	case Hosted:
		q.MaxCompletionTokens = c.MaxTokens
	default:
		q.MaxTokens = c.MaxTokens
	}
	body, err := json.Marshal(q)
	if err != nil {
		return nil, errors.New("openai: the prompt cannot be encoded")
	}
	return body, nil
}
