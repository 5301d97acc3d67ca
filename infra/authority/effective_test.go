package authority

import (
	"fmt"
	"strings"
	"testing"
)

// small is a template with one role, a bucket and what a test adds.
func small(more string) []byte {
	return fmt.Appendf(nil, `{"Resources":{
		"R":{"Type":"AWS::IAM::Role","Properties":{"AssumeRolePolicyDocument":{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":"sts:AssumeRole","Principal":{"Service":"lambda.amazonaws.com"}}]}%s}},
		"B":{"Type":"AWS::S3::Bucket"},"K":{"Type":"AWS::KMS::Key","Properties":{}},"N":{"Type":"AWS::SNS::Topic"}}}`, more)
}

// with puts further properties into the role and further resources beside it.
func with(props, resources string) []byte {
	s := strings.Replace(string(small(props)), `"B":{`, resources+`"B":{`, 1)
	return []byte(s)
}

const (
	policyOn = `,"Policies":[{"PolicyName":"p","PolicyDocument":{"Version":"2012-10-17","Statement":[%s]}}]`
	getRaw   = `{"Effect":"Allow","Action":"s3:GetObject","Resource":{"Fn::Sub":"${B.Arn}/raw/*"}}`
)

// rights are what R may do, in short.
func rights(t *testing.T, doc []byte) string {
	t.Helper()
	table, err := Compute(doc)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, r := range table.May("R") {
		all = append(all, describe(r))
	}
	for _, r := range table.Masked {
		all = append(all, "masked "+describe(r))
	}
	return strings.Join(all, "; ")
}

func TestADenyTakesAwayWhatItCoversAndNoMore(t *testing.T) {
	t.Parallel()
	const may, masked = "s3:GetObject on B/raw/*", "masked s3:GetObject on B/raw/*"
	for deny, want := range map[string]string{
		`"Action":"s3:*","Resource":"*"`:                                                                            masked,
		`"Action":"*","Resource":"*"`:                                                                               masked,
		`"Action":"S3:GET*","Resource":{"Fn::Sub":"${B.Arn}/*"}`:                                                    may, // refused below: services are in small letters
		`"Action":"s3:GET*","Resource":{"Fn::Sub":"${B.Arn}/*"}`:                                                    masked,
		`"Action":["s3:PutObject","s3:Get?bject"],"Resource":{"Fn::Sub":"${B.Arn}*"}`:                               masked,
		`"Action":"s3:GetObject","Resource":{"Fn::Sub":"${B.Arn}/raw/*"}`:                                           masked,
		`"Action":"s3:GetObject","Resource":{"Fn::Sub":"${B.Arn}/raw/a*"}`:                                          may,
		`"Action":"s3:GetObject","Resource":{"Fn::GetAtt":["B","Arn"]}`:                                             may,
		`"Action":"s3:PutObject","Resource":"*"`:                                                                    may,
		`"Action":"s3:GetObject","Resource":"arn:aws:s3:::*"`:                                                       may,
		`"Action":"s3:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}`:                       may,
		`"Action":"s3:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":false}}`:                         may,
		`"Action":"s3:GetObject","Resource":[{"Fn::Sub":"${B.Arn}/prompt/*"},{"Fn::Sub":"${B.Arn}/r*"}]`:            masked,
		`"Action":["s3:Get*","s3:GetObject"],"Resource":[{"Fn::Sub":"${B.Arn}/raw/*"},{"Fn::Sub":"${B.Arn}/raw/"}]`: masked,
	} {
		doc := small(fmt.Sprintf(policyOn, getRaw+`,{"Effect":"Deny",`+deny+`}`))
		if strings.Contains(deny, "S3:") {
			if _, err := Compute(doc); err == nil {
				t.Errorf("%s: want it refused", deny)
			}
			continue
		}
		if got := rights(t, doc); got != want {
			t.Errorf("deny %s: want %q, got %q", deny, want, got)
		}
	}
}

