package tests

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// The rules of workflows. Each has a mutation below that breaks it.
const (
	ruleShape       = "shape"       // a member that no rule looks at is refused
	ruleTrigger     = "trigger"     // pull requests run without the repository's secrets
	rulePermissions = "permissions" // read the repository, and nothing else
	ruleToken       = "token"       // an OIDC token where credentials are configured, and only there
	ruleSecret      = "secret"      // no long-lived key
	rulePin         = "pin"         // an action is one commit, and says which version that is
	ruleCheckout    = "checkout"    // the token does not stay in the working copy
	ruleRun         = "run"         // a script is a constant
	ruleRunner      = "runner"      // of a fixed version
	ruleTimeout     = "timeout"     // every job ends
	ruleFork        = "fork"        // a pull request from elsewhere is given no credentials
	ruleApart       = "apart"       // credentials and the module's code are in different jobs
	ruleEnvironment = "environment" // people and branches of an environment guard a deployment
	ruleProof       = "proof"       // what is deployed was tested, audited and proved, and is that to the byte
)

// actions are those that workflows may use.
var actions = []string{
	"actions/checkout", "actions/download-artifact", "actions/setup-go", "actions/setup-node", "actions/upload-artifact",
	credentials,
}

const credentials = "aws-actions/configure-aws-credentials"

type workflow struct {
	Name        string
	On          map[string]any
	Permissions any
	Concurrency struct {
		Group            string
		CancelInProgress bool `yaml:"cancel-in-progress"`
	}
	Defaults struct{ Run struct{ Shell string } }
	Env      map[string]string
	Jobs     map[string]*job
}

type job struct {
	Needs          string
	If             string
	RunsOn         string `yaml:"runs-on"`
	TimeoutMinutes int    `yaml:"timeout-minutes"`
	Environment    string
	Permissions    any
	Outputs        map[string]string
	Steps          []step
}

type step struct {
	ID   string
	Name string
	Uses yaml.Node
	With map[string]string
	Env  map[string]string
	Run  string
}

func (s step) action() string {
	name, _, _ := strings.Cut(s.Uses.Value, "@")
	return name
}

func (j *job) uses(action string) bool {
	return slices.ContainsFunc(j.Steps, func(s step) bool { return s.action() == action })
}

var (
	commit   = regexp.MustCompile(`^[^@]+@[0-9a-f]{40}$`)
	version  = regexp.MustCompile(`^# v\d+\.\d+\.\d+$`)
	runner   = regexp.MustCompile(`^[a-z]+-\d+(\.\d+)?$`)
	builds   = regexp.MustCompile(`\b(go|\./decant|npm run)\b|\bcdk (synth|ls|list|bootstrap)\b`)
	commands = regexp.MustCompile(`\bcdk (deploy|diff)\b`)
)

