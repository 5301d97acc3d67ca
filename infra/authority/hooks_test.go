package authority

import (
	"fmt"
	"strings"
	"testing"
)

// hooks are those of the template "hooked".
var hooks = []Hook{{Name: "shop"}, {Name: "door-2"}, {Name: "open", Unsigned: true}}

// judgeHooks is the proof of a deployment with these hooks.
func judgeHooks(doc []byte, hooks ...Hook) string {
	table, err := Compute(doc)
	if err != nil {
		return err.Error()
	}
	var all []string
	for _, v := range table.Compare(Decant().WithHooks(hooks...)) {
		all = append(all, v.String())
	}
	return strings.Join(all, "\n")
}

const hookedTemplate = "../../testdata/hooked.golden.json"

// A deployment is as expected with exactly its hooks.
func TestTheHooksAreExpectedByName(t *testing.T) {
	t.Parallel()
	doc := document(t, hookedTemplate)
	if got := judgeHooks(doc, hooks...); got != "" {
		t.Errorf("got %s", got)
	}
	for name, tc := range map[string]struct {
		hooks []Hook
		want  []string
	}{
		"none":                {nil, []string{"may secretsmanager:GetSecretValue", "may lambda:InvokeFunction"}},
		"one less":            {hooks[1:], []string{"HookSecretshop", "/webhooks/shop"}},
		"an open one less":    {hooks[:2], []string{"/webhooks/open"}},
		"one more":            {append([]Hook{{Name: "more"}}, hooks...), []string{"HookSecret more: want one AWS::SecretsManager::Secret", "/webhooks/more"}},
		"a signed one opened": {[]Hook{{Name: "shop", Unsigned: true}, hooks[1], hooks[2]}, []string{"may secretsmanager:GetSecretValue"}},
		"an open one signed":  {[]Hook{hooks[0], hooks[1], {Name: "open"}}, []string{"HookSecret open: want one"}},
	} {
		got := judgeHooks(doc, tc.hooks...)
		for _, want := range tc.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		}
	}
}

// Every role × every action on a secret × every secret, but for what the design
// lists; and every deny of one taken away.
func TestNoOtherPhaseReadsAHooksSecret(t *testing.T) {
	t.Parallel()
	doc := document(t, hookedTemplate)
	const secret = "AWS::SecretsManager::Secret"
	var secrets map[Pattern]any
	change(t, doc, func(r object) { secrets = places(r, secret) })
	if len(secrets) != 3 {
		t.Fatalf("got %d secrets, want GitHub's and two hooks'", len(secrets))
	}
	tried := 0
	for on, resource := range secrets {
		for _, rule := range Decant().Roles {
			for _, action := range sensitive[secret] {
				tried++
				got := judgeHooks(grant(t, doc, "Decant", rule.Name, action, resource), hooks...)
				if rule.Name == "IngressRole" && action == "secretsmanager:GetSecretValue" {
					if got != "" {
						t.Errorf("%s: %s is listed, yet: %s", on, action, got)
					}
				} else if !strings.Contains(got, rule.Name) || !strings.Contains(strings.ToLower(got), strings.ToLower(action)) {
					t.Errorf("%s: %s by %s: got %q", on, action, rule.Name, got)
				}
			}
		}
	}
	denied := 0
	for _, role := range withoutSecrets {
		var policy string
		change(t, doc, func(r object) {
			for k := range r {
				if strings.HasPrefix(k, "Decant"+role) {
					policy = k
				}
			}
		})
		for left := range secrets {
			got := judgeHooks(change(t, doc, func(r object) {
				for _, p := range props(r, policy)["Policies"].([]any) {
					for _, s := range p.(object)["PolicyDocument"].(object)["Statement"].([]any) {
						if s := s.(object); s["Sid"] == "NoSecret" {
							var rest []any
							for _, one := range s["Resource"].([]any) {
								if !strings.Contains(fmt.Sprint(one), left.ID) {
									rest = append(rest, one)
								}
							}
							s["Resource"] = rest
						}
					}
				}
			}), hooks...)
			if denied++; !strings.Contains(got, role+": is not denied secretsmanager:*") {
				t.Errorf("%s without the deny of %s: got %q", role, left.ID, got)
			}
		}
	}
	t.Logf("%d rights and %d denies tried", tried, denied)
}

// A hook's path opens no other.
func TestAHooksRouteIsItsPathAlone(t *testing.T) {
	t.Parallel()
	doc := string(document(t, hookedTemplate))
	for _, k := range hooks {
		path := "/*/POST/webhooks/" + k.Name
		if strings.Count(doc, path+`"`) != 1 {
			t.Fatalf("want %s once in the template", path)
		}
		for _, wider := range []string{"/*/POST/webhooks/*", "/*", "/*/*/webhooks/" + k.Name, "/*/POST/webhooks/" + k.Name + "*", "/*/GET/webhooks/" + k.Name} {
			if got := judgeHooks([]byte(strings.Replace(doc, path+`"`, wider+`"`, 1)), hooks...); !strings.Contains(got, "lambda:InvokeFunction") {
				t.Errorf("%s widened to %s: got %q", path, wider, got)
			}
		}
	}
}
