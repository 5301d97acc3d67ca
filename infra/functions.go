package infra

import (
	"path/filepath"
	"strings"
	"time"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/constructs-go/constructs/v10"

	"decant.dev/pipeline/contextapi"
)

// right is one statement: exact actions on exact resources.
type right struct {
	sid       string
	actions   []string
	resources []*string
	deny      bool
	when      map[string]any // conditions, or nil
}

func may(sid string, actions []string, resources ...*string) right {
	return right{sid: sid, actions: actions, resources: resources}
}

func never(sid string, actions []string, resources ...*string) right {
	return right{sid: sid, actions: actions, resources: resources, deny: true}
}

func (r right) statement() awsiam.PolicyStatement {
	effect := awsiam.Effect_ALLOW
	if r.deny {
		effect = awsiam.Effect_DENY
	}
	props := &awsiam.PolicyStatementProps{Sid: &r.sid, Effect: effect, Actions: strs(r.actions...), Resources: &r.resources}
	if r.when != nil {
		props.Conditions = &r.when
	}
	return awsiam.NewPolicyStatement(props)
}

func document(rights []right) awsiam.PolicyDocument {
	var statements []awsiam.PolicyStatement
	for _, r := range rights {
		statements = append(statements, r.statement())
	}
	return awsiam.NewPolicyDocument(&awsiam.PolicyDocumentProps{Statements: &statements})
}

// role is one role with one inline policy, which nothing adds to.
func (p *Pipeline) role(id, description string, by awsiam.IPrincipal, rights []right) awsiam.Role {
	return awsiam.NewRole(p.Construct, &id, &awsiam.RoleProps{
		AssumedBy: by, Description: &description,
		InlinePolicies: &map[string]awsiam.PolicyDocument{"phase": document(rights)},
	})
}

