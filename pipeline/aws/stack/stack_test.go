package stack

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"

	"decant.dev/pipeline/approval"
)

// service answers every call with one status and body, and keeps what was
// asked.
func service(t *testing.T, status int, body string) (aws.Config, *[]string) {
	t.Helper()
	asked := &[]string{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		*asked = append(*asked, string(b))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return aws.Config{
		Region: "eu-central-1", Credentials: credentials.NewStaticCredentialsProvider("a", "b", ""), BaseEndpoint: &server.URL, RetryMaxAttempts: 1,
	}, asked
}

// CloudFormation's answer to DescribeStacks (API_DescribeStacks, AWS Query).
const described = `<DescribeStacksResponse xmlns="http://cloudformation.amazonaws.com/doc/2010-05-15/"><DescribeStacksResult><Stacks><member>
<StackName>decant-dev</StackName><Outputs>
<member><OutputKey>RunsTableName</OutputKey><OutputValue>Runs-1</OutputValue></member>
<member><OutputKey>ApproveFunctionName</OutputKey><OutputValue>Approve-1</OutputValue></member>
</Outputs></member></Stacks></DescribeStacksResult></DescribeStacksResponse>`

func TestOutputsAreThoseOfTheStack(t *testing.T) {
	t.Parallel()
	c, asked := service(t, 200, described)
	got, err := describe(t.Context(), c, "decant-dev")
	if err != nil || len(got) != 2 || got[runsOutput] != "Runs-1" || got[approveOutput] != "Approve-1" {
		t.Errorf("got %v, %v", got, err)
	}
	if !strings.Contains((*asked)[0], "Action=DescribeStacks") || !strings.Contains((*asked)[0], "StackName=decant-dev") {
		t.Errorf("asked %q", *asked)
	}
	c, _ = service(t, 400, `<ErrorResponse><Error><Code>ValidationError</Code><Message>zz9 does not exist</Message></Error></ErrorResponse>`)
	if _, err := describe(t.Context(), c, "decant-dev"); err == nil || !strings.Contains(err.Error(), "ValidationError") || strings.Contains(err.Error(), "zz9") {
		t.Errorf("got %v, want the service's code and not its message", err)
	}
}

// Only a state, or a refusal of the closed list, is an answer.
func TestWhatApproveAnswersIsReadStrictly(t *testing.T) {
	t.Parallel()
	outputs := map[string]string{}
	for _, name := range needed {
		outputs[name] = "x"
	}
	for body, want := range map[string]string{
		`{"verdict":"ok","state":"approved"}`:       "approved",
		`{"verdict":"ok","refused":"wrong_person"}`: approval.WrongPerson.Error(),
		`{"verdict":"ok","refused":"zz9"}`:          "phase_misbehave",
		`{"verdict":"phase_misbehave"}`:             "phase_misbehave",
		`{"verdict":"ok"}`:                          "phase_misbehave",
		`"zz9"`:                                     "store_failed",
		``:                                          "store_failed",
	} {
		c, _ := service(t, 200, body)
		s, err := New(c, outputs, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		state, err := s.Answer(t.Context(), strings.Repeat("ab", 16), strings.Repeat("ab", 32), "github:1", approval.Approve)
		got := string(state)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) || strings.Contains(got, "zz9") {
			t.Errorf("%q: got %q, want %q", body, got, want)
		}
	}
}
