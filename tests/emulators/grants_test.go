package emulators

import (
	"fmt"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/grants"
)

// A list goes on from page to page to the end.
func TestGrantsAreListedAcrossPages(t *testing.T) {
	testCredentials(t)
	c := open(t)
	const table, n = "ManyGrants", 1203
	if err := c.createTable(t.Context(), table, true); err != nil {
		t.Fatal(err)
	}
	g := grants.Open(region, c.url, table)
	for i := range n {
		if _, err := g.Add(t.Context(), pipeline.Grant{Person: fmt.Sprintf("github:%d", i), Channel: fmt.Sprintf("github:octo-org/%d", i%7)}); err != nil {
			t.Fatal(err)
		}
	}
	first, err := c.db.Scan(t.Context(), &dynamodb.ScanInput{TableName: aws.String(table), Limit: aws.Int32(500)})
	if err != nil || len(first.LastEvaluatedKey) == 0 {
		t.Fatalf("the emulator gives no pages (%v): this test would see nothing", err)
	}
	all, err := g.List(t.Context())
	if err != nil || len(all) != n {
		t.Errorf("got %d grants, %v; want %d", len(all), err, n)
	}
}
