// Package records tells whether a run has a record in the runs table, and
// nothing of what it says. It is apart from the table's own package so that
// who asks links nothing of act.
package records

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/internal/item"
)

// Table is the runs table. It is safe for concurrent use.
type Table struct {
	db   *dynamodb.Client
	name string
}

// Open makes the table's client.
func Open(region, endpoint, name string) *Table { return &Table{item.Open(region, endpoint), name} }

// Has reports whether the run has a record, by a consistent read.
func (t *Table) Has(ctx context.Context, run string) (bool, error) {
	if !pipeline.IsRunID(run) {
		return false, pipeline.StoreFailed.Error("records: want a run's id")
	}
	out, err := t.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &t.name, ConsistentRead: aws.Bool(true), Key: item.Item{"pk": item.Text(run)}, ProjectionExpression: aws.String("pk"),
	})
	if err != nil {
		return false, client.Fault("get record", err)
	}
	return len(out.Item) > 0, nil
}
