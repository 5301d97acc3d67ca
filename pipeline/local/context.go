package local

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act/plan"
	"decant.dev/extract"
	"decant.dev/pipeline"
	"decant.dev/pipeline/contextapi"
	"decant.dev/pipeline/local/broker"
	"decant.dev/pipeline/local/store"
	"decant.dev/pipeline/runcontext"
)

// WantContext reports whether any pipeline's extractor is an adapter, whose
// engine is to serve the context API.
func WantContext(pipelines ...Pipeline) bool {
	for _, p := range pipelines {
		if p.Extractor != nil && extract.WantsContext(p.Extractor(nil)) {
			return true
		}
	}
	return false
}

// contextInput is a run's bundle with its envelope; contextOutput is its
// context, or a code.
type contextInput struct {
	Envelope pipeline.Envelope `json:"envelope"`
	Bundle   jsontext.Value    `json:"bundle"`
}

type contextOutput struct {
	Context jsontext.Value `json:"context,omitzero"`
	Code    pipeline.Code  `json:"code,omitzero"`
}

// contextHandler builds contexts in a child, which reads grants and holds
// nothing else: the parent never decodes what a bundle says.
func contextHandler(c childConfig) handler {
	b := runcontext.Builder{Authorizer: NewGrants(c.Grants), Own: c.Own}
	return func(ctx context.Context, q request) (any, pipeline.Code) {
		if q.Context == nil {
			return nil, pipeline.PhaseMisbehave
		}
		doc, err := b.Encoded(ctx, q.Context.Envelope, q.Context.Bundle)
		if err != nil {
			return contextOutput{Code: pipeline.Unreadable}, pipeline.OK
		}
		return contextOutput{Context: doc}, pipeline.OK
	}
}

// accessTo mints the token of a run whose extractor is an adapter. There is
// none, and no error, for any other.
func (e *Engine) accessTo(env pipeline.Envelope) (extract.Access, contextapi.Token, pipeline.Code) {
	if !e.adapters[env.Recipe] {
		return extract.Access{}, contextapi.Token{}, pipeline.OK
	}
	token, err := contextapi.Mint(env.Run, rand.Reader)
	if err != nil {
		return extract.Access{}, contextapi.Token{}, pipeline.StoreFailed
	}
	return extract.Access{URL: "http://" + e.config.ContextAPI + contextapi.Path(env.Run), Token: token.Reveal()}, token, pipeline.OK
}

// Context is the context API over this engine's runs: over those that this
// process carries, from when their token is minted until they end. It is to
// be served at Config.ContextAPI.
func (e *Engine) Context() *contextapi.Handler {
	return &contextapi.Handler{Bundles: contexts{e}, Runs: contexts{e}, Builder: contexts{e}}
}

// contexts are the ports of the context API.
type contexts struct{ *Engine }

func (c contexts) Bundle(ctx context.Context, run string, token contextapi.Digest) ([]byte, bool, error) {
	if c.bundles == nil {
		return nil, false, nil
	}
	return c.bundles.Get(ctx, run, token)
}

func (c contexts) Active(ctx context.Context, run string) (pipeline.Envelope, bool, error) {
	if _, under := c.running.Load(run); !under {
		return pipeline.Envelope{}, false, nil
	}
	entry, known, err := c.journal.Get(ctx, run, c.mode)
	if err != nil || !known || entry.State == store.Ended {
		return pipeline.Envelope{}, false, err
	}
	env, err := pipeline.DecodeEnvelope(entry.Envelope)
	return env, err == nil, err
}

// Encoded asks the context child of the run's class. A client that goes away
// does not end the child.
func (c contexts) Encoded(ctx context.Context, env pipeline.Envelope, bundle []byte) ([]byte, error) {
	if err := c.grants.sync(); err != nil && c.config.Warn != nil {
		c.config.Warn(err)
	}
	label := plan.Unverified
	if under, ok := c.running.Load(env.Run); ok {
		label = plan.Label(under.(*attempt).label.Load())
	}
	a, code := c.contexts[class(label)].call(context.WithoutCancel(ctx), request{Run: env.Run, Context: &contextInput{env, bundle}})
	switch {
	case code != pipeline.OK:
		return nil, code.Error("the context child did not answer")
	case a.context.Code == pipeline.Unreadable:
		return nil, pipeline.Unreadable.Error("the bundle gives no context")
	case a.context.Code != pipeline.OK || len(a.context.Context) == 0:
		return nil, pipeline.PhaseMisbehave.Error("want a context or unreadable, got neither")
	}
	return a.context.Context, nil
}

// reach lets a phase's children connect to addresses that are not public, each
// of which stands in its hosts too.
func (p *phase) reach(addresses ...string) {
	if len(addresses) == 0 {
		return
	}
	p.near = append(p.near[:len(p.near):len(p.near)], addresses...)
	p.env = append(p.env[:len(p.env):len(p.env)], nearVariable+"="+strings.Join(p.near, ","))
}

// allowing is how a broker judges addresses: what is public, and exactly these
// others.
func allowing(near []string) func(netip.AddrPort) error {
	var all []netip.AddrPort
	for _, address := range near {
		if at, err := netip.ParseAddrPort(address); err == nil {
			all = append(all, at)
		}
	}
	if len(all) == 0 {
		return nil
	}
	return func(target netip.AddrPort) error {
		if slices.Contains(all, target) {
			return nil
		}
		return broker.Public(target)
	}
}

// checkContextAPI refuses an address that no child could connect to.
func checkContextAPI(address string) error {
	if address == "" {
		return nil
	}
	at, err := netip.ParseAddrPort(address)
	if err != nil || at.Addr().IsUnspecified() || at.Port() == 0 || at.String() != address {
		return fmt.Errorf("context api at %.64q: want an address and a port to connect to, as 127.0.0.1:8080", address)
	}
	return nil
}
