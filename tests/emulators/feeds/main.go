// Feeds is one phase, named by FEEDS_PHASE, of a recipe with a schedule: its
// items are fixed, so that a batch can be followed without a network.
package main

import (
	"context"
	"errors"
	"os"

	"decant.dev/act/plan"
	"decant.dev/extract"
	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/lambdaact"
	"decant.dev/pipeline/aws/lambdaextract"
	"decant.dev/pipeline/aws/lambdafetch"
	"decant.dev/pipeline/aws/lambdaingress"
)

type kind struct {
	Kind string `json:"kind" jsonschema:"enum=a,enum=b"`
}

func recipe() *pipeline.Recipe {
	spec := pipeline.Spec[kind]{
		Name: "feeds", MaxDecide: 8, Policy: plan.Policy{plan.KindTableRow: plan.Always(plan.Auto)},
		Events: []pipeline.Event{{Name: pipeline.Tick}}, Schedules: []pipeline.Schedule{{Name: "nightly", Channel: "feed:sample"}},
		Plan: func(k kind, at plan.Target) []plan.Action {
			return []plan.Action{plan.TableRow{Table: "feeds", Key: at.Ref(), Columns: []plan.Column{plan.Text("kind", k.Kind)}}}
		},
	}
	list, _ := pipeline.Build(spec).Enumerate()
	spec.Outcomes = list.Encode()
	return pipeline.New(spec)
}

var intake = fetch.Intake{
	Source: "feed", Profile: fence.ProfileIntake, Instruction: "Say a or b.", Limits: fence.Limits{MessageMaxBytes: 1 << 14, ContextMaxBytes: 1 << 16},
	List: func(context.Context, fetch.Asked) (fetch.Listed, error) {
		return fetch.Listed{Items: [][]byte{[]byte("one zq7marker"), []byte("bad zq7marker"), []byte("two"), []byte("one zq7marker"), make([]byte, fetch.MaxItemBytes+1)}}, nil
	},
	Elements: func(_ pipeline.Envelope, item []byte) (fetch.Bundle, error) {
		if string(item[:3]) == "bad" {
			return fetch.Bundle{}, errors.New(string(item))
		}
		return fetch.Bundle{Elements: []fence.Element{{
			ID: "e1", Author: fence.Author{ID: "feed:sample", Kind: fence.KindImport}, Origin: fence.OriginFeedItem, Role: fence.RoleUser, Text: string(item),
		}}}, nil
	},
}

// always is an extractor of one answer.
type always struct{}

func (always) Name() string { return "always" }

func (always) Extract(context.Context, extract.Request) (extract.Answer, error) {
	return extract.Answer{Candidate: []byte(`{"kind":"a"}`)}, nil
}

func main() {
	switch os.Getenv("FEEDS_PHASE") {
	case "ingress":
		lambdaingress.Main(recipe())
	case "fetch":
		lambdafetch.Main(lambdafetch.Pipeline{Name: "feeds", Intake: intake})
	case "extract":
		lambdaextract.Main(lambdaextract.Pipeline{Recipe: recipe(), Extractor: always{}})
	case "act":
		lambdaact.Main(recipe())
	default:
		os.Exit(2)
	}
}
