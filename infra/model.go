package infra

import (
	"regexp"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
)

// Model is a model of Amazon Bedrock that extract asks. The zero value is
// none: then extract may ask no model at all.
type Model struct {
	// ID is what a request names: the id of a model, or the id or ARN of an
	// inference profile. The programs of extract find it in DECANT_MODEL.
	ID string
	// Invoke lists the ARNs that extract may invoke, exactly: the model, or
	// an inference profile and the model in each Region that it leads to.
	// 1 to 16, without wildcards.
	Invoke []string
	// Guardrail is the ARN of a guardrail that extract may apply, or empty.
	Guardrail string
}

const maxInvoked = 16

var (
	modelForm     = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,511}$`)
	invokeForm    = regexp.MustCompile(`^arn:aws[a-z-]*:bedrock:[a-z0-9-]{0,32}:(:foundation-model|[0-9]{12}:(inference-profile|application-inference-profile|provisioned-model|custom-model-deployment))/[A-Za-z0-9._:-]{1,256}$`)
	guardrailForm = regexp.MustCompile(`^arn:aws[a-z-]*:bedrock:[a-z0-9-]{1,32}:[0-9]{12}:guardrail/[a-z0-9]{1,64}$`)
)

func (m Model) none() bool { return m.ID == "" && len(m.Invoke) == 0 && m.Guardrail == "" }

func (m Model) check(fault func(ok bool, name, want string, got any)) {
	if m.none() {
		return
	}
	fault(modelForm.MatchString(m.ID), "Model.ID", modelForm.String(), m.ID)
	fault(len(m.Invoke) >= 1 && len(m.Invoke) <= maxInvoked, "Model.Invoke", "1 to 16 ARNs", len(m.Invoke))
	for _, arn := range m.Invoke {
		fault(invokeForm.MatchString(arn), "Model.Invoke", "the ARN of a model or an inference profile, without wildcards", arn)
	}
	fault(m.Guardrail == "" || guardrailForm.MatchString(m.Guardrail), "Model.Guardrail", "the ARN of a guardrail", m.Guardrail)
	if strings.HasPrefix(m.ID, "arn:") {
		found := false
		for _, arn := range m.Invoke {
			found = found || arn == m.ID
		}
		fault(found, "Model.Invoke", "the ARN that ID names among them", m.ID)
	}
}

// Resources lists all that extract may ask of Bedrock: the ARNs to give to
// authority.Decant, or to decant audit as --model.
func (m Model) Resources() []string {
	all := append([]string(nil), m.Invoke...)
	if m.Guardrail != "" {
		all = append(all, m.Guardrail)
	}
	return all
}

// rights are what the model adds to extract's.
func (m Model) rights() []right {
	var rights []right
	if len(m.Invoke) > 0 {
		rights = append(rights, may("AskModel", []string{"bedrock:InvokeModel"}, *strs(m.Invoke...)...))
	}
	if m.Guardrail != "" {
		rights = append(rights, may("Guard", []string{"bedrock:ApplyGuardrail"}, str(m.Guardrail)))
	}
	return rights
}

// addEndpoint gives isolated functions a way to the model, and to nothing else
// that the service has.
func (m Model) addEndpoint(vpc awsec2.Vpc, from awsec2.SecurityGroup) {
	if m.none() {
		return
	}
	no := false
	group := awsec2.NewSecurityGroup(vpc, str("ModelGroup"), &awsec2.SecurityGroupProps{
		Vpc: vpc, Description: str("decant: endpoint of the model"), AllowAllOutbound: &no,
	})
	group.AddIngressRule(from, awsec2.Port_Tcp(num(443)), str("TLS from extract"), nil)
	endpoint := vpc.AddInterfaceEndpoint(str("Model"), &awsec2.InterfaceVpcEndpointOptions{
		Service: awsec2.InterfaceVpcEndpointAwsService_BEDROCK_RUNTIME(), PrivateDnsEnabled: yes(), Open: &no,
		SecurityGroups: &[]awsec2.ISecurityGroup{group},
	})
	for _, r := range m.rights() {
		endpoint.AddToPolicy(awsiam.NewPolicyStatement(&awsiam.PolicyStatementProps{
			Sid: &r.sid, Principals: &[]awsiam.IPrincipal{awsiam.NewAnyPrincipal()}, Actions: strs(r.actions...), Resources: &r.resources,
		}))
	}
}
