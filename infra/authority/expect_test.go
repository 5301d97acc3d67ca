package authority

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Every name in a rule is bound by the expectation, so that no rule is dead
// for a slip of the pen.
func TestEveryNameOfTheExpectationIsBound(t *testing.T) {
	t.Parallel()
	e := Decant()
	names := []string{""}
	for _, n := range e.Names {
		names = append(names, n.Name)
		if len(n.Ends) == 0 || known[n.Type].props == "" {
			t.Errorf("%s: want a known type and how its ids end", n.Name)
		}
	}
	for _, r := range e.Roles {
		names = append(names, r.Name, r.Holder, r.Holder+"Logs")
	}
	check := func(r Right) {
		for _, n := range []string{r.Who, r.Resource.ID} {
			if !slices.Contains(names, n) && !strings.HasPrefix(n, Service) && n != Anyone {
				t.Errorf("%s: want a name that is bound, got %q", describe(r), n)
			}
		}
	}
	seen := map[string]bool{}
	for _, r := range e.Rights {
		check(r.Right)
		if key := r.Who + describe(r.Right); seen[key] || r.Need < Must || r.Need > InNetwork {
			t.Errorf("%s: want it once, with a need", key)
		} else {
			seen[key] = true
		}
		if wild(r.Action) {
			t.Errorf("%s: want an exact action", describe(r.Right))
		}
	}
	for _, r := range e.Denies {
		check(r)
	}
}

// What a phase needs, and may not, is a violation of its own.
func TestEveryNeededRightIsMissed(t *testing.T) {
	t.Parallel()
	for _, rule := range Decant().Rights {
		if rule.Need != Must {
			continue
		}
		table, err := Compute(document(t, "template.json"))
		if err != nil {
			t.Fatal(err)
		}
		before := len(table.Rights)
		table.Rights = slices.DeleteFunc(table.Rights, func(r Right) bool {
			stem := Pattern{hash.ReplaceAllString(r.Resource.ID, "$1"), r.Resource.Rest}
			return hash.ReplaceAllString(r.Who, "$1") == "Pipeline"+rule.Who && r.Action == rule.Action && stem.String() == "Pipeline"+rule.Resource.String() && slices.Equal(r.When, rule.When)
		})
		found := table.Compare(Decant())
		if before-len(table.Rights) != 1 || len(found) != 1 || found[0].String() != rule.Who+": may not "+describe(rule.Right)+", which it needs" {
			t.Errorf("%s without %s: want it missed, got %v", rule.Who, describe(rule.Right), found)
		}
	}
}

// The secret may be one that the template names and does not make.
func TestASecretFromElsewhereIsTheOneSecret(t *testing.T) {
	t.Parallel()
	doc := document(t, "template.json")
	one := object{"Fn::Sub": "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:secret:decant/github-??????"}
	mutate := func(arns ...any) string {
		return judge(change(t, doc, func(r object) {
			delete(r, id(t, r, "AWS::SecretsManager::Secret", "GithubSecret"))
			for _, rule := range Decant().Roles {
				statements(t, r, rule.Name, func(list []any) []any {
					for _, s := range list {
						switch s.(object)["Action"] {
						case "secretsmanager:GetSecretValue":
							s.(object)["Resource"] = arns
						case "secretsmanager:*":
							s.(object)["Resource"] = one
						}
					}
					return list
				})
			}
		}))
	}
	if got := mutate(one); got != "" {
		t.Errorf("want one secret from elsewhere in order, got %s", got)
	}
	for name, arns := range map[string][]any{
		"two":       {one, "arn:aws:secretsmanager:eu-west-1:123456789012:secret:other-AbCdEf"},
		"any":       {"arn:aws:secretsmanager:eu-west-1:123456789012:secret:*"},
		"any of it": {"arn:aws:secretsmanager:eu-west-1:123456789012:secret:*-??????"},
		"no secret": {"arn:aws:ssm:eu-west-1:123456789012:parameter/x-??????"},
	} {
		if got := mutate(arns...); !strings.Contains(got, "IngressRole") && !strings.Contains(got, "GithubSecret") {
			t.Errorf("%s: want the proof to fail and name it, got %q", name, got)
		}
	}
}

// An expectation that lists nothing admits nothing.
func TestAnEmptyExpectationAdmitsNothing(t *testing.T) {
	t.Parallel()
	table, err := Compute(document(t, "template.json"))
	if err != nil {
		t.Fatal(err)
	}
	found := table.Compare(Expectation{})
	if len(found) != len(table.Roles)+len(table.Rights) {
		t.Errorf("want each of %d roles and %d rights a violation, got %d", len(table.Roles), len(table.Rights), len(found))
	}
	// A rule whose need was left out admits nothing either.
	e := Decant()
	for i := range e.Rights {
		e.Rights[i].Need = 0
	}
	if found := table.Compare(e); len(found) != len(table.Rights) {
		t.Errorf("want each of %d rights a violation, got %d", len(table.Rights), len(found))
	}
}

// A template that holds no more than its resources' names says so in words.
func TestMissingResourcesAreNamed(t *testing.T) {
	t.Parallel()
	b, err := json.Marshal(object{"Resources": object{"T": object{"Type": aTable}}})
	if err != nil {
		t.Fatal(err)
	}
	got := judge(b)
	for _, want := range []string{"ActRole: want one AWS::IAM::Role of that name, got none", "RawBucket: want one AWS::S3::Bucket"} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q, got %q", want, got)
		}
	}
	if strings.Contains(got, "ApprovalTopic") {
		t.Errorf("want nothing about an optional topic, got %q", got)
	}
}
