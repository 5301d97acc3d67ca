package infra

import (
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// copied copies the module's Go sources into a new folder.
func copied(t *testing.T) string {
	t.Helper()
	to := t.TempDir()
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, _ := filepath.Rel("..", path)
		if d.IsDir() {
			if base := d.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "node_modules" || base == "cdk.out" || base == "testdata") {
				return filepath.SkipDir
			}
			return os.MkdirAll(filepath.Join(to, name), 0o755)
		}
		if !d.Type().IsRegular() {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, name), b, 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	return to
}

// maxBinaryBytes keeps a cold start short: the SDK of five services needs as
// much, and what grows beyond has linked something by mistake.
const maxBinaryBytes = 13_000_000

func TestFunctionsAreTheSameInAnyFolder(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds every function twice")
	}
	other := copied(t)
	props, err := (&Props{Stage: "dev"}).complete()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range props.programs() {
		var builds [][]byte
		for _, module := range []string{"..", other} {
			dir := t.TempDir()
			if err := Build(module, p.path, dir); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(dir, "bootstrap"))
			if err != nil {
				t.Fatal(err)
			}
			builds = append(builds, b)
		}
		if !bytes.Equal(builds[0], builds[1]) {
			t.Errorf("%s differs between two folders", p.name)
		}
		if len(builds[0]) > maxBinaryBytes {
			t.Errorf("%s has %d bytes, want at most %d", p.name, len(builds[0]), maxBinaryBytes)
		}
		t.Logf("%-8s %.1f MB", p.name, float64(len(builds[0]))/1e6)
	}
}

// A module of somebody else deploys recipes of its own with NewPipeline.
func TestModuleOutsideSynthesizes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("builds a second CDK program")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, requires, _ := strings.Cut(string(mod), "module decant.dev\n")
	sum, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"go.mod": "module example.com/triage\n" + requires + "\nrequire decant.dev v0.0.0\n\nreplace decant.dev => " + root + "\n",
		"go.sum": string(sum),
		"deploy/main.go": `package main

import (
	cdk "github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"

	"decant.dev/infra"
)

func main() {
	defer jsii.Close()
	app := cdk.NewApp(&cdk.AppProps{Outdir: jsii.String("out"), AnalyticsReporting: jsii.Bool(false)})
	stack := cdk.NewStack(app, jsii.String("triage"), nil)
	p := infra.NewPipeline(stack, "Triage", &infra.Props{Stage: "prod", Functions: infra.Packages{
		Ingress: "example.com/triage/functions/ingress", Fetch: "example.com/triage/functions/fetch",
		Extract: "example.com/triage/functions/extract", Act: "example.com/triage/functions/act",
	}})
	cdk.NewCfnOutput(stack, jsii.String("Webhook"), &cdk.CfnOutputProps{Value: p.WebhookURL})
	app.Synth(nil)
}
`,
		"recipe/recipe.go":          outsideRecipe,
		"functions/ingress/main.go": "package main\n\nimport (\n\t\"decant.dev/pipeline/aws/lambdaingress\"\n\t\"example.com/triage/recipe\"\n)\n\nfunc main() { lambdaingress.Main(recipe.Recipe) }\n",
		"functions/act/main.go":     "package main\n\nimport (\n\t\"decant.dev/pipeline/aws/lambdaact\"\n\t\"example.com/triage/recipe\"\n)\n\nfunc main() { lambdaact.Main(recipe.Recipe) }\n",
		"functions/fetch/main.go":   "package main\n\nimport (\n\t\"decant.dev/pipeline/aws/lambdafetch\"\n\t\"decant.dev/recipes/issues/intake\"\n)\n\nfunc main() { lambdafetch.Main(lambdafetch.Pipeline{Name: \"triage\", Intake: intake.Intake}) }\n",
		"functions/extract/main.go": "package main\n\nimport (\n\t\"decant.dev/pipeline/aws/lambdaextract\"\n\t\"decant.dev/recipes/issues/intake\"\n\t\"example.com/triage/recipe\"\n)\n\nfunc main() {\n\tlambdaextract.Main(lambdaextract.Pipeline{Recipe: recipe.Recipe, Extractor: intake.Extractor(nil)})\n}\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", "-mod=mod", "./deploy")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	template, err := os.ReadFile(filepath.Join(dir, "out", "triage.template.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"IngressRole", "FetchRole", "ExtractUnverifiedRole", "ExtractRestRole", "ActRole", "ApproveRole", "MachineRole", "BatchRole", "SweepRole", "SchedulerRole"} {
		if !bytes.Contains(template, []byte(`"Triage`+role)) {
			t.Errorf("the template has no %s", role)
		}
	}
}

const outsideRecipe = `// Package recipe is a recipe of another module.
package recipe

import (
	"decant.dev/act/plan"
	"decant.dev/pipeline"
)

type Kind struct {
	Kind string ` + "`json:\"kind\" jsonschema:\"enum=bug,enum=question\"`" + `
}

var Recipe = pipeline.New(pipeline.Spec[Kind]{
	Name: "triage", MaxDecide: 8,
	Plan: func(Kind, plan.Target) []plan.Action { return nil },
})
`

func TestCDKCommandSynthesizes(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("SKIP-NODE: node is not on the path")
	}
	cli, err := filepath.Abs("../node_modules/aws-cdk/bin/cdk")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(cli); err != nil {
		t.Skip("SKIP-NODE: aws-cdk is not installed; run npm ci")
	}
	if testing.Short() {
		t.Skip("builds the CDK program and every function")
	}
	for stage, want := range map[string]string{"dev": "decant-dev", "prod": "decant-prod"} {
		out := filepath.Join(t.TempDir(), "assembly")
		cmd := exec.Command("node", cli, "synth", "-q", "--output", out, "-c", "decant:stage="+stage)
		cmd.Dir = ".."
		cmd.Env = withoutAccount(os.Environ())
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("cdk synth: %v\n%s", err, b)
		}
		if _, err := os.Stat(filepath.Join(out, want+".template.json")); err != nil {
			t.Errorf("stage %s: %v", stage, err)
		}
	}
}

// withoutAccount is an environment in which the command finds no account.
func withoutAccount(from []string) []string {
	var env []string
	for _, entry := range from {
		if !strings.HasPrefix(entry, "AWS_") {
			env = append(env, entry)
		}
	}
	return append(env, "AWS_EC2_METADATA_DISABLED=true", "CI=true", "CDK_DISABLE_CLI_TELEMETRY=true")
}
