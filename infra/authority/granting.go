package authority

import "strings"

// granting reads what a resource other than an identity gives: the policies
// of resources, what runs with which role, and what invokes a function.
func (t *template) granting(r *resource) error {
	switch r.typ {
	case "AWS::S3::BucketPolicy":
		return t.policyOf(r, "Bucket", "AWS::S3::Bucket", "PolicyDocument")
	case "AWS::SQS::QueuePolicy":
		return t.policyOf(r, "Queues", "AWS::SQS::Queue", "PolicyDocument")
	case "AWS::SNS::TopicPolicy":
		return t.policyOf(r, "Topics", "AWS::SNS::Topic", "PolicyDocument")
	case "AWS::SecretsManager::ResourcePolicy":
		return t.policyOf(r, "SecretId", "AWS::SecretsManager::Secret", "ResourcePolicy")
	case "AWS::KMS::Key":
		if document := r.props.get("KeyPolicy"); document != nil {
			return t.govern(document, r.id)
		}
	case "AWS::DynamoDB::Table":
		if p := r.props.get("ResourcePolicy"); p != nil {
			if err := p.object("PolicyDocument"); err != nil {
				return err
			}
			return t.govern(p.get("PolicyDocument"), r.id)
		}
	case "AWS::S3::Bucket":
		return ownership(r)
	case "AWS::Lambda::Function":
		return t.function(r)
	case "AWS::Lambda::Permission":
		return t.permission(r)
	case "AWS::Lambda::EventSourceMapping":
		return t.mapping(r)
	case "AWS::StepFunctions::StateMachine":
		return t.holder(r, r.props.get("RoleArn"))
	case "AWS::Scheduler::Schedule":
		return t.target(r, r.props.get("Target"), true)
	case "AWS::Events::Rule":
		if list := r.props.get("Targets"); list != nil {
			for _, item := range list.oneOrMore() {
				if err := t.target(r, item, false); err != nil {
					return err
				}
			}
		}
	default:
		if strings.HasPrefix(r.typ, "Custom::") || r.typ == "AWS::CloudFormation::CustomResource" {
			return t.custom(r)
		}
	}
	return nil
}

// policyOf reads a policy that stands beside its resources.
func (t *template) policyOf(r *resource, list, typ, document string) error {
	n := r.props.get(list)
	if n == nil || len(n.oneOrMore()) == 0 {
		return r.props.failf("want %s", list)
	}
	for _, item := range n.oneOrMore() {
		own, err := t.refer(item, typ)
		if err != nil {
			return err
		}
		if r.props.get(document) == nil {
			return r.props.failf("want %s", document)
		}
		if err := t.govern(r.props.get(document), own); err != nil {
			return err
		}
	}
	return nil
}

// govern adds what the policy of a resource says.
func (t *template) govern(document *node, own string) error {
	allows, denies, err := t.policy(document, resourcePolicy, "", own)
	if err != nil {
		return err
	}
	for _, a := range allows {
		if a.Who != Account || a.Action != "kms:*" {
			t.allows = append(t.allows, a)
		}
	}
	t.denies = append(t.denies, denies...)
	return nil
}

// ownership refuses a bucket whose access lists could give rights.
func ownership(r *resource) error {
	o := r.props.get("OwnershipControls")
	if o == nil {
		return nil // access lists are off by default (since April 2023)
	}
	if err := o.object("Rules"); err != nil {
		return err
	}
	if rules := o.get("Rules"); rules != nil {
		for _, rule := range rules.oneOrMore() {
			if v := rule.get("ObjectOwnership"); v == nil || v.text != "BucketOwnerEnforced" {
				return rule.failf("want BucketOwnerEnforced: access lists are not read")
			}
		}
	}
	return nil
}

// holder notes that r runs with the rights of a role of the template.
func (t *template) holder(r *resource, role *node) error {
	if role == nil {
		return r.props.failf("want a role")
	}
	id, err := t.refer(role, "AWS::IAM::Role")
	if err != nil {
		return err
	}
	t.roles[id].Holders = append(t.roles[id].Holders, r.id)
	return nil
}

// permission reads a statement of a function's own policy.
func (t *template) permission(r *resource) error {
	name := r.props.get("FunctionName")
	if name == nil {
		return r.props.failf("want FunctionName")
	}
	own, err := t.refer(name, "AWS::Lambda::Function")
	if err != nil {
		return err
	}
	actions, err := t.actions(r.props, resourcePolicy, true)
	if err != nil {
		return err
	}
	who := r.props.get("Principal")
	if who == nil {
		return r.props.failf("want Principal")
	}
	parts, err := t.parts(who)
	if err != nil {
		return err
	}
	service := len(parts) == 1 && strings.HasSuffix(parts[0].text, ".amazonaws.com")
	principal, err := t.principal(who, service)
	if err != nil {
		return err
	}
	var when []Condition
	for _, source := range []struct {
		name string
		read func(*node) (Condition, error)
	}{{"SourceAccount", t.sourceAccount}, {"SourceArn", t.sourceARN}} {
		if n := r.props.get(source.name); n != nil {
			c, err := source.read(n)
			if err != nil {
				return err
			}
			when = append(when, c)
		}
	}
	resource := Pattern{ID: own}
	if err := t.exact(r.props, actions, []string{principal}, []Pattern{resource}); err != nil {
		return err
	}
	for _, a := range actions {
		t.allows = append(t.allows, Right{principal, a, resource, when, r.props.path})
	}
	return nil
}

// mapping reads a queue or stream whose records invoke a function.
func (t *template) mapping(r *resource) error {
	name, source := r.props.get("FunctionName"), r.props.get("EventSourceArn")
	if name == nil || source == nil {
		return r.props.failf("want FunctionName and EventSourceArn")
	}
	own, err := t.refer(name, "AWS::Lambda::Function")
	if err != nil {
		return err
	}
	c, err := t.sourceARN(source)
	if err != nil {
		return err
	}
	t.invoke("lambda.amazonaws.com", "lambda:InvokeFunction", Pattern{ID: own}, []Condition{c}, r)
	return nil
}

// invoke adds a right that a service has by a resource of its own.
func (t *template) invoke(service, action string, on Pattern, when []Condition, r *resource) {
	t.allows = append(t.allows, Right{Service + service, action, on, when, r.props.path})
}

// target reads what a schedule or a rule sets off. What it does there is
// bounded by its role, or by the policy of the target.
func (t *template) target(r *resource, n *node, wantRole bool) error {
	if n == nil || n.kind != '{' {
		return r.props.failf("want a target")
	}
	if err := n.object("Arn", "Id", "RoleArn", "Input", "InputTransformer", "RetryPolicy", "DeadLetterConfig", "SqsParameters"); err != nil {
		return err
	}
	if n.get("Arn") == nil {
		return n.failf("want Arn")
	}
	if _, err := t.pattern(n.get("Arn")); err != nil {
		return err
	}
	if role := n.get("RoleArn"); role != nil || wantRole {
		return t.holder(r, role)
	}
	return nil
}

// custom reads a custom resource: CloudFormation invokes its function at each
// deployment.
func (t *template) custom(r *resource) error {
	token := r.props.get("ServiceToken")
	if token == nil {
		return r.props.failf("want ServiceToken")
	}
	own, err := t.refer(token, "AWS::Lambda::Function")
	if err != nil {
		return err
	}
	t.invoke("cloudformation.amazonaws.com", "lambda:InvokeFunction", Pattern{ID: own}, nil, r)
	return nil
}
