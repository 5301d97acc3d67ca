package tests

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// workflow is what the rules look at.
type workflow struct {
	On          any               `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Jobs        map[string]struct {
		RunsOn      string            `yaml:"runs-on"`
		Timeout     int               `yaml:"timeout-minutes"`
		Environment string            `yaml:"environment"`
		Permissions map[string]string `yaml:"permissions"`
		Steps       []struct {
			Uses string         `yaml:"uses"`
			Run  string         `yaml:"run"`
			With map[string]any `yaml:"with"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

var (
	pinned    = regexp.MustCompile(`^[A-Za-z0-9._/-]+@[0-9a-f]{40}$`)
	commented = regexp.MustCompile(`uses: \S+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+\n`)
)

// workflowFaults lists what of a workflow breaks a rule: each action pinned by
// its commit, no more rights than the job needs, an identity of AWS only
// behind an environment, and no word of an event in a command.
func workflowFaults(file string) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var w workflow
	if err := yaml.Unmarshal([]byte(file), &w); err != nil {
		return []string{err.Error()}
	}
	readOnly := func(p map[string]string) bool { return len(p) == 1 && p["contents"] == "read" }
	if !readOnly(w.Permissions) {
		fault("permissions: want contents: read and no more, got %v", w.Permissions)
	}
	if strings.Contains(file, "pull_request_target") || len(w.Jobs) == 0 {
		fault("on: want no pull_request_target, and jobs")
	}
	if n := strings.Count(file, "uses: "); n != len(commented.FindAllString(file, -1)) {
		fault("want the version beside each of %d actions", n)
	}
	for name, job := range w.Jobs {
		identity := slices.ContainsFunc(job.Steps, func(s struct {
			Uses string         `yaml:"uses"`
			Run  string         `yaml:"run"`
			With map[string]any `yaml:"with"`
		}) bool {
			return strings.HasPrefix(s.Uses, "aws-actions/configure-aws-credentials@")
		})
		want := map[string]string{"contents": "read", "id-token": "write"}
		switch {
		case !identity && job.Permissions != nil && !readOnly(job.Permissions):
			fault("%s: want no rights beside reading, got %v", name, job.Permissions)
		case identity && (fmt.Sprint(job.Permissions) != fmt.Sprint(want) || job.Environment == ""):
			fault("%s: want %v behind an environment, got %v behind %q", name, want, job.Permissions, job.Environment)
		}
		if job.Timeout < 1 || !regexp.MustCompile(`^ubuntu-[0-9]{2}\.04$`).MatchString(job.RunsOn) {
			fault("%s: want a time-out and a runner of one version", name)
		}
		for _, s := range job.Steps {
			if s.Uses != "" && !pinned.MatchString(s.Uses) {
				fault("%s: %s: want a commit of 40 digits", name, s.Uses)
			}
			if strings.Contains(s.Run, "${{") {
				fault("%s: want no expression in a command", name)
			}
			if strings.HasPrefix(s.Uses, "actions/checkout@") && s.With["persist-credentials"] != false {
				fault("%s: want a checkout that keeps no credentials", name)
			}
			for k := range s.With {
				if strings.Contains(k, "access-key") {
					fault("%s: want no long-lived key", name)
				}
			}
		}
	}
	return faults
}

func workflows(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../.github/workflows/*")
	if err != nil || len(files) != 2 {
		t.Fatalf("got %v, %v; want the two workflows", files, err)
	}
	all := map[string]string{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(f)] = string(b)
	}
	return all
}

func TestWorkflowsHoldTheLeastRights(t *testing.T) {
	t.Parallel()
	for name, file := range workflows(t) {
		for _, f := range workflowFaults(file) {
			t.Errorf("%s: %s", name, f)
		}
	}
}

// What is deployed is the assembly that was audited, after the tests.
func TestTheDeployedAssemblyIsTheProvedOne(t *testing.T) {
	t.Parallel()
	file := workflows(t)["deploy.yml"]
	at := -1
	for _, step := range []string{"go test ./...", "./decant audit\n", "cdk synth -q -c decant:stage=prod", "audit --template cdk.out/decant-prod.template.json", "configure-aws-credentials", "cdk deploy --app cdk.out"} {
		next := strings.Index(file, step)
		if next <= at {
			t.Errorf("want %q after the step before it", step)
		}
		at = next
	}
	if strings.Count(file, "cdk synth") != 1 {
		t.Error("want one assembly")
	}
}

// Each rule refuses the workflow that breaks it.
func TestEachRuleOfWorkflowsRefuses(t *testing.T) {
	t.Parallel()
	file := workflows(t)["check.yml"]
	for name, change := range map[string][2]string{
		"a tag for a commit":        {"@11bd71901bbe5b1630ceea73d27597364c9af683", "@v4"},
		"no version beside":         {" # v4.2.2", ""},
		"writing by default":        {"permissions:\n  contents: read\n", "permissions:\n  contents: write\n"},
		"no permissions":            {"permissions:\n  contents: read\n", ""},
		"a fork's pull with rights": {"  pull_request:", "  pull_request_target:"},
		"an event in a command":     {"- run: npm ci", "- run: echo ${{ github.head_ref }}"},
		"no environment":            {"    environment: diff\n", ""},
		"more than an identity":     {"      id-token: write", "      id-token: write\n      packages: write"},
		"no time-out":               {"    timeout-minutes: 45\n", ""},
		"a runner that moves":       {"ubuntu-24.04", "ubuntu-latest"},
		"credentials kept":          {"persist-credentials: false", "persist-credentials: true"},
		"a key for a role":          {"role-to-assume: ${{ vars.DIFF_ROLE_ARN }}", "aws-access-key-id: ${{ secrets.KEY }}"},
	} {
		broken := strings.Replace(file, change[0], change[1], 1)
		if broken == file {
			t.Errorf("%s: the workflow has no %q", name, change[0])
		}
		if len(workflowFaults(broken)) == 0 {
			t.Errorf("%s: want it refused", name)
		}
	}
}
