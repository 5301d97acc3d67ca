package infra

import (
	"strings"
	"testing"
	"time"
)

func TestCheckNamesEachPropertyThatIsOutOfItsBounds(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Props){
		"Stage":                      func(p *Props) { p.Stage = "Dev" },
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
