// Package contextapi answers GET /api/v1/runs/{id}/context: an adapter, which
// may be written in any language, fetches the context of the run that it
// serves, with trust set as of that read.
//
// The bearer of a run's token reads that run's context, while the run is
// active, and nothing else. Nobody without it learns whether a run exists: a
// run that there is not and a token that is not the run's are found by one
// look-up, by run and digest, and get the same answer byte for byte. The
// difference between the other answers depends on what was sent alone.
//
// Not promised: that a store's look-up takes the same time for every key.
package contextapi

import (
	"context"
	"errors"
	"strings"

	"decant.dev/pipeline"
)

// Bundles finds what fetch gathered for a run.
type Bundles interface {
	// Bundle returns the bundle of a run whose token has the digest, and false
	// where there is no such run or its token has another.
	Bundle(ctx context.Context, run string, token Digest) ([]byte, bool, error)
}

// Runs says how a run stands.
type Runs interface {
	// Active returns the envelope of a run that has begun and not ended, and
	// false for any other. A run that waits for a person has ended for this
	// purpose: its extractor has answered.
	Active(ctx context.Context, run string) (pipeline.Envelope, bool, error)
}

// Builder makes run_context.v1 of a bundle, with trust as of now. It is a
// runcontext.Builder, or a process that has one.
type Builder interface {
	Encoded(ctx context.Context, env pipeline.Envelope, bundle []byte) ([]byte, error)
}

// Handler answers requests. It is safe for concurrent use if its ports are.
type Handler struct {
	Bundles Bundles
	Runs    Runs
	Builder Builder
	Limit   int // of a context, in bytes; 0 is none
}

// Check reports a port that is missing.
func (h *Handler) Check() error {
	if h.Bundles == nil || h.Runs == nil || h.Builder == nil || h.Limit < 0 {
		return errors.New("context api: want bundles, runs and a builder, and a limit of at least 0")
	}
	return nil
}

// Request is what a request is answered by. Nothing else of it is looked at.
type Request struct {
	Method        string
	Path          string   // as sent, without the query
	Query         string   // as sent, without "?"
	Authorization []string // each value of the header
	Body          bool     // there is one
}

// Code says why a request got no context. The list is closed.
type Code string

// The codes, each with one status (RFC 9110, RFC 6750).
const (
	Malformed   Code = "malformed"   // 400: no run's id in the path, a query, or a body
	NoToken     Code = "no_token"    // 401: no bearer token, more than one, or one that is none
	OtherRun    Code = "other_run"   // 403: the token names another run than the path
	NotFound    Code = "not_found"   // 404: no such path; no such run, or not its token
	NotAllowed  Code = "not_allowed" // 405: another method than GET, HEAD too
	Ended       Code = "ended"       // 410: the run is over
	Broken      Code = "broken"      // 500: what was gathered gives no context, or one over the limit
	Unavailable Code = "unavailable" // 503: a store or the builder did not answer
)

var statusOf = map[Code]int{
	Malformed: 400, NoToken: 401, OtherRun: 403, NotFound: 404, NotAllowed: 405, Ended: 410, Broken: 500, Unavailable: 503,
}

// Codes lists every code, in no particular order.
func Codes() []Code {
	all := make([]Code, 0, len(statusOf))
	for c := range statusOf {
		all = append(all, c)
	}
	return all
}

// Status returns the HTTP status of the code; 500 for one that is none.
func (c Code) Status() int {
	if s, ok := statusOf[c]; ok {
		return s
	}
	return 500
}

// Response is one answer: run_context.v1 in canonical JSON with status 200, or
// {"code":"…"}.
type Response struct {
	Status int
	Header map[string]string // by canonical name
	Body   []byte
	Code   Code   // empty where a context was given
	Run    string // the run whose token was shown, for a log; empty unless the token was its own
}

func respond(status int, body []byte) Response {
	return Response{Status: status, Body: body, Header: map[string]string{
		"Cache-Control": "no-store", "Content-Type": "application/json", "X-Content-Type-Options": "nosniff",
	}}
}

// Refuse is the answer for a code.
func Refuse(c Code) Response {
	r := respond(c.Status(), []byte(`{"code":"`+string(c)+`"}`))
	r.Code = c
	switch c {
	case NoToken:
		r.Header["Www-Authenticate"] = "Bearer"
	case NotAllowed:
		r.Header["Allow"] = "GET"
	}
	return r
}

const (
	pathBefore = "/api/v1/runs/"
	pathAfter  = "/context"
)

// Path is the path of a run's context.
func Path(run string) string { return pathBefore + run + pathAfter }

// Answer answers one request. What is wrong with the request itself comes
// first, then what its token says, and only then what is stored.
func (h *Handler) Answer(ctx context.Context, r Request) Response {
	run, ok := runOf(r.Path)
	switch {
	case !ok:
		return Refuse(NotFound)
	case r.Method != "GET":
		return Refuse(NotAllowed)
	case !pipeline.IsRunID(run) || r.Query != "" || r.Body:
		return Refuse(Malformed)
	}
	token, ok := bearer(r.Authorization)
	switch {
	case !ok:
		return Refuse(NoToken)
	case token.Run() != run:
		return Refuse(OtherRun)
	}
	return h.read(ctx, token)
}

// read answers for a token that names the run of its path.
func (h *Handler) read(ctx context.Context, token Token) Response {
	bundle, found, err := h.Bundles.Bundle(ctx, token.Run(), token.Digest())
	switch {
	case err != nil:
		return Refuse(Unavailable)
	case !found:
		return Refuse(NotFound)
	}
	r := h.opened(ctx, token.Run(), bundle)
	r.Run = token.Run()
	return r
}

// opened answers for a run whose token was shown.
func (h *Handler) opened(ctx context.Context, run string, bundle []byte) Response {
	env, active, err := h.Runs.Active(ctx, run)
	switch {
	case err != nil:
		return Refuse(Unavailable)
	case !active:
		return Refuse(Ended)
	case env.Run != run:
		return Refuse(Broken)
	}
	doc, err := h.Builder.Encoded(ctx, env, bundle)
	var fault *pipeline.Fault
	switch {
	case errors.As(err, &fault) && fault.Code == pipeline.Unreadable:
		return Refuse(Broken)
	case err != nil:
		return Refuse(Unavailable)
	case h.Limit > 0 && len(doc) > h.Limit:
		return Refuse(Broken)
	}
	return respond(200, doc)
}

// runOf is the run of a context's path, which may be any word of one step.
func runOf(path string) (string, bool) {
	rest, before := strings.CutPrefix(path, pathBefore)
	run, after := strings.CutSuffix(rest, pathAfter)
	return run, before && after && run != "" && !strings.Contains(run, "/")
}

// bearer is the token of the one Authorization header (RFC 6750 section 2.1).
// The scheme's case does not matter (RFC 9110 section 11.1); one space ends it.
func bearer(values []string) (Token, bool) {
	if len(values) != 1 {
		return Token{}, false
	}
	scheme, rest, ok := strings.Cut(values[0], " ")
	if !ok || !strings.EqualFold(scheme, "bearer") {
		return Token{}, false
	}
	t, err := ParseToken(rest)
	return t, err == nil
}
