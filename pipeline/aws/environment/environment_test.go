package environment

import (
	"strings"
	"testing"
)

var sound = map[string]string{
	"POWERTOOLS_SERVICE_NAME":      "act",
	"POWERTOOLS_METRICS_NAMESPACE": "decant/dev",
	"DECANT_RAW_BUCKET":            "decant-raw-1",
	"DECANT_ACT_TABLE":             "Act",
	"DECANT_GRANTS_TABLE":          "decant-dev-Grants_1",
	"DECANT_RUNS_TABLE":            "Runs",
	"DECANT_APPROVALS_TABLE":       "Approvals",
	"DECANT_STATE_MACHINE_ARN":     "arn:aws:states:eu-central-1:111122223333:stateMachine:decant",
	"DECANT_BATCH_MACHINE_ARN":     "arn:aws:states:eu-central-1:111122223333:stateMachine:decant-batch",
	"DECANT_GITHUB_SECRET_ARN":     "arn:aws-us-gov:secretsmanager:us-gov-west-1:111122223333:secret:decant/github-AbCdEf",
	"DECANT_HOOK_SECRET_ARNS":      "shop=arn:aws:secretsmanager:eu-central-1:111122223333:secret:a=b-AbCdEf,door-2=arn:aws:secretsmanager:eu-central-1:111122223333:secret:Door-1",
	"DECANT_OWN_IDENTITIES":        "github:41898282",
	"DECANT_LIVE":                  "true",
	"DECANT_EXPECTED_OWNER":        "111122223333",
	"DECANT_CONTEXT_URL":           "https://a1b2c3.execute-api.us-gov-west-1.amazonaws.com",
	"AWS_REGION":                   "us-gov-west-1",
	"AWS_ENDPOINT_URL":             "http://127.0.0.1:8080",
}

func lookup(over map[string]string, absent string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		if name == absent {
			return "", false
		}
		if v, ok := over[name]; ok {
			return v, true
		}
		v, ok := sound[name]
		return v, ok
	}
}

func TestSoundValuesAreRead(t *testing.T) {
	t.Parallel()
	v, err := Read(lookup(nil, ""), Variables()...)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Variables() {
		if v.Get(name) != sound[string(name)] {
			t.Errorf("%s: got another value than was set", name)
		}
	}
	if !v.Live() || v.Namespace() != "decant/dev" || len(v.Own()) != 1 {
		t.Errorf("got live %t, namespace %q, %d own identities", v.Live(), v.Namespace(), len(v.Own()))
	}
	if got := v.Hooks(); len(got) != 2 || got["shop"] != "arn:aws:secretsmanager:eu-central-1:111122223333:secret:a=b-AbCdEf" || !strings.HasSuffix(got["door-2"], ":secret:Door-1") {
		t.Errorf("got hooks %v", got)
	}
	if none, err := Read(lookup(nil, string(HookSecrets)), HookSecrets); err != nil || len(none.Hooks()) != 0 {
		t.Errorf("got hooks %v, %v", none.Hooks(), err)
	}
}

// Every variable is refused when malformed, and when absent unless it may be,
// by an error that names it and does not show its value.
func TestEachVariableIsRefusedByName(t *testing.T) {
	t.Parallel()
	const marker = "zz9-marker"
	for _, name := range Variables() {
		t.Run(string(name), func(t *testing.T) {
			t.Parallel()
			for _, bad := range []string{marker + "\n", " ", marker + "/../ü", strings.Repeat("a", 4096)} {
				_, err := Read(lookup(map[string]string{string(name): bad}, ""), name)
				if err == nil {
					t.Errorf("value of %d bytes was taken", len(bad))
					continue
				}
				if !strings.Contains(err.Error(), string(name)) || strings.Contains(err.Error(), marker) {
					t.Errorf("got %v, want the variable's name and not its value", err)
				}
			}
			_, err := Read(lookup(nil, string(name)), name)
			if rules[name].optional != (err == nil) {
				t.Errorf("absent: got %v, want an error: %t", err, !rules[name].optional)
			}
		})
	}
}

func TestAllFaultsAreReportedAtOnce(t *testing.T) {
	t.Parallel()
	_, err := Read(func(string) (string, bool) { return "", false }, RawBucket, ActTable)
	for _, name := range []Variable{Service, Region, RawBucket, ActTable} {
		if err == nil || !strings.Contains(err.Error(), string(name)) {
			t.Errorf("got %v, want %s named", err, name)
		}
	}
	if _, err := Read(lookup(nil, ""), "HOME"); err == nil {
		t.Error("a variable of nobody's was taken")
	}
}

func TestAbsentMeansStagedAndNobody(t *testing.T) {
	t.Parallel()
	v, err := Read(func(name string) (string, bool) {
		switch Variable(name) {
		case Service, Region:
			return sound[name], true
		}
		return "", false
	}, Live, OwnIdentities)
	if err != nil || v.Live() || v.Own() != nil || v.Namespace() != DefaultNamespace {
		t.Errorf("got %v, live %t, own %v, namespace %q", err, v.Live(), v.Own(), v.Namespace())
	}
}

// Nothing but the exact word makes a function live.
func TestLiveIsOneWord(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"TRUE", "True", "1", "yes", "false", "", "true "} {
		if v, err := Read(lookup(map[string]string{"DECANT_LIVE": word}, ""), Live); err == nil || v.Live() {
			t.Errorf("%q: got live %t, %v; want an error", word, v.Live(), err)
		}
	}
}