func TestTheDenyOfABucketHoldsForItsRoles(t *testing.T) {
	t.Parallel()
	for principal, want := range map[string]string{
		`"*"`:                                 "masked s3:GetObject on B/raw/*",
		`{"AWS":"*"}`:                         "masked s3:GetObject on B/raw/*",
		`{"AWS":{"Fn::GetAtt":["R","Arn"]}}`:  "masked s3:GetObject on B/raw/*",
		`{"AWS":"123456789012"}`:              "s3:GetObject on B/raw/*",
		`{"Service":"lambda.amazonaws.com"}`:  "s3:GetObject on B/raw/*",
		`{"AWS":{"Fn::Sub":"${R.Arn}"}}`:      "masked s3:GetObject on B/raw/*",
		`{"AWS":[{"Ref":"AWS::AccountId"}]}`:  "s3:GetObject on B/raw/*",
		`{"Service":"s3.${AWS::URLSuffix}x"}`: "",
	} {
		doc := with(fmt.Sprintf(policyOn, getRaw), `"P":{"Type":"AWS::S3::BucketPolicy","Properties":{"Bucket":{"Ref":"B"},"PolicyDocument":{"Version":"2012-10-17","Statement":{
			"Effect":"Deny","Action":"s3:*","Principal":`+principal+`,"Resource":{"Fn::Sub":"${B.Arn}/*"}}}}},`)
		if want == "" {
			if _, err := Compute(doc); err == nil {
				t.Errorf("%s: want it refused", principal)
			}
			continue
		}
		if got := rights(t, doc); got != want {
			t.Errorf("%s: want %q, got %q", principal, want, got)
		}
	}
}

func TestABoundaryNarrowsAndNeverGives(t *testing.T) {
	t.Parallel()
	for limit, want := range map[string]string{
		`{"Effect":"Allow","Action":"*","Resource":"*"}`:                                                                                                       "s3:GetObject on B/raw/*",
		`{"Effect":"Allow","Action":"s3:*","Resource":"arn:aws:s3:::*"}`:                                                                                       "s3:GetObject on B/raw/*", // the template does not tell
		`{"Effect":"Allow","Action":"s3:Get*","Resource":{"Fn::Sub":"${B.Arn}/*"}}`:                                                                            "s3:GetObject on B/raw/*",
		`{"Effect":"Allow","Action":"s3:Get*","Resource":{"Fn::Sub":"${B.Arn}/raw/x"}}`:                                                                        "s3:GetObject on B/raw/*", // in part
		`{"Effect":"Allow","Action":"s3:Get*","Resource":{"Fn::Sub":"${B.Arn}/prompt/*"}}`:                                                                     "",
		`{"Effect":"Allow","Action":"dynamodb:*","Resource":"*"}`:                                                                                              "",
		`{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"s3:Get*","Resource":"*"}`:                                                   "",
		`{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"s3:Put*","Resource":"*"}`:                                                   "s3:GetObject on B/raw/*",
		`{"Effect":"Allow","Action":"*","Resource":"*"},{"Effect":"Deny","Action":"s3:*","Resource":"*","Condition":{"Bool":{"aws:SecureTransport":"false"}}}`: "s3:GetObject on B/raw/*",
		`{"Effect":"Deny","Action":"s3:*","Resource":"*"}`:                                                                                                     "",
	} {
		doc := with(`,"PermissionsBoundary":{"Ref":"L"}`+fmt.Sprintf(policyOn, getRaw), `"L":{"Type":"AWS::IAM::ManagedPolicy","Properties":{"PolicyDocument":{"Version":"2012-10-17","Statement":[`+limit+`]}}},`)
		if got := rights(t, doc); got != want {
			t.Errorf("boundary %s: want %q, got %q", limit, want, got)
		}
	}
}

