package infra

import (
	"regexp"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsapigatewayv2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
)

// accessLog is a line for each request: no body, no header, no address.
const accessLog = `{"request":"$context.requestId","time":"$context.requestTime","route":"$context.routeKey","status":"$context.status","bytes":"$context.responseLength","latency_ms":"$context.responseLatency"}`

// parameter is a variable part of a route's path.
var parameter = regexp.MustCompile(`\{[^}]*\}`)

// api takes deliveries. Whoever posts, the ingress verifies the signature
// over the bytes as received.
func (p *Pipeline) api() {
	routes := []route{{path: WebhookPath, reason: "GitHub cannot sign for IAM; the ingress verifies its signature over the bytes as received and stores nothing before."}}
	for _, k := range p.props.Hooks {
		reason := "The webhook's sender cannot sign for IAM; the ingress verifies its signature over the bytes as received and stores nothing before."
		if k.Unsigned != "" {
			reason = "The webhook is not signed, as the deployment says: " + k.Unsigned + "."
		}
		routes = append(routes, route{k.id(), k.path(), reason})
	}
	p.webhookEndpoint = p.httpAPI(Ingress, "WebhookApi", "decant: takes deliveries", "POST", routes...)
	p.WebhookURL = cdk.Fn_Join(str(""), &[]*string{p.webhookEndpoint, str(WebhookPath)})
}

// route is one path of an API. It asks for no authorization of IAM, for the
// reason given.
type route struct {
	id     string // added to those of its resources; empty for one
	path   string
	reason string
}

// httpAPI is an HTTP API of routes to one function, with a throttle and an
// access log, and returns its address without a path.
func (p *Pipeline) httpAPI(phase Phase, id, description, method string, routes ...route) *string {
	s := p.Construct
	f := p.Functions[phase]
	api := awsapigatewayv2.NewCfnApi(s, &id, &awsapigatewayv2.CfnApiProps{
		Name: str("decant-" + p.props.Stage + "-" + string(phase)), ProtocolType: str("HTTP"), Description: &description,
	})
	integration := awsapigatewayv2.NewCfnIntegration(s, str(id+phase.id()), &awsapigatewayv2.CfnIntegrationProps{
		ApiId: api.Ref(), IntegrationType: str("AWS_PROXY"), IntegrationUri: f.FunctionArn(),
		PayloadFormatVersion: str("2.0"), TimeoutInMillis: num(11000),
	})
	for _, r := range routes {
		acknowledge(awsapigatewayv2.NewCfnRoute(s, str(id+"Route"+r.id), &awsapigatewayv2.CfnRouteProps{
			ApiId: api.Ref(), RouteKey: str(method + " " + r.path), AuthorizationType: str("NONE"),
			Target: cdk.Fn_Join(str("/"), &[]*string{str("integrations"), integration.Ref()}),
		}), nag{id: "AwsSolutions-APIG4", reason: r.reason})
	}
	logs := p.logGroup(id + "Logs")
	awsapigatewayv2.NewCfnStage(s, str(id+"Stage"), &awsapigatewayv2.CfnStageProps{
		ApiId: api.Ref(), StageName: str("$default"), AutoDeploy: true,
		AccessLogSettings: &awsapigatewayv2.CfnStage_AccessLogSettingsProperty{
			DestinationArn: cdk.Fn_Select(num(0), cdk.Fn_Split(str(":*"), logs.LogGroupArn(), nil)), Format: str(accessLog),
		},
		DefaultRouteSettings: &awsapigatewayv2.CfnStage_RouteSettingsProperty{
			ThrottlingRateLimit: &p.props.RequestsPerSecond, ThrottlingBurstLimit: &p.props.Burst, DetailedMetricsEnabled: true,
		},
	})
	for _, r := range routes {
		// In the ARN of a request each parameter of the path stands as its value.
		requests := "*/" + method + parameter.ReplaceAllString(r.path, "*")
		awslambda.NewCfnPermission(s, str(id+"MayInvoke"+phase.id()+r.id), &awslambda.CfnPermissionProps{
			Action: str("lambda:InvokeFunction"), FunctionName: f.FunctionArn(), Principal: str("apigateway.amazonaws.com"),
			SourceArn: cdk.Stack_Of(s).FormatArn(&cdk.ArnComponents{
				Service: str("execute-api"), Resource: api.Ref(), ResourceName: &requests,
			}),
		})
	}
	return api.AttrApiEndpoint()
}
