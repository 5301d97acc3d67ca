package infra

import (
	"strings"
	"testing"
	"time"

	"decant.dev/pipeline/aws/machine"
)

func TestCheckNamesEachPropertyThatIsOutOfItsBounds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Props){
		"Stage":                      func(p *Props) { p.Stage = "Dev" },
		"Kinds":                      func(p *Props) { p.Kinds = []string{"table.row"} },
		"OwnIdentities":              func(p *Props) { p.OwnIdentities = []string{"github: 1"} },
		"Network":                    func(p *Props) { p.Network = "private" },
		"ReservedConcurrency":        func(p *Props) { p.ReservedConcurrency = map[Phase]float64{"extract": 1} },
		"ReservedConcurrency of act": func(p *Props) { p.ReservedConcurrency = map[Phase]float64{Act: 0.5} },
		"RequestsPerSecond":          func(p *Props) { p.RequestsPerSecond = -1 },
		"Burst":                      func(p *Props) { p.Burst = 5001 },
		"TextDays":                   func(p *Props) { p.TextDays = 1.5 },
		"LogDays":                    func(p *Props) { p.LogDays = 2 },
		"PermissionsBoundary":        func(p *Props) { p.PermissionsBoundary = "boundary" },
		"AlarmTopicArn":              func(p *Props) { p.AlarmTopicArn = "arn:aws:sqs:eu-central-1:111122223333:q" },
		"Functions":                  func(p *Props) { p.Functions.Act = "-o=/tmp/x" },
		"Schedules:":                 func(p *Props) { p.Schedules = make([]Schedule, MaxSchedules+1) },
		"Schedules[0].Name":          func(p *Props) { p.Schedules = []Schedule{{"Nightly", "r", "rate(1 hour)", "UTC"}} },
		"Schedules[0].Recipe":        func(p *Props) { p.Schedules = []Schedule{{"a", "", "rate(1 hour)", "UTC"}} },
		"Schedules[0].Expression":    func(p *Props) { p.Schedules = []Schedule{{"a", "r", "rate(0 hours)", "UTC"}} },
		"Schedules[0].TimeZone":      func(p *Props) { p.Schedules = []Schedule{{"a", "r", "rate(1 hour)", "Europe/Atlantis"}} },
		"Schedules[1].Name":          func(p *Props) { s := Schedule{"a", "r", "rate(1 hour)", ""}; p.Schedules = []Schedule{s, s} },
		"Hooks:":                     func(p *Props) { p.Hooks = make([]Hook, MaxHooks+1) },
		"Hooks: Name: want a":        func(p *Props) { p.Hooks = []Hook{{Name: "github"}} },
		"Hooks: Name: want each":     func(p *Props) { p.Hooks = []Hook{{Name: "a-1"}, {Name: "a1"}} },
		"Hooks: Unsigned":            func(p *Props) { p.Hooks = []Hook{{Name: "a", Unsigned: "yes"}} },
		"items of a batch":           func(p *Props) { p.Batches.Items = machine.MaxItems + 1 },
		"concurrency of a batch":     func(p *Props) { p.Batches.Concurrency = -1 },
		"limit of approval":          func(p *Props) { p.Limits.Approval = time.Second },
	} {
		p := Props{Stage: "dev"}
		change(&p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), "props: "+name) {
			t.Errorf("%s: got error %v, want one that names it", name, err)
		}
	}
	if err := (*Props)(nil).Check(); err == nil {
		t.Error("no properties are accepted")
	}
	if err := (&Props{Stage: "dev"}).Check(); err != nil {
		t.Errorf("a stage alone: %v", err)
	}
}

func TestCheckReportsAllFaultsAtOnce(t *testing.T) {
	t.Parallel()
	err := (&Props{TextDays: -1, LogDays: -1}).Check()
	if err == nil || strings.Count(err.Error(), "props: ") != 3 {
		t.Errorf("got %v, want three faults", err)
	}
}

func TestScheduleExpressionsAndZones(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string]bool{
		"rate(1 minute)": true, "rate(15 minutes)": true, "rate(1 day)": true, "cron(0 6 * * ? *)": true, "cron(0/15 8-18 ? * MON-FRI 2026-2030)": true, "cron(0 0 L * ? *)": true,
		"rate(1 minutes)": false, "rate(5 minute)": false, "rate(01 hours)": false, "rate(5 seconds)": false, "cron(0 6 * * ?)": false, "cron(0 6 * * ? * *)": false,
		"at(2026-12-01T00:00:00)": false, "": false, "0 6 * * *": false, "cron(0 6 * * ? *) ": false, "cron(${AWS::Region} 6 * * ? *)": false,
	} {
		p := Props{Stage: "dev", Schedules: []Schedule{{"a", "r", expression, ""}}}
		if err := p.Check(); (err == nil) != want {
			t.Errorf("%q: got %v, want it in order: %t", expression, err, want)
		}
	}
	for zone, want := range map[string]bool{"": true, "UTC": true, "Europe/Berlin": true, "America/Argentina/Buenos_Aires": true, "Local": false, "CEST": false, "../UTC": false, "Europe": false} {
		p := Props{Stage: "dev", Schedules: []Schedule{{"a", "r", "rate(1 hour)", zone}}}
		if err := p.Check(); (err == nil) != want {
			t.Errorf("zone %q: got %v, want it in order: %t", zone, err, want)
		}
	}
}
