package emulators

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/aws-sdk-go-v2/service/lambda"
	lambdatypes "github.com/aws/aws-sdk-go-v2/service/lambda/types"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/secretsmanager"
	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/sivchari/kumo"
)

const (
	region  = "eu-central-1"
	account = "000000000000"
	webhook = "the webhook's secret"
)

// functions are the binaries and what each is told, beside what all are.
var functions = map[string]map[string]string{
	"ingress": {"DECANT_RAW_BUCKET": "raw", "DECANT_EXPECTED_OWNER": account},
	"fetch":   {"DECANT_RAW_BUCKET": "raw", "DECANT_EXPECTED_OWNER": account, "DECANT_GRANTS_TABLE": "Grants", "DECANT_OWN_IDENTITIES": "github:777", "DECANT_CONTEXT_URL": "https://context.example.com"},
	"context": {"DECANT_RAW_BUCKET": "raw", "DECANT_EXPECTED_OWNER": account, "DECANT_GRANTS_TABLE": "Grants", "DECANT_RUNS_TABLE": "Runs",
		"DECANT_OWN_IDENTITIES": "github:777"},
	"extract": {"DECANT_RAW_BUCKET": "raw", "DECANT_EXPECTED_OWNER": account},
	"act": {"DECANT_ACT_TABLE": "Act", "DECANT_GRANTS_TABLE": "Grants", "DECANT_RUNS_TABLE": "Runs", "DECANT_APPROVALS_TABLE": "Approvals",
		"DECANT_OWN_IDENTITIES": "github:777", "DECANT_LIVE": "true"},
	"approve": {"DECANT_APPROVALS_TABLE": "Approvals", "DECANT_GRANTS_TABLE": "Grants", "DECANT_OWN_IDENTITIES": "github:777"},
	"sweep":   {"DECANT_RAW_BUCKET": "raw", "DECANT_EXPECTED_OWNER": account, "DECANT_RUNS_TABLE": "Runs"},
}

// fixtures are deployments for tests alone: the phases of a recipe with a
// schedule, an ingress whose machine is not there, and one of a webhook.
var fixtures = map[string]map[string]string{
	"feeds-ingress": {"FEEDS_PHASE": "ingress"}, "feeds-fetch": {"FEEDS_PHASE": "fetch"}, "feeds-extract": {"FEEDS_PHASE": "extract"}, "feeds-act": {"FEEDS_PHASE": "act"},
	"ingress-broken": {"DECANT_STATE_MACHINE_ARN": "arn:aws:states:" + region + ":" + account + ":stateMachine:none"},
	"hooks-ingress":  {},
}

// like says which function's environment a fixture starts from.
var like = map[string]string{"feeds-ingress": "ingress", "feeds-fetch": "fetch", "feeds-extract": "extract", "feeds-act": "act", "ingress-broken": "ingress", "hooks-ingress": "ingress"}

// deployed names each deployment and its binary.
var deployed = map[string]string{
	"ingress": "ingress", "fetch": "fetch", "extract-unverified": "extract", "extract-rest": "extract", "act": "act", "approve": "approve",
	"context": "context",
	"sweep":   "sweep", "feeds-ingress": "feeds", "feeds-fetch": "feeds", "feeds-extract": "feeds", "feeds-act": "feeds", "ingress-broken": "ingress", "hooks-ingress": "hooks",
}

// binaries holds the folder that build fills, once a test run.
var binaries = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "decant-bootstrap-")
	if err != nil {
		return "", err
	}
	for name := range functions {
		if err := build("../..", filepath.Join(dir, name), "./functions/"+name); err != nil {
			return dir, err
		}
	}
	for _, name := range []string{"hello", "feeds", "hooks"} {
		if err := build(".", filepath.Join(dir, name), "./"+name); err != nil {
			return dir, err
		}
	}
	return dir, nil
})

