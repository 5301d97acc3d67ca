package authority

import (
	"slices"
	"strings"
)

const (
	lambda = Service + "lambda.amazonaws.com"
	states = Service + "states.amazonaws.com"
	clocks = Service + "scheduler.amazonaws.com"

	aFunction = "AWS::Lambda::Function"
	aTable    = "AWS::DynamoDB::Table"
	aMachine  = "AWS::StepFunctions::StateMachine"
	aQueue    = "AWS::SQS::Queue"
)

// Decant is what each phase of decant holds (docs/threat-model.md, the wall of
// authority): ingress and fetch put what strangers wrote, extract reads the
// prompt and nothing else, act has its tables and is denied the text. The
// machine of batches reads their manifests, the sweep reads markers and keys,
// and schedules fire the ingress and the sweep.
//
// models are the ARNs of Bedrock's models, inference profiles and guardrails
// that extract asks: it may ask exactly these, and has to be allowed each. With
// none it may ask no model.
func Decant(models ...string) Expectation {
	return Expectation{
		Roles: []RoleRule{
			{Name: "IngressRole", Holder: "Ingress", Type: aFunction, Trust: lambda},
			{Name: "FetchRole", Holder: "Fetch", Type: aFunction, Trust: lambda},
			{Name: "ExtractUnverifiedRole", Holder: "ExtractUnverified", Type: aFunction, Trust: lambda},
			{Name: "ExtractRestRole", Holder: "ExtractRest", Type: aFunction, Trust: lambda},
			{Name: "ActRole", Holder: "Act", Type: aFunction, Trust: lambda},
			{Name: "ApproveRole", Holder: "Approve", Type: aFunction, Trust: lambda},
			{Name: "SweepRole", Holder: "Sweep", Type: aFunction, Trust: lambda},
			{Name: "ContextRole", Holder: "Context", Type: aFunction, Trust: lambda},
			{Name: "MachineRole", Holder: "Machine", Type: aMachine, Trust: states},
			{Name: "BatchRole", Holder: "Batch", Type: aMachine, Trust: states},
			{Name: "SchedulerRole", Type: "AWS::Scheduler::Schedule", Trust: clocks, Many: true},
		},
		Names: []Name{
			{Name: "RawBucket", Type: "AWS::S3::Bucket", Ends: []string{"RawBucket", "Raw", ""}},
			{Name: "ActTable", Type: aTable, Ends: []string{"ActTable", "Act"}},
			{Name: "GrantsTable", Type: aTable, Ends: []string{"GrantsTable", "Grants"}},
			{Name: "RunsTable", Type: aTable, Ends: []string{"RunsTable", "Runs"}},
			{Name: "ApprovalsTable", Type: aTable, Ends: []string{"ApprovalsTable", "Approvals"}},
			{Name: "FailureQueue", Type: aQueue, Ends: []string{"FailureQueue", "Failures", ""}},
			{Name: "DeliveryQueue", Type: aQueue, Ends: []string{"DeliveryQueue"}, Optional: true},
			{Name: "DeadDeliveries", Type: aQueue, Ends: []string{"DeadDeliveries"}, Optional: true},
			{Name: "GithubSecret", Type: "AWS::SecretsManager::Secret", Ends: []string{"GithubSecret", "GitHubSecret", ""}, Outside: "arn:*:secretsmanager:*:*:secret:*"},
			{Name: "ApprovalTopic", Type: "AWS::SNS::Topic", Ends: []string{"ApprovalTopic", "Approvals", ""}, Optional: true},
			{Name: "Api", Type: "AWS::ApiGatewayV2::Api", Ends: []string{"WebhookApi"}, Optional: true},
			{Name: "ContextApi", Type: "AWS::ApiGatewayV2::Api", Ends: []string{"ContextApi"}, Optional: true},
		},
		Rights: append(decantRights(), modelRights(models)...),
		Denies: decantDenies(),
	}
}

// Hook is a webhook beside GitHub's.
type Hook struct {
	Name     string
	Unsigned bool // it has no secret
}

