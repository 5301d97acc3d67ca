// Package grants answers from DynamoDB who holds trigger on which channel.
package grants

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/internal/item"
)

// Grants answers who holds trigger on which channel: an item.Item with the channel
// as pk and the person as sk is a grant. Each question reads the table, so
// that a grant that is taken away is gone at the next.
type Grants struct {
	db    *dynamodb.Client
	table string
}

// Open opens the grants table.
func Open(region, endpoint, table string) *Grants { return &Grants{item.Open(region, endpoint), table} }

// HoldsTrigger reports whether the person holds trigger on the channel now.
// An error comes with false.
func (g *Grants) HoldsTrigger(ctx context.Context, person, channel string) (bool, error) {
	if person == "" || channel == "" {
		return false, nil // no key may be empty, and nobody holds trigger nowhere
	}
	out, err := g.db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &g.table, ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("pk"),
		Key: item.Item{"pk": item.Text(channel), "sk": item.Text(person)},
	})
	if err != nil {
		return false, client.Fault("get grant", err)
	}
	return len(out.Item) > 0, nil
}

var _ pipeline.Authorizer = (*Grants)(nil)
