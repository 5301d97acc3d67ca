package infra

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-cdk-go/awscdk/v2/assertions"

	"decant.dev/pipeline/aws/environment"
	"decant.dev/pipeline/aws/machine"
)

// everyVariant runs a check on each template.
func everyVariant(t *testing.T, check func(*testing.T, *variant)) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(variants)) {
		t.Run(name, func(t *testing.T) { check(t, synthesized(t, name)) })
	}
}

// text is a value as JSON, to look for words in.
func text(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

// needs is what each function is told, beside its name, its namespace and what
// is optional.
var needs = map[Phase][]environment.Variable{
	Ingress:           {environment.RawBucket, environment.ExpectedOwner, environment.StateMachine, environment.BatchMachine, environment.GitHubSecret},
	Fetch:             {environment.RawBucket, environment.ExpectedOwner, environment.GrantsTable},
	ExtractUnverified: {environment.RawBucket, environment.ExpectedOwner},
	ExtractRest:       {environment.RawBucket, environment.ExpectedOwner},
	Act:               {environment.ActTable, environment.GrantsTable, environment.RunsTable, environment.ApprovalsTable},
	Approve:           {environment.ApprovalsTable, environment.GrantsTable},
	Context:           {environment.RawBucket, environment.ExpectedOwner, environment.RunsTable, environment.GrantsTable},
	Sweep:             {environment.RawBucket, environment.ExpectedOwner, environment.StateMachine, environment.BatchMachine, environment.RunsTable},
}

func TestEveryFunctionIsToldOnlyWhatItNeeds(t *testing.T) {
	everyVariant(t, func(t *testing.T, v *variant) {
		functions := v.of("AWS::Lambda::Function")
		if len(functions) != len(Phases()) {
			t.Fatalf("got %d functions, want %d", len(functions), len(Phases()))
		}
		for _, id := range functions {
			properties := v.template.Resources[id].Properties
			told := properties["Environment"].(map[string]any)["Variables"].(map[string]any)
			phase := Phase(told[string(environment.Service)].(string))
			want := []string{string(environment.Service), string(environment.Namespace)}
			for _, n := range needs[phase] {
				want = append(want, string(n))
			}
			if len(v.props.OwnIdentities) > 0 && (phase == Fetch || phase == Act || phase == Approve || phase == Context) {
				want = append(want, string(environment.OwnIdentities))
			}
			if len(v.pipeline.HookSecrets) > 0 && phase == Ingress {
				want = append(want, string(environment.HookSecrets))
			}
			if v.props.ContextAPI && (phase == Fetch || phase.program() == "extract") {
				want = append(want, string(environment.ContextURL))
			}
			if v.props.Model.ID != "" && phase.program() == "extract" {
				want = append(want, string(environment.Model))
			}
			if v.props.Live && phase == Act {
				want = append(want, string(environment.Live))
				if len(v.props.Kinds) > 0 {
					want = append(want, string(environment.Kinds))
				}
			}
			slices.Sort(want)
			if got := slices.Sorted(maps.Keys(told)); !slices.Equal(got, want) {
				t.Errorf("%s is told %v, want %v", phase, got, want)
			}
			if !strings.Contains(id, phase.id()) {
				t.Errorf("%s calls itself %s", id, phase)
			}
			for name, want := range map[string]any{
				"Runtime": "provided.al2023", "Handler": "bootstrap", "Architectures": []any{"arm64"},
				"TracingConfig": map[string]any{"Mode": "Active"},
			} {
				if !reflect.DeepEqual(properties[name], want) {
					t.Errorf("%s: %s is %v, want %v", phase, name, properties[name], want)
				}
			}
			reserved, has := properties["ReservedConcurrentExecutions"]
			if n, want := v.props.ReservedConcurrency[phase]; has != want || want && reserved != n {
				t.Errorf("%s: reserved concurrency %v, want %v", phase, reserved, n)
			}
			if _, isolated := properties["VpcConfig"]; isolated != (v.props.Network == NetworkIsolated && phase.program() == "extract") {
				t.Errorf("%s: in subnets: %t", phase, isolated)
			}
		}
	})
}

// What a function reads at its start must accept what the template gives it,
// with intrinsics put for values of their form.
func TestEveryFunctionAcceptsItsEnvironment(t *testing.T) {
	sound := map[string]string{
		"DECANT_RAW_BUCKET": "decant-raw", "DECANT_ACT_TABLE": "Act", "DECANT_GRANTS_TABLE": "Grants", "DECANT_RUNS_TABLE": "Runs",
		"DECANT_APPROVALS_TABLE": "Approvals", "DECANT_EXPECTED_OWNER": "111122223333",
		"DECANT_STATE_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:Machine-1",
		"DECANT_CONTEXT_URL":       "https://abcdef1234.execute-api.eu-central-1.amazonaws.com",
		"DECANT_BATCH_MACHINE_ARN": "arn:aws:states:eu-central-1:111122223333:stateMachine:Batch-1",
		"DECANT_GITHUB_SECRET_ARN": "arn:aws:secretsmanager:eu-central-1:111122223333:secret:GitHub-1",
		"DECANT_HOOK_SECRET_ARNS":  "shop=arn:aws:secretsmanager:eu-central-1:111122223333:secret:Shop-1",
	}
	everyVariant(t, func(t *testing.T, v *variant) {
		for _, id := range v.of("AWS::Lambda::Function") {
			told := v.template.Resources[id].Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
			phase := Phase(told[string(environment.Service)].(string))
			lookup := func(name string) (string, bool) {
				value, set := told[name]
				literal, isLiteral := value.(string)
				switch {
				case name == string(environment.Region):
					return "eu-central-1", true
				case isLiteral:
					return literal, true
				}
				return sound[name], set
			}
			asks := append([]environment.Variable{environment.OwnIdentities, environment.Live, environment.Kinds, environment.HookSecrets}, needs[phase]...)
			if _, err := environment.Read(lookup, asks...); err != nil {
				t.Errorf("%s would not start: %v", phase, err)
			}
		}
	})
}

func TestStoresArePrivateEncryptedAndKept(t *testing.T) {
	everyVariant(t, func(t *testing.T, v *variant) {
		for id, r := range v.template.Resources {
			has := func(words ...string) {
				t.Helper()
				for _, w := range words {
					if !strings.Contains(text(r.Properties), w) {
						t.Errorf("%s has no %s", id, w)
					}
				}
			}
			switch r.Type {
			case "AWS::S3::Bucket":
				has(`"BlockPublicAcls":true`, `"BlockPublicPolicy":true`, `"IgnorePublicAcls":true`, `"RestrictPublicBuckets":true`,
					`"SSEAlgorithm":"AES256"`, `"ObjectOwnership":"BucketOwnerEnforced"`, `"VersioningConfiguration":{"Status":"Enabled"}`,
					`"Prefix":"raw/"`, `"Prefix":"prompt/"`, `"Prefix":"manifest/"`, `"Prefix":"start/"`)
			case "AWS::DynamoDB::Table":
				has(`"PointInTimeRecoveryEnabled":true`, `"BillingMode":"PAY_PER_REQUEST"`)
				if ttl := strings.Contains(text(r.Properties), "TimeToLive"); ttl != (strings.Contains(id, "ApprovalsTable") || strings.Contains(id, "ActTable")) {
					t.Errorf("%s: items expire: %t", id, ttl)
				}
			case "AWS::SQS::Queue":
				has(`"SqsManagedSseEnabled":true`, `"MessageRetentionPeriod":1209600`)
			case "AWS::SNS::Topic":
				has(`"KmsMasterKeyId"`)
			case "AWS::Logs::LogGroup":
				has(`"RetentionInDays"`)
			case "AWS::S3::BucketPolicy", "AWS::SQS::QueuePolicy", "AWS::SNS::TopicPolicy":
				has(`"aws:SecureTransport":"false"`, `"Effect":"Deny"`)
			}
			kept := r.Type == "AWS::S3::Bucket" || r.Type == "AWS::DynamoDB::Table"
			if kept != (r.DeletionPolicy == "Retain") {
				t.Errorf("%s (%s): deletion policy %q", id, r.Type, r.DeletionPolicy)
			}
		}
		queues := 1
		if v.props.DeliveryQueue {
			queues = 3
		}
		for typ, n := range map[string]int{"AWS::S3::Bucket": 1, "AWS::DynamoDB::Table": 4, "AWS::SQS::Queue": queues, "AWS::SNS::Topic": 1, "AWS::Logs::LogGroup": 12} {
			if got := len(v.of(typ)); got != n {
				t.Errorf("got %d of %s, want %d", got, typ, n)
			}
		}
	})
}

func TestMachinesAreTheGeneratedOnesAndLogNoData(t *testing.T) {
	everyVariant(t, func(t *testing.T, v *variant) {
		ids := v.of("AWS::StepFunctions::StateMachine")
		if len(ids) != 2 {
			t.Fatalf("got %d machines, want 2", len(ids))
		}
		for _, id := range ids {
			checkMachine(t, v, id, strings.Contains(id, "Batch"))
		}
	})
}

func checkMachine(t *testing.T, v *variant, id string, batch bool) {
	t.Helper()
	properties := v.template.Resources[id].Properties
	substitutions := properties["DefinitionSubstitutions"].(map[string]any)
	var names machine.Resources
	value := reflect.ValueOf(&names).Elem()
	for i := range value.NumField() {
		name := value.Type().Field(i).Name
		value.Field(i).SetString("${" + name + "}")
		if substitutions[name] == nil {
			t.Errorf("%s has no value", name)
		}
	}
	own := 0
	if batch {
		if own = 2; !strings.Contains(text(substitutions["Bucket"]), "RawBucket") || !strings.Contains(text(substitutions["Runs"]), "DecantMachine") {
			t.Errorf("the bucket is %s, the machine of runs %s", text(substitutions["Bucket"]), text(substitutions["Runs"]))
		}
	}
	if len(substitutions) != value.NumField()+own {
		t.Errorf("got %d values, want %d", len(substitutions), value.NumField()+own)
	}
	props, err := v.props.complete()
	if err != nil {
		t.Fatal(err)
	}
	want, err := machine.Definition(names, props.Limits)
	if batch {
		want, err = machine.BatchDefinition(names, machine.Own{Bucket: "${Bucket}", Runs: "${Runs}"}, props.Limits, props.Batches)
	}
	if err != nil {
		t.Fatal(err)
	}
	if properties["DefinitionString"] != string(want) {
		t.Error("the definition is not the generated one")
	}
	log := properties["LoggingConfiguration"].(map[string]any)
	if log["IncludeExecutionData"] != false || log["Level"] != "ALL" {
		t.Errorf("logging is %v", log)
	}
	for name, phase := range map[string]Phase{
		"Act": Act, "Fetch": Fetch, "ExtractUnverified": ExtractUnverified, "ExtractRest": ExtractRest, "Approve": Approve,
	} {
		at := substitutions[name].(map[string]any)["Fn::GetAtt"].([]any)[0].(string)
		told := v.template.Resources[at].Properties["Environment"].(map[string]any)["Variables"].(map[string]any)
		if told[string(environment.Service)] != string(phase) {
			t.Errorf("%s stands for %v", name, told[string(environment.Service)])
		}
	}
}

func TestOnlyTheMachinesMayInvokeAPhaseAndSchedulesTheDoor(t *testing.T) {
	everyVariant(t, func(t *testing.T, v *variant) {
		for id, r := range v.template.Resources {
			machines := strings.Contains(id, "MachineRole") || strings.Contains(id, "BatchRole")
			if r.Type == "AWS::IAM::Role" && strings.Contains(text(r.Properties["Policies"]), "lambda:InvokeFunction") && !machines {
				policies := text(r.Properties["Policies"])
				if !strings.Contains(id, "SchedulerRole") || strings.Count(policies, "Fn::GetAtt") != 3 || !strings.Contains(policies, "Ingress") || !strings.Contains(policies, "Sweep") || !strings.Contains(policies, "FailureQueue") {
					t.Errorf("%s may invoke functions: %s", id, policies)
				}
			}
			door := strings.Contains(text(r.Properties["FunctionName"]), "Ingress") || strings.Contains(text(r.Properties["FunctionName"]), "Context")
			if r.Type == "AWS::Lambda::Permission" && (!door || r.Properties["SourceArn"] == nil) {
				t.Errorf("%s lets %v invoke %s", id, r.Properties["Principal"], text(r.Properties["FunctionName"]))
			}
		}
	})
}

func TestEveryRoleIsBoundedWhereABoundaryIsGiven(t *testing.T) {
	everyVariant(t, func(t *testing.T, v *variant) {
		for _, id := range v.of("AWS::IAM::Role") {
			got, bounded := v.template.Resources[id].Properties["PermissionsBoundary"]
			if bounded != (v.props.PermissionsBoundary != "") || bounded && got != v.props.PermissionsBoundary {
				t.Errorf("%s is bounded by %v", id, got)
			}
		}
	})
}

func TestEveryPartOfAPhaseIsTagged(t *testing.T) {
	everyVariant(t, func(t *testing.T, v *variant) {
		tagged := map[string]int{}
		for _, r := range v.template.Resources {
			for _, p := range Phases() {
				if strings.Contains(text(r.Properties["Tags"]), `{"Key":"decant:phase","Value":"`+string(p)+`"}`) {
					tagged[r.Type+" "+string(p)]++
				}
			}
		}
		for _, typ := range []string{"AWS::Lambda::Function", "AWS::IAM::Role", "AWS::Logs::LogGroup"} {
			for _, p := range Phases() {
				if n := tagged[typ+" "+string(p)]; n != 1 {
					t.Errorf("%d of %s are tagged %s, want 1", n, typ, p)
				}
			}
		}
	})
}

func TestAccessLogHoldsNoBodyAndTheRouteIsThrottled(t *testing.T) {
	v := synthesized(t, "full")
	template := assertions.Template_FromStack(v.stack, nil)
	template.ResourceCountIs(str("AWS::ApiGatewayV2::Route"), num(2))
	template.HasResourceProperties(str("AWS::ApiGatewayV2::Route"), map[string]any{"RouteKey": "GET /api/v1/runs/{id}/context"})
	template.HasResourceProperties(str("AWS::ApiGatewayV2::Route"), map[string]any{"RouteKey": "POST " + WebhookPath})
	template.HasResourceProperties(str("AWS::ApiGatewayV2::Stage"), map[string]any{
		"DefaultRouteSettings": map[string]any{"ThrottlingRateLimit": 100, "ThrottlingBurstLimit": 200},
	})
	for _, word := range []string{"body", "Body", "header", "sourceIp", "integration.error", "authorizer", "querystring"} {
		if strings.Contains(accessLog, word) {
			t.Errorf("the access log holds %s", word)
		}
	}
}

func TestEveryAlarmFiresAtOnceAndTellsTheTopic(t *testing.T) {
	everyVariant(t, func(t *testing.T, v *variant) {
		alarms := v.of("AWS::CloudWatch::Alarm")
		want := 8
		if v.props.DeliveryQueue {
			want = 9
		}
		if len(alarms) != want {
			t.Errorf("got %d alarms, want %d", len(alarms), want)
		}
		for _, id := range alarms {
			p := v.template.Resources[id].Properties
			if p["Threshold"] != 1.0 || p["EvaluationPeriods"] != 1.0 || p["TreatMissingData"] != "notBreaching" {
				t.Errorf("%s: threshold %v, periods %v, missing data %v", id, p["Threshold"], p["EvaluationPeriods"], p["TreatMissingData"])
			}
			if _, tells := p["AlarmActions"]; tells != (v.props.AlarmTopicArn != "") {
				t.Errorf("%s tells somebody: %t", id, tells)
			}
		}
		if all := text(v.template.Resources); !strings.Contains(all, `"Value":"unlisted_outcome"`) {
			t.Error("no alarm looks at unlisted_outcome")
		}
	})
}

func TestIsolatedExtractHasNoWayOut(t *testing.T) {
	v := synthesized(t, "full")
	for _, typ := range []string{"AWS::EC2::InternetGateway", "AWS::EC2::NatGateway", "AWS::EC2::Route", "AWS::EC2::VPCGatewayAttachment", "AWS::EC2::EgressOnlyInternetGateway"} {
		if got := v.of(typ); len(got) != 0 {
			t.Errorf("the isolated network has %s: %v", typ, got)
		}
	}
	endpoints := v.of("AWS::EC2::VPCEndpoint")
	if len(endpoints) != 1 {
		t.Fatalf("got %d endpoints, want 1", len(endpoints))
	}
	policy := text(v.template.Resources[endpoints[0]].Properties["PolicyDocument"])
	if !strings.Contains(policy, `"Action":"s3:GetObject"`) || !strings.Contains(policy, "/prompt/*") || strings.Count(policy, `"Action"`) != 1 {
		t.Errorf("the endpoint lets through %s", policy)
	}
}

func TestOutputsHaveTheNamesThatTheGuideUses(t *testing.T) {
	everyVariant(t, func(t *testing.T, v *variant) {
		want := []string{
			"ActTableName", "ApprovalTopicArn", "ApprovalsTableName", "ApproveFunctionName", "BatchMachineArn", "ContextUrl", "FailureQueueUrl", "GitHubSecretArn",
			"GrantsTableName", "RawBucketName", "RunsTableName", "StateMachineArn", "SweepFunctionName", "WebhookUrl",
		}
		if v.props.DeliveryQueue {
			want = append(want, "DeadDeliveriesUrl", "DeliveryQueueUrl")
		}
		for _, k := range v.props.Hooks {
			want = append(want, "HookUrl"+k.id())
			if k.Unsigned == "" {
				want = append(want, "HookSecretArn"+k.id())
			}
		}
		slices.Sort(want)
		if got := slices.Sorted(maps.Keys(v.template.Outputs)); !slices.Equal(got, want) {
			t.Errorf("got outputs %v, want %v", got, want)
		}
	})
}

// Each hook has its route, and each that is signed a secret of its own, of
// which the ingress is told by name.
func TestEachHookHasItsRouteAndItsSecret(t *testing.T) {
	v := synthesized(t, "hooked")
	template := assertions.Template_FromStack(v.stack, nil)
	template.ResourceCountIs(str("AWS::ApiGatewayV2::Route"), num(2+len(someHooks)))
	template.ResourceCountIs(str("AWS::SecretsManager::Secret"), num(3))
	var told any
	for _, id := range v.of("AWS::Lambda::Function") {
		if variables := v.template.Resources[id].Properties["Environment"].(map[string]any)["Variables"].(map[string]any); variables["DECANT_HOOK_SECRET_ARNS"] != nil {
			told = variables["DECANT_HOOK_SECRET_ARNS"]
		}
	}
	for _, k := range someHooks {
		template.HasResourceProperties(str("AWS::ApiGatewayV2::Route"), map[string]any{"RouteKey": "POST /webhooks/" + k.Name})
		if signed := k.Unsigned == ""; strings.Contains(text(told), `["`+k.Name+`",{"Ref":"DecantHookSecret`+k.id()) != signed || (v.pipeline.HookSecrets[k.Name] != nil) != signed {
			t.Errorf("%s: the ingress is told %s", k.Name, text(told))
		}
		if v.template.Outputs["HookUrl"+k.id()] == nil {
			t.Errorf("%s: want its address among the outputs", k.Name)
		}
	}
}