func TestABoundaryFromElsewhereIsShownAndTakesNothingAway(t *testing.T) {
	t.Parallel()
	doc := small(`,"PermissionsBoundary":{"Fn::Sub":"arn:${AWS::Partition}:iam::${AWS::AccountId}:policy/limit"}` + fmt.Sprintf(policyOn, getRaw))
	if got := rights(t, doc); got != "s3:GetObject on B/raw/*" {
		t.Errorf("want the right kept, got %q", got)
	}
	table, err := Compute(doc)
	if err != nil || !strings.Contains(table.String(), "bounded by arn:${AWS::Partition}:iam::${AWS::AccountId}:policy/limit") {
		t.Errorf("want it in the table, got %v, %v", table, err)
	}
	if _, err := Compute(small(`,"PermissionsBoundary":{"Ref":"B"}`)); err == nil {
		t.Error("want a boundary that is no policy refused")
	}
}

// What a bucket's policy gives to a role passes a boundary that is silent, and
// not one that denies.
func TestABoundaryBoundsWhatABucketGives(t *testing.T) {
	t.Parallel()
	gives := `"P":{"Type":"AWS::S3::BucketPolicy","Properties":{"Bucket":{"Ref":"B"},"PolicyDocument":{"Version":"2012-10-17","Statement":{
		"Effect":"Allow","Action":"s3:GetObject","Principal":{"AWS":{"Fn::GetAtt":["R","Arn"]}},"Resource":{"Fn::Sub":"${B.Arn}/raw/*"}}}}},`
	for effect, want := range map[string]string{`"Allow","Action":"sqs:*"`: "s3:GetObject on B/raw/*", `"Deny","Action":"s3:*"`: ""} {
		doc := with(`,"PermissionsBoundary":{"Ref":"L"}`, gives+`"L":{"Type":"AWS::IAM::ManagedPolicy","Properties":{"PolicyDocument":{"Version":"2012-10-17","Statement":{"Effect":`+effect+`,"Resource":"*"}}}},`)
		if got := rights(t, doc); got != want {
			t.Errorf("boundary %s: want %q, got %q", effect, want, got)
		}
	}
}

// The root statement that every key needs gives nobody a right; any other does.
func TestAKeyIsLeftToIdentityPolicies(t *testing.T) {
	t.Parallel()
	key := func(statement string) []byte {
		return []byte(strings.Replace(string(small("")), `"AWS::KMS::Key","Properties":{}`,
			`"AWS::KMS::Key","Properties":{"KeyPolicy":{"Version":"2012-10-17","Statement":[`+statement+`]}}`, 1))
	}
	const root = `"AWS":{"Fn::Sub":"arn:${AWS::Partition}:iam::${AWS::AccountId}:root"}`
	table, err := Compute(key(`{"Effect":"Allow","Action":"kms:*","Resource":"*","Principal":{` + root + `}}`))
	if err != nil || len(table.Rights) != 0 {
		t.Errorf("want no right, got %v, %v", table, err)
	}
	table, err = Compute(key(`{"Effect":"Allow","Action":"kms:Decrypt","Resource":"*","Principal":{"AWS":{"Fn::GetAtt":["R","Arn"]}}}`))
	if err != nil || len(table.Rights) != 1 || table.Rights[0].Resource.ID != "K" {
		t.Errorf("want a right on K, got %v, %v", table, err)
	}
	for _, s := range []string{
		`{"Effect":"Allow","Action":"kms:*","Resource":"*","Principal":{"AWS":{"Fn::GetAtt":["R","Arn"]}}}`,
		`{"Effect":"Allow","Action":"kms:*","Resource":"*","Principal":{"AWS":"999999999999"}}`,
		`{"Effect":"Allow","Action":"kms:*","Resource":"*","Principal":{` + root + `,"Service":"logs.amazonaws.com"}}`,
	} {
		if _, err := Compute(key(s)); err == nil {
			t.Errorf("%s: want it refused", s)
		}
	}
}
