package infra

import (
	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/constructs-go/constructs/v10"
)

// nag is one rule of cdk-nag that a resource does not meet, and why that is in
// order. Where the rule finds more than one thing, it is in order only for
// what appliesTo names, as cdk-nag writes it.
type nag struct {
	id, reason string
	appliesTo  []string
}

// acknowledge writes the reasons beside the resource, where cdk-nag and the
// reader of a template find them.
func acknowledge(c constructs.Construct, findings ...nag) {
	resource, ok := c.(cdk.CfnResource)
	if !ok {
		resource = c.Node().DefaultChild().(cdk.CfnResource)
	}
	var rules []any
	for _, f := range findings {
		rule := map[string]any{"id": f.id, "reason": f.reason}
		if len(f.appliesTo) > 0 {
			rule["applies_to"] = f.appliesTo
		}
		rules = append(rules, rule)
	}
	resource.AddMetadata(str("cdk_nag"), map[string]any{"rules_to_suppress": rules})
}

// wildcards acknowledges what a role's rights need more than one resource for:
// the objects under a prefix, and actions that know no resource but "*". A
// right on any other pattern stays a finding.
func (p *Pipeline) wildcards(role constructs.Construct, rights []right) {
	const rule = "AwsSolutions-IAM5"
	var findings []nag
	stack := cdk.Stack_Of(p.Construct)
	bucket, _ := stack.Resolve(stack.GetLogicalId(p.RawBucket.Node().DefaultChild().(cdk.CfnElement))).(string)
	star := false
	for _, r := range rights {
		for _, to := range r.resources {
			switch prefix, objects := p.prefixes[*to]; {
			case r.deny:
			case objects:
				findings = append(findings, nag{rule, "The phase reads or writes the objects of its own kind, one for each run.", []string{"Resource::<" + bucket + ".Arn>/" + prefix + "*"}})
			case *to == "*" && !star:
				star = true
				findings = append(findings, nag{rule, "The actions on all resources know no other: tracing, delivery of the machine's own log, and interfaces in isolated subnets.", []string{"Resource::*"}})
			}
		}
	}
	acknowledge(role, findings...)
}