// WithHooks returns the expectation of a deployment that has these webhooks
// too: each at its own path, and a secret that the ingress reads and every
// other phase is denied.
func (e Expectation) WithHooks(hooks ...Hook) Expectation {
	e.Names, e.Rights, e.Denies = slices.Clone(e.Names), slices.Clone(e.Rights), slices.Clone(e.Denies)
	for _, k := range hooks {
		e.Rights = append(e.Rights, Rule{right(Service+"apigateway.amazonaws.com", "lambda:InvokeFunction", "Ingress",
			Condition{"aws:SourceArn", Pattern{"Api", "/*/POST/webhooks/" + k.Name}}), Must})
		if k.Unsigned {
			continue
		}
		secret := Pattern{ID: "HookSecret " + k.Name}
		e.Names = append(e.Names, Name{Name: secret.ID, Type: "AWS::SecretsManager::Secret", Ends: []string{"HookSecret" + strings.ReplaceAll(k.Name, "-", "")}})
		e.Rights = append(e.Rights, Rule{Right{Who: "IngressRole", Action: "secretsmanager:GetSecretValue", Resource: secret}, Must})
		for _, who := range withoutSecrets {
			e.Denies = append(e.Denies, Right{Who: who, Action: "secretsmanager:*", Resource: secret})
		}
	}
	slices.SortFunc(e.Denies, compareRights)
	return e
}

// withoutSecrets are the roles of the phases that read no webhook's secret.
var withoutSecrets = []string{"FetchRole", "ExtractUnverifiedRole", "ExtractRestRole", "ActRole", "ApproveRole", "SweepRole", "ContextRole"}

// overPlain is a request without TLS.
var overPlain = Condition{"aws:SecureTransport", Pattern{Rest: "false"}}

// decantDenies is what each phase may not, whatever else is allowed to it one
// day: each is denied by name what the other phases hold.
func decantDenies() []Right {
	list := []Right{
		right(Anyone, "s3:*", "RawBucket", overPlain),
		right(Anyone, "s3:*", "RawBucket/*", overPlain),
		right(Anyone, "sqs:*", "FailureQueue", overPlain),
		right(Anyone, "sqs:*", "DeliveryQueue", overPlain),
		right(Anyone, "sqs:*", "DeadDeliveries", overPlain),
		right(Anyone, "sns:Publish", "ApprovalTopic", overPlain),

		right("IngressRole", "s3:GetObject", "RawBucket/*"),
		right("IngressRole", "s3:GetObjectVersion", "RawBucket/*"),
		right("ExtractUnverifiedRole", "s3:*", "RawBucket/raw/*"),
		right("ExtractRestRole", "s3:*", "RawBucket/raw/*"),
		right("ExtractUnverifiedRole", "s3:*", "RawBucket/bundle/*"),
		right("ExtractRestRole", "s3:*", "RawBucket/bundle/*"),
		right("ExtractUnverifiedRole", "s3:*", "RawBucket/cursor/*"),
		right("ExtractRestRole", "s3:*", "RawBucket/cursor/*"),
	}
	for _, who := range []string{"ActRole", "ApproveRole", "MachineRole"} {
		list = append(list, right(who, "s3:*", "RawBucket"), right(who, "s3:*", "RawBucket/*"))
	}
	for who, prefixes := range map[string][]string{"BatchRole": {"raw", "prompt", "bundle", "cursor", "start"}, "SweepRole": {"raw", "prompt", "bundle", "manifest", "cursor"},
		"ContextRole": {"raw", "prompt", "manifest", "cursor", "start"}} {
		for _, prefix := range prefixes {
			list = append(list, right(who, "s3:*", "RawBucket/"+prefix+"/*"))
		}
	}
	for _, who := range withoutSecrets {
		list = append(list, right(who, "secretsmanager:*", "GithubSecret"))
	}
	for who, tables := range map[string][]string{
		"IngressRole":           {"ActTable", "GrantsTable", "RunsTable", "ApprovalsTable"},
		"FetchRole":             {"ActTable", "RunsTable", "ApprovalsTable"},
		"ExtractUnverifiedRole": {"ActTable", "GrantsTable", "RunsTable", "ApprovalsTable"},
		"ExtractRestRole":       {"ActTable", "GrantsTable", "RunsTable", "ApprovalsTable"},
		"ApproveRole":           {"ActTable", "RunsTable"},
		"ContextRole":           {"ActTable", "ApprovalsTable"},
		"SweepRole":             {"ActTable", "GrantsTable", "ApprovalsTable"},
	} {
		for _, table := range tables {
			list = append(list, right(who, "dynamodb:*", table))
		}
	}
	for _, write := range []string{"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem"} {
		list = append(list, right("ApproveRole", write, "GrantsTable"))
	}
	for _, write := range []string{"s3:PutObject", "s3:DeleteObject"} {
		list = append(list, right("ContextRole", write, "RawBucket/bundle/*"))
	}
	slices.SortFunc(list, compareRights)
	return list
}

