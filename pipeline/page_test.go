package pipeline_test

import (
	"testing"

	"github.com/invopop/jsonschema"

	"decant.dev/act/plan"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
)

type Area string

func (Area) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"engine", "paper", "website", "release", "testing"}}
}

// Triage is the shape of the page of design section 3, letter for letter.
type Triage struct {
	Kind     string       `json:"kind"     jsonschema:"enum=bug,enum=feature,enum=question,enum=spam"`
	Severity int          `json:"severity" jsonschema:"minimum=0,maximum=3"`
	Areas    []Area       `json:"areas"    jsonschema:"maxItems=2,uniqueItems=true"`
	Version  *shape.Token `json:"version,omitempty" jsonschema:"pattern=^v[0-9]{1\\,3}(\\.[0-9]{1\\,3}){2}$"`
	Quote    *shape.Quote `json:"quote,omitempty"   jsonschema:"maxLength=160"`
}

func decide(t Triage, at plan.Target) []plan.Action {
	kept := plan.TableRow{Table: "issues", Key: at.Ref(), Columns: []plan.Column{
		plan.Int("severity", t.Severity), plan.Token("version", t.Version), plan.Quote("quote", t.Quote),
	}}
	actions := []plan.Action{kept, plan.GitHubLabel{Issue: at.Ref(), Label: t.Kind}}
	for _, a := range t.Areas {
		actions = append(actions, plan.GitHubLabel{Issue: at.Ref(), Label: "in: " + string(a)})
	}
	return actions
}

var policy = plan.Policy{plan.KindTableRow: plan.Always(plan.Auto), plan.KindGitHubLabel: plan.Always(plan.Ask)}

func page(outcomes []byte) pipeline.Spec[Triage] {
	return pipeline.Spec[Triage]{
		Name: "issues", Plan: decide, Policy: policy, Outcomes: outcomes, /* embedded file */
		MaxDecide: 16, MaxCarry: 3300, // bits; 160 characters of any script are 3,214
	}
}

// The recipe that the design shows compiles, builds and audits as written.
func TestThePageOfTheDesignBuildsAndAudits(t *testing.T) {
	t.Parallel()
	first := pipeline.New(page(nil))
	if _, code := first.List(); code != pipeline.OutcomesEmpty {
		t.Errorf("before it was written the list is %q: want %q", code, pipeline.OutcomesEmpty)
	}
	list, breaches := first.Enumerate()
	if len(breaches) > 0 {
		t.Fatalf("breaches: %v", breaches)
	}
	// Severity, version and quote vary by themselves, as do kind and the set of at most two of five areas.
	if want := int64((4 * 2 * 2) * 4 * (1 + 5 + 10)); list.Outcomes().Int64() != want {
		t.Errorf("%s outcomes: want %d", list.Outcomes(), want)
	}
	recipe := pipeline.New(page(list.Encode()))
	built, code := recipe.List()
	if code != pipeline.OK || built.Outcomes().Cmp(list.Outcomes()) != 0 {
		t.Fatalf("the list that was built in: %q, %v", code, built)
	}
	if b := recipe.Bits(); b.Decide > 16 || b.Carry > 3300 || b.Carry < 3214 || b.Decide < 10 {
		t.Errorf("bits %+v", b)
	}
	if recipe.Package() != "decant.dev/pipeline_test" {
		t.Errorf("package %s: want this one's", recipe.Package())
	}
	for _, structure := range []string{
		`{"areas":[],"kind":"bug","severity":0}`,
		`{"areas":["engine","testing"],"kind":"spam","quote":"\"it broke\"","severity":3,"version":"v1.20.300"}`,
	} {
		v, err := recipe.Shape().DecodeCanonical([]byte(structure))
		if err != nil {
			t.Fatal(err)
		}
		o, _, err := recipe.Decide(v, "")
		if err != nil || !built.Admits(o) {
			t.Errorf("%s: %v, admitted %t", structure, err, built.Admits(o))
		}
	}
}
