package emulators

import (
	"context"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	ddb "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"decant.dev/internal/conformance"
	"decant.dev/pipeline/aws/approvals"
	"decant.dev/pipeline/aws/bucket"
	"decant.dev/pipeline/aws/grants"
	"decant.dev/pipeline/aws/tables"
)

func testCredentials(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
}

func TestBucketConforms(t *testing.T) {
	testCredentials(t)
	b := bucket.Open(region, open(t).url, "raw", account)
	t.Run("raw", func(t *testing.T) { conformance.TestBlobs(t, b.Raw("conformance")) })
	t.Run("manifests", func(t *testing.T) { conformance.TestBlobs(t, b.Manifests("conformance")) })
	t.Run("prompts", func(t *testing.T) { conformance.TestBlobs(t, b.Prompts("conformance")) })
}

func TestLedgerConforms(t *testing.T) {
	testCredentials(t)
	l := tables.Open(region, open(t).url).Ledger("Act")
	rows := func(ctx context.Context, name string) ([]conformance.Row, error) {
		found, err := l.Rows(ctx, name)
		var rows []conformance.Row
		for _, f := range found {
			r := conformance.Row{Key: f.Key, Source: f.Source, Label: f.Label, Run: f.Run, Columns: map[string]any{}}
			for name, v := range f.Columns {
				if v != nil {
					r.Columns[name] = v
				}
			}
			rows = append(rows, r)
		}
		return rows, err
	}
	conformance.TestLedger(t, conformance.Ledger{Ledger: l, Rows: rows})
}

func TestApprovalsConform(t *testing.T) {
	testCredentials(t)
	conformance.TestApprovals(t, approvals.Open(region, open(t).url, "Approvals"))
}

func TestGrantsConform(t *testing.T) {
	testCredentials(t)
	c := open(t)
	key := func(person, channel string) map[string]ddb.AttributeValue {
		return map[string]ddb.AttributeValue{"pk": &ddb.AttributeValueMemberS{Value: channel}, "sk": &ddb.AttributeValueMemberS{Value: person}}
	}
	name := "Grants"
	conformance.TestAuthorizer(t, conformance.Authorizer{
		Authorizer: grants.Open(region, c.url, name),
		Grant: func(p, ch string) error {
			_, err := c.db.PutItem(context.Background(), &dynamodb.PutItemInput{TableName: &name, Item: key(p, ch)})
			return err
		},
		Revoke: func(p, ch string) error {
			_, err := c.db.DeleteItem(context.Background(), &dynamodb.DeleteItemInput{TableName: &name, Key: key(p, ch)})
			return err
		},
	})
}

func TestEditedGrantsConform(t *testing.T) {
	testCredentials(t)
	conformance.TestGrants(t, grants.Open(region, open(t).url, "Grants"))
}

func TestBudgetsConform(t *testing.T) {
	testCredentials(t)
	conformance.TestBudgets(t, tables.Open(region, open(t).url).Budgets("Act"), time.Now().Add(time.Hour))
}
