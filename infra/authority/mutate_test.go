package authority

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sensitive are actions that give power, by the type of resource they are for.
var sensitive = map[string][]string{
	"AWS::S3::Bucket": {
		"s3:GetObject", "s3:GetObjectVersion", "s3:PutObject", "s3:DeleteObject", "s3:DeleteObjectVersion", "s3:ListBucket", "s3:ListBucketVersions",
		"s3:PutBucketPolicy", "s3:DeleteBucketPolicy", "s3:PutObjectAcl", "s3:PutLifecycleConfiguration", "s3:PutBucketNotification", "s3:BypassGovernanceRetention",
	},
	aTable: {
		"dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:Scan", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem",
		"dynamodb:BatchWriteItem", "dynamodb:ConditionCheckItem", "dynamodb:PartiQLUpdate", "dynamodb:DeleteTable", "dynamodb:UpdateTable", "dynamodb:PutResourcePolicy", "dynamodb:ExportTableToPointInTime",
	},
	aFunction: {
		"lambda:InvokeFunction", "lambda:InvokeAsync", "lambda:InvokeFunctionUrl", "lambda:UpdateFunctionCode", "lambda:UpdateFunctionConfiguration",
		"lambda:AddPermission", "lambda:CreateEventSourceMapping", "lambda:GetFunction",
	},
	"AWS::StepFunctions::StateMachine": {
		"states:StartExecution", "states:StartSyncExecution", "states:UpdateStateMachine", "states:DeleteStateMachine", "states:SendTaskSuccess",
		"states:SendTaskFailure", "states:GetExecutionHistory", "states:StopExecution", "states:DescribeExecution", "states:RedriveExecution",
	},
	"AWS::SecretsManager::Secret": {"secretsmanager:GetSecretValue", "secretsmanager:PutSecretValue", "secretsmanager:PutResourcePolicy", "secretsmanager:UpdateSecret"},
	"AWS::SQS::Queue":             {"sqs:SendMessage", "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:AddPermission", "sqs:SetQueueAttributes"},
	"AWS::SNS::Topic":             {"sns:Publish", "sns:Subscribe", "sns:AddPermission", "sns:SetTopicAttributes"},
	"AWS::Logs::LogGroup":         {"logs:PutLogEvents", "logs:CreateLogStream", "logs:GetLogEvents", "logs:FilterLogEvents", "logs:PutSubscriptionFilter", "logs:DeleteLogGroup"},
	"AWS::IAM::Role":              {"iam:PassRole", "iam:PutRolePolicy", "iam:AttachRolePolicy", "iam:UpdateAssumeRolePolicy", "iam:DeleteRolePermissionsBoundary", "sts:AssumeRole", "sts:TagSession"},
	// Of resources that no template of ours has.
	"": {
		"kms:Decrypt", "kms:CreateGrant", "kms:PutKeyPolicy", "bedrock:InvokeModel", "bedrock:InvokeModelWithResponseStream", "ssm:GetParameter",
		"ssm:SendCommand", "ssm:PutParameter", "iam:CreateUser", "iam:CreateAccessKey", "sts:AssumeRoleWithWebIdentity", "ec2:CreateNetworkInterface", "logs:PutResourcePolicy", "xray:PutTraceSegments",
	},
}

// places are the resources that a mutation names: each one of the type, and
// what lies within it.
func places(resources object, typ string) map[Pattern]any {
	out := map[Pattern]any{}
	if typ == "" {
		out[everything] = "*"
		out[Pattern{Rest: "elsewhere"}] = "arn:aws:kms:eu-west-1:123456789012:key/1234"
	}
	for k, r := range resources {
		if r.(object)["Type"] != typ {
			continue
		}
		whole := object{"Fn::GetAtt": []any{k, "Arn"}}
		switch typ {
		case "AWS::SNS::Topic", "AWS::SecretsManager::Secret":
			out[Pattern{ID: k}] = object{"Ref": k}
		case "AWS::Logs::LogGroup":
			out[Pattern{k, ":*"}] = whole
		default:
			out[Pattern{ID: k}] = whole
		}
		if typ == "AWS::S3::Bucket" {
			for _, within := range []string{"/raw/*", "/prompt/*", "/bundle/*", "/manifest/*", "/cursor/*", "/start/*", "/other/*", "/raw/one"} {
				out[Pattern{k, within}] = object{"Fn::Join": []any{"", []any{whole, within}}}
			}
		}
	}
	return out
}

