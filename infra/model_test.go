package infra

import (
	"slices"
	"strings"
	"testing"
)

func TestModelIsChecked(t *testing.T) {
	t.Parallel()
	with := func(change func(*Model)) error {
		p := Props{Stage: "dev", Model: someModel}
		p.Model.Invoke = slices.Clone(someModel.Invoke)
		change(&p.Model)
		return p.Check()
	}
	if err := with(func(*Model) {}); err != nil {
		t.Error(err)
	}
	if err := with(func(m *Model) { m.ID = m.Invoke[0] }); err != nil {
		t.Error(err)
	}
	for name, change := range map[string]func(*Model){
		"no id":             func(m *Model) { m.ID = "" },
		"id with a space":   func(m *Model) { m.ID = "a b" },
		"nothing to invoke": func(m *Model) { m.Invoke = nil },
		"too much":          func(m *Model) { m.Invoke = slices.Repeat(m.Invoke, 6) },
		"every model":       func(m *Model) { m.Invoke[1] = "*" },
		"a pattern":         func(m *Model) { m.Invoke[1] = "arn:aws:bedrock:*::foundation-model/*" },
		"a pattern at end":  func(m *Model) { m.Invoke[1] = "arn:aws:bedrock:eu-west-1::foundation-model/example.*" },
		"another service":   func(m *Model) { m.Invoke[1] = "arn:aws:s3:::bucket" },
		"an agent":          func(m *Model) { m.Invoke[1] = "arn:aws:bedrock:eu-west-1:111122223333:agent/A1" },
		"another guardrail": func(m *Model) { m.Guardrail = m.Invoke[0] },
		"id not invoked":    func(m *Model) { m.ID = "arn:aws:bedrock:eu-west-1::foundation-model/other" },
	} {
		if err := with(change); err == nil || !strings.Contains(err.Error(), "Model.") {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// Extract alone is told the model, and where no route leads out there is one
// endpoint of the model's own, with the same rights and no more.
func TestIsolatedModelHasAnEndpointOfItsOwn(t *testing.T) {
	v := synthesized(t, "modelled")
	for _, id := range v.of("AWS::Lambda::Function") {
		env, _ := v.template.Resources[id].Properties["Environment"].(map[string]any)
		variables, _ := env["Variables"].(map[string]any)
		want := any(nil)
		if strings.Contains(id, "Extract") {
			want = someModel.ID
		}
		if variables["DECANT_MODEL"] != want {
			t.Errorf("%s: DECANT_MODEL is %v, want %v", id, variables["DECANT_MODEL"], want)
		}
	}
	var actions []string
	for _, id := range v.of("AWS::EC2::VPCEndpoint") {
		p := v.template.Resources[id].Properties
		if p["VpcEndpointType"] != "Interface" {
			continue
		}
		if p["PrivateDnsEnabled"] != true {
			t.Errorf("%s: want the service's own name to lead to it", id)
		}
		for _, s := range p["PolicyDocument"].(map[string]any)["Statement"].([]any) {
			statement := s.(map[string]any)
			actions = append(actions, statement["Action"].(string))
			if statement["Resource"] == "*" {
				t.Errorf("%s: want exact resources", id)
			}
		}
	}
	if !slices.Equal(actions, []string{"bedrock:InvokeModel", "bedrock:ApplyGuardrail"}) {
		t.Errorf("the endpoint lets pass %v", actions)
	}
	if n := len(synthesized(t, "full").of("AWS::EC2::VPCEndpoint")); n != 1 {
		t.Errorf("without a model: want the endpoint of S3 alone, got %d", n)
	}
}
