package infra

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"

	"decant.dev/act/plan"
	"decant.dev/pipeline/aws/machine"
)

// Phase names one deployed function.
type Phase string

// The phases that are deployed. Extract is one program, deployed twice.
const (
	Ingress           Phase = "ingress"
	Fetch             Phase = "fetch"
	ExtractUnverified Phase = "extract-unverified"
	ExtractRest       Phase = "extract-rest"
	Act               Phase = "act"
	Approve           Phase = "approve"
	Sweep             Phase = "sweep"
	Context           Phase = "context"
)

// Phases lists every deployed phase.
func Phases() []Phase {
	return []Phase{Ingress, Fetch, ExtractUnverified, ExtractRest, Act, Approve, Sweep, Context}
}

// Network says where extract can connect to.
type Network string

// The networks.
const (
	NetworkOpen     Network = "open"     // egress is not enforced
	NetworkIsolated Network = "isolated" // no route but to the prompts in S3, and to the model
)

// Packages are the import paths of the functions' mains, as the module that
// deploys them sees them. An empty one stands for decant's own.
type Packages struct {
	Ingress, Fetch, Extract, Act, Approve, Sweep, Context string
}

// Props configure one pipeline. The zero value of each field but Stage is
// sound: staged runs, no reserved concurrency, an open network.
type Props struct {
	Stage string // matches ^[a-z][a-z0-9-]{0,15}$; part of the metrics' namespace

	Module    string   // folder in the Go module that deploys; empty is the working folder
	Functions Packages // the mains
	// Binaries is a folder with <program>/bootstrap for each of ingress,
	// fetch, extract, act, approve and sweep, built beforehand. If it is empty, the
	// programs are built into cdk.out/functions of Module.
	Binaries string

	Live          bool     // false: outcomes are staged
	Kinds         []string // with Live: the only kinds of action that are performed; empty means all that have a sink
	OwnIdentities []string // actor ids that sinks use, as "github:583231"; at most 32

	// ContextAPI makes fetch keep for each run what a context is built from,
	// and gives the runs' tokens to extract: for an extractor that reads its
	// context over HTTP. NetworkIsolated leaves it no way there.
	ContextAPI bool

	Network Network // of extract; empty is NetworkOpen
	Model   Model   // that extract asks; zero is none

	Schedules     []Schedule // clocks that start batches; at most MaxSchedules
	Hooks         []Hook     // webhooks beside GitHub's; at most MaxHooks
	DeliveryQueue bool       // take deliveries from a queue too

	Limits              machine.Limits    // zero is machine.DefaultLimits
	Batches             machine.Batches   // zero is machine.DefaultBatches
	ReservedConcurrency map[Phase]float64 // 1 to 1000; a phase not in it has none reserved
	RequestsPerSecond   float64           // throttle of the webhook; zero is 20
	Burst               float64           // its burst; zero is 40

	TextDays float64 // days until raw bodies and prompts are deleted, 1 to 3650; zero is 30
	LogDays  float64 // days that logs are kept, one of CloudWatch's periods; zero is 90

	PermissionsBoundary string // ARN of a managed policy that bounds every role, or empty
	AlarmTopicArn       string // ARN of an SNS topic that alarms are sent to, or empty
}

// logPeriods are the retentions that CloudWatch Logs takes, in days
// (API_PutRetentionPolicy).
var logPeriods = map[float64]awslogs.RetentionDays{
	1: awslogs.RetentionDays_ONE_DAY, 3: awslogs.RetentionDays_THREE_DAYS, 5: awslogs.RetentionDays_FIVE_DAYS,
	7: awslogs.RetentionDays_ONE_WEEK, 14: awslogs.RetentionDays_TWO_WEEKS, 30: awslogs.RetentionDays_ONE_MONTH,
	60: awslogs.RetentionDays_TWO_MONTHS, 90: awslogs.RetentionDays_THREE_MONTHS, 120: awslogs.RetentionDays_FOUR_MONTHS,
	150: awslogs.RetentionDays_FIVE_MONTHS, 180: awslogs.RetentionDays_SIX_MONTHS, 365: awslogs.RetentionDays_ONE_YEAR,
	400: awslogs.RetentionDays_THIRTEEN_MONTHS, 545: awslogs.RetentionDays_EIGHTEEN_MONTHS, 731: awslogs.RetentionDays_TWO_YEARS,
	1096: awslogs.RetentionDays_THREE_YEARS, 1827: awslogs.RetentionDays_FIVE_YEARS, 3653: awslogs.RetentionDays_TEN_YEARS,
}

var (
	stageForm    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,15}$`)
	identityForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,15}:[A-Za-z0-9._@+-]{1,64}$`)
	policyForm   = regexp.MustCompile(`^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[A-Za-z0-9+=,.@_/-]{1,512}$`)
	topicForm    = regexp.MustCompile(`^arn:aws[a-z-]*:sns:[a-z0-9-]+:[0-9]{12}:[A-Za-z0-9_-]{1,256}$`)
	packageForm  = regexp.MustCompile(`^[A-Za-z0-9._~/-]{1,256}$`)
)

// Check reports every property that is out of its bounds.
func (p *Props) Check() error {
	_, err := p.complete()
	return err
}

