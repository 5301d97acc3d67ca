package infra

import (
	"fmt"
	"strings"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsstepfunctions"

	"decant.dev/pipeline"
)

// watch makes the alarms. Each fires at the first occurrence in five minutes.
func (p *Pipeline) watch() {
	failed := map[string]awscloudwatch.IMetric{}
	throttled := map[string]awscloudwatch.IMetric{}
	for i, m := range []awsstepfunctions.CfnStateMachine{p.Machine, p.Batch} {
		for j, name := range []string{"ExecutionsFailed", "ExecutionsTimedOut", "ExecutionsAborted"} {
			failed[fmt.Sprintf("m%d", 3*i+j)] = executions(m, name)
		}
		throttled[fmt.Sprintf("m%d", i)] = executions(m, "ExecutionThrottled")
	}
	p.alarm("RunsLost", "a run ended without a record: its execution failed, timed out or was stopped", sum(failed))
	p.alarm("RunsFailed", "runs wait in the failure queue", p.FailureQueue.MetricApproximateNumberOfMessagesVisible(&awscloudwatch.MetricOptions{
		Statistic: str("Maximum"), Period: fiveMinutes(),
	}))
	p.alarm("RunsThrottled", "a state machine is throttled", sum(throttled))
	p.alarm("FunctionErrors", "a function failed", p.functions(func(f awslambda.Function) awscloudwatch.Metric {
		return f.MetricErrors(&awscloudwatch.MetricOptions{Statistic: str("Sum"), Period: fiveMinutes()})
	}))
	p.alarm("FunctionThrottles", "a function is throttled", p.functions(func(f awslambda.Function) awscloudwatch.Metric {
		return f.MetricThrottles(&awscloudwatch.MetricOptions{Statistic: str("Sum"), Period: fiveMinutes()})
	}))
	p.alarm("UnlistedOutcome", "act refused an outcome that nobody reviewed: the list is stale, or extract is taken over",
		p.counted("Verdicts", Act, "code", string(pipeline.UnlistedOutcome)))
	p.alarm("RunsFound", "the sweep started a run that ingress had stored and not started", p.counted("Markers", Sweep, "ending", "started"))
	refused := map[string]awscloudwatch.IMetric{}
	for i, c := range []pipeline.Code{pipeline.MalformedEvent, pipeline.UnknownRecipe, pipeline.UnhandledEvent} {
		refused[fmt.Sprintf("m%d", i)] = p.counted("Ticks", Ingress, "code", string(c))
	}
	p.alarm("TicksRefused", "a schedule is not one that its recipe has", sum(refused))
	if p.DeadDeliveries != nil {
		p.alarm("DeliveriesDead", "deliveries met a fault too often", p.DeadDeliveries.MetricApproximateNumberOfMessagesVisible(&awscloudwatch.MetricOptions{
			Statistic: str("Maximum"), Period: fiveMinutes(),
		}))
	}
}

// counted is a metric that a function of ours writes.
func (p *Pipeline) counted(name string, by Phase, dimension, value string) awscloudwatch.Metric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: str(p.namespace()), MetricName: &name, Statistic: str("Sum"), Period: fiveMinutes(),
		DimensionsMap: &map[string]*string{"service": str(string(by)), dimension: &value},
	})
}

func fiveMinutes() cdk.Duration { return cdk.Duration_Minutes(num(5)) }

func executions(m awsstepfunctions.CfnStateMachine, name string) awscloudwatch.Metric {
	return awscloudwatch.NewMetric(&awscloudwatch.MetricProps{
		Namespace: str("AWS/States"), MetricName: &name, Statistic: str("Sum"), Period: fiveMinutes(),
		DimensionsMap: &map[string]*string{"StateMachineArn": m.AttrArn()},
	})
}

// functions sums a metric over all functions.
func (p *Pipeline) functions(of func(awslambda.Function) awscloudwatch.Metric) awscloudwatch.IMetric {
	metrics := map[string]awscloudwatch.IMetric{}
	for i, phase := range Phases() {
		metrics[fmt.Sprintf("m%d", i)] = of(p.Functions[phase])
	}
	return sum(metrics)
}

func sum(metrics map[string]awscloudwatch.IMetric) awscloudwatch.IMetric {
	var terms []string
	for i := range len(metrics) {
		terms = append(terms, fmt.Sprintf("FILL(m%d,0)", i))
	}
	return awscloudwatch.NewMathExpression(&awscloudwatch.MathExpressionProps{
		Expression: str(strings.Join(terms, "+")), UsingMetrics: &metrics, Period: fiveMinutes(),
	})
}

func (p *Pipeline) alarm(id, description string, metric awscloudwatch.IMetric) {
	a := awscloudwatch.NewAlarm(p.Construct, &id, &awscloudwatch.AlarmProps{
		AlarmDescription: str("decant " + p.props.Stage + ": " + description), Metric: metric,
		ComparisonOperator: awscloudwatch.ComparisonOperator_GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
		Threshold:          num(1), EvaluationPeriods: num(1), TreatMissingData: awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
	if arn := p.props.AlarmTopicArn; arn != "" {
		topic := awssns.Topic_FromTopicArn(a, str("Topic"), &arn)
		a.AddAlarmAction(awscloudwatchactions.NewSnsAction(topic))
	}
}
