package authority

import (
	"encoding/json"
	"strings"
	"testing"
)

// resolver is a template with one resource of each kind that a pattern may name.
func resolver(t *testing.T) *template {
	t.Helper()
	tmpl, err := load([]byte(`{"Parameters":{"P":{"Type":"String"}},"Resources":{
		"B":{"Type":"AWS::S3::Bucket"},"T":{"Type":"AWS::DynamoDB::Table"},"Q":{"Type":"AWS::SQS::Queue"},"N":{"Type":"AWS::SNS::Topic"},
		"F":{"Type":"AWS::Lambda::Function"},"L":{"Type":"AWS::Logs::LogGroup"},"M":{"Type":"AWS::StepFunctions::StateMachine"},
		"S":{"Type":"AWS::SecretsManager::Secret"},"A":{"Type":"AWS::ApiGatewayV2::Api"},"K":{"Type":"AWS::KMS::Key"},"C":{"Type":"Custom::X"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	return tmpl
}

func TestIntrinsicsResolveToLogicalIDs(t *testing.T) {
	t.Parallel()
	tmpl := resolver(t)
	const bad = ""
	for in, want := range map[string]string{
		`"*"`:                                             "*",
		`"arn:aws:s3:::x/raw/*"`:                          "arn:aws:s3:::x/raw/*",
		`{"Fn::GetAtt":["B","Arn"]}`:                      "B",
		`{"Fn::GetAtt":"B.Arn"}`:                          "B",
		`{"Fn::Sub":"${B.Arn}"}`:                          "B",
		`{"Fn::Sub":"${B.Arn}/raw/*"}`:                    "B/raw/*",
		`{"Ref":"N"}`:                                     "N",
		`{"Ref":"S"}`:                                     "S",
		`{"Ref":"M"}`:                                     "M",
		`{"Fn::GetAtt":["M","Arn"]}`:                      "M",
		`{"Fn::GetAtt":["L","Arn"]}`:                      "L:*",
		`{"Fn::Sub":"arn:aws:s3:::${B}"}`:                 "B",
		`{"Fn::Sub":"arn:aws:s3:::${B}*"}`:                "B*",
		`{"Fn::Sub":"arn:${AWS::Partition}:s3:::${B}/*"}`: "B/*",
		`{"Fn::Sub":["${x}/raw/*",{"x":{"Fn::GetAtt":["B","Arn"]}}]}`:                                                               "B/raw/*",
		`{"Fn::Join":["/",[{"Fn::GetAtt":["B","Arn"]},"raw","*"]]}`:                                                                 "B/raw/*",
		`{"Fn::Join":["",["arn:",{"Ref":"AWS::Partition"},":s3:::",{"Ref":"B"},"/raw/*"]]}`:                                         "B/raw/*",
		`{"Fn::Sub":"arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${T}/index/i"}`:                          "T/index/i",
		`{"Fn::Sub":"arn:${AWS::Partition}:lambda:eu-west-1:123456789012:function:${F}"}`:                                           "F",
		`{"Fn::Sub":"arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}:log-group:${L}:*"}`:                                "L:*",
		`{"Fn::Sub":"arn:${AWS::Partition}:sqs:${AWS::Region}:${AWS::AccountId}:${Q.QueueName}"}`:                                   "Q",
		`{"Fn::Sub":"arn:${AWS::Partition}:states:${AWS::Region}:${AWS::AccountId}:stateMachine:${M.Name}"}`:                        "M",
		`{"Fn::Sub":"arn:${AWS::Partition}:execute-api:${AWS::Region}:${AWS::AccountId}:${A}/*/*/hook"}`:                            "A/*/*/hook",
		`{"Fn::Join":[":",["arn",{"Ref":"AWS::Partition"},"secretsmanager",{"Ref":"AWS::Region"},{"Ref":"AWS::AccountId"},"s:x"]]}`: "arn:${AWS::Partition}:secretsmanager:${AWS::Region}:${AWS::AccountId}:s:x",

		`"B"`: bad, `"raw/*"`: bad, `""`: bad, `1`: bad, `[]`: bad, `{}`: bad, `null`: bad, `"arn:aws"`: bad,
		`{"Ref":"B"}`: bad, `{"Ref":"P"}`: bad, `{"Ref":"Z"}`: bad, `{"Ref":"AWS::NoValue"}`: bad, `{"Ref":["B"]}`: bad,
		`{"Ref":"B","Fn::GetAtt":["B","Arn"]}`:                             bad,
		`{"Fn::GetAtt":["B","DomainName"]}`:                                bad,
		`{"Fn::GetAtt":["B"]}`:                                             bad,
		`{"Fn::GetAtt":["C","Arn"]}`:                                       bad,
		`{"Fn::GetAtt":["B","Ref"]}`:                                       bad,
		`{"Fn::Sub":"${!B.Arn}"}`:                                          bad,
		`{"Fn::Sub":"${B.Arn"}`:                                            bad,
		`{"Fn::Sub":"${B.Arn}/${P}/*"}`:                                    bad,
		`{"Fn::Sub":"${B.Arn}/${A}"}`:                                      bad,
		`{"Fn::Sub":"${L.Arn}x"}`:                                          bad,
		`{"Fn::Sub":"arn:aws:s3:eu::${B}"}`:                                bad,
		`{"Fn::Sub":"arn:other:s3:::${B}"}`:                                bad,
		`{"Fn::Sub":"arn:aws:sqs:::${B}"}`:                                 bad,
		`{"Fn::Sub":"arn:aws:s3:::x${B}"}`:                                 bad,
		`{"Fn::Sub":"arn:aws:s3:::${B.Arn}"}`:                              bad,
		`{"Fn::Sub":["${x}",{"x":{"Ref":"P"}}]}`:                           bad,
		`{"Fn::If":["X","*","*"]}`:                                         bad,
		`{"Fn::Select":[0,["*"]]}`:                                         bad,
		`{"Fn::FindInMap":["a","b","c"]}`:                                  bad,
		`{"Fn::ImportValue":"x"}`:                                          bad,
		`{"Fn::Split":[",","*"]}`:                                          bad,
		`{"Fn::Sub":"arn:aws:lambda:*:123456789012:function:${F}"}`:        bad,
		`{"Fn::Sub":"arn:aws:lambda:eu-west-1:12345678901:function:${F}"}`: bad,
		`{"Fn::Sub":"arn:aws:sqs:${AWS::Region}:${AWS::AccountId}:${Q}"}`:  bad,
		`{"Fn::Join":["",["arn:aws:s3:::x/$","{aws:username}"]]}`:          bad,
		`{"Fn::Join":["{a}",["arn:aws:s3:::x/$","*"]]}`:                    bad,
		`{"Fn::Sub":["arn:aws:s3:::x/$${x}",{"x":"{aws:username}"}]}`:      bad,
		`"arn:aws:s3:::x/${aws:username}"`:                                 bad,
	} {
		n, err := parse([]byte(`{"Resource":` + in + `}`))
		if err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		got, err := tmpl.pattern(n.get("Resource"))
		switch {
		case want == bad && err == nil:
			t.Errorf("%s: want an error, got %q", in, got)
		case want == bad && !strings.HasPrefix(err.Error(), "Resource"):
			t.Errorf("%s: want an error that names the path, got %v", in, err)
		case want != bad && (err != nil || got.String() != want):
			t.Errorf("%s: want %q, got %q, %v", in, want, got, err)
		}
	}
}

// Nested intrinsics that double at each level end in an error at once.
func TestExpansionIsBounded(t *testing.T) {
	t.Parallel()
	var v any = "arn:aws:s3:::x"
	for range 20 {
		v = object{"Fn::Sub": []any{"${a}${a}", object{"a": v}}}
	}
	b, err := json.Marshal(object{"Resource": v})
	if err != nil {
		t.Fatal(err)
	}
	n, err := parse(b)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := resolver(t).pattern(n.get("Resource")); err == nil || !strings.Contains(err.Error(), "at most 4096") {
		t.Errorf("want it refused as too long, got %v", err)
	}
}

func TestAWordOfOneKindNeverCoversTheOther(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outer, inner    Pattern
		covers, overlap bool
	}{
		{everything, Pattern{"B", "/x"}, true, true},
		{everything, Pattern{Rest: "arn:aws:s3:::x"}, true, true},
		{Pattern{"B", "/*"}, Pattern{"B", "/raw/*"}, true, true},
		{Pattern{"B", ""}, Pattern{"B", "/raw/*"}, false, false},
		{Pattern{"B", "*"}, Pattern{"B2", ""}, false, true},
		{Pattern{"B", "/*"}, Pattern{"C", "/*"}, false, false},
		{Pattern{Rest: "arn:aws:s3:::*"}, Pattern{"B", ""}, false, true},
		{Pattern{"B", "/*"}, Pattern{Rest: "arn:aws:s3:::x/y"}, false, true},
		{Pattern{Rest: "arn:aws:s3:::x*"}, Pattern{Rest: "arn:aws:s3:::xy"}, true, true},
	} {
		if got := c.outer.Covers(c.inner); got != c.covers {
			t.Errorf("%v covers %v: want %v", c.outer, c.inner, c.covers)
		}
		if got := c.outer.mayOverlap(c.inner); got != c.overlap {
			t.Errorf("%v may overlap %v: want %v", c.outer, c.inner, c.overlap)
		}
	}
}
