// Package advisories is the recipe that reads security advisories: which
// package an advisory is about, what mends it, how severe it is, and whether
// it matters to a configured list of dependencies; with a table row for each
// and an issue for what matters as the outcome.
//
// It holds the shape, the plan and the policy. What may read an advisory's
// text, and the list of dependencies, stand in package intake, which act does
// not link: the plan sees whether an advisory matters and never a name.
package advisories

import (
	_ "embed"
	"time"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
)

// What an advisory means for the dependencies.
const (
	MattersYes   = "yes"   // one of them is affected in the version that is used
	MattersMaybe = "maybe" // one of them is named, and nobody can compare its version
	MattersNo    = "no"
)

// What there is to do about an advisory.
const (
	ActionUpgrade = "upgrade" // a version mends it
	ActionWatch   = "watch"   // none does yet
	ActionNone    = "none"    // it was withdrawn
)

// Advisory is all that may be known of an advisory. Names of packages and
// versions are longer than a token may be; they are quotes, the record's own
// lists with ", " between.
type Advisory struct {
	ID        *shape.Token  `json:"id,omitempty"      jsonschema:"pattern=^((CVE|GO|PYSEC|RUSTSEC|OSV|MAL|GSD)-[0-9]{4}-[0-9]{1\\,7}|GHSA(-[23456789cfghjmpqrvwx]{4}){3})$"`
	Aliases   []shape.Token `json:"aliases"           jsonschema:"maxItems=6,pattern=^((CVE|GO|PYSEC|RUSTSEC|OSV|MAL|GSD)-[0-9]{4}-[0-9]{1\\,7}|GHSA(-[23456789cfghjmpqrvwx]{4}){3})$"`
	Package   *shape.Quote  `json:"package,omitempty" jsonschema:"maxLength=1000,pattern=^[ -~]{1\\,1000}$"`
	Ecosystem string        `json:"ecosystem"         jsonschema:"enum=go,enum=npm,enum=pypi,enum=maven,enum=nuget,enum=rubygems,enum=crates.io,enum=packagist,enum=actions,enum=os,enum=other"`
	Fixed     *shape.Quote  `json:"fixed,omitempty"   jsonschema:"maxLength=400,pattern=^[ -~]{1\\,400}$"`
	Severity  string        `json:"severity"          jsonschema:"enum=critical,enum=high,enum=medium,enum=low,enum=unknown"`
	Matters   string        `json:"matters"           jsonschema:"enum=yes,enum=maybe,enum=no"`
	Action    string        `json:"action"            jsonschema:"enum=upgrade,enum=watch,enum=none"`
}

//go:embed outcomes.json
var outcomes []byte

// Recipe is the advisories recipe.
var Recipe = pipeline.New(pipeline.Spec[Advisory]{
	Name: "advisories", Plan: decide, Policy: policy, Outcomes: outcomes,
	Events:    []pipeline.Event{{Name: pipeline.Tick, Reads: pipeline.OthersWords}},
	Schedules: []pipeline.Schedule{{Name: "advisories", Channel: "feed:advisories"}},
	Readers:   plan.Anyone, // advisories are published
	Budgets: []plan.Budget{
		{Measure: plan.Runs, Per: plan.PerSource, Window: time.Hour, Limit: 2000},
		{Measure: plan.Actions, Kind: plan.KindGitHubIssue, Per: plan.PerSource, Window: 24 * time.Hour, Limit: 40},
		{Measure: plan.CarriedBits, Per: plan.PerSource, Window: 24 * time.Hour, Limit: 128 << 20}, // 16 MiB
	},
	MaxDecide: 15, MaxCarry: 9600, // bits: 1,000 and 400 characters of ASCII, and 7 tokens
})

var policy = plan.Policy{
	plan.KindTableRow:    plan.Always(plan.Auto),
	plan.KindGitHubIssue: plan.Always(plan.Auto),
}

// Repository is where issues about the dependencies are opened.
const Repository = "octo-org/sample"

// decide is the plan: a row for each advisory, and an issue for one that
// matters, unless it was withdrawn. An issue names the advisory by its id
// alone: what else a stranger wrote stays in the row, and so does what would
// make the list of outcomes longer than a reader's patience.
func decide(a Advisory, at plan.Target) []plan.Action {
	actions := []plan.Action{plan.TableRow{Table: "advisories", Key: at.Ref(), Columns: []plan.Column{
		plan.Token("id", a.ID),
		plan.Joined("aliases", names(a.Aliases)),
		plan.Quote("package", a.Package),
		plan.Text("ecosystem", a.Ecosystem),
		plan.Quote("fixed", a.Fixed),
		plan.Text("severity", a.Severity),
		plan.Text("matters", a.Matters),
		plan.Text("action", a.Action),
	}}}
	if a.Matters == MattersNo || a.Action == ActionNone {
		return actions
	}
	return append(actions, plan.GitHubIssue{Repository: Repository, Title: title(a), Body: body(a, at)})
}

// title names the advisory.
func title(a Advisory) plan.Template {
	if a.ID == nil {
		return plan.Say("Advisory without an id of a known form")
	}
	return plan.Say("Advisory: ", a.ID)
}

// body says what there is to do, and where the rest stands.
func body(a Advisory, at plan.Target) plan.Template {
	text := "An advisory names one of the dependencies in the version that is used."
	if a.Matters == MattersMaybe {
		text = "An advisory names one of the dependencies. Whether the version that is used is affected has to be looked up."
	}
	if a.Action == ActionUpgrade {
		text += " Upgrade to a version that mends it."
	} else {
		text += " No version mends it yet."
	}
	return plan.Say(text+"\n\nPackage, versions, severity and other ids stand in the table advisories, in the row ", at.Ref(), ".")
}

// names are aliases with ", " between.
func names(aliases []shape.Token) plan.Template {
	var parts []any
	for i, a := range aliases {
		if i > 0 {
			parts = append(parts, ", ")
		}
		parts = append(parts, a)
	}
	return plan.Say(parts...)
}
