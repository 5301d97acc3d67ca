// Package issues is the recipe that triages GitHub issues: what kind an
// issue is, how severe, which areas it touches, and what its author should
// still add; with labels, a comment from a template and a table row as the
// outcome.
//
// It holds the shape, the plan and the policy. What may read an issue's text
// stands in package intake, which act does not link.
package issues

import (
	_ "embed"
	"slices"
	"time"

	"github.com/invopop/jsonschema"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
)

// Area is a part of the project that an issue touches.
type Area string

// The areas.
var areas = []any{"build", "docs", "ui", "api", "performance", "security"}

// JSONSchema bounds an area to its list.
func (Area) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: areas}
}

// Lack is a thing that a bug report needs and does not have.
type Lack string

// The lacks, in the order in which the comment asks for them.
const (
	LackVersion  Lack = "version"
	LackSteps    Lack = "steps"
	LackExpected Lack = "expected"
	LackLogs     Lack = "logs"
)

// JSONSchema bounds a lack to its list.
func (Lack) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{string(LackVersion), string(LackSteps), string(LackExpected), string(LackLogs)}}
}

// Triage is all that may be known of an issue.
type Triage struct {
	Kind         string       `json:"kind"         jsonschema:"enum=bug,enum=feature,enum=question,enum=spam"`
	Severity     int          `json:"severity"     jsonschema:"minimum=0,maximum=3"`
	Areas        []Area       `json:"areas"        jsonschema:"maxItems=2,uniqueItems=true"`
	Reproducible string       `json:"reproducible" jsonschema:"enum=yes,enum=no,enum=unknown"`
	Missing      []Lack       `json:"missing"      jsonschema:"maxItems=4,uniqueItems=true"`
	Version      *shape.Token `json:"version,omitempty" jsonschema:"pattern=^v?[0-9]{1\\,3}(\\.[0-9]{1\\,3}){1\\,2}$"`
	Quote        *shape.Quote `json:"quote,omitempty"   jsonschema:"maxLength=160"`
}

//go:embed outcomes.json
var outcomes []byte

// Recipe is the issues recipe.
var Recipe = pipeline.New(pipeline.Spec[Triage]{
	Name: "issues", Plan: decide, Policy: policy, Outcomes: outcomes,
	Events: []pipeline.Event{
		{Name: "issues.opened", Reads: pipeline.ActorsWords},
		{Name: "issues.moved", Reads: pipeline.OthersWords},
		{Name: "issues.edited", Reads: pipeline.OthersWords},
		{Name: "issue_comment.created", Reads: pipeline.OthersWords},
	},
	Budgets: []plan.Budget{
		{Measure: plan.Runs, Per: plan.PerSource, Window: time.Hour, Limit: 2000},
		{Measure: plan.Runs, Per: plan.PerActor, Window: time.Hour, Limit: 60},
		{Measure: plan.Actions, Kind: plan.KindGitHubComment, Per: plan.PerSource, Window: 24 * time.Hour, Limit: 200},
		{Measure: plan.Actions, Kind: plan.KindGitHubClose, Per: plan.PerSource, Window: 24 * time.Hour, Limit: 50},
		{Measure: plan.CarriedBits, Per: plan.PerSource, Window: 24 * time.Hour, Limit: 8 << 20}, // about a mebibyte
	},
	MaxDecide: 17, MaxCarry: 3300, // bits: 160 characters of any script are 3,214
})

var policy = plan.Policy{
	plan.KindTableRow:      plan.Always(plan.Auto),
	plan.KindGitHubLabel:   plan.Always(plan.Auto),
	plan.KindGitHubComment: plan.Always(plan.Auto),
	plan.KindGitHubClose:   {System: plan.Auto, Trigger: plan.Auto, Authorized: plan.Ask, Unverified: plan.Ask},
}

// decide is the plan: the row keeps what labels do not show, a bug report
// that lacks something is asked for it, and spam is closed.
func decide(t Triage, at plan.Target) []plan.Action {
	actions := []plan.Action{plan.TableRow{Table: "triage", Key: at.Ref(), Columns: []plan.Column{
		plan.Text("kind", t.Kind),
		plan.Int("severity", t.Severity),
		plan.Text("reproducible", t.Reproducible),
		plan.Token("version", t.Version),
		plan.Quote("quote", t.Quote),
	}}}
	if t.Kind == "spam" {
		return append(actions, plan.GitHubClose{Issue: at.Ref(), Reason: "not_planned"})
	}
	actions = append(actions, plan.GitHubLabel{Issue: at.Ref(), Label: t.Kind})
	for _, a := range t.Areas {
		actions = append(actions, plan.GitHubLabel{Issue: at.Ref(), Label: "area/" + string(a)})
	}
	if t.Kind == "bug" && len(t.Missing) > 0 {
		actions = append(actions, plan.GitHubComment{Issue: at.Ref(), Body: ask(t.Missing)})
	}
	return actions
}

// ask writes the comment that asks for what is missing.
func ask(missing []Lack) plan.Template {
	body := "Thank you for the report. To look into it we still need:\n"
	for _, l := range []struct {
		lack Lack
		line string
	}{
		{LackVersion, "\n- the version you use"},
		{LackSteps, "\n- the steps that lead to it"},
		{LackExpected, "\n- what you expected to happen"},
		{LackLogs, "\n- the log or the error message"},
	} {
		if slices.Contains(missing, l.lack) {
			body += l.line
		}
	}
	return plan.Say(body)
}
