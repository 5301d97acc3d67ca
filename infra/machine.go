package infra

import (
	"reflect"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"

	"decant.dev/pipeline/aws/machine"
)

// machines makes the machine of runs and that of batches. Their definitions
// name their resources by substitutions, so that a template shows them whole.
func (p *Pipeline) machines() {
	arn := func(phase Phase) *string { return p.Functions[phase].FunctionArn() }
	values := func() map[string]*string {
		return map[string]*string{
			"Partition": cdk.Aws_PARTITION(), "Act": arn(Act), "Fetch": arn(Fetch),
			"ExtractUnverified": arn(ExtractUnverified), "ExtractRest": arn(ExtractRest), "Approve": arn(Approve),
			"RunsTable": p.RunsTable.TableName(), "FailureQueue": p.FailureQueue.QueueUrl(), "ApprovalTopic": p.ApprovalTopic.TopicArn(),
		}
	}
	var names machine.Resources
	for v, i := reflect.ValueOf(&names).Elem(), 0; i < v.NumField(); i++ {
		name := v.Type().Field(i).Name
		if values()[name] == nil {
			panic("infra: no value for the machine's " + name)
		}
		v.Field(i).SetString("${" + name + "}")
	}
	run, err := machine.Definition(names, p.props.Limits)
	if err != nil {
		panic(err)
	}
	batch, err := machine.BatchDefinition(names, machine.Own{Bucket: "${Bucket}", Runs: "${Runs}"}, p.props.Limits, p.props.Batches)
	if err != nil {
		panic(err)
	}
	p.MachineRole = p.machineRole("MachineRole", "decant: carries runs through the phases",
		may("AskPerson", []string{"lambda:InvokeFunction"}, arn(Approve)),
		may("TellApproval", []string{"sns:Publish"}, p.ApprovalTopic.TopicArn()),
		never("NoText", []string{"s3:*"}, p.text()...))
	p.Machine = p.stateMachine("Machine", p.MachineRole, run, values())

	p.BatchRole = p.machineRole("BatchRole", "decant: carries the items of ticks through the phases",
		may("ReadManifest", []string{"s3:GetObject"}, p.objects("manifest/")),
		may("HandOver", []string{"states:StartExecution"}, p.Machine.AttrArn()),
		never("NoText", []string{"s3:*"}, p.objects("raw/"), p.objects("prompt/"), p.objects("bundle/"), p.objects("cursor/"), p.objects("start/")))
	own := values()
	own["Bucket"], own["Runs"] = p.RawBucket.BucketName(), p.Machine.AttrArn()
	p.Batch = p.stateMachine("Batch", p.BatchRole, batch, own)
	p.carryItems()
}

// machineRole is the role of a machine that carries runs, with what is its own.
func (p *Pipeline) machineRole(id, description string, own ...right) awsiam.Role {
	arn := func(phase Phase) *string { return p.Functions[phase].FunctionArn() }
	rights := append([]right{
		may("AskPhases", []string{"lambda:InvokeFunction"}, arn(Fetch), arn(ExtractUnverified), arn(ExtractRest), arn(Act)),
		may("RecordRun", []string{"dynamodb:UpdateItem"}, p.RunsTable.TableArn()),
		may("TellFailure", []string{"sqs:SendMessage"}, p.FailureQueue.QueueArn()),
		may("DeliverLog", []string{
			"logs:CreateLogDelivery", "logs:GetLogDelivery", "logs:UpdateLogDelivery", "logs:DeleteLogDelivery", "logs:ListLogDeliveries",
			"logs:PutResourcePolicy", "logs:DescribeResourcePolicies", "logs:DescribeLogGroups",
		}, str("*")),
		may("Trace", []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords", "xray:GetSamplingRules", "xray:GetSamplingTargets"}, str("*")),
	}, own...)
	role := p.role(id, description, ofThisAccount("states.amazonaws.com"), rights)
	p.wildcards(role, rights)
	return role
}

// ofThisAccount is a service on behalf of the stack's own account: of no
// other account's machine or schedule.
func ofThisAccount(service string) awsiam.IPrincipal {
	return awsiam.NewServicePrincipal(&service, &awsiam.ServicePrincipalOpts{
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": cdk.Aws_ACCOUNT_ID()}},
	})
}

func (p *Pipeline) stateMachine(id string, role awsiam.Role, definition []byte, values map[string]*string) awsstepfunctions.CfnStateMachine {
	logs := p.logGroup(id + "Logs")
	text := string(definition)
	return awsstepfunctions.NewCfnStateMachine(p.Construct, &id, &awsstepfunctions.CfnStateMachineProps{
		RoleArn: role.RoleArn(), StateMachineType: str("STANDARD"),
		DefinitionString: &text, DefinitionSubstitutions: &values,
		LoggingConfiguration: &awsstepfunctions.CfnStateMachine_LoggingConfigurationProperty{
			Level: str("ALL"), IncludeExecutionData: false, // what a phase answered stays out of the log
			Destinations: &[]any{&awsstepfunctions.CfnStateMachine_LogDestinationProperty{
				CloudWatchLogsLogGroup: &awsstepfunctions.CfnStateMachine_CloudWatchLogsLogGroupProperty{LogGroupArn: logs.LogGroupArn()},
			}},
		},
		TracingConfiguration: &awsstepfunctions.CfnStateMachine_TracingConfigurationProperty{Enabled: true},
	})
}

// carryItems lets the machine of batches run each item as an execution of its
// own, watch it and stop it
// (docs.aws.amazon.com/step-functions/latest/dg/iam-policies-eg-dist-map.html).
// It is a policy apart, since the machine needs the role and this the machine.
func (p *Pipeline) carryItems() {
	executions := cdk.Stack_Of(p.Construct).FormatArn(&cdk.ArnComponents{
		Service: str("states"), Resource: str("execution"), ArnFormat: cdk.ArnFormat_COLON_RESOURCE_NAME,
		ResourceName: cdk.Fn_Join(str(""), &[]*string{p.Batch.AttrName(), str(":*")}),
	})
	statements := []awsiam.PolicyStatement{
		may("StartItem", []string{"states:StartExecution"}, p.Batch.AttrArn()).statement(),
		may("WatchItem", []string{"states:DescribeExecution", "states:StopExecution"}, executions).statement(),
	}
	policy := awsiam.NewPolicy(p.Construct, str("BatchItemsPolicy"), &awsiam.PolicyProps{
		Roles: &[]awsiam.IRole{p.BatchRole}, Statements: &statements,
	})
	acknowledge(policy, nag{id: "AwsSolutions-IAM5", reason: "An item's execution has no name before it is started; all of them are the batch machine's own."})
}

// wake lets approve wake runs of this machine. It is a policy apart, since the
// machine needs the function and the function's role would need the machine.
func (p *Pipeline) wake() {
	statements := []awsiam.PolicyStatement{
		may("WakeRun", []string{"states:SendTaskSuccess", "states:SendTaskFailure"}, p.Machine.AttrArn()).statement(),
	}
	policy := awsiam.NewPolicy(p.Construct, str("ApproveWakePolicy"), &awsiam.PolicyProps{
		Roles: &[]awsiam.IRole{p.Roles[Approve]}, Statements: &statements,
	})
	phaseTag(policy, Approve)
}
