// Package lambdacontext is the Lambda entry of the context API: it answers
// GET /api/v1/runs/{id}/context as API Gateway delivers it.
//
// It reads bundles, the runs table and grants, and writes nothing. It knows
// no recipe: what a context is made of stands in its bundle, who acted in the
// run's envelope, and who holds trigger in the grants of now.
package lambdacontext

import (
	"context"
	"encoding/base64"
	"errors"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/bucket"
	"decant.dev/pipeline/aws/environment"
	"decant.dev/pipeline/aws/function"
	"decant.dev/pipeline/aws/grants"
	"decant.dev/pipeline/aws/runs"
	"decant.dev/pipeline/contextapi"
	"decant.dev/pipeline/runcontext"
)

// MaxContextBytes bounds a context that can be answered: Lambda takes six
// mebibytes of an answer, and this in base64 with its headers is less
// (docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html). A larger
// context is contextapi.Broken.
const MaxContextBytes = 4 << 20

// Main serves requests. It does not return.
func Main() {
	env, err := environment.Read(os.LookupEnv, environment.RawBucket, environment.ExpectedOwner, environment.RunsTable, environment.GrantsTable, environment.OwnIdentities)
	if err != nil {
		function.Exit(err)
	}
	region, endpoint := env.Get(environment.Region), env.Get(environment.Endpoint)
	h, err := New(Config{
		Bundles:    bundles{bucket.Open(region, endpoint, env.Get(environment.RawBucket), env.Get(environment.ExpectedOwner))},
		Runs:       runs.Open(region, endpoint, env.Get(environment.RunsTable)),
		Authorizer: grants.Open(region, endpoint, env.Get(environment.GrantsTable)),
		Own:        env.Own(),
	})
	if err != nil {
		function.Exit(err)
	}
	f := function.New(env, h.Handle)
	f.Refuse = refuse
	f.Start()
}

// bundles are the bucket's.
type bundles struct{ *bucket.Bucket }

func (b bundles) Bundle(ctx context.Context, run string, token contextapi.Digest) ([]byte, bool, error) {
	return b.Bucket.Bundle(ctx, run, token)
}

// Config is what the function is made of.
type Config struct {
	Bundles    contextapi.Bundles
	Runs       contextapi.Runs
	Authorizer pipeline.Authorizer
	Own        []string // identities that our sinks use
}

// Handler answers requests.
type Handler struct{ api contextapi.Handler }

// New checks what the function is made of.
func New(c Config) (*Handler, error) {
	if c.Authorizer == nil {
		return nil, errors.New("context: want an authorizer")
	}
	h := &Handler{contextapi.Handler{
		Bundles: c.Bundles, Runs: c.Runs, Builder: runcontext.Builder{Authorizer: c.Authorizer, Own: c.Own}, Limit: MaxContextBytes,
	}}
	return h, h.api.Check()
}

// request is the part of API Gateway's payload format 2.0 that is looked at
// (docs.aws.amazon.com/apigateway/latest/developerguide/http-api-develop-integrations-lambda.html).
type request struct {
	Version        string            `json:"version"`
	RawPath        string            `json:"rawPath"`
	RawQueryString string            `json:"rawQueryString"`
	Headers        map[string]string `json:"headers"`
	Body           jsontext.Value    `json:"body"`
	RequestContext struct {
		HTTP struct {
			Method string `json:"method"`
		} `json:"http"`
	} `json:"requestContext"`
}

// response is an answer in the same format.
type response struct {
	StatusCode int               `json:"statusCode"`
	Headers    map[string]string `json:"headers"`
	Body       string            `json:"body"`
	Base64     bool              `json:"isBase64Encoded"`
}

// respond writes a context in base64, whose size does not depend on what is
// in it.
func respond(a contextapi.Response) response {
	if a.Code != "" {
		return response{a.Status, a.Header, string(a.Body), false}
	}
	return response{a.Status, a.Header, base64.StdEncoding.EncodeToString(a.Body), true}
}

// refuse is the answer where the function itself could not give one.
func refuse(c pipeline.Code) any {
	if c == pipeline.MalformedEvent || c == pipeline.PhaseMisbehave {
		return respond(contextapi.Refuse(contextapi.Malformed))
	}
	return respond(contextapi.Refuse(contextapi.Broken))
}

// Handle answers one HTTP event.
func (h *Handler) Handle(ctx context.Context, payload []byte) (function.Reply, error) {
	var r request
	if err := json.Unmarshal(payload, &r); err != nil || r.Version != "2.0" {
		return function.Reply{}, pipeline.MalformedEvent.Error("payload of %d bytes: want an HTTP event of format 2.0", len(payload))
	}
	q := contextapi.Request{Method: r.RequestContext.HTTP.Method, Path: r.RawPath, Query: r.RawQueryString}
	for name, value := range r.Headers {
		if strings.EqualFold(name, "authorization") {
			q.Authorization = append(q.Authorization, value)
		}
	}
	switch string(r.Body) {
	case "", "null", `""`:
	default:
		q.Body = true
	}
	a := h.api.Answer(ctx, q)
	word := string(a.Code)
	if word == "" {
		word = function.OK
	}
	return function.Reply{Run: a.Run, Answer: respond(a), Counts: []function.Count{{Name: "ContextAnswered", Dimension: "answer", Value: word}}}, nil
}