// judge holds a workflow to the rules. pins says which commit and version an
// action has elsewhere, and is added to.
func judge(source []byte, pins map[string]string) []string {
	var out []string
	refuse := func(rule, format string, args ...any) {
		out = append(out, rule+": "+fmt.Sprintf(format, args...))
	}
	var w workflow
	dec := yaml.NewDecoder(strings.NewReader(string(source)))
	dec.KnownFields(true)
	if err := dec.Decode(&w); err != nil {
		refuse(ruleShape, "%v", err)
		return out
	}
	if len(w.Jobs) == 0 || w.Defaults.Run.Shell != "bash" {
		refuse(ruleShape, "want jobs, and bash with pipefail")
	}
	if strings.Contains(string(source), "secrets") {
		refuse(ruleSecret, "a secret is named")
	}
	for event := range w.On {
		if !slices.Contains([]string{"pull_request", "push", "workflow_dispatch"}, event) {
			refuse(ruleTrigger, "on %s", event)
		}
	}
	if fmt.Sprint(w.Permissions) != "map[contents:read]" {
		refuse(rulePermissions, "at the top: %v", w.Permissions)
	}
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		j := w.Jobs[name]
		want := []string{"<nil>", "map[contents:read]"}
		if j.uses(credentials) {
			want = []string{"map[contents:read id-token:write]"}
		}
		if got := fmt.Sprint(j.Permissions); !slices.Contains(want, got) {
			rule := rulePermissions
			if strings.Contains(got, "id-token") || j.uses(credentials) {
				rule = ruleToken
			}
			refuse(rule, "%s: %s", name, got)
		}
		if !runner.MatchString(j.RunsOn) {
			refuse(ruleRunner, "%s: runs on %q", name, j.RunsOn)
		}
		if j.TimeoutMinutes < 1 || j.TimeoutMinutes > 60 {
			refuse(ruleTimeout, "%s: %d minutes", name, j.TimeoutMinutes)
		}
		_, pulls := w.On["pull_request"]
		if pulls && j.uses(credentials) &&
			!strings.HasPrefix(j.If, "github.event_name == 'pull_request' && github.event.pull_request.head.repo.full_name == github.repository && ") || strings.Contains(j.If, "||") {
			refuse(ruleFork, "%s: if: %s", name, j.If)
		}
		for i, s := range j.Steps {
			where := name + " step " + strconv.Itoa(i)
			if s.Uses.Value != "" {
				pin := s.Uses.Value + " " + s.Uses.LineComment
				switch before, seen := pins[s.action()]; {
				case !slices.Contains(actions, s.action()):
					refuse(rulePin, "%s: %s is not one of the list", where, s.action())
				case !commit.MatchString(s.Uses.Value), !version.MatchString(s.Uses.LineComment):
					refuse(rulePin, "%s: %s", where, pin)
				case seen && before != pin:
					refuse(rulePin, "%s: %s, and elsewhere %s", where, pin, before)
				default:
					pins[s.action()] = pin
				}
			}
			if s.action() == "actions/checkout" && s.With["persist-credentials"] != "false" {
				refuse(ruleCheckout, "%s: the token stays", where)
			}
			if strings.Contains(s.Run, "${{") || strings.Contains(s.Run, "github.event") || strings.Contains(s.Run, "github.head_ref") {
				refuse(ruleRun, "%s: %s", where, s.Run)
			}
			if j.uses(credentials) && builds.MatchString(s.Run) {
				refuse(ruleApart, "%s: %s", where, s.Run)
			}
			if commands.MatchString(s.Run) && !strings.Contains(s.Run, " --app cdk.out ") {
				refuse(ruleApart, "%s: %s synthesizes once more", where, s.Run)
			}
			if strings.Contains(s.Run, "cdk deploy") {
				deploys(&w, j, name, refuse)
			}
		}
	}
	return out
}

// proof is what the archive of a deployment is made after, in this order.
var proof = []string{
	"npm ci",
	"go vet ./...",
	"go test ./...",
	"go build -o decant . && ./decant audit",
	"npx cdk synth -q -c decant:stage=prod",
	"./decant audit --template cdk.out/decant-prod.template.json",
	"tar -czf assembly.tar.gz cdk.out\nsum=$(sha256sum assembly.tar.gz)\necho \"sha256=${sum%% *}\" >> \"$GITHUB_OUTPUT\"\n",
}

func deploys(w *workflow, j *job, name string, refuse func(rule, format string, args ...any)) {
	if j.Environment != "prod" || !strings.HasPrefix(j.If, "github.ref == 'refs/heads/main'") {
		refuse(ruleEnvironment, "%s: environment %q, if: %s", name, j.Environment, j.If)
	}
	if w.Concurrency.Group != "deploy-prod" || w.Concurrency.CancelInProgress {
		refuse(ruleEnvironment, "%s: want one deployment at a time, and none stopped halfway", name)
	}
	if _, pulls := w.On["pull_request"]; pulls {
		refuse(ruleTrigger, "%s: a pull request deploys", name)
	}
	var before []string
	if of := w.Jobs[j.Needs]; of != nil && of.Outputs["sha256"] == "${{ steps.archive.outputs.sha256 }}" {
		for _, s := range of.Steps {
			if s.Run != "" {
				before = append(before, s.Run)
			}
		}
	}
	if !slices.Equal(before, proof) {
		refuse(ruleProof, "%s: what it needs is proved by %q", name, before)
	}
	checked := slices.ContainsFunc(j.Steps, func(s step) bool {
		return s.Env["PROVED"] == "${{ needs."+j.Needs+".outputs.sha256 }}" &&
			strings.HasPrefix(s.Run, "echo \"$PROVED  assembly.tar.gz\" | sha256sum --check --strict\ntar ")
	})
	if !checked {
		refuse(ruleProof, "%s: the archive is not compared with what was proved", name)
	}
}

