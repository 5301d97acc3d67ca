package authority

import (
	"strings"
	"testing"
)

func TestATemplateIsReadStrictly(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		``:                                   "want JSON",
		`[]`:                                 "want a JSON object",
		`{}`:                                 "want Resources",
		`{"Resources":{}}`:                   "want Resources",
		`{"Resources":[]}`:                   "want Resources",
		`{"Resources":{}} {}`:                "want nothing after its end",
		`{"Resources":{"A":{}}`:              "want JSON",
		"{\"Resources\":\"\xff\"}":           "want JSON",
		`{"Resources":{"A":{"Type":1}}}`:     "A: want a Type",
		`{"Resources":{"A":{}}}`:             "A: want a Type",
		`{"Resources":{"A":1}}`:              "A: want an object",
		`{"Resources":{"A-B":{"Type":"x"}}}`: "A-B: want a logical id",
		`{"Resources":{"é\n":{"Type":"x"}}}`: "(key): want a logical id",
		`{"Resources":{"A":{"Type":"é"}}}`:   "A.Type: want a type that the proof knows, got (key)",
		`{"resources":{}}`:                   "resources: want one of the properties",
		`{"Resources":{"A":{"Type":"AWS::IAM::Role"}}}`:                                                           "A: want a policy document, got none",
		`{"Resources":{"A":{"Type":"AWS::IAM::Role","Properties":[]}}}`:                                           "A.Properties: want an object",
		`{"Resources":{"A":{"Type":"AWS::S3::Bucket","Properties":{"NotificationConfiguration":{}}}}}`:            "A.Properties.NotificationConfiguration: want one of",
		`{"Resources":{"A":{"Type":"AWS::S3::Bucket","Type":"AWS::S3::Bucket"}}}`:                                 "want each key once, got another at byte 44, in A/Type",
		`{"Resources":{"A":{"Type":"AWS::S3::Bucket"},"A":{}}}`:                                                   "want each key once",
		`{"Resources":{"A":{"Type":"AWS::S3::Bucket","DeletionPolicy":"Retain","CreationPolicy":{}}}}`:            "A.CreationPolicy",
		`{"Resources":{"A":` + strings.Repeat(`{"a":`, maxDepth) + `1` + strings.Repeat(`}`, maxDepth) + `}}`:     "nesting of at most 64 levels",
		`{"Resources":{"A":{"Type":"AWS::S3::Bucket"}},"Description":"` + strings.Repeat("x", maxTemplate) + `"}`: "want at most 1048576 bytes",
	} {
		_, err := Compute([]byte(in))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80q: want an error with %q, got %v", in, want, err)
		}
	}
}

// Properties without which a resource cannot be read, and properties of
// another form, name their path.
func TestWhatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17"}}`:                                                                                                                                               "AssumeRolePolicyDocument: want a Statement",
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":[1]}}`:                                                                                                                               "Statement[0]: want an object",
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Deny","Action":"sts:AssumeRole","Principal":"*"}}}`:                                                                       "want a trust policy that allows only",
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole"}}}`:                                                                                      "want a Principal",
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{}}}}`:                                                                       "want a principal",
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Principal":"*"}}}`:                                                                                                "want an Action",
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":[],"Principal":"*"}}}`:                                                                                    "want an Action",
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":"x"}}}`:                                                                      "want * or an object",
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":"*","Condition":{}}}}`:                                                       "want conditions",
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":"*","Condition":{"StringEquals":{}}}}}`:                                      "want a condition",
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":"*","Condition":{"StringEquals":{"aws:SourceAccount":"1"}}}}}`:               "want an account",
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":"*","Condition":{"ArnLike":{"aws:SourceArn":"arn:aws:s3:::*"}}}}}`:           "want one source",
		`"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":"*","Condition":{"StringNotEquals":{"aws:SourceAccount":"123456789012"}}}}}`: "closed list",
		`"AWS::IAM::Policy","Properties":{"PolicyName":"p"}`:                                                          "want the roles",
		`"AWS::IAM::Policy","Properties":{"PolicyName":"p","Roles":["x"]}`:                                            "Roles[0]: want a resource of the template",
		`"AWS::IAM::RolePolicy","Properties":{}`:                                                                      "want the role",
		`"AWS::S3::BucketPolicy","Properties":{}`:                                                                     "want Bucket",
		`"AWS::SQS::QueuePolicy","Properties":{"Queues":[]}`:                                                          "want Queues",
		`"AWS::SNS::TopicPolicy","Properties":{"Topics":["x"]}`:                                                       "Topics[0]: want a resource of the template of type AWS::SNS::Topic",
		`"AWS::DynamoDB::Table","Properties":{"ResourcePolicy":{}}`:                                                   "want a policy document",
		`"AWS::Lambda::Function","Properties":{}`:                                                                     "want a role",
		`"AWS::Lambda::Permission","Properties":{}`:                                                                   "want FunctionName",
		`"AWS::Lambda::EventSourceMapping","Properties":{}`:                                                           "want FunctionName and EventSourceArn",
		`"AWS::StepFunctions::StateMachine","Properties":{}`:                                                          "want a role",
		`"AWS::Scheduler::Schedule","Properties":{}`:                                                                  "want a target",
		`"AWS::Scheduler::Schedule","Properties":{"Target":{"Arn":"arn:aws:scheduler:::aws-sdk:sfn:startExecution"}}`: "want a role",
		`"AWS::Events::Rule","Properties":{"Targets":[{}]}`:                                                           "want Arn",
		`"AWS::CloudFormation::CustomResource","Properties":{}`:                                                       "want ServiceToken",
		`"Custom::X","Properties":{"ServiceToken":"arn:aws:lambda:eu-west-1:123456789012:function:x"}`:                "ServiceToken: want a resource of the template",
		`"AWS::S3::Bucket","Properties":{"OwnershipControls":{"Rules":[{}]}}`:                                         "want BucketOwnerEnforced",
	} {
		_, err := Compute([]byte(`{"Resources":{"A":{"Type":` + in + `}}}`))
		if err == nil || !strings.HasPrefix(err.Error(), "A") || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want an error at A with %q, got %v", in, want, err)
		}
	}
}
