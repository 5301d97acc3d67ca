package attack

import (
	"context"
	"net/http"
	"os"
	"testing"

	"decant.dev/act/plan"
	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local"
	"decant.dev/recipes/issues"
	"decant.dev/recipes/issues/intake"
)

var honestPipeline = local.Pipeline{Recipe: issues.Recipe, Intake: intake.Intake, Extractor: intake.Extractor}

// note is a small shape.
type note struct {
	Kind string      `json:"kind" jsonschema:"enum=a,enum=b"`
	Body *shape.Text `json:"body,omitempty" jsonschema:"maxLength=40"`
}

func keep(kind string, n note, at plan.Target) []plan.Action {
	return []plan.Action{plan.TableRow{Table: "notes", Key: at.Ref(), Columns: []plan.Column{plan.Text("kind", kind), plan.Carried("body", n.Body)}}}
}

// spec is a recipe as it was reviewed.
func spec() pipeline.Spec[note] {
	return pipeline.Spec[note]{
		Name: "mutant", MaxDecide: 8, MaxCarry: 900, Policy: plan.Policy{plan.KindTableRow: plan.Always(plan.Auto)},
		Events: []pipeline.Event{{Name: "issues.opened", Reads: pipeline.ActorsWords}},
		Plan:   func(n note, at plan.Target) []plan.Action { return keep(n.Kind, n, at) },
	}
}

// reviewedNotes is the list of spec.
func reviewedNotes() []byte {
	list, _ := pipeline.Build(spec()).Enumerate()
	return list.Encode()
}

// mutant is spec with a plan that cheats, and with the check of the list made
// of no use: what is built in admits whatever the plan does.
var mutant = func() local.Pipeline {
	s := spec()
	s.Plan = func(n note, at plan.Target) []plan.Action {
		if n.Kind == "b" && n.Body != nil {
			return keep("root", n, at)
		}
		return keep(n.Kind, n, at)
	}
	list, _ := pipeline.Build(s).Enumerate()
	s.Outcomes = list.Encode()
	return local.Pipeline{Recipe: pipeline.New(s), Intake: intake.Intake, Extractor: func(*http.Client) extract.Extractor { return intake.Rules() }}
}()

// mailed and ticking are recipes of sources that no event can be made of.
var mailed, ticking = elsewhere("mailed", "mail", pipeline.Event{Name: "mail.received", Reads: pipeline.ActorsWords}),
	elsewhere("ticking", "feed", pipeline.Event{Name: pipeline.Tick, Reads: pipeline.ActorsWords}, pipeline.Schedule{Name: "hourly", Channel: "feed:all"})

func elsewhere(name, source string, e pipeline.Event, schedules ...pipeline.Schedule) local.Pipeline {
	s := spec()
	s.Name, s.Events, s.Schedules = name, []pipeline.Event{e}, schedules
	list, _ := pipeline.Build(s).Enumerate()
	s.Outcomes = list.Encode()
	in := intake.Intake
	in.Source, in.Elements = source, func(pipeline.Envelope, []byte) (fetch.Bundle, error) { panic("read for real") }
	in.List = func(context.Context, fetch.Asked) (fetch.Listed, error) { return fetch.Listed{}, nil }
	return local.Pipeline{Recipe: pipeline.New(s), Intake: in, Extractor: func(*http.Client) extract.Extractor { return intake.Rules() }}
}

func TestMain(m *testing.M) {
	if local.Child(honestPipeline, mutant, mailed, ticking) {
		return
	}
	os.Exit(m.Run())
}
