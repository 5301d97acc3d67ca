// Package bedrock is an extractor that asks a model of Amazon Bedrock, over
// the Converse API.
//
// The preamble is a system block that can be cached, the data stands where the
// prompt places it, and the shape's projection is the format of the output or
// the input of a strict tool, by what the model takes. The threat is the
// answer: the SDK gives nil and no error for an empty one, reads one of 20 MB
// whole, and has no time of its own. What is no single, whole answer is an
// error here; what is one goes to the strict decoder, whatever it says.
//
// Not promised: that Bedrock heeds the schema, or that a guardrail sees what a
// person would.
package bedrock

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"

	"decant.dev/extract"
	"decant.dev/extract/internal/attempt"
	"decant.dev/extract/shape"
)

// MaxAnswerBytes bounds Bedrock's whole answer: a candidate with its escapes,
// and a reasoning beside it.
const MaxAnswerBytes = 4 << 20

// What an answer is refused for, beside a Fault. None tells what was in it.
var (
	ErrShape    = errors.New("bedrock: request of another shape: want the shape that New was given")
	ErrNoAnswer = errors.New("bedrock: want a message of the assistant with one answer")
	ErrCut      = errors.New("bedrock: want an answer that the model ended itself")
	ErrRefused  = errors.New("bedrock: the model or a guardrail refused to answer")
)

// Extractor asks one model. It is safe for concurrent use.
type Extractor struct {
	config Config
	host   string
	shape  string // digest of the shape
	schema []byte
	client *bedrockruntime.Client
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
		return nil, errors.New("bedrock: want a shape")
	}
	c, host, err := c.complete()
	if err != nil {
		return nil, err
	}
	schema, err := s.Projection(c.Schema)
	if err != nil {
		return nil, fmt.Errorf("bedrock: %w", err)
	}
	options := bedrockruntime.Options{
		Region: c.Region, Credentials: aws.CredentialsProviderFunc(credentials), Retryer: aws.NopRetryer{}, // attempt.Do retries
		HTTPClient: bounded{attempt.Client(c.Client, []string{host})},
	}
	if c.Endpoint != "" {
		options.BaseEndpoint = &c.Endpoint
	}
	return &Extractor{c, host, s.Digest(), schema, bedrockruntime.New(options)}, nil
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

// environment are the variables that credentials are read from, as Lambda sets
// them (docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html).
var environment = [...]string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"}

func credentials(context.Context) (aws.Credentials, error) {
	c := aws.Credentials{
		AccessKeyID: os.Getenv(environment[0]), SecretAccessKey: os.Getenv(environment[1]), SessionToken: os.Getenv(environment[2]),
		Source: "environment",
	}
	if !c.HasKeys() {
		return aws.Credentials{}, errCredentials
	}
	return c, nil
}

// Name is "bedrock".
func (*Extractor) Name() string { return "bedrock" }

// Hosts is the endpoint's.
func (x *Extractor) Hosts() []string { return []string{x.host} }

// Environment names the variables of the credentials.
func (x *Extractor) Environment() []string { return append([]string(nil), environment[:]...) }

// Digest identifies the model and what it is asked for; not the credentials.
func (x *Extractor) Digest() string {
	c, temperature := x.config, "none"
	if c.Temperature != nil {
		temperature = fmt.Sprint(*c.Temperature)
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "bedrock.v1\n%s\n%s\n%s\n%s\n%d\n%s\n%s\n%s\n", x.host, c.Model, c.Held, c.Guardrail, c.MaxTokens, temperature, c.Region, x.schema))
	return hex.EncodeToString(sum[:])
}

// overhead is what a question holds beside prompt and schema: the correction,
// the names of the API, and what the service puts around messages.
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
	q, err := x.question(r.Prompt, extract.Correction(r.Broken))
	if err != nil {
		return extract.Answer{}, err
	}
	var a extract.Answer
	err = attempt.Do(ctx, x.config.Times, func(ctx context.Context) error {
		out, err := x.client.Converse(ctx, q)
		if err != nil {
			return fault(err)
		}
		a, err = x.read(out)
		return err
	})
	if err != nil {
		return extract.Answer{}, err
	}
	a.Usage.Microdollars = x.config.Prices.Cost(a.Usage)
	return a, nil
}