// build makes a bootstrap as infra does, for this machine, from a package of
// the module in dir.
func build(dir, out, pkg string) error {
	c := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-tags", "lambda.norpc", "-ldflags", "-s -w -buildid=", "-o", out, pkg)
	c.Dir, c.Env = dir, append(os.Environ(), "CGO_ENABLED=0")
	if b, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("go build %s: %w\n%s", pkg, err, b)
	}
	return nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := binaries(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// cloud is one set of resources on the emulator, whose services all tests of
// the process share.
type cloud struct {
	url     string
	s3      *s3.Client
	db      *dynamodb.Client
	lambda  *lambda.Client
	sfn     *sfn.Client
	secrets *secretsmanager.Client
	machine string // ARN of a machine that accepts every start
	batches string // the same, of batches
	logs    *lines // what every function wrote
}

var shared = sync.OnceValues(openCloud)

func open(t *testing.T) *cloud {
	t.Helper()
	c, err := shared()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func openCloud() (*cloud, error) {
	ctx := context.Background()
	server := kumo.NewServer()
	if err := forward("127.0.0.1:4566", strings.TrimPrefix(server.URL, "http://")); err != nil {
		return nil, err
	}
	config := aws.Config{Region: region, Credentials: credentials.NewStaticCredentialsProvider("test", "test", ""), BaseEndpoint: &server.URL}
	c := &cloud{
		url: server.URL, s3: s3.NewFromConfig(config, func(o *s3.Options) { o.UsePathStyle = true }), db: dynamodb.NewFromConfig(config),
		lambda: lambda.NewFromConfig(config), sfn: sfn.NewFromConfig(config), secrets: secretsmanager.NewFromConfig(config), logs: &lines{},
	}
	if _, err := c.s3.CreateBucket(ctx, &s3.CreateBucketInput{Bucket: aws.String("raw")}); err != nil {
		return nil, err
	}
	for name, sort := range map[string]bool{"Act": true, "Grants": true, "Runs": false, "Approvals": false} {
		if err := c.createTable(ctx, name, sort); err != nil {
			return nil, err
		}
	}
	secret, err := c.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: aws.String("decant/github"), SecretString: aws.String(webhook)})
	if err != nil {
		return nil, err
	}
	machine, err := c.sfn.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: aws.String("accepts"), RoleArn: aws.String("arn:aws:iam::" + account + ":role/machine"),
		Definition: aws.String(`{"StartAt":"Ended","States":{"Ended":{"Type":"Succeed"}}}`),
	})
	if err != nil {
		return nil, err
	}
	c.machine = *machine.StateMachineArn
	batches, err := c.sfn.CreateStateMachine(ctx, &sfn.CreateStateMachineInput{
		Name: aws.String("accepts-batches"), RoleArn: aws.String("arn:aws:iam::" + account + ":role/machine"),
		Definition: aws.String(`{"StartAt":"Ended","States":{"Ended":{"Type":"Succeed"}}}`),
	})
	if err != nil {
		return nil, err
	}
	c.batches = *batches.StateMachineArn
	for _, name := range []string{"ingress", "sweep"} {
		functions[name]["DECANT_STATE_MACHINE_ARN"], functions[name]["DECANT_BATCH_MACHINE_ARN"] = c.machine, c.batches
	}
	functions["ingress"]["DECANT_GITHUB_SECRET_ARN"] = *secret.ARN
	shop, err := c.secrets.CreateSecret(ctx, &secretsmanager.CreateSecretInput{Name: aws.String("decant/shop"), SecretString: &shopSecret})
	if err != nil {
		return nil, err
	}
	fixtures["hooks-ingress"]["DECANT_HOOK_SECRET_ARNS"] = "shop=" + *shop.ARN
	for name, binary := range deployed {
		if err := c.start(ctx, name, binary); err != nil {
			return nil, err
		}
	}
	for name := range deployed {
		if err := c.awaitFirst(ctx, name); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// awaitFirst asks a function until it answers. Before its process has asked
// for work the emulator fails every invocation, and its Step Functions would
// take that for the function's own failure.
func (c *cloud) awaitFirst(ctx context.Context, name string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		_, err := c.lambda.Invoke(ctx, &lambda.InvokeInput{FunctionName: &name, Payload: []byte("{}")})
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("%s did not answer: %w", name, err)
		}
	}
}

func (c *cloud) createTable(ctx context.Context, name string, sorted bool) error {
	in := &dynamodb.CreateTableInput{
		TableName: &name, BillingMode: ddb.BillingModePayPerRequest,
		KeySchema:            []ddb.KeySchemaElement{{AttributeName: aws.String("pk"), KeyType: ddb.KeyTypeHash}},
		AttributeDefinitions: []ddb.AttributeDefinition{{AttributeName: aws.String("pk"), AttributeType: ddb.ScalarAttributeTypeS}},
	}
	if sorted {
		in.KeySchema = append(in.KeySchema, ddb.KeySchemaElement{AttributeName: aws.String("sk"), KeyType: ddb.KeyTypeRange})
		in.AttributeDefinitions = append(in.AttributeDefinitions, ddb.AttributeDefinition{AttributeName: aws.String("sk"), AttributeType: ddb.ScalarAttributeTypeS})
	}
	_, err := c.db.CreateTable(ctx, in)
	return err
}