// function is one phase: its log group, its role and its program.
func (p *Pipeline) function(phase Phase, what string, limit time.Duration, memory float64, environment map[string]*string, rights ...right) awslambda.Function {
	id := phase.id()
	logs := p.logGroup(id + "Logs")
	rights = append(rights,
		may("Log", []string{"logs:CreateLogStream", "logs:PutLogEvents"}, logs.LogGroupArn()),
		may("Trace", []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords"}, str("*")))
	if p.isolates(phase) {
		rights = append(rights, networkInterfaces())
	}
	role := p.role(id+"Role", "decant: "+what, awsiam.NewServicePrincipal(str("lambda.amazonaws.com"), nil), rights)
	p.wildcards(role, rights)
	environment["POWERTOOLS_SERVICE_NAME"] = str(string(phase))
	environment["POWERTOOLS_METRICS_NAMESPACE"] = str(p.namespace())
	props := &awslambda.FunctionProps{
		Description:  str("decant: " + what),
		Runtime:      awslambda.Runtime_PROVIDED_AL2023(),
		Architecture: awslambda.Architecture_ARM_64(),
		Handler:      str("bootstrap"),
		Code:         awslambda.Code_FromAsset(str(filepath.Join(p.props.Binaries, phase.program())), nil),
		Environment:  &environment,
		LogGroup:     logs,
		MemorySize:   &memory,
		Role:         role.WithoutPolicyUpdates(nil), // tracing and networks would add to it
		Timeout:      cdk.Duration_Seconds(num(limit.Seconds())),
		Tracing:      awslambda.Tracing_ACTIVE,
	}
	if n, ok := p.props.ReservedConcurrency[phase]; ok {
		props.ReservedConcurrentExecutions = &n
	}
	if p.isolates(phase) {
		p.isolate(props)
	}
	f := awslambda.NewFunction(p.Construct, &id, props)
	for _, c := range []constructs.Construct{logs, role, f} {
		phaseTag(c, phase)
	}
	p.Functions[phase], p.Roles[phase] = f, role
	return f
}

func (p *Pipeline) logGroup(id string) awslogs.LogGroup {
	return awslogs.NewLogGroup(p.Construct, &id, &awslogs.LogGroupProps{
		Retention: logPeriods[p.props.LogDays], RemovalPolicy: cdk.RemovalPolicy_DESTROY,
	})
}

func (p *Pipeline) namespace() string { return "decant/" + p.props.Stage }

// objects names the objects under a prefix of the bucket.
func (p *Pipeline) objects(prefix string) *string {
	arn := p.RawBucket.ArnForObjects(str(prefix + "*"))
	p.prefixes[*arn] = prefix
	return arn
}

// text is the bucket and everything in it.
func (p *Pipeline) text() []*string { return []*string{p.RawBucket.BucketArn(), p.objects("")} }

// workers are the phases that the machine asks. Each is allowed what its
// phase holds, and denied by name the rest of what this stack has.
func (p *Pipeline) workers() {
	bucketEnv := func() map[string]*string {
		return map[string]*string{
			"DECANT_RAW_BUCKET": p.RawBucket.BucketName(), "DECANT_EXPECTED_OWNER": cdk.Aws_ACCOUNT_ID(),
		}
	}
	act, grants, runs, approvals := p.ActTable.TableArn(), p.GrantsTable.TableArn(), p.RunsTable.TableArn(), p.ApprovalsTable.TableArn()
	s3, dynamo, secrets := []string{"s3:*"}, []string{"dynamodb:*"}, []string{"secretsmanager:*"}

	env := bucketEnv()
	env["DECANT_GRANTS_TABLE"] = p.GrantsTable.TableName()
	p.own(env)
	written := []*string{p.objects("raw/"), p.objects("prompt/"), p.objects("manifest/"), p.objects("cursor/")}
	if p.props.ContextAPI {
		env["DECANT_CONTEXT_URL"] = p.contextEndpoint
		written = append(written, p.objects("bundle/"))
	}
	p.function(Fetch, "reads the world, writes only raw text", p.props.Limits.Fetch, 512, env,
		may("ReadRaw", []string{"s3:GetObject"}, p.objects("raw/"), p.objects("cursor/")),
		may("WriteText", []string{"s3:PutObject"}, written...),
		may("ReadGrants", []string{"dynamodb:GetItem"}, grants),
		never("NoRecords", dynamo, act, runs, approvals),
		never("NoSecret", secrets, p.secrets()...))

	for _, phase := range []Phase{ExtractUnverified, ExtractRest} {
		env := bucketEnv()
		if p.props.ContextAPI {
			env["DECANT_CONTEXT_URL"] = p.contextEndpoint
		}
		if p.props.Model.ID != "" {
			env["DECANT_MODEL"] = str(p.props.Model.ID)
		}
		p.function(phase, "reads the fenced text, returns only a bounded structure", p.props.Limits.Extract, 512, env, append([]right{
			may("ReadPrompt", []string{"s3:GetObject"}, p.objects("prompt/")),
			never("NoRaw", s3, p.objects("raw/"), p.objects("bundle/"), p.objects("cursor/")),
			never("NoTables", dynamo, act, grants, runs, approvals),
			never("NoSecret", secrets, p.secrets()...)}, p.props.Model.rights()...)...)
	}

	env = map[string]*string{
		"DECANT_ACT_TABLE": p.ActTable.TableName(), "DECANT_GRANTS_TABLE": p.GrantsTable.TableName(),
		"DECANT_RUNS_TABLE": p.RunsTable.TableName(), "DECANT_APPROVALS_TABLE": p.ApprovalsTable.TableName(),
	}
	p.own(env)
	if p.props.Live {
		env["DECANT_LIVE"] = str("true")
		if len(p.props.Kinds) > 0 {
			env["DECANT_KINDS"] = str(strings.Join(p.props.Kinds, ","))
		}
	}
	p.function(Act, "writes listed outcomes, and has never seen the text", p.props.Limits.Act, 256, env,
		may("Receipts", []string{"dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:Query", "dynamodb:UpdateItem"}, act),
		may("RecordRun", []string{"dynamodb:UpdateItem"}, runs),
		may("ReadGrants", []string{"dynamodb:GetItem"}, grants),
		may("Ask", []string{"dynamodb:GetItem", "dynamodb:PutItem"}, approvals),
		never("NoText", s3, p.text()...),
		never("NoSecret", secrets, p.secrets()...))

	env = map[string]*string{"DECANT_APPROVALS_TABLE": p.ApprovalsTable.TableName(), "DECANT_GRANTS_TABLE": p.GrantsTable.TableName()}
	p.own(env)
	p.function(Approve, "records an answer and wakes one waiting run", 10*time.Second, 256, env,
		may("Answers", []string{"dynamodb:GetItem", "dynamodb:PutItem"}, approvals),
		may("ReadGrants", []string{"dynamodb:GetItem"}, grants),
		never("NoText", s3, p.text()...),
		never("NoRecords", dynamo, act, runs),
		never("NoGranting", []string{"dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem", "dynamodb:BatchWriteItem"}, grants),
		never("NoSecret", secrets, p.secrets()...))
}

// contextPath is the path of a context, {id} standing for the run.
var contextPath = contextapi.Path("{id}")

// context answers an adapter that shows its run's token. It writes nothing.
func (p *Pipeline) context() {
	env := map[string]*string{
		"DECANT_RAW_BUCKET": p.RawBucket.BucketName(), "DECANT_EXPECTED_OWNER": cdk.Aws_ACCOUNT_ID(),
		"DECANT_RUNS_TABLE": p.RunsTable.TableName(), "DECANT_GRANTS_TABLE": p.GrantsTable.TableName(),
	}
	p.own(env)
	p.function(Context, "gives an adapter its run's context", 10*time.Second, 512, env,
		may("ReadBundle", []string{"s3:GetObject"}, p.objects("bundle/")),
		may("ReadRunAndGrants", []string{"dynamodb:GetItem"}, p.RunsTable.TableArn(), p.GrantsTable.TableArn()),
		never("NoText", []string{"s3:*"}, p.objects("raw/"), p.objects("prompt/"), p.objects("manifest/"), p.objects("cursor/"), p.objects("start/")),
		never("NoWriting", []string{"s3:PutObject", "s3:DeleteObject"}, p.objects("bundle/")),
		never("NoRecords", []string{"dynamodb:*"}, p.ActTable.TableArn(), p.ApprovalsTable.TableArn()),
		never("NoSecret", []string{"secretsmanager:*"}, p.secrets()...))
	p.contextEndpoint = p.httpAPI(Context, "ContextApi", "decant: gives adapters their contexts", "GET",
		route{path: contextPath, reason: "An adapter has no role of its own; the function checks the token of the run, which is random and of one run."})
	p.ContextURL = cdk.Fn_Join(str(""), &[]*string{p.contextEndpoint, str(contextPath)})
}

func (p *Pipeline) own(environment map[string]*string) {
	if len(p.props.OwnIdentities) > 0 {
		environment["DECANT_OWN_IDENTITIES"] = str(strings.Join(p.props.OwnIdentities, ","))
	}
}

// ingress verifies deliveries. Its time is the least, since someone waits.
func (p *Pipeline) ingress() {
	rights := []right{
		may("ReadSecret", []string{"secretsmanager:GetSecretValue"}, p.secrets()...),
		may("WriteRaw", []string{"s3:PutObject"}, p.objects("raw/"), p.objects("start/")),
		may("StartRun", []string{"states:StartExecution"}, p.Machine.AttrArn(), p.Batch.AttrArn()),
		never("NoReading", []string{"s3:GetObject", "s3:GetObjectVersion"}, p.objects("")),
		never("NoTables", []string{"dynamodb:*"}, p.ActTable.TableArn(), p.GrantsTable.TableArn(), p.RunsTable.TableArn(), p.ApprovalsTable.TableArn()),
	}
	if p.DeliveryQueue != nil {
		rights = append(rights, may("TakeDeliveries", []string{"sqs:ReceiveMessage", "sqs:DeleteMessage", "sqs:GetQueueAttributes"}, p.DeliveryQueue.QueueArn()))
	}
	env := map[string]*string{"DECANT_GITHUB_SECRET_ARN": p.GitHubSecret.SecretArn()}
	if told := p.toldHooks(); told != nil {
		env["DECANT_HOOK_SECRET_ARNS"] = told
	}
	p.function(Ingress, "verifies deliveries and starts runs", ingressLimit, 256, p.starters(env), rights...)
}

// ingressLimit bounds one invocation of the ingress.
const ingressLimit = 10 * time.Second

// starters adds what a function that starts runs is told.
func (p *Pipeline) starters(environment map[string]*string) map[string]*string {
	environment["DECANT_RAW_BUCKET"], environment["DECANT_EXPECTED_OWNER"] = p.RawBucket.BucketName(), cdk.Aws_ACCOUNT_ID()
	environment["DECANT_STATE_MACHINE_ARN"], environment["DECANT_BATCH_MACHINE_ARN"] = p.Machine.AttrArn(), p.Batch.AttrArn()
	return environment
}