// listed reports whether design lists a right, by names that are ends of ids.
func listed(prefix, role, action string, on Pattern) bool {
	stem := hash.ReplaceAllString(on.ID, "$1")
	return slices.ContainsFunc(Decant().Rights, func(rule Rule) bool {
		same := on.ID == "" && rule.Resource == everything || on.ID != "" && rule.Resource.ID != "" && strings.EqualFold(stem, prefix+rule.Resource.ID)
		return role == rule.Who && action == rule.Action && same && covers(rule.Resource.Rest, on.Rest) && rule.Need != InNetwork && len(rule.When) == 0
	})
}

// Every role × every sensitive action × every resource of its type, but for
// what the design lists: the proof fails, and names the role and the action.
// It is tried on the template that is deployed.
func TestEveryFurtherRightFailsTheProof(t *testing.T) {
	t.Parallel()
	doc := document(t, "../../testdata/template.golden.json")
	for _, rule := range Decant().Roles {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			everyRight(t, doc, "Decant", rule.Name)
		})
	}
}

func everyRight(t *testing.T, doc []byte, prefix, role string) {
	tried, failed := 0, 0
	for _, typ := range slices.Sorted(maps.Keys(sensitive)) {
		var all map[Pattern]any
		change(t, doc, func(r object) { all = places(r, typ) })
		if len(all) == 0 {
			t.Errorf("%s: want one in the template", typ)
		}
		for on, resource := range all {
			for _, action := range sensitive[typ] {
				tried++
				switch got := judge(grant(t, doc, prefix, role, action, resource)); {
				case listed(prefix, role, action, on):
					if got != "" {
						t.Errorf("%s on %s is listed, yet: %s", action, on, got)
					}
				case !strings.Contains(got, prefix+role) || !strings.Contains(strings.ToLower(got), strings.ToLower(action)):
					t.Errorf("%s on %s: want the proof to fail and name both, got %q", action, on, got)
				default:
					failed++
				}
			}
		}
	}
	t.Logf("%d rights tried, %d failed the proof, the others are listed", tried, failed)
}

// grant adds a statement to the first policy of a role. It works on the text,
// since there are thousands of these.
func grant(t testing.TB, doc []byte, prefix, role, action string, resource any) []byte {
	t.Helper()
	statement, err := json.Marshal(object{"Effect": "Allow", "Action": action, "Resource": resource})
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, mark := range []string{`"` + prefix + role + `(DefaultPolicy)?[0-9A-F]{8}": \{\s+"Type": "AWS::IAM::`, `"PolicyDocument": \{`, `"Statement": \[`} {
		found := regexp.MustCompile(mark).FindIndex(doc[at:])
		if found == nil {
			t.Fatalf("want the policy of %s in the template", role)
		}
		at += found[1]
	}
	return slices.Concat(doc[:at], statement, []byte(","), doc[at:])
}

// statements changes the statements of the policy of a role.
func statements(t testing.TB, r object, role string, with func([]any) []any) {
	d := props(r, id(t, r, "AWS::IAM::Policy", role+"DefaultPolicy"))["PolicyDocument"].(object)
	d["Statement"] = with(d["Statement"].([]any))
}

