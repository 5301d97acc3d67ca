package cli

import (
	"bytes"
	"strings"
	"testing"

	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// What each part answered and cost is counted apart, and what was not asked of
// the model is what was saved.
func TestStatsCountEachPart(t *testing.T) {
	t.Parallel()
	entry := func(recipe string, status pipeline.Status, code pipeline.Code, trace string) store.Entry {
		e := store.Entry{Recipe: recipe, State: store.Ended, Status: status, Code: code}
		if trace != "" {
			e.Trace = []byte(trace)
		}
		return e
	}
	const byRules = `{"extractor":"cascade","stage":"rules"}`
	entries := []store.Entry{
		entry("issues", pipeline.Done, "", byRules), entry("issues", pipeline.Done, "", byRules), entry("issues", pipeline.Staged, "", byRules),
		entry("issues", pipeline.Done, "", `{"extractor":"cascade","stage":"bedrock","usage":{"input_tokens":900,"output_tokens":100,"cache_read_tokens":50,"microdollars":1500}}`),
		entry("issues", pipeline.Quarantined, pipeline.Undecodable, `{"extractor":"cascade","stage":"bedrock","usage":{"input_tokens":100,"microdollars":500}}`),
		entry("issues", pipeline.Refused, pipeline.OverBudget, ""), entry("issues", pipeline.Refused, pipeline.OverBudget, ""), entry("issues", pipeline.Refused, pipeline.Paused, ""),
		{Recipe: "issues", State: store.Received},
		entry("advisories", pipeline.Done, "", `{"extractor":"rules"}`),
	}
	var out bytes.Buffer
	app := &App{Stdout: &out}
	if err := app.printStats(entries, false); err != nil {
		t.Fatal(err)
	}
	want := `recipe advisories: 1 runs
  done               1
  answered by     runs    tokens in   tokens out       cost $
  rules              1            0            0     0.000000

recipe issues: 9 runs
  staged             1
  done               3
  quarantined        1  undecodable 1
  refused            3  over_budget 2, paused 1
  unfinished         1
  answered by     runs    tokens in   tokens out       cost $
  rules              3            0            0     0.000000
  bedrock            2         1050          100     0.002000
  saved: $0.003000, had the model been asked about every run at the average cost
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
	out.Reset()
	if err := app.printStats(entries, true); err != nil || strings.Count(out.String(), `"schema":"stats.v1"`) != 2 || !strings.Contains(out.String(), `"saved_microdollars":3000`) {
		t.Errorf("got %s, %v", &out, err)
	}
}
