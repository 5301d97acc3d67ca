// Package environment reads what a deployment tells a function, once, at its
// start: names of the resources that its role may use, and nothing secret.
//
// A variable that is missing or malformed is an error that names the variable
// and its form, never its value, and a function that gets one does not start.
package environment

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Variable is the name of an environment variable.
type Variable string

// The variables. Names of the first group follow Powertools for AWS Lambda
// (docs.aws.amazon.com/powertools, "Environment variables").
const (
	Service   Variable = "POWERTOOLS_SERVICE_NAME"      // the function's name in logs and metrics
	Namespace Variable = "POWERTOOLS_METRICS_NAMESPACE" // the namespace of metrics

	RawBucket      Variable = "DECANT_RAW_BUCKET"        // bucket of raw bodies and prompt objects
	ActTable       Variable = "DECANT_ACT_TABLE"         // table of receipts and of the table sink's rows
	GrantsTable    Variable = "DECANT_GRANTS_TABLE"      // table of who holds trigger where
	RunsTable      Variable = "DECANT_RUNS_TABLE"        // table of runs
	ApprovalsTable Variable = "DECANT_APPROVALS_TABLE"   // table of waiting runs and their answers
	StateMachine   Variable = "DECANT_STATE_MACHINE_ARN" // the machine that carries runs
	BatchMachine   Variable = "DECANT_BATCH_MACHINE_ARN" // the machine that carries ticks and their items
	GitHubSecret   Variable = "DECANT_GITHUB_SECRET_ARN" // GitHub's webhook secret
	HookSecrets    Variable = "DECANT_HOOK_SECRET_ARNS"  // secrets of other webhooks, as "shop=ARN", with commas between; absent: there is none
	OwnIdentities  Variable = "DECANT_OWN_IDENTITIES"    // actor ids that our sinks use, with commas between
	Live           Variable = "DECANT_LIVE"              // "true", or absent: outcomes are staged
	Kinds          Variable = "DECANT_KINDS"             // the only kinds of action that are performed, with commas between; absent: all that have a sink
	ExpectedOwner  Variable = "DECANT_EXPECTED_OWNER"    // account that the bucket must belong to
	ContextURL     Variable = "DECANT_CONTEXT_URL"       // where the context API is, without its path; absent: there is none
	Model          Variable = "DECANT_MODEL"             // id or ARN of the model of Bedrock that extract asks; absent: there is none

	Region   Variable = "AWS_REGION"       // set by Lambda
	Endpoint Variable = "AWS_ENDPOINT_URL" // another endpoint for all services, as the SDKs read it
)

// DefaultNamespace is the namespace of metrics where none is given.
const DefaultNamespace = "decant"

// rule is a variable's form. An optional variable may be absent; one that is
// set to nothing is malformed like any other that misses its form.
type rule struct {
	form     *regexp.Regexp
	optional bool
}

const (
	tableForm    = `^[A-Za-z0-9_.-]{3,255}$`
	arnForm      = `^arn:aws[a-z-]{0,16}:%s:[a-z0-9-]{1,32}:[0-9]{12}:%s$`
	hookForm     = `[a-z][a-z0-9-]{0,31}=arn:aws[a-z-]{0,16}:secretsmanager:[a-z0-9-]{1,32}:[0-9]{12}:secret:[A-Za-z0-9/_+=.@-]{1,512}`
	identityForm = `[a-z][a-z0-9-]{0,15}:[A-Za-z0-9._@+-]{1,64}`
)

