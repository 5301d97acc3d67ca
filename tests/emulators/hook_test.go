package emulators

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
)

// shopKey is the key of the shop's webhook, and shopSecret how it is kept.
var (
	shopKey    = strings.Repeat("shop", 8)
	shopSecret = "whsec_" + base64.StdEncoding.EncodeToString([]byte(shopKey))
)

// shopped is the HTTP event of a delivery of the shop's.
func shopped(t *testing.T, path, key, body string, at time.Time) []byte {
	t.Helper()
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, []byte(key))
	mac.Write([]byte("msg_1." + stamp + "." + body))
	b, err := json.Marshal(object{
		"version": "2.0", "rawPath": path, "body": body, "isBase64Encoded": false,
		"headers": object{"webhook-id": "msg_1", "webhook-timestamp": stamp, "webhook-signature": "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A webhook's delivery goes through the real function: its secret comes from
// Secrets Manager, its body into the bucket and its run is started.
func TestAWebhookIsProvedByItsOwnSecret(t *testing.T) {
	testCredentials(t)
	c := open(t)
	const body = `{"type":"message.received","data":{"message":"` + marker + `"}}`
	now := time.Now()
	for name, tc := range map[string]struct {
		payload []byte
		status  float64
		answer  string
	}{
		"another key":     {shopped(t, "/webhooks/shop", webhook, body, now), 401, `{"code":"bad_signature"}`},
		"long ago":        {shopped(t, "/webhooks/shop", shopKey, body, now.Add(-time.Hour)), 401, `{"code":"outside_window"}`},
		"another event":   {shopped(t, "/webhooks/shop", shopKey, `{"type":"`+marker+`"}`, now), 202, `{"code":"unhandled_event"}`},
		"at another path": {shopped(t, "/webhooks/github", shopKey, body, now), 401, `{"code":"bad_signature"}`},
	} {
		if a, failed := c.invoke(t, "hooks-ingress", tc.payload); failed || a["statusCode"] != tc.status || a["body"] != tc.answer {
			t.Errorf("%s: got %v", name, a)
		}
	}
	var first string
	for range 2 {
		a, failed := c.invoke(t, "hooks-ingress", shopped(t, "/webhooks/shop", shopKey, body, now))
		var answer struct{ Runs []string }
		if failed || a["statusCode"] != 202.0 || json.Unmarshal([]byte(a["body"].(string)), &answer) != nil || len(answer.Runs) != 1 || first != "" && answer.Runs[0] != first {
			t.Fatalf("got %v", a)
		}
		first = answer.Runs[0]
	}
	arn := strings.Replace(c.machine, ":stateMachine:", ":execution:", 1) + ":" + first
	out, err := c.sfn.DescribeExecution(t.Context(), &sfn.DescribeExecutionInput{ExecutionArn: &arn})
	if err != nil || !strings.Contains(*out.Input, `"channel":"hook:shop"`) || strings.Contains(*out.Input, marker) {
		t.Errorf("got %v, %v", out, err)
	}
	if written := c.logs.String(); strings.Contains(written, marker) || !strings.Contains(written, `"hook_secret":"shop current"`) {
		t.Error("want what matched in the metrics, and nothing of a body in a log")
	}
}

// An ingress whose hooks are not those of its deployment does not start.
func TestAnIngressWithoutItsHooksSecretDoesNotStart(t *testing.T) {
	c := open(t)
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	arn := "arn:aws:secretsmanager:" + region + ":" + account + ":secret:other-1"
	for _, told := range []string{"", "DECANT_HOOK_SECRET_ARNS=other=" + arn, "DECANT_HOOK_SECRET_ARNS=shop=" + arn + ",other=" + arn, "DECANT_HOOK_SECRET_ARNS=" + marker} {
		p := exec.Command(filepath.Join(dir, "hooks"))
		p.Env = append(environment("ingress", "ingress", c.url), "AWS_LAMBDA_RUNTIME_API=127.0.0.1:1", told)
		p.SysProcAttr = endWithParent()
		out, err := p.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "decant: ") || strings.Contains(string(out), marker) {
			t.Errorf("told %q: got %v, %s", told, err, out)
		}
	}
}
