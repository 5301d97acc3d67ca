package infra

import (
	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssqs"
)

// How a queue's deliveries are taken.
const (
	queueBatch       = 10 // messages of one invocation
	queueConcurrency = 10 // invocations at a time
	queueReceives    = 5  // of one message, before it is set aside
)

// deliveryQueue makes the queue of deliveries and the one where those are set
// aside that met a fault too often.
func (p *Pipeline) deliveryQueue() {
	kept := cdk.Duration_Days(num(14))
	p.DeadDeliveries = awssqs.NewQueue(p.Construct, str("DeadDeliveries"), &awssqs.QueueProps{
		Encryption: awssqs.QueueEncryption_SQS_MANAGED, EnforceSSL: yes(), RetentionPeriod: kept,
	})
	acknowledge(p.DeadDeliveries, nag{id: "AwsSolutions-SQS3", reason: "This is the queue of what failed; its messages are signed deliveries, which people redrive once the fault is mended."})
	p.DeliveryQueue = awssqs.NewQueue(p.Construct, str("DeliveryQueue"), &awssqs.QueueProps{
		Encryption: awssqs.QueueEncryption_SQS_MANAGED, EnforceSSL: yes(), RetentionPeriod: kept,
		// Six times the function's limit, as Lambda asks for
		// (docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html).
		VisibilityTimeout: cdk.Duration_Seconds(num(6 * ingressLimit.Seconds())),
		DeadLetterQueue:   &awssqs.DeadLetterQueue{Queue: p.DeadDeliveries, MaxReceiveCount: num(queueReceives)},
	})
}

// takeDeliveries gives the queue's messages to the ingress, which names those
// that should come again.
func (p *Pipeline) takeDeliveries() {
	awslambda.NewCfnEventSourceMapping(p.Construct, str("TakeDeliveries"), &awslambda.CfnEventSourceMappingProps{
		EventSourceArn: p.DeliveryQueue.QueueArn(), FunctionName: p.Functions[Ingress].FunctionName(),
		BatchSize: num(queueBatch), FunctionResponseTypes: strs("ReportBatchItemFailures"),
		ScalingConfig: &awslambda.CfnEventSourceMapping_ScalingConfigProperty{MaximumConcurrency: num(queueConcurrency)},
	})
}
