package authority

import (
	"slices"
	"strings"
	"testing"
)

const (
	profile    = "arn:aws:bedrock:eu-central-1:111122223333:inference-profile/eu.example.some-model-v1:0"
	foundation = "arn:aws:bedrock:eu-west-1::foundation-model/example.some-model-v1:0"
	guardrail  = "arn:aws:bedrock:eu-central-1:111122223333:guardrail/abc123"
)

// allowing adds one policy to the role of each phase that is named.
func allowing(t *testing.T, action string, resource any, roles ...string) []byte {
	t.Helper()
	return change(t, document(t, "template.json"), func(r object) {
		for _, role := range roles {
			r["Asking"+role] = object{"Type": "AWS::IAM::Policy", "Properties": object{
				"PolicyName": "model", "Roles": []any{object{"Ref": id(t, r, "AWS::IAM::Role", role)}},
				"PolicyDocument": object{"Version": "2012-10-17", "Statement": []any{object{"Effect": "Allow", "Action": action, "Resource": resource}}},
			}}
		}
	})
}

// Extract may ask exactly the models that are named, and has to be allowed
// each; no other phase may ask any.
func TestOnlyExtractAsksExactlyTheNamedModels(t *testing.T) {
	t.Parallel()
	both := []string{"ExtractUnverifiedRole", "ExtractRestRole"}
	invoke, named := "bedrock:InvokeModel", []string{profile, foundation}
	for name, c := range map[string]struct {
		action   string
		resource any
		roles    []string
		models   []string
		want     int // violations; -1: there is no table of it
	}{
		"as named":                {invoke, []any{profile, foundation}, both, named, 0},
		"a pattern is no name":    {invoke, []any{profile}, both, []string{profile, "arn:aws:bedrock:*::foundation-model/*"}, 0},
		"a guardrail":             {"bedrock:ApplyGuardrail", guardrail, both, []string{guardrail}, 0},
		"one is not allowed":      {invoke, profile, both, named, 2},
		"one is not named":        {invoke, []any{profile, foundation}, both, named[:1], 2},
		"none is named":           {invoke, profile, both, nil, 2},
		"every model":             {invoke, "*", both, named, -1},
		"a pattern":               {invoke, "arn:aws:bedrock:eu-west-1::foundation-model/*", both, named, -1},
		"a pattern that is named": {invoke, "arn:aws:bedrock:eu-west-1::foundation-model/*", both, []string{"arn:aws:bedrock:eu-west-1::foundation-model/*"}, -1},
		"one class alone":         {invoke, []any{profile, foundation}, both[:1], named, 2},
		"another action":          {"bedrock:InvokeModelWithResponseStream", []any{profile, foundation}, both, named, 8},
		"a guardrail is no model": {invoke, guardrail, both, []string{guardrail}, 4},
		"act too":                 {invoke, []any{profile, foundation}, append([]string{"ActRole"}, both...), named, 2},
		"fetch too":               {invoke, []any{profile, foundation}, append([]string{"FetchRole"}, both...), named, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			table, err := Compute(allowing(t, c.action, c.resource, c.roles...))
			if (err != nil) != (c.want < 0) {
				t.Fatalf("got error %v, want one: %t", err, c.want < 0)
			}
			if err != nil {
				return
			}
			found := table.Compare(Decant(c.models...))
			about := slices.ContainsFunc(found, func(v Violation) bool { return !strings.Contains(v.String(), "bedrock:") })
			if len(found) != c.want || about {
				t.Errorf("want %d violations about models, got %v", c.want, found)
			}
		})
	}
}