// Every statement of every policy, taken away: what is missing is a violation
// wherever a phase needs it, and every deny is needed.
func TestEveryDenyAndEveryConditionIsNeeded(t *testing.T) {
	t.Parallel()
	doc := document(t, "template.json")
	tried := 0
	var policies []string
	change(t, doc, func(r object) {
		for k := range r {
			if _, ok := r[k].(object)["Properties"].(object)["PolicyDocument"]; ok {
				policies = append(policies, k)
			}
		}
	})
	slices.Sort(policies)
	for _, k := range policies {
		for i := 0; ; i++ {
			last, deny, condition := false, false, false
			without := change(t, doc, func(r object) {
				d := props(r, k)["PolicyDocument"].(object)
				list := d["Statement"].([]any)
				if last = i >= len(list); last {
					return
				}
				deny = list[i].(object)["Effect"] == "Deny"
				condition = list[i].(object)["Condition"] != nil
				// One that says nothing stands in, since none may be empty.
				d["Statement"] = append(slices.Delete(list, i, i+1), object{"Effect": "Deny", "Action": "s3:DeleteBucket", "Resource": "*", "Principal": "*"})
				if !strings.HasPrefix(r[k].(object)["Type"].(string), "AWS::IAM::") {
					return
				}
				delete(d["Statement"].([]any)[len(list)-1].(object), "Principal")
			})
			if last {
				break
			}
			if deny {
				tried++
				if got := judge(without); !strings.Contains(got, "is not denied") {
					t.Errorf("%s without deny %d: want a missing deny, got %q", k, i, got)
				}
			}
			if condition {
				tried++
				got := judge(change(t, doc, func(r object) {
					delete(props(r, k)["PolicyDocument"].(object)["Statement"].([]any)[i].(object), "Condition")
				}))
				if want := map[bool]string{true: "is not denied", false: "which the expectation does not list"}[deny]; !strings.Contains(got, want) {
					t.Errorf("%s without condition %d: want %q, got %q", k, i, want, got)
				}
			}
		}
	}
	if tried < 7 {
		t.Errorf("want at least 4 denies and 3 conditions tried, got %d", tried)
	}
}

// A pattern is widened in every statement that has one.
func TestEveryWidenedPatternFailsTheProof(t *testing.T) {
	t.Parallel()
	doc := document(t, "template.json")
	tried := 0
	// pattern is the end of a resource that a statement allows, or nil.
	pattern := func(s any) *any {
		resource, _ := s.(object)["Resource"].(object)
		join, ok := resource["Fn::Join"].([]any)
		if !ok || s.(object)["Effect"] != "Allow" {
			return nil
		}
		return &join[1].([]any)[1]
	}
	for _, rule := range Decant().Roles {
		var hits []int
		change(t, doc, func(r object) {
			statements(t, r, rule.Name, func(list []any) []any {
				for i, s := range list {
					if pattern(s) != nil {
						hits = append(hits, i)
					}
				}
				return list
			})
		})
		for _, i := range hits {
			for _, wider := range []string{"/*", "*", "/r*", "/raw*", "/raw/**", "/?/*", "", "//*", "/prompt/*/../raw/*"} {
				tried++
				got := judge(change(t, doc, func(r object) {
					statements(t, r, rule.Name, func(list []any) []any {
						*pattern(list[i]) = wider
						return list
					})
				}))
				if !strings.Contains(got, "Pipeline"+rule.Name) {
					t.Errorf("%s, statement %d widened to %q: want the proof to fail and name it, got %q", rule.Name, i, wider, got)
				}
			}
		}
	}
	if tried != 13*9 {
		t.Errorf("want 13 patterns widened in 9 ways, got %d", tried)
	}
}

// A key is doubled in every object of the template, at any depth.
func TestEveryDuplicateKeyFailsTheProof(t *testing.T) {
	t.Parallel()
	doc := string(document(t, "template.json"))
	tried := 0
	for at, c := range doc {
		if c != '{' {
			continue
		}
		rest := strings.TrimSpace(doc[at+1:])
		if !strings.HasPrefix(rest, `"`) {
			continue
		}
		key := rest[:1+strings.Index(rest, `":`)]
		tried++
		got := judge([]byte(fmt.Sprintf("%s%s:null,%s", doc[:at+1], key, doc[at+1:])))
		if !strings.Contains(got, "want each key once") || !strings.Contains(got, strings.Trim(key, `"`)) && !strings.Contains(got, "(key)") {
			t.Fatalf("key %s doubled: want an error that names it, got %q", key, got)
		}
	}
	if tried < 300 {
		t.Errorf("want the objects of the whole template, got %d", tried)
	}
}
