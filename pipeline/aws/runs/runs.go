// Package runs answers from the runs table which runs have a record and which
// are under way. It reads and never writes, and is apart from the table's own
// package so that who asks links nothing of act.
package runs

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/internal/item"
)

// Runs is the runs table, of which act and the state machine write the items:
// the envelope as a run is admitted, and a status as it ends or waits.
type Runs struct {
	db    *dynamodb.Client
	table string
}

// Open opens the runs table.
func Open(region, endpoint, table string) *Runs { return &Runs{item.Open(region, endpoint), table} }

// Has reports whether the run has a record, and reads nothing of what it says.
func (r *Runs) Has(ctx context.Context, run string) (bool, error) {
	if !pipeline.IsRunID(run) {
		return false, pipeline.StoreFailed.Error("records: want a run's id")
	}
	return item.Exists(ctx, r.db, "get record", r.table, item.Item{"pk": item.Text(run)})
}

// Active returns the envelope of a run that was admitted and has no status
// yet, and false for any other.
func (r *Runs) Active(ctx context.Context, run string) (pipeline.Envelope, bool, error) {
	if !pipeline.IsRunID(run) {
		return pipeline.Envelope{}, false, nil
	}
	out, err := r.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &r.table, ConsistentRead: aws.Bool(true), Key: item.Item{"pk": item.Text(run)},
		ProjectionExpression: aws.String("envelope, #status"), ExpressionAttributeNames: map[string]string{"#status": "status"},
	})
	if err != nil {
		return pipeline.Envelope{}, false, client.Fault("get run", err)
	}
	if _, over := out.Item["status"]; over || len(out.Item) == 0 {
		return pipeline.Envelope{}, false, nil
	}
	env, err := pipeline.DecodeEnvelope([]byte(item.TextOf(out.Item, "envelope")))
	if err != nil {
		return pipeline.Envelope{}, false, pipeline.StoreFailed.Error("get run: the item is malformed")
	}
	return env, true, nil
}
