package grants

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/internal/item"
)

var _ pipeline.Grants = (*Grants)(nil)

// pageItems bounds one page of a scan, so that a page is far from DynamoDB's
// limit of one mebibyte and from the client's own.
const pageItems = 500

// maxGrants bounds how many grants List returns: as many as the file of one
// machine holds. More are an error.
const maxGrants = 50_000

func key(g pipeline.Grant) item.Item {
	return item.Item{"pk": item.Text(g.Channel), "sk": item.Text(g.Person)}
}

// Add puts a grant, unless it is there.
func (g *Grants) Add(ctx context.Context, one pipeline.Grant) (bool, error) {
	if err := one.Check(); err != nil {
		return false, err
	}
	_, err := g.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &g.table, Item: key(one), ConditionExpression: aws.String("attribute_not_exists(pk)"),
	})
	if item.Unmet(err) {
		return false, nil
	}
	return err == nil, client.Fault("add grant", err)
}

// Remove deletes a grant, if it is there.
func (g *Grants) Remove(ctx context.Context, one pipeline.Grant) (bool, error) {
	if err := one.Check(); err != nil {
		return false, err
	}
	_, err := g.db.DeleteItem(ctx, &dynamodb.DeleteItemInput{
		TableName: &g.table, Key: key(one), ConditionExpression: aws.String("attribute_exists(pk)"),
	})
	if item.Unmet(err) {
		return false, nil
	}
	return err == nil, client.Fault("remove grant", err)
}

// List reads the whole table, page by page. What changes meanwhile may be in
// it or not.
func (g *Grants) List(ctx context.Context) ([]pipeline.Grant, error) {
	var all []pipeline.Grant
	var from item.Item
	for {
		out, err := g.db.Scan(ctx, &dynamodb.ScanInput{
			TableName: &g.table, ConsistentRead: aws.Bool(true), ProjectionExpression: aws.String("pk, sk"), Limit: aws.Int32(pageItems), ExclusiveStartKey: from,
		})
		if err != nil {
			return nil, client.Fault("list grants", err)
		}
		for _, i := range out.Items {
			if item.TextOf(i, "pk") == pausedKey {
				continue
			}
			all = append(all, pipeline.Grant{Person: item.TextOf(i, "sk"), Channel: item.TextOf(i, "pk")})
		}
		switch {
		case len(all) > maxGrants:
			return nil, pipeline.StoreFailed.Error("list grants: want at most %d, got more", maxGrants)
		case len(out.LastEvaluatedKey) == 0:
			return pipeline.SortGrants(all), nil
		}
		from = out.LastEvaluatedKey
	}
}
