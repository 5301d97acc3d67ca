package emulators

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/runs"
)

// A run is active from its admission until it has any status at all.
func TestARunIsActiveUntilItHasAStatus(t *testing.T) {
	testCredentials(t)
	c := open(t)
	envelope := c.deliver(t, opened(140, 7040, "The exporter crashes", report))
	run := envelope["run"].(string)
	r := runs.Open(region, c.url, "Runs")
	active := func(id string, want, fault bool) {
		t.Helper()
		env, got, err := r.Active(t.Context(), id)
		if got != want || (err != nil) != fault || got && env.Run != id {
			t.Errorf("got %t, %v; want %t, an error: %t", got, err, want, fault)
		}
		if err != nil && strings.Contains(err.Error(), "zz9") {
			t.Errorf("the error repeats the item: %v", err)
		}
	}
	table := "Runs"
	put := func(o object) {
		t.Helper()
		if _, err := c.db.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &table, Item: attributes(o)}); err != nil {
			t.Fatal(err)
		}
	}
	active(run, false, false)
	active("zz9", false, false)
	if a, _ := c.invoke(t, "act", object{"envelope": envelope}); a["verdict"] != "ok" {
		t.Fatalf("admit: got %v", a)
	}
	active(run, true, false)
	for _, status := range pipeline.Statuses() {
		put(object{"pk": run, "envelope": text(t, envelope), "status": string(status)})
		active(run, false, false)
	}
	put(object{"pk": run, "envelope": `{"zz9":1}`})
	active(run, false, true)
}
