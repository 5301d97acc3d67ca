package infra

import (
	"reflect"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"

	"decant.dev/pipeline/aws/machine"
)

// machine makes the state machine. Its definition names its resources by
// substitutions, so that a template shows it whole.
func (p *Pipeline) machine() {
	arn := func(phase Phase) *string { return p.Functions[phase].FunctionArn() }
	values := map[string]*string{
		"Partition": cdk.Aws_PARTITION(), "Act": arn(Act), "Fetch": arn(Fetch),
		"ExtractUnverified": arn(ExtractUnverified), "ExtractRest": arn(ExtractRest), "Approve": arn(Approve),
		"RunsTable": p.RunsTable.TableName(), "FailureQueue": p.FailureQueue.QueueUrl(), "ApprovalTopic": p.ApprovalTopic.TopicArn(),
	}
	var names machine.Resources
	for v, i := reflect.ValueOf(&names).Elem(), 0; i < v.NumField(); i++ {
		name := v.Type().Field(i).Name
		if values[name] == nil {
			panic("infra: no value for the machine's " + name)
		}
		v.Field(i).SetString("${" + name + "}")
	}
	definition, err := machine.Definition(names, p.props.Limits)
	if err != nil {
		panic(err)
	}

	logs := p.logGroup("MachineLogs")
	rights := []right{
		may("AskPhases", []string{"lambda:InvokeFunction"}, arn(Fetch), arn(ExtractUnverified), arn(ExtractRest), arn(Act), arn(Approve)),
		may("RecordRun", []string{"dynamodb:UpdateItem"}, p.RunsTable.TableArn()),
		may("TellFailure", []string{"sqs:SendMessage"}, p.FailureQueue.QueueArn()),
		may("TellApproval", []string{"sns:Publish"}, p.ApprovalTopic.TopicArn()),
		may("DeliverLog", []string{
			"logs:CreateLogDelivery", "logs:GetLogDelivery", "logs:UpdateLogDelivery", "logs:DeleteLogDelivery", "logs:ListLogDeliveries",
			"logs:PutResourcePolicy", "logs:DescribeResourcePolicies", "logs:DescribeLogGroups",
		}, str("*")),
		may("Trace", []string{"xray:PutTraceSegments", "xray:PutTelemetryRecords", "xray:GetSamplingRules", "xray:GetSamplingTargets"}, str("*")),
		never("NoText", []string{"s3:*"}, p.text()...),
	}
	p.MachineRole = p.role("MachineRole", "decant: carries runs through the phases", awsiam.NewServicePrincipal(str("states.amazonaws.com"), &awsiam.ServicePrincipalOpts{
		Conditions: &map[string]any{"StringEquals": map[string]any{"aws:SourceAccount": cdk.Aws_ACCOUNT_ID()}}, // no other account's machine
	}), rights)
	p.wildcards(p.MachineRole, rights)

	text := string(definition)
	p.Machine = awsstepfunctions.NewCfnStateMachine(p.Construct, str("Machine"), &awsstepfunctions.CfnStateMachineProps{
		RoleArn: p.MachineRole.RoleArn(), StateMachineType: str("STANDARD"),
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
