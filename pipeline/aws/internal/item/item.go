// Package item holds what the DynamoDB adapters share: a client, and the
// attributes of an item.
package item

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"decant.dev/pipeline/aws/client"
)

// Open makes a client of DynamoDB.
func Open(region, endpoint string) *dynamodb.Client {
	return dynamodb.NewFromConfig(client.Config(region, endpoint, client.MaxAnswerBytes))
}

// Item is one item, or part of one.
type Item = map[string]types.AttributeValue

// Text is an attribute of text.
func Text(s string) types.AttributeValue { return &types.AttributeValueMemberS{Value: s} }

// Number is an attribute of a whole number.
func Number(n int64) types.AttributeValue {
	return &types.AttributeValueMemberN{Value: strconv.FormatInt(n, 10)}
}

// TextOf returns an attribute's text, empty where it is absent or of another
// type.
func TextOf(i Item, name string) string {
	if s, ok := i[name].(*types.AttributeValueMemberS); ok {
		return s.Value
	}
	return ""
}

// NumberOf returns an attribute's whole number, and false where it is absent
// or of another type.
func NumberOf(i Item, name string) (int64, bool) {
	n, ok := i[name].(*types.AttributeValueMemberN)
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseInt(n.Value, 10, 64)
	return v, err == nil
}

// instantForm is how Step Functions writes an instant, so that both writers
// of a run's item write alike.
const instantForm = "2006-01-02T15:04:05.000Z"

// Instant writes an instant as Step Functions does.
func Instant(t time.Time) string { return t.UTC().Format(instantForm) }

// Exists reports, by a consistent read, whether a table has an item, and
// reads nothing of it but its key.
func Exists(ctx context.Context, db *dynamodb.Client, operation, table string, key Item) (bool, error) {
	out, err := db.GetItem(ctx, &dynamodb.GetItemInput{
		TableName: &table, ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("pk"), Key: key,
	})
	if err != nil {
		return false, client.Fault(operation, err)
	}
	return len(out.Item) > 0, nil
}

// Unmet reports whether a write's condition did not hold.
func Unmet(err error) bool {
	var failed *types.ConditionalCheckFailedException
	return errors.As(err, &failed)
}
