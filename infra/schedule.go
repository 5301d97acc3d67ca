package infra

import (
	"fmt"
	"regexp"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/go-json-experiment/json"

	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsscheduler"
)

// Schedule says when a schedule of a recipe ticks. What it starts, and where
// that may write, is the recipe's (pipeline.Schedule).
type Schedule struct {
	Name       string // as the recipe declares it
	Recipe     string
	Expression string // "rate(…)" or "cron(…)", as EventBridge Scheduler reads them
	TimeZone   string // an IANA name, for cron; empty is UTC
}

// MaxSchedules bounds the schedules of one pipeline.
const MaxSchedules = 100

// How long a tick is tried again where the ingress cannot be invoked, or
// failed. After that Scheduler puts it into the failure queue.
const (
	tickAge     = time.Hour
	tickRetries = 10
	tickFails   = 2 // of the ingress itself, by Lambda
)

// sweepEvery is how often the sweep runs.
const sweepEvery = "rate(15 minutes)"

var (
	scheduleForm = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	// The forms of EventBridge Scheduler
	// (docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html).
	// A tick a minute is the most that it fires.
	rateForm = regexp.MustCompile(`^rate\((1 (minute|hour|day)|([2-9]|[1-9][0-9]{1,3}) (minutes|hours|days))\)$`)
	cronForm = regexp.MustCompile(`^cron\(([0-9A-Z*?,/#-]{1,40} ){5}[0-9*?,/-]{1,40}\)$`)
)

func completeSchedules(list []Schedule) []Schedule {
	all := append([]Schedule(nil), list...)
	for i := range all {
		if all[i].TimeZone == "" {
			all[i].TimeZone = "UTC"
		}
	}
	return all
}

// checkSchedules reports what is wrong with the schedules.
func (p *Props) checkSchedules(fault func(ok bool, name, want string, got any)) {
	fault(len(p.Schedules) <= MaxSchedules, "Schedules", fmt.Sprintf("at most %d", MaxSchedules), len(p.Schedules))
	seen := map[[2]string]bool{}
	for i, s := range p.Schedules {
		at := func(field string) string { return fmt.Sprintf("Schedules[%d].%s", i, field) }
		fault(scheduleForm.MatchString(s.Name), at("Name"), scheduleForm.String(), s.Name)
		fault(scheduleForm.MatchString(s.Recipe), at("Recipe"), scheduleForm.String(), s.Recipe)
		fault(rateForm.MatchString(s.Expression) || cronForm.MatchString(s.Expression), at("Expression"), `"rate(1 hour)" or "cron(0 6 * * ? *)"`, s.Expression)
		_, err := time.LoadLocation(s.TimeZone)
		fault(err == nil && s.TimeZone != "Local", at("TimeZone"), `a zone of the IANA database, as "Europe/Berlin"`, s.TimeZone)
		key := [2]string{s.Recipe, s.Name}
		fault(!seen[key], at("Name"), "each schedule of a recipe once", s.Name)
		seen[key] = true
	}
}

// clocks makes the schedules of recipes and that of the sweep. One role fires
// them all, and may invoke these two functions and no other.
func (p *Pipeline) clocks() {
	p.SchedulerRole = p.role("SchedulerRole", "decant: fires schedules", ofThisAccount("scheduler.amazonaws.com"), []right{
		may("Fire", []string{"lambda:InvokeFunction"}, p.Functions[Ingress].FunctionArn(), p.Functions[Sweep].FunctionArn()),
		may("TellFailure", []string{"sqs:SendMessage"}, p.FailureQueue.QueueArn()),
	})
	p.clock("SweepSchedule", "decant: starts what was stored and not started", Schedule{Expression: sweepEvery, TimeZone: "UTC"}, Sweep, struct{}{})
	for _, s := range p.props.Schedules {
		type tick struct {
			Recipe   string `json:"recipe"`
			Schedule string `json:"schedule"`
			Instant  string `json:"instant"`
		}
		p.clock("Schedule."+s.Recipe+"."+s.Name, "decant: "+s.Name+" of "+s.Recipe, s, Ingress, struct {
			Tick tick `json:"tick"`
		}{tick{s.Recipe, s.Name, "<aws.scheduler.scheduled-time>"}})
	}
	for _, f := range []struct {
		phase   Phase
		retries int
	}{{Ingress, tickFails}, {Sweep, 0}} { // the next sweep comes by itself
		awslambda.NewCfnEventInvokeConfig(p.Construct, str(f.phase.id()+"Retries"), &awslambda.CfnEventInvokeConfigProps{
			FunctionName: p.Functions[f.phase].FunctionName(), Qualifier: str("$LATEST"),
			MaximumEventAgeInSeconds: num(tickAge.Seconds()), MaximumRetryAttempts: num(f.retries),
		})
	}
}

func (p *Pipeline) clock(id, description string, s Schedule, on Phase, input any) {
	b, err := json.Marshal(input)
	if err != nil {
		panic(err) // names in their forms always encode
	}
	awsscheduler.NewCfnSchedule(p.Construct, &id, &awsscheduler.CfnScheduleProps{
		Description: &description, ScheduleExpression: &s.Expression, ScheduleExpressionTimezone: &s.TimeZone, State: str("ENABLED"),
		FlexibleTimeWindow: &awsscheduler.CfnSchedule_FlexibleTimeWindowProperty{Mode: str("OFF")},
		Target: &awsscheduler.CfnSchedule_TargetProperty{
			Arn: p.Functions[on].FunctionArn(), RoleArn: p.SchedulerRole.RoleArn(), Input: str(string(b)),
			RetryPolicy:      &awsscheduler.CfnSchedule_RetryPolicyProperty{MaximumEventAgeInSeconds: num(tickAge.Seconds()), MaximumRetryAttempts: num(tickRetries)},
			DeadLetterConfig: &awsscheduler.CfnSchedule_DeadLetterConfigProperty{Arn: p.FailureQueue.QueueArn()},
		},
	})
}