// complete returns the properties with their defaults put in.
func (p *Props) complete() (Props, error) {
	if p == nil {
		return Props{}, errors.New("props: want a stage, got none")
	}
	q := *p
	def := machine.DefaultLimits()
	for _, d := range []struct{ limit, def *time.Duration }{
		{&q.Limits.Act, &def.Act}, {&q.Limits.Fetch, &def.Fetch}, {&q.Limits.Extract, &def.Extract}, {&q.Limits.Approval, &def.Approval},
	} {
		if *d.limit == 0 {
			*d.limit = *d.def
		}
	}
	batches := machine.DefaultBatches()
	for _, d := range []struct{ bound, def *int }{{&q.Batches.Items, &batches.Items}, {&q.Batches.Concurrency, &batches.Concurrency}} {
		if *d.bound == 0 {
			*d.bound = *d.def
		}
	}
	q.Schedules = completeSchedules(q.Schedules)
	for _, d := range []struct {
		value *string
		def   string
	}{
		{&q.Module, "."}, {(*string)(&q.Network), string(NetworkOpen)},
		{&q.Functions.Ingress, "decant.dev/functions/ingress"}, {&q.Functions.Fetch, "decant.dev/functions/fetch"},
		{&q.Functions.Extract, "decant.dev/functions/extract"}, {&q.Functions.Act, "decant.dev/functions/act"},
		{&q.Functions.Approve, "decant.dev/functions/approve"}, {&q.Functions.Sweep, "decant.dev/functions/sweep"},
		{&q.Functions.Context, "decant.dev/functions/context"},
	} {
		if *d.value == "" {
			*d.value = d.def
		}
	}
	for _, d := range []struct {
		value *float64
		def   float64
	}{{&q.RequestsPerSecond, 20}, {&q.Burst, 40}, {&q.TextDays, 30}, {&q.LogDays, 90}} {
		if *d.value == 0 {
			*d.value = d.def
		}
	}
	return q, errors.Join(q.faults()...)
}

func (p *Props) faults() []error {
	var faults []error
	fault := func(ok bool, name, want string, got any) {
		if !ok {
			faults = append(faults, fmt.Errorf("props: %s: want %s, got %.64v", name, want, fmt.Sprintf("%#v", got)))
		}
	}
	whole := func(name string, v, low, high float64) {
		fault(v >= low && v <= high && v == float64(int(v)), name, fmt.Sprintf("a whole number from %g to %g", low, high), v)
	}
	fault(stageForm.MatchString(p.Stage), "Stage", stageForm.String(), p.Stage)
	_, err := plan.ParseKinds(strings.Join(p.Kinds, ","))
	fault(err == nil && (p.Live || len(p.Kinds) == 0), "Kinds", "kinds of action, each once, and only with Live", p.Kinds)
	fault(len(p.OwnIdentities) <= 32, "OwnIdentities", "at most 32", len(p.OwnIdentities))
	for _, id := range p.OwnIdentities {
		fault(identityForm.MatchString(id), "OwnIdentities", identityForm.String(), id)
	}
	fault(p.Network == NetworkOpen || p.Network == NetworkIsolated, "Network", `"open" or "isolated"`, p.Network)
	for _, phase := range slices.Sorted(maps.Keys(p.ReservedConcurrency)) {
		fault(slices.Contains(Phases(), phase), "ReservedConcurrency", "a phase", phase)
		whole("ReservedConcurrency of "+string(phase), p.ReservedConcurrency[phase], 1, 1000)
	}
	whole("RequestsPerSecond", p.RequestsPerSecond, 1, 10000)
	whole("Burst", p.Burst, 1, 5000)
	whole("TextDays", p.TextDays, 1, 3650)
	fault(logPeriods[p.LogDays] != "", "LogDays", "a retention of CloudWatch Logs", p.LogDays)
	fault(!p.ContextAPI || p.Network != NetworkIsolated, "ContextAPI", "an open network for extract, which has to reach it", p.Network)
	fault(p.PermissionsBoundary == "" || policyForm.MatchString(p.PermissionsBoundary), "PermissionsBoundary", "the ARN of a managed policy", p.PermissionsBoundary)
	fault(p.AlarmTopicArn == "" || topicForm.MatchString(p.AlarmTopicArn), "AlarmTopicArn", "the ARN of an SNS topic", p.AlarmTopicArn)
	for _, pkg := range p.programs() {
		fault(packageForm.MatchString(pkg.path) && !strings.HasPrefix(pkg.path, "-"), "Functions", "an import path", pkg.path)
	}
	p.checkSchedules(fault)
	p.checkHooks(fault)
	p.Model.check(fault)
	for _, err := range []error{p.Limits.Check(), p.Batches.Check()} {
		if err != nil {
			faults = append(faults, fmt.Errorf("props: %w", err))
		}
	}
	return faults
}

// program is one binary: the folder that it is built into, and its package.
type program struct{ name, path string }

func (p *Props) programs() []program {
	return []program{
		{"ingress", p.Functions.Ingress}, {"fetch", p.Functions.Fetch}, {"extract", p.Functions.Extract},
		{"act", p.Functions.Act}, {"approve", p.Functions.Approve}, {"sweep", p.Functions.Sweep},
		{"context", p.Functions.Context},
	}
}

// program returns the name of a phase's binary.
func (p Phase) program() string {
	switch p {
	case ExtractUnverified, ExtractRest:
		return "extract"
	default:
		return string(p)
	}
}

// id returns the name of a phase's constructs: "ExtractRest".
func (p Phase) id() string {
	var id strings.Builder
	for _, word := range strings.Split(string(p), "-") {
		id.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	return id.String()
}
