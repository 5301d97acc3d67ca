package infra

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
)

// network is what isolated functions are put into.
type network struct {
	vpc   awsec2.Vpc
	group awsec2.SecurityGroup
}

func (p *Pipeline) isolates(phase Phase) bool {
	return p.props.Network == NetworkIsolated && phase.program() == "extract"
}

// isolate puts a function into subnets that have no route out, with an
// endpoint for the bucket's prompts, and one for the model.
func (p *Pipeline) isolate(props *awslambda.FunctionProps) {
	if p.network == nil {
		p.network = p.newNetwork()
	}
	props.Vpc = p.network.vpc
	props.VpcSubnets = &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED}
	props.SecurityGroups = &[]awsec2.ISecurityGroup{p.network.group}
}

func (p *Pipeline) newNetwork() *network {
	vpc := awsec2.NewVpc(p.Construct, str("Network"), &awsec2.VpcProps{
		MaxAzs: num(2), NatGateways: num(0), CreateInternetGateway: new(bool), RestrictDefaultSecurityGroup: new(bool),
		SubnetConfiguration: &[]*awsec2.SubnetConfiguration{{Name: str("isolated"), SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED, CidrMask: num(24)}},
	})
	acknowledge(vpc, nag{id: "AwsSolutions-VPC7", reason: "Nothing routes out of these subnets; the functions' own logs and traces record what runs in them."})
	s3 := vpc.AddGatewayEndpoint(str("S3"), &awsec2.GatewayVpcEndpointOptions{Service: awsec2.GatewayVpcEndpointAwsService_S3()})
	s3.AddToPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
		Sid: str("ReadPrompt"), Principals: &[]awsiam.IPrincipal{awsiam.NewAnyPrincipal()},
		Actions: strs("s3:GetObject"), Resources: &[]*string{p.objects("prompt/")},
	}))
	group := awsec2.NewSecurityGroup(p.Construct, str("ExtractGroup"), &awsec2.SecurityGroupProps{
		Vpc: vpc, Description: str("decant: extract"), AllowAllOutbound: new(bool),
	})
	// S3's addresses behind the gateway are public ones; the route table knows
	// no way to any other.
	group.AddEgressRule(awsec2.Peer_AnyIpv4(), awsec2.Port_Tcp(num(443)), str("TLS to the endpoint"), nil)
	p.props.Model.addEndpoint(vpc, group)
	return &network{vpc, group}
}

// networkInterfaces are what Lambda needs to attach a function to subnets;
// their actions know no resource that exists before.
func networkInterfaces() right {
	return may("Attach", []string{
		"ec2:CreateNetworkInterface", "ec2:DescribeNetworkInterfaces", "ec2:DescribeSubnets", "ec2:DeleteNetworkInterface",
		"ec2:AssignPrivateIpAddresses", "ec2:UnassignPrivateIpAddresses",
	}, str("*"))
}
