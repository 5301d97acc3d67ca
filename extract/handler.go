package extract

import (
	"context"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/pipeline"
)

// Input is a run's prompt object, and which recipe it is for. Access goes to
// an Adapter that wants it, and to no other extractor.
type Input struct {
	Recipe string         `json:"recipe"`
	Run    string         `json:"run"`
	Object jsontext.Value `json:"object"`
	Access Access         `json:"access,omitzero"`
	// Recorded is the structure that the run had before: where it is set no
	// extractor is asked, and what it was worth is found out again.
	Recorded jsontext.Value `json:"recorded,omitzero"`
}

// Output is a canonical structure with its trace, or the code that ended the
// run. Of answers that did not decode the trace has sizes and digests.
type Output struct {
	Structure jsontext.Value `json:"structure,omitzero"`
	Trace     Trace          `json:"trace,omitzero"`
	Code      pipeline.Code  `json:"code,omitzero"`
}

// Handler answers for a set of recipes.
type Handler struct {
	Shapes     map[string]*shape.Shape
	Extractors map[string]Extractor
	// Costs are what a run of a recipe may cost, in microdollars, as act reserved
	// it: by recipe. Asked is how often an engine asks about one run at most; zero
	// means once.
	Costs map[string]int64
	Asked int
	// Replay makes the extractor that answers with a recorded structure. Where
	// it is nil, an Input with one is refused.
	Replay func(recorded []byte) Extractor
}

// MaxTurns is the first question and one correction.
const MaxTurns = 2

// Extract asks the recipe's extractor and decodes its answer. An answer that
// does not decode is asked for once more, naming only the rule that it broke;
// after that the run ends with a code.
func (h *Handler) Extract(ctx context.Context, in Input) Output {
	s, x := h.Shapes[in.Recipe], h.Extractors[in.Recipe]
	if s == nil || x == nil {
		return Output{Code: pipeline.UnknownRecipe}
	}
	prompt, err := fence.DecodeObject(in.Object)
	if err != nil {
		return Output{Code: pipeline.Unreadable}
	}
	run := prompt.Context()
	if run.Run != in.Run || run.Recipe != in.Recipe {
		return Output{Code: pipeline.Unreadable}
	}
	request := Request{Prompt: prompt, Context: run, Shape: s}
	if len(in.Recorded) > 0 {
		if h.Replay == nil {
			return Output{Code: pipeline.PhaseMisbehave}
		}
		x = h.Replay(in.Recorded)
	}
	if WantsContext(x) {
		request.Access = in.Access
	}
	if h.tooDear(in.Recipe, x, prompt) {
		return Output{Code: pipeline.TooDear}
	}
	var used Usage
	var refused []Refused
	last := Answer{}
	for range MaxTurns {
		answer, err := x.Extract(ctx, request)
		if err != nil {
			return Output{Code: pipeline.NoAnswer}
		}
		if prompt.Boundary().EchoedIn(answer.Candidate) {
			return Output{Code: pipeline.BoundaryEchoed}
		}
		used = used.Plus(answer.Usage)
		value, err := answer.decode(s)
		if err != nil {
			request.Broken = ruleOf(err)
			refused = append(refused, Refused{len(answer.Candidate), DigestOfBytes(answer.Candidate)})
			last = Answer{Stage: answer.Stage}
			continue
		}
		structure := value.Encode()
		if prompt.Boundary().EchoedIn(structure) { // spelt with escapes in the candidate
			return Output{Code: pipeline.BoundaryEchoed}
		}
		if !grounded(s, value, run.Elements) {
			return Output{Code: pipeline.Ungrounded}
		}
		trace := traceOf(x, answer, used, prompt, in.Object)
		trace.Refused = refused
		return Output{Structure: structure, Trace: trace}
	}
	trace := traceOf(x, last, used, prompt, in.Object)
	trace.Refused = refused
	return Output{Code: pipeline.Undecodable, Trace: trace}
}

// tooDear reports whether asking about a prompt could cost more than was
// reserved for its run.
func (h *Handler) tooDear(recipe string, x Extractor, p fence.Prompt) bool {
	n := len(p.User())
	for _, part := range p.System() {
		n += len(part)
	}
	return WorstOf(x, n)*int64(max(h.Asked, 1)) > h.Costs[recipe]
}

// decode reads a candidate strictly, in the spelling that it was asked for.
func (a Answer) decode(s *shape.Shape) (*shape.Value, error) {
	if a.Projected {
		return s.DecodeProjected(a.Candidate)
	}
	return s.Decode(a.Candidate)
}

// grounded reports whether each quote stands in the text of one element, as
// it was fetched.
func grounded(s *shape.Shape, v *shape.Value, elements []fence.Element) bool {
	handles, err := s.LiftInto(v, reflect.New(s.Type()).Elem())
	if err != nil {
		return false
	}
	for _, h := range handles.All() {
		if h.Kind() != shape.KindQuote {
			continue
		}
		quote, _ := handles.Content(h)
		found := false
		for _, e := range elements {
			found = found || strings.Contains(e.Text, quote)
		}
		if !found {
			return false
		}
	}
	return true
}
