package local

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/internal/escape"
	"decant.dev/internal/hostile"
	"decant.dev/pipeline"
)

// phaseHostile is the extract child of an engine that is attacked: started and
// restricted as phaseExtract is, with package hostile in place of the
// extractors.
const phaseHostile = "hostile"

// phaseHostileFetch is the fetch child of such an engine, where a recipe's
// source is none that events can be made of.
const phaseHostileFetch = "hostilefetch"

// hostileFetchHandler takes every body for a hostile.Body.
func hostileFetchHandler(pipelines []Pipeline, c childConfig, client *http.Client) handler {
	taken := slices.Clone(pipelines)
	for i := range taken {
		taken[i].Intake.Elements = hostileElements
	}
	return fetchHandler(taken, c, client)
}

// hostileElements are the order and the text of a body.
func hostileElements(_ pipeline.Envelope, body []byte) (fetch.Bundle, error) {
	b, err := hostile.DecodeBody(body)
	if err != nil {
		return fetch.Bundle{}, pipeline.Unreadable.Error("%v", err)
	}
	element := func(id, text string) fence.Element {
		return fence.Element{
			ID: id, Author: fence.Author{ID: "attack:unknown", Kind: fence.KindImport}, Origin: fence.OriginImported, Role: fence.RoleUser,
			MediaType: "text/plain", Text: text,
		}
	}
	return fetch.Bundle{Elements: []fence.Element{element("e1", b.Order), element("e2", string(b.Text))}}, nil
}

// Put runs one item with an envelope as an ingress that was taken over would
// make it. envelope is given the digest that the recipe's envelopes bear. The
// engine must have been opened with HostileFetch.
func (e *Engine) Put(ctx context.Context, recipe string, envelope func(digest string) pipeline.Envelope, body []byte) Result {
	p, ok := e.pipelines[recipe]
	if !ok || !e.config.HostileFetch {
		return Rejected(pipeline.UnknownRecipe)
	}
	return e.run(ctx, p, envelope(e.digests[recipe]), body)
}

// saidItself is the answer of a handler that has written its reply already.
type saidItself struct{}

// hostileHandler does what the text of each run orders.
func hostileHandler(pipelines []Pipeline, out io.Writer) handler {
	shapes := map[string]*shape.Shape{}
	for _, p := range pipelines {
		shapes[p.Recipe.Name()] = p.Recipe.Shape()
	}
	return func(ctx context.Context, q request) (any, pipeline.Code) {
		switch {
		case q.Extract == nil:
			return nil, pipeline.PhaseMisbehave
		case q.Extract.Recipe == "":
			return attempted(q.Extract.Object)
		}
		candidate, honest := hostile.Obey(hostile.Question{N: q.N, Run: q.Run, Object: q.Extract.Object}, out)
		if !honest {
			return saidItself{}, pipeline.OK
		}
		h := &extract.Handler{Shapes: shapes, Extractors: map[string]extract.Extractor{q.Extract.Recipe: obeying(candidate)}}
		return h.Extract(ctx, *q.Extract), pipeline.OK
	}
}

// obeying is an extractor that says the same whatever it is asked.
type obeying []byte

// Name returns "hostile".
func (obeying) Name() string { return "hostile" }

// Extract answers with the bytes.
func (o obeying) Extract(context.Context, extract.Request) (extract.Answer, error) {
	return extract.Answer{Candidate: o}, nil
}

// attempted makes every attempt of package escape from inside this child.
func attempted(surroundings []byte) (any, pipeline.Code) {
	var env escape.Env
	if err := unmarshal(surroundings, &env); err != nil {
		return nil, pipeline.PhaseMisbehave
	}
	var lines bytes.Buffer
	if err := escape.Run(escape.All(), env, &lines); err != nil {
		return nil, pipeline.PhaseMisbehave
	}
	b, err := json.Marshal(lines.String())
	if err != nil {
		return nil, pipeline.PhaseMisbehave
	}
	return extract.Output{Structure: b}, pipeline.OK
}

// Escape has a hostile extract child make every attempt of package escape to
// get out into the surroundings, and returns how each ended. The engine must
// have been opened with Hostile.
func (e *Engine) Escape(ctx context.Context, surroundings escape.Env) ([]escape.Result, error) {
	surroundings.BrokerFD = 3 // where a phase's child finds the parent's broker
	b, err := json.Marshal(surroundings)
	if err != nil {
		return nil, err
	}
	a, code := e.extracts[true].call(ctx, request{Run: strings.Repeat("0", 32), Extract: &extract.Input{Object: b}})
	if code != pipeline.OK {
		return nil, code.Error("want a hostile extract child's attempts")
	}
	var lines string
	if err := unmarshal(a.extract.Structure, &lines); err != nil {
		return nil, pipeline.PhaseMisbehave.Error("want a hostile extract child's attempts")
	}
	return escape.Read(strings.NewReader(lines))
}