const workflows = "../.github/workflows"

func workflowFiles(t *testing.T) map[string][]byte {
	t.Helper()
	entries, err := os.ReadDir(workflows)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, e := range entries {
		if ext := filepath.Ext(e.Name()); ext != ".yml" && ext != ".yaml" {
			t.Errorf("%s: want only workflows here", e.Name())
			continue
		}
		if out[e.Name()], err = os.ReadFile(filepath.Join(workflows, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func TestWorkflowsKeepTheRules(t *testing.T) {
	files := workflowFiles(t)
	if files["check.yml"] == nil || files["deploy.yml"] == nil {
		t.Fatalf("want check.yml and deploy.yml, got %v", slices.Sorted(maps.Keys(files)))
	}
	if !strings.Contains(string(files["deploy.yml"]), "cdk deploy") {
		t.Error("deploy.yml deploys nothing, so that no rule of deployments is asked")
	}
	pins := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		for _, o := range judge(files[name], pins) {
			t.Errorf("%s: %s", name, o)
		}
	}
}

// TestWorkflowRulesRefuse breaks each rule in a workflow that keeps them all.
func TestWorkflowRulesRefuse(t *testing.T) {
	const (
		sha   = "3d3c42e5aac5ba805825da76410c181273ba90b1"
		token = "      id-token: write\n"
		lines = "        run: |\n"
	)
	mutations := []struct{ rule, file, old, new string }{
		{ruleShape, "check.yml", "    timeout-minutes: 30\n", "    timeout-minutes: 30\n    continue-on-error: true\n"},
		{ruleShape, "deploy.yml", "      - run: go test ./...", "      - continue-on-error: true\n        run: go test ./..."},
		{ruleShape, "deploy.yml", "      - run: go test ./...", "      - if: false\n        run: go test ./..."},
		{ruleShape, "check.yml", "    shell: bash", "    shell: sh"},
		{ruleTrigger, "check.yml", "  pull_request:", "  pull_request_target:"},
		{ruleTrigger, "deploy.yml", "  workflow_dispatch:", "  workflow_run:"},
		{ruleTrigger, "deploy.yml", "  workflow_dispatch:", "  pull_request:"},
		{rulePermissions, "check.yml", "permissions:\n  contents: read\n", ""},
		{rulePermissions, "check.yml", "permissions:\n  contents: read\n", "permissions: write-all\n"},
		{rulePermissions, "deploy.yml", "permissions:\n  contents: read\n", "permissions:\n  contents: read\n  id-token: write\n"},
		{rulePermissions, "deploy.yml", "  prove:\n", "  prove:\n    permissions:\n      contents: write\n"},
		{ruleToken, "deploy.yml", "  prove:\n", "  prove:\n    permissions:\n      contents: read\n      id-token: write\n"},
		{ruleToken, "deploy.yml", token, token + "      packages: write\n"},
		{ruleToken, "deploy.yml", token, ""},
		{ruleSecret, "deploy.yml", "${{ vars.DECANT_DEPLOY_ROLE }}", "${{ secrets.ROLE }}"},
		{rulePin, "check.yml", "@" + sha + " # v7.0.1", "@v7 # v7.0.1"},
		{rulePin, "check.yml", "@" + sha, "@" + sha[:39]},
		{rulePin, "check.yml", sha + " # v7.0.1", sha},
		{rulePin, "check.yml", sha + " # v7.0.1", sha + " # v7"},
		{rulePin, "check.yml", sha + " # v7.0.1", strings.Repeat("0", 40) + " # v7.0.1"},
		{rulePin, "check.yml", "actions/setup-go@", "someone/setup-go@"},
		{rulePin, "check.yml", "actions/setup-go@", "./.github/actions/setup-go@"},
		{ruleCheckout, "check.yml", "persist-credentials: false", "fetch-depth: 1"},
		{ruleCheckout, "deploy.yml", "persist-credentials: false", "persist-credentials: true"},
		{ruleRun, "check.yml", "go vet ./...", "echo ${{ github.event.pull_request.title }}"},
		{ruleRun, "check.yml", "go vet ./...", "echo ${{ github.head_ref }}"},
		{ruleRun, "deploy.yml", lines, lines + "          echo ${{ github.ref_name }}\n"},
		{ruleRunner, "check.yml", "ubuntu-24.04", "ubuntu-latest"},
		{ruleRunner, "deploy.yml", "ubuntu-24.04", "self-hosted"},
		{ruleTimeout, "check.yml", "    timeout-minutes: 10\n", ""},
		{ruleTimeout, "deploy.yml", "timeout-minutes: 60", "timeout-minutes: 360"},
		{ruleFork, "check.yml", " && github.event.pull_request.head.repo.full_name == github.repository", ""},
		{ruleFork, "check.yml", "github.repository && ", "github.repository && true || "},
		{ruleApart, "check.yml", "--app cdk.out --method", "--method"},
		{ruleApart, "deploy.yml", "cdk deploy --app cdk.out", "cdk deploy"},
		{ruleApart, "deploy.yml", "npm ci --ignore-scripts", "npm ci && go run ./infra/app"},
		{ruleEnvironment, "deploy.yml", "    environment: prod\n", ""},
		{ruleEnvironment, "deploy.yml", "github.ref == 'refs/heads/main' && vars", "vars"},
		{ruleEnvironment, "deploy.yml", "cancel-in-progress: false", "cancel-in-progress: true"},
		{ruleEnvironment, "deploy.yml", "group: deploy-prod", "group: deploy-${{ github.run_id }}"},
		{ruleProof, "deploy.yml", "      - run: ./decant audit --template cdk.out/decant-prod.template.json\n", ""},
		{ruleProof, "deploy.yml", "go test ./...", "go test ./... || true"},
		{ruleProof, "deploy.yml", "    needs: prove\n", ""},
		{ruleProof, "deploy.yml", "--check --strict", "--check --strict || true"},
		{ruleProof, "deploy.yml", "PROVED: ${{ needs.prove.outputs.sha256 }}", "PROVED: ${{ vars.SHA256 }}"},
	}
	files := workflowFiles(t)
	broken := map[string]bool{}
	for _, m := range mutations {
		source := string(files[m.file])
		if !strings.Contains(source, m.old) {
			t.Errorf("%s: %q does not occur, so nothing was broken", m.file, m.old)
			continue
		}
		got := judge([]byte(strings.Replace(source, m.old, m.new, 1)), map[string]string{})
		if !slices.ContainsFunc(got, func(o string) bool { return strings.HasPrefix(o, m.rule+": ") }) {
			t.Errorf("%s with %q for %q: want %s refused, got %q", m.file, m.new, m.old, m.rule, got)
		}
		broken[m.rule] = true
	}
	for _, rule := range []string{
		ruleShape, ruleTrigger, rulePermissions, ruleToken, ruleSecret, rulePin, ruleCheckout, ruleRun,
		ruleRunner, ruleTimeout, ruleFork, ruleApart, ruleEnvironment, ruleProof,
	} {
		if !broken[rule] {
			t.Errorf("no mutation breaks %s", rule)
		}
	}
}
