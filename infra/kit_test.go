package infra

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"decant.dev/events"
	"decant.dev/pipeline/aws/machine"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	jsii.Close()
	for _, v := range variants {
		if v.dir != "" {
			_ = os.RemoveAll(filepath.Dir(v.dir))
		}
	}
	os.Exit(code)
}

// The pipelines that the tests look at. Each is synthesized once: the CDK's
// runtime is one process, and slow.
var variants = map[string]*variant{
	"default":  {props: Props{Stage: "dev"}},
	"adapters": {props: Props{Stage: "dev", ContextAPI: true}},
	"modelled": {props: Props{Stage: "dev", Network: NetworkIsolated, Model: someModel}},
	"hooked":   {props: Props{Stage: "dev", Hooks: someHooks, DeliveryQueue: true}},
	"full": {props: Props{
		Stage: "prod", Live: true, Kinds: []string{"table.row", "github.label"}, OwnIdentities: []string{"github:583231", "github:41898282"},
		Network:             NetworkIsolated,
		ReservedConcurrency: map[Phase]float64{ExtractUnverified: 5, Act: 10},
		RequestsPerSecond:   100, Burst: 200, TextDays: 365, LogDays: 3653,
		Limits: machine.Limits{Act: 15 * time.Second, Fetch: 30 * time.Second, Extract: 5 * time.Minute, Approval: time.Hour},
		Schedules: []Schedule{
			{Name: "nightly", Recipe: "advisories", Expression: "cron(0 6 * * ? *)", TimeZone: "Europe/Berlin"},
			{Name: "hourly", Recipe: "advisories", Expression: "rate(1 hour)"},
		},
		DeliveryQueue: true, Batches: machine.Batches{Items: 200, Concurrency: 20},
		PermissionsBoundary: "arn:aws:iam::111122223333:policy/boundary",
		AlarmTopicArn:       "arn:aws:sns:eu-central-1:111122223333:alarms",
	}},
}

// someHooks are two that are signed, and one that anyone may send to.
var someHooks = []Hook{{Name: "shop"}, {Name: "door-2"}, {Name: "open", Unsigned: events.AnyoneMaySend}}

var someModel = Model{
	ID: "eu.example.some-model-v1:0",
	Invoke: []string{
		"arn:aws:bedrock:eu-central-1:111122223333:inference-profile/eu.example.some-model-v1:0",
		"arn:aws:bedrock:eu-central-1::foundation-model/example.some-model-v1:0",
		"arn:aws:bedrock:eu-west-1::foundation-model/example.some-model-v1:0",
	},
	Guardrail: "arn:aws:bedrock:eu-central-1:111122223333:guardrail/abc123",
}

type variant struct {
	props    Props
	once     sync.Once
	dir      string // of the assembly
	pipeline *Pipeline
	stack    cdk.Stack
	raw      []byte // the template, asset hashes masked
	template template
}

type template struct {
	Resources map[string]resource
	Outputs   map[string]map[string]any
}

type resource struct {
	Type           string
	DeletionPolicy string
	Properties     map[string]any
	Metadata       map[string]any
}

var assetHash = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// synthesized returns a variant's template. It must not be called by tests
// that run in parallel.
func synthesized(t *testing.T, name string) *variant {
	t.Helper()
	v := variants[name]
	v.once.Do(func() { v.synthesize(t, nil) })
	if v.raw == nil {
		t.Fatalf("variant %s was not synthesized", name)
	}
	return v
}

func (v *variant) synthesize(t *testing.T, prepare func(cdk.App)) {
	t.Helper()
	dir, err := os.MkdirTemp("", "decant-infra")
	if err != nil {
		t.Fatal(err)
	}
	v.dir = filepath.Join(dir, "out")
	props := v.props
	props.Binaries = filepath.Join(dir, "functions")
	for _, p := range props.programs() {
		if err := os.MkdirAll(filepath.Join(props.Binaries, p.name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(props.Binaries, p.name, "bootstrap"), []byte(p.name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	app := cdk.NewApp(&cdk.AppProps{AnalyticsReporting: jsii.Bool(false), Outdir: &v.dir})
	v.stack = cdk.NewStack(app, jsii.String("decant-"+props.Stage), nil)
	v.pipeline = NewPipeline(v.stack, "Decant", &props)
	v.pipeline.Outputs(v.stack)
	if prepare != nil {
		prepare(app)
	}
	app.Synth(nil)
	raw, err := os.ReadFile(filepath.Join(v.dir, "decant-"+props.Stage+".template.json"))
	if err != nil {
		t.Fatal(err)
	}
	v.raw = append(assetHash.ReplaceAll(raw, []byte("ASSET")), '\n')
	if err := json.Unmarshal(v.raw, &v.template); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(props.Binaries); err != nil {
		t.Fatal(err)
	}
}

// of lists the ids of all resources of a type.
func (v *variant) of(typ string) []string {
	var ids []string
	for id, r := range v.template.Resources {
		if r.Type == typ {
			ids = append(ids, id)
		}
	}
	return ids
}

// golden compares bytes with a file of testdata, or rewrites the file.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("differs from %s; run go test ./infra -update and review the difference", path)
	}
}
