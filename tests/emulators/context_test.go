package emulators

import (
	"encoding/base64"
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"decant.dev/fence"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/grants"
	"decant.dev/pipeline/contextapi"
)

// token is what fetch left for extract, and extract alone.
func (c *cloud) token(t *testing.T, run string) string {
	t.Helper()
	out, err := c.s3.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String("raw"), Key: aws.String("prompt/issues/" + run + ".token")})
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(out.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// read asks the context function as an adapter does through API Gateway.
func (c *cloud) read(t *testing.T, run, token string) (status float64, body string) {
	t.Helper()
	a, failed := c.invoke(t, "context", object{
		"version": "2.0", "rawPath": contextapi.Path(run), "rawQueryString": "", "isBase64Encoded": false,
		"headers": object{"authorization": "Bearer " + token}, "requestContext": object{"http": object{"method": "GET"}},
	})
	if failed || a["headers"].(object)["Cache-Control"] != "no-store" {
		t.Fatalf("got %v", a)
	}
	body = a["body"].(string)
	if a["isBase64Encoded"] == true {
		b, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			t.Fatal(err)
		}
		body = string(b)
	}
	return a["statusCode"].(float64), body
}

// Between fetch and the run's end the token opens the context, with the
// grants of each read; after it, nothing does.
func TestAContextIsReadWhileItsRunIsActive(t *testing.T) {
	testCredentials(t)
	c := open(t)
	envelope := c.deliver(t, opened(130, 7030, "The exporter crashes", report))
	run := envelope["run"].(string)
	if a, _ := c.invoke(t, "act", object{"envelope": envelope}); a["verdict"] != "ok" {
		t.Fatalf("admit: got %v", a)
	}
	if a, _ := c.invoke(t, "fetch", object{"envelope": envelope}); a["verdict"] != "ok" {
		t.Fatalf("fetch: got %v", a)
	}
	token := c.token(t, run)
	held := pipeline.Grant{Person: "github:7030", Channel: "github:octo-org/sample"}
	g := grants.Open(region, c.url, "Grants")
	for i, step := range []struct {
		change func() (bool, error)
		want   fence.Trust
	}{
		{func() (bool, error) { return true, nil }, fence.TrustUnverified},
		{func() (bool, error) { return g.Add(t.Context(), held) }, fence.TrustTrigger},
		{func() (bool, error) { return g.Remove(t.Context(), held) }, fence.TrustUnverified},
	} {
		if changed, err := step.change(); !changed || err != nil {
			t.Fatal(err)
		}
		status, body := c.read(t, run, token)
		ctx, err := fence.DecodeRunContext([]byte(body))
		if err != nil || status != 200 || ctx.Run != run {
			t.Fatalf("read %d: got %v, %v", i, status, err)
		}
		if last := ctx.Elements[len(ctx.Elements)-1]; last.Trust != step.want || !strings.Contains(last.Text, marker) {
			t.Errorf("read %d: got %s, want %s", i, last.Trust, step.want)
		}
	}

	other := strings.Repeat("0", 32)
	wrongStatus, wrong := c.read(t, run, run+"."+strings.Repeat("A", 43))
	unknownStatus, unknown := c.read(t, other, other+"."+strings.Repeat("A", 43))
	if wrongStatus != 404 || unknownStatus != 404 || wrong != unknown {
		t.Errorf("another token: got %v %s; another run: got %v %s", wrongStatus, wrong, unknownStatus, unknown)
	}
	if status, _ := c.read(t, other, token); status != 403 {
		t.Errorf("the token of another run: got %v", status)
	}

	a, _ := c.invoke(t, "extract-unverified", object{"recipe": "issues", "run": run})
	if a, _ = c.invoke(t, "act", object{"envelope": envelope, "structure": a["structure"]}); a["status"] != "done" {
		t.Fatalf("act: got %v", a)
	}
	if status, body := c.read(t, run, token); status != 410 || body != `{"code":"ended"}` {
		t.Errorf("after its end: got %v %s", status, body)
	}
	if _, secret, _ := strings.Cut(token, "."); strings.Contains(c.logs.String(), secret) {
		t.Error("a log holds the token")
	}
}
