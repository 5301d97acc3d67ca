package authority

import (
	"strings"
	"testing"
)

func doc(statements ...object) object {
	list := make([]any, len(statements))
	for i, s := range statements {
		list[i] = s
	}
	return object{"Version": "2012-10-17", "Statement": list}
}

func arnOf(id string) object { return object{"Fn::GetAtt": []any{id, "Arn"}} }

// names finds the ids of the fixture by type and stem.
type names func(typ, stem string) string

const (
	aRole   = "AWS::IAM::Role"
	aPolicy = "AWS::IAM::Policy"
	aBucket = "AWS::S3::Bucket"
)

// Each other way to power, one mutation each: the proof fails and its words
// hold every one of the marks.
var ways = map[string]struct {
	change func(r object, of names)
	marks  []string
}{
	"a star action": {func(r object, of names) {
		first(r, of, "FetchRole")["Action"] = "s3:*"
	}, []string{"FetchRole", "want exact actions", "s3:*"}},
	"an action with a star in it": {func(r object, of names) {
		first(r, of, "FetchRole")["Action"] = []any{"logs:PutLogEvents", "logs:Get*"}
	}, []string{"FetchRole", "logs:Get*"}},
	"a star resource": {func(r object, of names) {
		first(r, of, "ExtractRestRole")["Resource"] = "*"
	}, []string{"ExtractRestRole", "logs:CreateLogStream", "*"}},
	"a star among resources": {func(r object, of names) {
		first(r, of, "ExtractRestRole")["Resource"] = []any{arnOf(of("AWS::Logs::LogGroup", "ExtractRestLogs")), "*"}
	}, []string{"ExtractRestRole", "*"}},
	"a resource of any name": {func(r object, of names) {
		first(r, of, "ActRole")["Resource"] = object{"Fn::Sub": "arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/*"}
	}, []string{"ActRole", "without wildcards"}},
	"NotAction": {func(r object, of names) {
		s := first(r, of, "ActRole")
		s["NotAction"] = s["Action"]
		delete(s, "Action")
	}, []string{"ActRole", "NotAction"}},
	"NotResource": {func(r object, of names) {
		s := first(r, of, "ActRole")
		s["NotResource"] = s["Resource"]
		delete(s, "Resource")
	}, []string{"ActRole", "NotResource"}},
	"NotPrincipal": {func(r object, of names) {
		s := props(r, of("AWS::S3::BucketPolicy", "RawBucketPolicy"))["PolicyDocument"].(object)["Statement"].([]any)[0].(object)
		s["NotPrincipal"] = s["Principal"]
		delete(s, "Principal")
	}, []string{"RawBucketPolicy", "NotPrincipal"}},
	"a condition on a right": {func(r object, of names) {
		first(r, of, "ActRole")["Condition"] = object{"StringEquals": object{"aws:PrincipalTag/x": "y"}}
	}, []string{"ActRole", "Condition.StringEquals.aws:PrincipalTag/x"}},
	"a condition on act's deny": {func(r object, of names) {
		last(r, of, "ActRole")["Condition"] = object{"Bool": object{"aws:SecureTransport": "false"}}
	}, []string{"ActRole", "is not denied s3:*"}},
	"a narrower deny": {func(r object, of names) {
		last(r, of, "ActRole")["Resource"] = arnOf(of(aBucket, "RawBucket"))
	}, []string{"ActRole", "is not denied s3:* on RawBucket/*"}},
	"a deny of fewer actions": {func(r object, of names) {
		last(r, of, "ActRole")["Action"] = "s3:Get*"
	}, []string{"ActRole", "is not denied s3:* on RawBucket"}},
	"a deny turned round": {func(r object, of names) {
		last(r, of, "ActRole")["Effect"] = "Allow"
	}, []string{"ActRole", "s3:*"}},
	"an effect in other letters": {func(r object, of names) {
		last(r, of, "ActRole")["Effect"] = "deny"
	}, []string{"ActRole", "Effect"}},
	"a right that differs in letters only": {func(r object, of names) {
		first(r, of, "FetchRole")["Action"] = "s3:getobject"
	}, []string{"FetchRole", "s3:getobject"}},

	"the bucket for an account elsewhere": {func(r object, of names) {
		policy(r, of, object{"Effect": "Allow", "Action": "s3:GetObject", "Principal": object{"AWS": "arn:aws:iam::999999999999:root"},
			"Resource": object{"Fn::Join": []any{"", []any{arnOf(of(aBucket, "RawBucket")), "/raw/*"}}}})
	}, []string{"999999999999", "s3:GetObject", "/raw/*"}},
	"the bucket for anyone": {func(r object, of names) {
		policy(r, of, object{"Effect": "Allow", "Action": "s3:GetObject", "Principal": "*", "Resource": object{"Fn::Sub": "${" + of(aBucket, "RawBucket") + ".Arn}/prompt/*"}})
	}, []string{"*: may s3:GetObject", "/prompt/*"}},
	"the bucket for a role": {func(r object, of names) {
		policy(r, of, object{"Effect": "Allow", "Action": "s3:GetObject", "Principal": object{"AWS": arnOf(of(aRole, "ApproveRole"))},
			"Resource": object{"Fn::Sub": "arn:aws:s3:::${" + of(aBucket, "RawBucket") + "}/raw/*"}})
	}, []string{"ApproveRole", "s3:GetObject", "/raw/*"}},
	"the bucket for a service": {func(r object, of names) {
		policy(r, of, object{"Effect": "Allow", "Action": "s3:PutObject", "Principal": object{"Service": "logging.s3.amazonaws.com"},
			"Resource": object{"Fn::Sub": "${" + of(aBucket, "RawBucket") + ".Arn}/raw/*"}})
	}, []string{"service:logging.s3.amazonaws.com", "s3:PutObject"}},
	"the bucket for whom a name stands": {func(r object, of names) {
		policy(r, of, object{"Effect": "Allow", "Action": "s3:PutObject", "Principal": object{"CanonicalUser": "79a59d"}, "Resource": arnOf(of(aBucket, "RawBucket"))})
	}, []string{"RawBucketPolicy", "Principal.CanonicalUser"}},
	"the queue for anyone": {func(r object, of names) {
		s := props(r, of("AWS::SQS::QueuePolicy", "FailureQueuePolicy"))["PolicyDocument"].(object)["Statement"].([]any)[0].(object)
		s["Effect"], s["Action"] = "Allow", "sqs:SendMessage"
		delete(s, "Condition")
	}, []string{"*: may sqs:SendMessage", "FailureQueue"}},
	"access lists": {func(r object, of names) {
		props(r, of(aBucket, "RawBucket"))["AccessControl"] = "PublicRead"
	}, []string{"RawBucket", "AccessControl"}},
	"access lists by ownership": {func(r object, of names) {
		props(r, of(aBucket, "RawBucket"))["OwnershipControls"] = object{"Rules": []any{object{"ObjectOwnership": "ObjectWriter"}}}
	}, []string{"RawBucket", "BucketOwnerEnforced"}},
	"a table with a policy": {func(r object, of names) {
		table := of(aTable, "ActTable")
		props(r, table)["ResourcePolicy"] = object{"PolicyDocument": doc(object{"Effect": "Allow", "Action": "dynamodb:PutItem", "Principal": object{"AWS": arnOf(of(aRole, "FetchRole"))}, "Resource": "*"})}
	}, []string{"FetchRole", "dynamodb:PutItem on PipelineActTable"}},
	"a secret with a policy": {func(r object, of names) {
		r["More"] = object{"Type": "AWS::SecretsManager::ResourcePolicy", "Properties": object{"SecretId": object{"Ref": of("AWS::SecretsManager::Secret", "GithubSecret")},
			"ResourcePolicy": doc(object{"Effect": "Allow", "Action": "secretsmanager:GetSecretValue", "Principal": object{"AWS": "123456789012"}, "Resource": "*"})}}
	}, []string{"123456789012", "secretsmanager:GetSecretValue"}},
	"a policy of a kind nobody knows": {func(r object, of names) {
		r["More"] = object{"Type": "AWS::Logs::ResourcePolicy", "Properties": object{"PolicyName": "x", "PolicyDocument": "{}"}}
	}, []string{"More.Type", "AWS::Logs::ResourcePolicy"}},

	"another principal in a trust": {func(r object, of names) {
		trust(r, of, "ActRole")["Principal"] = object{"Service": []any{"lambda.amazonaws.com", "ec2.amazonaws.com"}}
	}, []string{"ActRole", "may be assumed by service:ec2.amazonaws.com"}},
	"an account in a trust": {func(r object, of names) {
		trust(r, of, "MachineRole")["Principal"] = object{"Service": "states.amazonaws.com", "AWS": object{"Fn::Sub": "arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}}
	}, []string{"MachineRole", "may be assumed by account:own"}},
	"a trust in anyone": {func(r object, of names) {
		trust(r, of, "FetchRole")["Principal"] = object{"AWS": "*"}
	}, []string{"FetchRole", "may be assumed by *"}},
	"a role in another's trust": {func(r object, of names) {
		trust(r, of, "IngressRole")["Principal"] = object{"AWS": arnOf(of(aRole, "ExtractRestRole"))}
	}, []string{"IngressRole", "may be assumed by PipelineExtractRestRole"}},
	"another way to assume": {func(r object, of names) {
		trust(r, of, "IngressRole")["Action"] = []any{"sts:AssumeRole", "sts:TagSession"}
	}, []string{"IngressRole", "sts:AssumeRole alone"}},
	"a trust by federation": {func(r object, of names) {
		trust(r, of, "IngressRole")["Principal"] = object{"Federated": "accounts.google.com"}
	}, []string{"IngressRole", "Principal.Federated"}},
	"a second role": {func(r object, of names) {
		r["SpareRole"] = object{"Type": aRole, "Properties": object{"AssumeRolePolicyDocument": doc(object{"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": object{"Service": "lambda.amazonaws.com"}})}}
	}, []string{"SpareRole", "does not list"}},
	"a second role of the same name": {func(r object, of names) {
		r["OtherActRole"] = r[of(aRole, "ActRole")]
	}, []string{"ActRole", "want one AWS::IAM::Role of that name"}},
	"a role assumed by a role": {func(r object, of names) {
		first(r, of, "ActRole")["Action"] = "sts:AssumeRole"
	}, []string{"ActRole", "no authority over authority", "sts:AssumeRole"}},
	"a role passed": {func(r object, of names) {
		first(r, of, "ActRole")["Action"] = "iam:PassRole"
	}, []string{"ActRole", "no authority over authority", "iam:PassRole"}},

	"a managed policy of AWS": {func(r object, of names) {
		props(r, of(aRole, "ActRole"))["ManagedPolicyArns"] = []any{object{"Fn::Join": []any{"", []any{"arn:", object{"Ref": "AWS::Partition"}, ":iam::aws:policy/AdministratorAccess"}}}}
	}, []string{"ActRole", "ManagedPolicyArns[0]", "managed policy of the template"}},
	"a managed policy of the template": {func(r object, of names) {
		r["More"] = object{"Type": "AWS::IAM::ManagedPolicy", "Properties": object{"PolicyDocument": doc(object{"Effect": "Allow", "Action": "dynamodb:DeleteTable", "Resource": arnOf(of(aTable, "ActTable"))})}}
		props(r, of(aRole, "FetchRole"))["ManagedPolicyArns"] = []any{object{"Ref": "More"}}
	}, []string{"FetchRole", "dynamodb:DeleteTable"}},
	"a managed policy that names a role": {func(r object, of names) {
		r["More"] = object{"Type": "AWS::IAM::ManagedPolicy", "Properties": object{"Roles": []any{object{"Ref": of(aRole, "FetchRole")}}, "PolicyDocument": doc(object{"Effect": "Allow", "Action": "dynamodb:Scan", "Resource": arnOf(of(aTable, "ActTable"))})}}
	}, []string{"FetchRole", "dynamodb:Scan"}},
	"a managed policy in waiting": {func(r object, of names) {
		r["More"] = object{"Type": "AWS::IAM::ManagedPolicy", "Properties": object{"PolicyDocument": doc(object{"Effect": "Allow", "Action": "*", "Resource": "*"})}}
	}, []string{"More", "want exact actions"}},
	"a policy within a role": {func(r object, of names) {
		props(r, of(aRole, "ExtractUnverifiedRole"))["Policies"] = []any{object{"PolicyName": "x", "PolicyDocument": doc(object{"Effect": "Allow", "Action": "states:StartExecution", "Resource": object{"Ref": of("AWS::StepFunctions::StateMachine", "Machine")}})}}
	}, []string{"ExtractUnverifiedRole", "may states:StartExecution"}},
	"a policy beside a role": {func(r object, of names) {
		r["More"] = object{"Type": "AWS::IAM::RolePolicy", "Properties": object{"RoleName": object{"Ref": of(aRole, "FetchRole")}, "PolicyName": "x", "PolicyDocument": doc(object{"Effect": "Allow", "Action": "sqs:ReceiveMessage", "Resource": arnOf(of("AWS::SQS::Queue", "FailureQueue"))})}}
	}, []string{"FetchRole", "may sqs:ReceiveMessage"}},
	"a policy for one more role": {func(r object, of names) {
		p := props(r, of(aPolicy, "ActRoleDefaultPolicy"))
		p["Roles"] = append(p["Roles"].([]any), object{"Ref": of(aRole, "ExtractRestRole")})
	}, []string{"ExtractRestRole", "dynamodb:PutItem"}},
	"a policy for a user": {func(r object, of names) {
		props(r, of(aPolicy, "ActRoleDefaultPolicy"))["Users"] = []any{"someone"}
	}, []string{"ActRoleDefaultPolicy", "Users"}},
	"a user": {func(r object, of names) { r["Someone"] = object{"Type": "AWS::IAM::User"} }, []string{"Someone", "AWS::IAM::User"}},

	"a service that invokes act": {func(r object, of names) {
		permission(r, object{"Action": "lambda:InvokeFunction", "FunctionName": arnOf(of(aFunction, "Act")), "Principal": "s3.amazonaws.com"})
	}, []string{"service:s3.amazonaws.com", "may lambda:InvokeFunction on PipelineAct"}},
	"anyone who invokes act": {func(r object, of names) {
		permission(r, object{"Action": "lambda:InvokeFunctionUrl", "FunctionName": object{"Ref": of(aFunction, "Act")}, "Principal": "*", "FunctionUrlAuthType": "NONE"})
	}, []string{"*: may lambda:InvokeFunctionUrl on PipelineAct"}},
	"a role that invokes by the function's policy": {func(r object, of names) {
		permission(r, object{"Action": "lambda:InvokeFunction", "FunctionName": arnOf(of(aFunction, "Act")), "Principal": arnOf(of(aRole, "IngressRole"))})
	}, []string{"IngressRole", "may lambda:InvokeFunction on PipelineAct"}},
	"a permission for all actions": {func(r object, of names) {
		permission(r, object{"Action": "lambda:*", "FunctionName": arnOf(of(aFunction, "Ingress")), "Principal": "apigateway.amazonaws.com"})
	}, []string{"More", "want exact actions"}},
	"an api that is not ours": {func(r object, of names) {
		permission(r, object{"Action": "lambda:InvokeFunction", "FunctionName": arnOf(of(aFunction, "Ingress")), "Principal": "apigateway.amazonaws.com"})
	}, []string{"service:apigateway.amazonaws.com", "lambda:InvokeFunction"}},
	"the condition of a permission dropped": {func(r object, of names) {
		for k, v := range r {
			if v.(object)["Type"] == "AWS::Lambda::Permission" {
				delete(props(r, k), "SourceArn")
			}
		}
	}, []string{"service:apigateway.amazonaws.com", "lambda:InvokeFunction on PipelineIngress"}},
	"an api of contexts that any route of it serves": {func(r object, of names) {
		source(r, of, "Context")[8] = "/*"
	}, []string{"service:apigateway.amazonaws.com", "lambda:InvokeFunction on PipelineContext"}},
	"an api of contexts that writes": {func(r object, of names) {
		source(r, of, "Context")[8] = "/*/*/api/v1/runs/*/context"
	}, []string{"service:apigateway.amazonaws.com", "lambda:InvokeFunction on PipelineContext"}},
	"the api of deliveries before the contexts": {func(r object, of names) {
		source(r, of, "Context")[7] = object{"Ref": of("AWS::ApiGatewayV2::Api", "WebhookApi")}
	}, []string{"service:apigateway.amazonaws.com", "lambda:InvokeFunction on PipelineContext"}},
	"the api of contexts before the ingress": {func(r object, of names) {
		source(r, of, "Ingress")[7] = object{"Ref": of("AWS::ApiGatewayV2::Api", "ContextApi")}
	}, []string{"service:apigateway.amazonaws.com", "lambda:InvokeFunction on PipelineIngress"}},
	"a context that writes bundles": {func(r object, of names) {
		statement(r, of, "ContextRole", 2)["Action"] = "s3:PutObject"
	}, []string{"ContextRole", "s3:PutObject on PipelineRawBucket"}},
	"an answer that makes an approver": {func(r object, of names) {
		grantsOf(r, of, "Allow")["Action"] = "dynamodb:PutItem"
		grantsOf(r, of, "Deny")["Action"] = "dynamodb:UpdateItem"
	}, []string{"ApproveRole", "may dynamodb:PutItem on PipelineGrantsTable", "is not denied dynamodb:PutItem on GrantsTable"}},
	"a queue that invokes act": {func(r object, of names) {
		r["More"] = object{"Type": "AWS::Lambda::EventSourceMapping", "Properties": object{"FunctionName": object{"Ref": of(aFunction, "Act")}, "EventSourceArn": arnOf(of("AWS::SQS::Queue", "FailureQueue"))}}
	}, []string{"service:lambda.amazonaws.com", "lambda:InvokeFunction on PipelineAct"}},
	"a queue of others that feeds the ingress": {func(r object, of names) {
		r["More"] = object{"Type": "AWS::Lambda::EventSourceMapping", "Properties": object{"FunctionName": object{"Ref": of(aFunction, "Ingress")}, "EventSourceArn": arnOf(of(aQueue, "FailureQueue"))}}
	}, []string{"service:lambda.amazonaws.com", "lambda:InvokeFunction on PipelineIngress"}},
	"a sweep that lists every key": {func(r object, of names) {
		listing(r, of)["s3:prefix"] = "*"
	}, []string{"SweepRole", "s3:ListBucket", "s3:prefix=*"}},
	"a sweep that lists prompts": {func(r object, of names) {
		listing(r, of)["s3:prefix"] = "prompt/*"
	}, []string{"SweepRole", "s3:ListBucket", "s3:prefix=prompt/*"}},
	"a sweep that lists two prefixes": {func(r object, of names) {
		listing(r, of)["s3:prefix"] = []any{"start/*", "prompt/*"}
	}, []string{"SweepRole", "want one prefix of keys"}},
	"a sweep that lists by a pattern": {func(r object, of names) {
		listing(r, of)["s3:prefix"] = "*/start/*"
	}, []string{"SweepRole", "want one prefix of keys"}},
	"a sweep that lists by another key": {func(r object, of names) {
		delete(listing(r, of), "s3:prefix")
		listing(r, of)["s3:delimiter"] = "/"
	}, []string{"SweepRole", "closed list"}},
	"a batch that stops runs": {func(r object, of names) {
		executions := object{"Fn::Sub": "arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:execution:${" + of(aMachine, "Machine") + ".Name}:*"}
		last(r, of, "BatchRole")["Resource"] = executions
	}, []string{"BatchRole", "states:StopExecution on PipelineMachine"}},
	"a batch that stops whatever is called so": {func(r object, of names) {
		last(r, of, "BatchRole")["Resource"] = object{"Fn::Sub": "arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:execution:${" + of(aMachine, "Batch") + ".Name}*"}
	}, []string{"BatchRole", "want a resource without wildcards"}},
	"a batch that stops everything": {func(r object, of names) {
		last(r, of, "BatchRole")["Resource"] = object{"Fn::Sub": "arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:execution:*"}
	}, []string{"BatchRole", "want a resource without wildcards"}},
	"a batch that wakes runs": {func(r object, of names) {
		statement(r, of, "BatchRole", -2)["Action"] = "states:SendTaskSuccess"
	}, []string{"BatchRole", "states:SendTaskSuccess on PipelineBatch"}},
	"a schedule with act's role": {func(r object, of names) {
		r["More"] = object{"Type": "AWS::Scheduler::Schedule", "Properties": object{"Target": object{"Arn": arnOf(of(aTable, "ActTable")), "RoleArn": arnOf(of(aRole, "ActRole"))}}}
	}, []string{"ActRole", "want it held by one AWS::Lambda::Function, got 2"}},
	"a rule with the schedules' role": {func(r object, of names) {
		r["More"] = object{"Type": "AWS::Events::Rule", "Properties": object{"Targets": []any{object{"Id": "x", "Arn": arnOf(of(aQueue, "FailureQueue")), "RoleArn": arnOf(of(aRole, "SchedulerRole"))}}}}
	}, []string{"SchedulerRole", "want it held by AWS::Scheduler::Schedules alone"}},
	"a role of schedules that fires none": {func(r object, of names) {
		for k, v := range r {
			if v.(object)["Type"] == "AWS::Scheduler::Schedule" {
				delete(r, k)
			}
		}
	}, []string{"SchedulerRole", "want it held by AWS::Scheduler::Schedules alone, got 0"}},
	"a schedule that fires act": {func(r object, of names) {
		first(r, of, "SchedulerRole")["Resource"] = arnOf(of(aFunction, "Act"))
	}, []string{"SchedulerRole", "lambda:InvokeFunction on PipelineAct"}},
	"a custom resource": {func(r object, of names) {
		r["More"] = object{"Type": "Custom::Anything", "Properties": object{"ServiceToken": arnOf(of(aFunction, "Act"))}}
	}, []string{"service:cloudformation.amazonaws.com", "lambda:InvokeFunction on PipelineAct"}},
	"a second function with act's role": {func(r object, of names) {
		r["More"] = r[of(aFunction, "Act")]
	}, []string{"ActRole", "want it held by one AWS::Lambda::Function, got 2"}},
	"two functions with swapped logs": {func(r object, of names) {
		props(r, of(aFunction, "Act"))["LoggingConfig"] = props(r, of(aFunction, "Fetch"))["LoggingConfig"]
	}, []string{"ActRole", "log group"}},
	"a schedule with the machine's role": {func(r object, of names) {
		r["More"] = object{"Type": "AWS::Scheduler::Schedule", "Properties": object{"Target": object{"Arn": arnOf(of("AWS::StepFunctions::StateMachine", "Machine")), "RoleArn": arnOf(of(aRole, "MachineRole"))}}}
	}, []string{"MachineRole", "More"}},
	"a rule with act's role": {func(r object, of names) {
		r["More"] = object{"Type": "AWS::Events::Rule", "Properties": object{"Targets": []any{object{"Id": "x", "Arn": arnOf(of("AWS::SQS::Queue", "FailureQueue")), "RoleArn": arnOf(of(aRole, "ActRole"))}}}}
	}, []string{"ActRole", "More"}},
	"a function with a role from elsewhere": {func(r object, of names) {
		props(r, of(aFunction, "Act"))["Role"] = "arn:aws:iam::123456789012:role/admin"
	}, []string{"PipelineAct", "Role", "AWS::IAM::Role"}},
	"a function with a layer": {func(r object, of names) {
		props(r, of(aFunction, "Act"))["Layers"] = []any{"arn:aws:lambda:eu-west-1:123456789012:layer:x:1"}
	}, []string{"PipelineAct", "Layers"}},

	"an intrinsic nobody can resolve": {func(r object, of names) {
		first(r, of, "ActRole")["Resource"] = object{"Fn::ImportValue": "table"}
	}, []string{"ActRole", "Resource", "cannot be resolved"}},
	"a statement by condition": {func(r object, of names) {
		d := props(r, of(aPolicy, "ActRoleDefaultPolicy"))["PolicyDocument"].(object)
		d["Statement"] = append(d["Statement"].([]any), object{"Fn::If": []any{"X", object{}, object{"Ref": "AWS::NoValue"}}})
	}, []string{"ActRole", "Fn::If"}},
	"a resource by condition": {func(r object, of names) {
		r[of(aTable, "ActTable")].(object)["Condition"] = "X"
	}, []string{"ActTable", "Condition"}},
	"a parameter as resource": {func(r object, of names) {
		first(r, of, "ActRole")["Resource"] = object{"Ref": "BootstrapVersion"}
	}, []string{"ActRole", "Resource.Ref"}},
	"a policy variable": {func(r object, of names) {
		first(r, of, "ActRole")["Resource"] = object{"Fn::Join": []any{"", []any{arnOf(of(aBucket, "RawBucket")), "/raw/$", "{aws:username}/*"}}}
	}, []string{"ActRole", "policy variable"}},
	"a nested stack": {func(r object, of names) { r["More"] = object{"Type": "AWS::CloudFormation::Stack"} }, []string{"More", "AWS::CloudFormation::Stack"}},
	"an older policy language": {func(r object, of names) {
		props(r, of(aPolicy, "ActRoleDefaultPolicy"))["PolicyDocument"].(object)["Version"] = "2008-10-17"
	}, []string{"ActRoleDefaultPolicy", "Version"}},
}

// source are the parts of the ARN whose requests may invoke a function: the
// API is the eighth and the route the ninth.
func source(r object, of names, function string) []any {
	for k, v := range r {
		if v.(object)["Type"] == "AWS::Lambda::Permission" && props(r, k)["FunctionName"].(object)["Fn::GetAtt"].([]any)[0] == of(aFunction, function) {
			return props(r, k)["SourceArn"].(object)["Fn::Join"].([]any)[1].([]any)
		}
	}
	return nil
}

// grantsOf is what approve is allowed or denied on grants.
func grantsOf(r object, of names, effect string) object {
	for i := range 20 {
		s := statement(r, of, "ApproveRole", i)
		resource, _ := s["Resource"].(object)
		at, _ := resource["Fn::GetAtt"].([]any)
		if s["Effect"] == effect && len(at) > 0 && at[0] == of(aTable, "GrantsTable") {
			return s
		}
	}
	return nil
}

// listing are the conditions under which the sweep lists markers.
func listing(r object, of names) object {
	return statement(r, of, "SweepRole", 2)["Condition"].(object)["StringLike"].(object)
}

// first and last are the first and the last statement of a role's policy.
func first(r object, of names, role string) object { return statement(r, of, role, 0) }
func last(r object, of names, role string) object  { return statement(r, of, role, -1) }

func statement(r object, of names, role string, i int) object {
	list := props(r, of(aPolicy, role+"DefaultPolicy"))["PolicyDocument"].(object)["Statement"].([]any)
	return list[(i+len(list))%len(list)].(object)
}

func trust(r object, of names, role string) object {
	return props(r, of(aRole, role))["AssumeRolePolicyDocument"].(object)["Statement"].([]any)[0].(object)
}

// policy adds a statement to the policy of the bucket.
func policy(r object, of names, s object) {
	d := props(r, of("AWS::S3::BucketPolicy", "RawBucketPolicy"))["PolicyDocument"].(object)
	d["Statement"] = append(d["Statement"].([]any), s)
}

func permission(r, properties object) {
	r["More"] = object{"Type": "AWS::Lambda::Permission", "Properties": properties}
}

func TestEveryOtherWayToPowerFailsTheProof(t *testing.T) {
	t.Parallel()
	plain := document(t, "template.json")
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := judge(change(t, plain, func(r object) {
				way.change(r, func(typ, stem string) string { return id(t, r, typ, stem) })
			}))
			for _, mark := range way.marks {
				if !strings.Contains(got, mark) {
					t.Errorf("want %q in the proof's words, got %q", mark, got)
				}
			}
		})
	}
}

func TestATransformIsRefused(t *testing.T) {
	t.Parallel()
	got := judge([]byte(strings.Replace(string(document(t, "template.json")), "{", `{"Transform":"AWS::LanguageExtensions",`, 1)))
	if !strings.Contains(got, "Transform") {
		t.Errorf("want it refused, got %q", got)
	}
}
