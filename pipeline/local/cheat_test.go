package local

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"decant.dev/act/plan"
	"decant.dev/pipeline"
)

// running is set once the recipes of this file are built. Their plans behave
// while they are audited, so that parent and child embed the same list, and
// are no functions of the structure after.
var running bool

var cheating = map[string]func(note, plan.Target) []plan.Action{
	"clock": func(_ note, at plan.Target) []plan.Action {
		when := time.Time{}
		if running {
			when = time.Now()
		}
		return []plan.Action{plan.TableRow{Table: "notes", Key: at.Ref(), Columns: []plan.Column{plan.Text("at", when.String())}}}
	},
	"map-order": func(_ note, at plan.Target) []plan.Action {
		letters := map[string]bool{}
		for _, l := range strings.Split("abcdefghijklmnop", "") {
			letters[l] = true
		}
		order := "abcdefghijklmnop"
		if running {
			order = ""
			for l := range letters {
				order += l
			}
		}
		return []plan.Action{plan.TableRow{Table: "notes", Key: at.Ref(), Columns: []plan.Column{plan.Text("order", order)}}}
	},
	"panics": func(n note, at plan.Target) []plan.Action {
		if running {
			panic("SECRETWORD")
		}
		return keepNote(n, at)
	},
}

var cheatingPipelines = sync.OnceValue(func() []Pipeline {
	var all []Pipeline
	for _, name := range []string{"clock", "map-order", "panics"} {
		p := notePipeline(name, says{`{"kind":"a"}`})
		p.Recipe = listed(name, cheating[name], storeAlways)
		all = append(all, p)
	}
	running = true
	return all
})

// A plan that reads the clock and one that ranges over a map are each stopped
// at run time, live and staged, with nothing written.
func TestCheatingPlanMeetsUnlistedOutcome(t *testing.T) {
	t.Parallel()
	want := map[string]pipeline.Code{"clock": pipeline.UnlistedOutcome, "map-order": pipeline.UnlistedOutcome, "panics": pipeline.PlanFailed}
	for _, live := range []bool{false, true} {
		for _, p := range cheatingPipelines() {
			name := p.Recipe.Name()
			t.Run(map[bool]string{false: "staged ", true: "live "}[live]+name, func(t *testing.T) {
				t.Parallel()
				e := openEngine(t, Config{Live: live}, p)
				r := e.Deliver(context.Background(), delivery(t, payload(3, "title", report, 2000)))[0]
				if r.Reason != want[name] || r.Status != pipeline.Refused {
					t.Errorf("%s %s, want refused %s", r.Status, r.Reason, want[name])
				}
				if live {
					if rows := ledgerRows(t, e, "notes"); len(rows) != 0 {
						t.Errorf("%d rows were written", len(rows))
					}
				}
			})
		}
	}
}