// withPrefix is a list of a bucket's keys under a prefix.
func withPrefix(keys string) Condition { return Condition{"s3:prefix", Pattern{Rest: keys}} }

// decantRights is the closed list of what may be done.
func decantRights() []Rule {
	list := []Rule{
		{right("IngressRole", "secretsmanager:GetSecretValue", "GithubSecret"), Must},
		{right("IngressRole", "s3:PutObject", "RawBucket/raw/*"), Must},
		{right("IngressRole", "s3:PutObject", "RawBucket/start/*"), Must},
		{right("IngressRole", "states:StartExecution", "Machine"), Must},
		{right("IngressRole", "states:StartExecution", "Batch"), Must},

		{right("FetchRole", "s3:GetObject", "RawBucket/raw/*"), Must},
		{right("FetchRole", "s3:PutObject", "RawBucket/prompt/*"), Must},
		{right("FetchRole", "s3:PutObject", "RawBucket/raw/*"), Must},
		{right("FetchRole", "s3:PutObject", "RawBucket/manifest/*"), Must},
		{right("FetchRole", "s3:GetObject", "RawBucket/cursor/*"), Must},
		{right("FetchRole", "s3:PutObject", "RawBucket/cursor/*"), Must},
		{right("FetchRole", "dynamodb:GetItem", "GrantsTable"), Must},

		{right("ExtractUnverifiedRole", "s3:GetObject", "RawBucket/prompt/*"), Must},
		{right("ExtractRestRole", "s3:GetObject", "RawBucket/prompt/*"), Must},

		{right("ActRole", "dynamodb:GetItem", "GrantsTable"), Must},
		{right("ActRole", "dynamodb:GetItem", "ApprovalsTable"), Must},
		{right("ActRole", "dynamodb:PutItem", "ApprovalsTable"), Must},

		{right("FetchRole", "s3:PutObject", "RawBucket/bundle/*"), May},
		{right("ContextRole", "s3:GetObject", "RawBucket/bundle/*"), Must},
		{right("ContextRole", "dynamodb:GetItem", "RunsTable"), Must},
		{right("ContextRole", "dynamodb:GetItem", "GrantsTable"), Must},
		{right("ApproveRole", "dynamodb:GetItem", "GrantsTable"), Must},
		{right(Service+"apigateway.amazonaws.com", "lambda:InvokeFunction", "Context", Condition{"aws:SourceArn", Pattern{"ContextApi", "/*/GET/api/v1/runs/*/context"}}), May},

		{right("SweepRole", "s3:ListBucket", "RawBucket", withPrefix("raw/*")), Must},
		{right("SweepRole", "s3:ListBucket", "RawBucket", withPrefix("start/*")), Must},
		{right("SweepRole", "s3:GetObject", "RawBucket/start/*"), Must},
		{right("SweepRole", "s3:DeleteObject", "RawBucket/start/*"), Must},
		{right("SweepRole", "dynamodb:GetItem", "RunsTable"), Must},
		{right("SweepRole", "states:StartExecution", "Machine"), Must},
		{right("SweepRole", "states:StartExecution", "Batch"), Must},

		{right("BatchRole", "s3:GetObject", "RawBucket/manifest/*"), Must},
		{right("BatchRole", "states:StartExecution", "Batch"), Must},
		{right("BatchRole", "states:StartExecution", "Machine"), Must},
		{right("BatchRole", "states:DescribeExecution", "Batch/execution:*"), May},
		{right("BatchRole", "states:StopExecution", "Batch/execution:*"), May},

		{right("SchedulerRole", "lambda:InvokeFunction", "Ingress"), Must},
		{right("SchedulerRole", "lambda:InvokeFunction", "Sweep"), Must},
		{right("SchedulerRole", "sqs:SendMessage", "FailureQueue"), May},

		{right("ApproveRole", "states:SendTaskSuccess", "Machine"), Must},
		{right("ApproveRole", "states:SendTaskFailure", "Machine"), May},

		{right(Service+"apigateway.amazonaws.com", "lambda:InvokeFunction", "Ingress", Condition{"aws:SourceArn", Pattern{"Api", "/*/POST/webhooks/github"}}), May},
		{right(lambda, "lambda:InvokeFunction", "Ingress", Condition{"aws:SourceArn", Pattern{ID: "DeliveryQueue"}}), May},
		{right(Service+"cloudwatch.amazonaws.com", "sns:Publish", "ApprovalTopic", Condition{"aws:SourceAccount", Pattern{Rest: ownAccount}}), May},
	}
	add := func(need Need, who, resource string, actions ...string) {
		for _, a := range actions {
			list = append(list, Rule{right(who, a, resource), need})
		}
	}
	add(Must, "ActRole", "ActTable", "dynamodb:GetItem", "dynamodb:PutItem")
	add(May, "ActRole", "ActTable", "dynamodb:UpdateItem", "dynamodb:Query", "dynamodb:ConditionCheckItem")
	add(May, "ActRole", "RunsTable", "dynamodb:PutItem", "dynamodb:UpdateItem")
	add(Must, "ApproveRole", "ApprovalsTable", "dynamodb:GetItem", "dynamodb:PutItem")
	add(Must, "IngressRole", "DeliveryQueue", "sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes")
	add(Must, "MachineRole", "Approve", "lambda:InvokeFunction")
	add(May, "MachineRole", "ApprovalTopic", "sns:Publish")
	for _, who := range []string{"MachineRole", "BatchRole"} {
		for _, f := range []string{"Fetch", "ExtractUnverified", "ExtractRest", "Act"} {
			add(Must, who, f, "lambda:InvokeFunction")
		}
		add(Must, who, "RunsTable", "dynamodb:UpdateItem")
		add(Must, who, "FailureQueue", "sqs:SendMessage")
		add(May, who, "*", "logs:CreateLogDelivery", "logs:GetLogDelivery", "logs:UpdateLogDelivery", "logs:DeleteLogDelivery",
			"logs:ListLogDeliveries", "logs:PutResourcePolicy", "logs:DescribeResourcePolicies", "logs:DescribeLogGroups",
			"xray:PutTraceSegments", "xray:PutTelemetryRecords", "xray:GetSamplingRules", "xray:GetSamplingTargets")
	}
	for _, f := range []string{"Ingress", "Fetch", "ExtractUnverified", "ExtractRest", "Act", "Approve", "Sweep", "Context"} {
		add(May, f+"Role", f+"Logs:*", "logs:CreateLogStream", "logs:PutLogEvents")
		add(May, f+"Role", "*", "xray:PutTraceSegments", "xray:PutTelemetryRecords")
	}
	for _, f := range []string{"ExtractUnverified", "ExtractRest"} {
		add(InNetwork, f+"Role", "*", "ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets",
			"ec2:DeleteNetworkInterface", "ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses")
	}
	return list
}

// modelRights are what extract may ask of Bedrock, each resource by the action
// of its kind. A pattern is no resource, and lists nothing.
func modelRights(models []string) []Rule {
	var list []Rule
	for _, arn := range models {
		if wild(arn) || !strings.HasPrefix(arn, "arn:") {
			continue
		}
		action := "bedrock:InvokeModel"
		if strings.Contains(arn, ":guardrail/") {
			action = "bedrock:ApplyGuardrail"
		}
		for _, who := range []string{"ExtractUnverifiedRole", "ExtractRestRole"} {
			list = append(list, Rule{Right{Who: who, Action: action, Resource: Pattern{Rest: arn}}, Must})
		}
	}
	return list
}

// right is an expected right. The name at the beginning of resource ends
// before the first sign that is no letter.
func right(who, action, resource string, when ...Condition) Right {
	end := strings.IndexFunc(resource, func(r rune) bool { return (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') })
	if end < 0 {
		end = len(resource)
	}
	return Right{Who: who, Action: action, Resource: Pattern{resource[:end], resource[end:]}, When: when}
}
