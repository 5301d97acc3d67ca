package authority

import (
	"fmt"
	"strings"
	"testing"
)

// Whatever the template: no panic, a table that can be shown and compared, and
// errors that are one line.
func FuzzCompute(f *testing.F) {
	f.Add(with(fmt.Sprintf(policyOn, getRaw), `"P":{"Type":"AWS::S3::BucketPolicy","Properties":{"Bucket":{"Ref":"B"},"PolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Deny","Action":"s3:*","Principal":"*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}}}},`))
	f.Add([]byte(`{"Resources":{"A":{"Type":"AWS::EC2::VPC"},"S":{"Type":"AWS::EC2::Subnet","Properties":{"VpcId":{"Ref":"A"}}},"E":{"Type":"AWS::EC2::VPCEndpoint","Properties":{"VpcId":{"Ref":"A"},"ServiceName":"s3"}}}}`))
	f.Add([]byte(`{"Resources":{"A":{"Type":"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sts:AssumeRole","Principal":"*"}}}}}}`))
	f.Add([]byte(`{"Resources":{"A":{"Type":"AWS::SNS::Topic"},"B":{"Type":"AWS::SNS::TopicPolicy","Properties":{"Topics":{"Ref":"A"},"PolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":"Allow","Action":"sns:Publish","Principal":{"AWS":"*"},"Resource":{"Fn::Sub":["${x}",{"x":{"Ref":"A"}}]}}}}}}}`))
	f.Add([]byte(`{"Resources":{"A":{"Type":"AWS::CDK::Metadata"},"A":{}}}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		table, err := Compute(doc)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("want an error of one plain line, got %q", err)
			}
			return
		}
		_ = table.String()
		_ = table.Compare(Decant())
	})
}
