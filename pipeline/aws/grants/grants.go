// Package grants answers from DynamoDB who holds trigger on which channel.
package grants

import (
	"context"

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
func Open(region, endpoint, table string) *Grants { return New(item.Open(region, endpoint), table) }

// New is a grants table behind a client.
func New(db *dynamodb.Client, table string) *Grants { return &Grants{db, table} }

// HoldsTrigger reports whether the person holds trigger on the channel now.
// An error comes with false.
func (g *Grants) HoldsTrigger(ctx context.Context, person, channel string) (bool, error) {
	if person == "" || !pipeline.IsChannel(channel) {
		return false, nil // no key may be empty, and nobody holds trigger nowhere
	}
	return item.Exists(ctx, g.db, "get grant", g.table, item.Item{"pk": item.Text(channel), "sk": item.Text(person)})
}

// pausedKey is the partition of the recipes that a person has stopped. It has
// no colon, so that it is no channel.
const pausedKey = "paused"

func pauseKey(recipe string) item.Item {
	return item.Item{"pk": item.Text(pausedKey), "sk": item.Text(recipe)}
}

// Paused reports whether a person has stopped the recipe.
func (g *Grants) Paused(ctx context.Context, recipe string) (bool, error) {
	if recipe == "" {
		return false, nil
	}
	return item.Exists(ctx, g.db, "get pause", g.table, pauseKey(recipe))
}

// Pause stops a recipe, or lets it go on.
func (g *Grants) Pause(ctx context.Context, recipe string, paused bool) error {
	key := pauseKey(recipe)
	if paused {
		_, err := g.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &g.table, Item: key})
		return client.Fault("pause", err)
	}
	_, err := g.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &g.table, Key: key})
	return client.Fault("resume", err)
}

var _ pipeline.Authorizer = (*Grants)(nil)
