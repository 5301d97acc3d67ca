package infra

import (
	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
)

// accessLog is a line for each request: no body, no header, no address.
const accessLog = `{"request":"$context.requestId","time":"$context.requestTime","route":"$context.routeKey","status":"$context.status","bytes":"$context.responseLength","latency_ms":"$context.responseLatency"}`

// api takes deliveries. Whoever posts, the ingress verifies the signature
// over the bytes as received.
func (p *Pipeline) api() {
	s := p.Construct
	ingress := p.Functions[Ingress]
	api := awsapigatewayv2.NewCfnApi(s, str("Api"), &awsapigatewayv2.CfnApiProps{
		Name: str("decant-" + p.props.Stage), ProtocolType: str("HTTP"), Description: str("decant: takes deliveries"),
	})
	integration := awsapigatewayv2.NewCfnIntegration(s, str("ApiIngress"), &awsapigatewayv2.CfnIntegrationProps{
		ApiId: api.Ref(), IntegrationType: str("AWS_PROXY"), IntegrationUri: ingress.FunctionArn(),
		PayloadFormatVersion: str("2.0"), TimeoutInMillis: num(11000),
	})
	route := awsapigatewayv2.NewCfnRoute(s, str("ApiRoute"), &awsapigatewayv2.CfnRouteProps{
		ApiId: api.Ref(), RouteKey: str("POST " + WebhookPath), AuthorizationType: str("NONE"),
		Target: cdk.Fn_Join(str("/"), &[]*string{str("integrations"), integration.Ref()}),
	})
	acknowledge(route, nag{id: "AwsSolutions-APIG4", reason: "GitHub cannot sign for IAM; the ingress verifies its signature over the bytes as received and stores nothing before."})
	logs := p.logGroup("ApiLogs")
	awsapigatewayv2.NewCfnStage(s, str("ApiStage"), &awsapigatewayv2.CfnStageProps{
		ApiId: api.Ref(), StageName: str("$default"), AutoDeploy: true,
		AccessLogSettings: &awsapigatewayv2.CfnStage_AccessLogSettingsProperty{
			DestinationArn: cdk.Fn_Select(num(0), cdk.Fn_Split(str(":*"), logs.LogGroupArn(), nil)), Format: str(accessLog),
		},
		DefaultRouteSettings: &awsapigatewayv2.CfnStage_RouteSettingsProperty{
			ThrottlingRateLimit: &p.props.RequestsPerSecond, ThrottlingBurstLimit: &p.props.Burst, DetailedMetricsEnabled: true,
		},
	})
	awslambda.NewCfnPermission(s, str("ApiMayInvokeIngress"), &awslambda.CfnPermissionProps{
		Action: str("lambda:InvokeFunction"), FunctionName: ingress.FunctionArn(), Principal: str("apigateway.amazonaws.com"),
		SourceArn: cdk.Stack_Of(s).FormatArn(&cdk.ArnComponents{
			Service: str("execute-api"), Resource: api.Ref(), ResourceName: str("*/POST" + WebhookPath),
		}),
	})
	p.WebhookURL = cdk.Fn_Join(str(""), &[]*string{api.AttrApiEndpoint(), str(WebhookPath)})
}