var rules = map[Variable]rule{
	Service:        {form: regexp.MustCompile(`^[a-z][a-z0-9-]{0,62}$`)},
	Namespace:      {form: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/#-]{0,99}$`), optional: true},
	RawBucket:      {form: regexp.MustCompile(`^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$`)},
	ActTable:       {form: regexp.MustCompile(tableForm)},
	GrantsTable:    {form: regexp.MustCompile(tableForm)},
	RunsTable:      {form: regexp.MustCompile(tableForm)},
	ApprovalsTable: {form: regexp.MustCompile(tableForm)},
	StateMachine:   {form: regexp.MustCompile(fmt.Sprintf(arnForm, "states", "stateMachine:[A-Za-z0-9_-]{1,80}"))},
	BatchMachine:   {form: regexp.MustCompile(fmt.Sprintf(arnForm, "states", "stateMachine:[A-Za-z0-9_-]{1,80}"))},
	GitHubSecret:   {form: regexp.MustCompile(fmt.Sprintf(arnForm, "secretsmanager", "secret:[A-Za-z0-9/_+=.@-]{1,512}"))},
	HookSecrets:    {form: regexp.MustCompile(`^` + hookForm + `(,` + hookForm + `)*$`), optional: true},
	OwnIdentities:  {form: regexp.MustCompile(`^(` + identityForm + `(,` + identityForm + `)*)?$`), optional: true},
	Live:           {form: regexp.MustCompile(`^true$`), optional: true},
	Kinds:          {form: regexp.MustCompile(`^[a-z]{1,16}\.[a-z]{1,16}(,[a-z]{1,16}\.[a-z]{1,16}){0,31}$`), optional: true},
	ExpectedOwner:  {form: regexp.MustCompile(`^[0-9]{12}$`)},
	ContextURL:     {form: regexp.MustCompile(`^(https://[A-Za-z0-9.-]{1,253}|http://127\.0\.0\.1)(:[0-9]{1,5})?$`), optional: true},
	Model:          {form: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._:/-]{0,511}$`), optional: true},
	Region:         {form: regexp.MustCompile(`^[a-z]{2}(-[a-z]{1,12}){1,3}-[0-9]{1,2}$`)},
	Endpoint:       {form: regexp.MustCompile(`^https?://[A-Za-z0-9.-]{1,253}(:[0-9]{1,5})?/?$`), optional: true},
}

// Variables lists every variable, sorted.
func Variables() []Variable {
	all := make([]Variable, 0, len(rules))
	for v := range rules {
		all = append(all, v)
	}
	slices.Sort(all)
	return all
}

// Values are the variables that a function asked for, each of its form. Only
// Read makes them.
type Values struct{ of map[Variable]string }

// Read looks up the variables that a function needs, and the service,
// namespace, region and endpoint, which every function has. It reports all
// that are missing or malformed at once. lookup is os.LookupEnv.
func Read(lookup func(string) (string, bool), needs ...Variable) (Values, error) {
	values := Values{of: map[Variable]string{}}
	var faults []error
	for _, v := range append([]Variable{Service, Namespace, Region, Endpoint}, needs...) {
		r, known := rules[v]
		if !known {
			faults = append(faults, fmt.Errorf("environment: %.64q: want a variable of this package", string(v)))
			continue
		}
		s, set := lookup(string(v))
		switch {
		case !set && r.optional:
		case !set:
			faults = append(faults, fmt.Errorf("environment: %s is missing: want %s", v, r.form))
		case !r.form.MatchString(s):
			faults = append(faults, fmt.Errorf("environment: %s of %d bytes is malformed: want %s", v, len(s), r.form))
		default:
			values.of[v] = s
		}
	}
	if err := errors.Join(faults...); err != nil {
		return Values{}, err
	}
	return values, nil
}

// Get returns a variable's value, empty where it is absent or was not asked
// for.
func (v Values) Get(name Variable) string { return v.of[name] }

// Own returns the identities that our sinks use.
func (v Values) Own() []string {
	if v.of[OwnIdentities] == "" {
		return nil
	}
	return strings.Split(v.of[OwnIdentities], ",")
}

// Hooks returns the ARN of each webhook's secret, by the webhook's name. Of two
// of one name it is the last.
func (v Values) Hooks() map[string]string {
	hooks := map[string]string{}
	for _, one := range strings.Split(v.of[HookSecrets], ",") {
		if name, arn, ok := strings.Cut(one, "="); ok {
			hooks[name] = arn
		}
	}
	return hooks
}

// Live reports whether outcomes are written and not only staged.
func (v Values) Live() bool { return v.of[Live] == "true" }

// Namespace returns the namespace of metrics.
func (v Values) Namespace() string {
	if n := v.of[Namespace]; n != "" {
		return n
	}
	return DefaultNamespace
}