// start deploys a function and runs its binary on the emulator's runtime API.
func (c *cloud) start(ctx context.Context, name, binary string) error {
	dir, err := binaries()
	if err != nil {
		return err
	}
	if _, err := c.lambda.CreateFunction(ctx, &lambda.CreateFunctionInput{
		FunctionName: &name, Role: aws.String("arn:aws:iam::" + account + ":role/" + name), Runtime: lambdatypes.RuntimeProvidedal2023,
		Handler: aws.String("bootstrap"), Code: &lambdatypes.FunctionCode{ZipFile: []byte("PK")}, Timeout: aws.Int32(30),
	}); err != nil {
		return err
	}
	p := exec.Command(filepath.Join(dir, binary))
	p.Env = append(environment(name, binary, c.url), "AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(c.url, "http://")+"/_runtime/"+name)
	p.Stdout, p.Stderr = c.logs, c.logs
	p.SysProcAttr = endWithParent()
	return p.Start()
}

func environment(name, binary, url string) []string {
	env := []string{
		"AWS_REGION=" + region, "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test", "AWS_ENDPOINT_URL=" + url,
		"AWS_LAMBDA_FUNCTION_NAME=" + name, "POWERTOOLS_SERVICE_NAME=" + name,
	}
	if of := like[name]; of != "" {
		binary = of
	}
	for _, values := range []map[string]string{functions[binary], fixtures[name]} {
		for k, v := range values {
			env = append(env, k+"="+v)
		}
	}
	return env
}

// forward passes connections to one address on to another: the emulator's
// Step Functions know it under a fixed one.
func forward(from, to string) error {
	l, err := net.Listen("tcp", from)
	if err != nil {
		return err
	}
	go func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer in.Close()
				out, err := net.Dial("tcp", to)
				if err != nil {
					return
				}
				defer out.Close()
				go func() { _, _ = io.Copy(out, in) }()
				_, _ = io.Copy(in, out)
			}()
		}
	}()
	return nil
}

// lines gathers what processes write.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.String()
}

// each calls f with every line, which must be a JSON object.
func (l *lines) each(t *testing.T, f func(map[string]any)) {
	t.Helper()
	s := bufio.NewScanner(strings.NewReader(l.String()))
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var m map[string]any
		if err := json.Unmarshal(s.Bytes(), &m); err != nil {
			t.Errorf("line of log is no JSON object: %.200q", s.Text())
			continue
		}
		f(m)
	}
}

// invoke asks a function and returns its answer; failed is Lambda's mark of
// an error.
func (c *cloud) invoke(t *testing.T, name string, payload any) (answer map[string]any, failed bool) {
	t.Helper()
	b, ok := payload.([]byte)
	if !ok {
		var err error
		if b, err = json.Marshal(payload); err != nil {
			t.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := c.lambda.Invoke(ctx, &lambda.InvokeInput{FunctionName: &name, Payload: b})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := json.Unmarshal(out.Payload, &answer); err != nil {
		t.Fatalf("%s: answer of %d bytes is no JSON object: %.300q", name, len(out.Payload), out.Payload)
	}
	return answer, out.FunctionError != nil
}

// signed makes the event that API Gateway delivers for a webhook.
func signed(t *testing.T, name string, body []byte) []byte {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(webhook))
	mac.Write(body)
	b, err := json.Marshal(map[string]any{
		"version": "2.0", "routeKey": "POST /github", "isBase64Encoded": false, "body": string(body),
		"headers": map[string]string{"x-github-event": name, "x-hub-signature-256": "sha256=" + hex.EncodeToString(mac.Sum(nil))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// opened is GitHub's delivery of an opened issue.
func opened(number int, author int, title, body string) []byte {
	quote := func(s string) string { b, _ := json.Marshal(s); return string(b) }
	user := fmt.Sprintf(`{"login":"reporter","id":%d,"type":"User"}`, author)
	return fmt.Appendf(nil, `{"action":"opened","issue":{"id":%d,"number":%d,"title":%s,"user":%s,"labels":[],"state":"open","body":%s},`+
		`"repository":{"id":1,"name":"sample","full_name":"octo-org/sample","private":false},"sender":%s}`,
		90000+number, number, quote(title), user, quote(body), user)
}

// grant lets a person hold trigger on a channel until what it returns is
// called.
func (c *cloud) grant(t *testing.T, person, channel string) (revoke func()) {
	t.Helper()
	name, key := "Grants", attributes(object{"pk": channel, "sk": person})
	if _, err := c.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &name, Item: key}); err != nil {
		t.Fatal(err)
	}
	return func() {
		if _, err := c.db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &name, Key: key}); err != nil {
			t.Fatal(err)
		}
	}
}
