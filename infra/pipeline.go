package infra

import (
	"path/filepath"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsdynamodb"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awss3"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"
	"github.com/aws/constructs-go/constructs/v10"
	"github.com/aws/jsii-runtime-go"
)

// Pipeline is what NewPipeline deploys.
type Pipeline struct {
	Construct constructs.Construct

	RawBucket      awss3.Bucket      // raw/, prompt/ and start/<recipe>/<run>, manifest/<recipe>/<run>.json, cursor/<recipe>/<feed>
	ActTable       awsdynamodb.Table // receipts, and the rows of the table sink
	GrantsTable    awsdynamodb.Table // pk channel, sk person
	RunsTable      awsdynamodb.Table // pk run
	ApprovalsTable awsdynamodb.Table // pk run
	FailureQueue   awssqs.Queue      // {"run", "code"} of each run that failed
	ApprovalTopic  awssns.Topic      // the id of each run that waits for an answer
	GitHubSecret   awssecretsmanager.Secret
	HookSecrets    map[string]awssecretsmanager.Secret // by the hook's name, of those that are signed
	DeliveryQueue  awssqs.Queue                        // HTTP events of deliveries; nil unless Props.DeliveryQueue
	DeadDeliveries awssqs.Queue                        // those that met a fault too often
	Machine        awsstepfunctions.CfnStateMachine
	Batch          awsstepfunctions.CfnStateMachine // ticks and their items
	Functions      map[Phase]awslambda.Function
	Roles          map[Phase]awsiam.Role
	MachineRole    awsiam.Role
	BatchRole      awsiam.Role
	SchedulerRole  awsiam.Role
	WebhookURL     *string // where GitHub delivers to
	ContextURL     *string // where an adapter reads its run's context, {id} standing for the run

	props Props
	// contextEndpoint is ContextURL without its path, and webhookEndpoint WebhookURL.
	contextEndpoint, webhookEndpoint *string
	network                          *network
	// prefixes are the prefixes of the bucket by the ARNs of their objects.
	prefixes map[string]string
}

// WebhookPath is the path that deliveries are posted to.
const WebhookPath = "/webhooks/github"

// NewPipeline adds a pipeline to a stack. It builds the functions unless
// Props.Binaries names them built. It panics, as constructs do, on properties
// that Check refuses and on a program that does not build.
func NewPipeline(scope constructs.Construct, id string, props *Props) *Pipeline {
	complete, err := props.complete()
	if err != nil {
		panic(err)
	}
	p := &Pipeline{
		Construct: constructs.NewConstruct(scope, &id), props: complete,
		Functions: map[Phase]awslambda.Function{}, Roles: map[Phase]awsiam.Role{}, prefixes: map[string]string{}, HookSecrets: map[string]awssecretsmanager.Secret{},
	}
	if p.props.Binaries == "" {
		p.props.Binaries = filepath.Join(p.props.Module, "cdk.out", "functions")
		for _, prog := range p.props.programs() {
			if err := Build(p.props.Module, prog.path, filepath.Join(p.props.Binaries, prog.name)); err != nil {
				panic(err)
			}
		}
	}
	if arn := p.props.PermissionsBoundary; arn != "" {
		awsiam.PermissionsBoundary_Of(p.Construct).Apply(awsiam.ManagedPolicy_FromManagedPolicyArn(p.Construct, str("Boundary"), &arn))
	}
	p.stores()
	p.context()
	p.workers()
	p.machines()
	p.wake()
	p.ingress()
	p.sweep()
	p.clocks()
	if p.DeliveryQueue != nil {
		p.takeDeliveries()
	}
	p.api()
	p.watch()
	cdk.Tags_Of(p.Construct).Add(str("decant:stage"), &p.props.Stage, nil)
	return p
}

// output is a value of a stack.
type output struct {
	id, description string
	value           *string
}

// Outputs adds to a scope, best a stack, what a person needs after a
// deployment.
func (p *Pipeline) Outputs(scope constructs.Construct) {
	outputs := []output{
		{"WebhookUrl", "where GitHub delivers to", p.WebhookURL},
		{"GitHubSecretArn", "secret to give to GitHub as the webhook's", p.GitHubSecret.SecretArn()},
		{"StateMachineArn", "the machine that carries runs", p.Machine.AttrArn()},
		{"BatchMachineArn", "the machine that carries ticks and their items", p.Batch.AttrArn()},
		{"RawBucketName", "raw bodies and prompts", p.RawBucket.BucketName()},
		{"RunsTableName", "how each run stands", p.RunsTable.TableName()},
		{"ActTableName", "receipts and the table sink's rows", p.ActTable.TableName()},
		{"GrantsTableName", "who holds trigger where", p.GrantsTable.TableName()},
		{"ApprovalsTableName", "waiting runs and their answers", p.ApprovalsTable.TableName()},
		{"FailureQueueUrl", "runs that failed, with their codes", p.FailureQueue.QueueUrl()},
		{"ApprovalTopicArn", "tells when a run waits for an answer", p.ApprovalTopic.TopicArn()},
		{"ContextUrl", "where adapters read contexts", p.ContextURL},
		{"ApproveFunctionName", "records answers", p.Functions[Approve].FunctionName()},
		{"SweepFunctionName", "starts what was stored and not started", p.Functions[Sweep].FunctionName()},
	}
	if p.DeliveryQueue != nil {
		outputs = append(outputs, output{"DeliveryQueueUrl", "takes deliveries, each the HTTP event of one", p.DeliveryQueue.QueueUrl()},
			output{"DeadDeliveriesUrl", "deliveries that met a fault too often", p.DeadDeliveries.QueueUrl()})
	}
	for _, o := range append(outputs, p.hookOutputs()...) {
		cdk.NewCfnOutput(scope, &o.id, &cdk.CfnOutputProps{Value: o.value, Description: &o.description})
	}
}

func str(s string) *string              { return jsii.String(s) }
func num[N int | float64](n N) *float64 { return jsii.Number(float64(n)) }
func yes() *bool                        { return jsii.Bool(true) }

func strs(list ...string) *[]*string {
	out := make([]*string, len(list))
	for i := range list {
		out[i] = &list[i]
	}
	return &out
}

// phaseTag marks what belongs to a phase, for bills and for searches.
func phaseTag(c constructs.Construct, p Phase) {
	cdk.Tags_Of(c).Add(str("decant:phase"), str(string(p)), nil)
}
