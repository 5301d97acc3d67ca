// Package approvals keeps in DynamoDB which runs wait for a person, and what
// the persons said.
package approvals

import (
	"context"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/internal/item"
)

// keptAge is how long the table keeps a record after its question expired.
const keptAge = 30 * 24 * time.Hour

// Approvals keeps a record under its run's id as pk, with its version beside
// it, its state for people, and the time at which the table may forget it.
type Approvals struct {
	db    *dynamodb.Client
	table string
}

var _ approval.Store = (*Approvals)(nil)

// Open opens the approvals table.
func Open(region, endpoint, table string) *Approvals { return New(item.Open(region, endpoint), table) }

// New is an approvals table behind a client.
func New(db *dynamodb.Client, table string) *Approvals { return &Approvals{db, table} }

// Get returns a run's record, and false where there is none.
func (a *Approvals) Get(ctx context.Context, run string) (approval.Record, bool, error) {
	out, err := a.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &a.table, ConsistentRead: aws.Bool(true), Key: item.Item{"pk": item.Text(run)}})
	if err != nil || len(out.Item) == 0 {
		return approval.Record{}, false, client.Fault("get approval", err)
	}
	version, ok := item.NumberOf(out.Item, "version")
	r, err := approval.Decode([]byte(item.TextOf(out.Item, "record")), version)
	if err != nil || !ok || version < 1 || r.Run != run {
		return approval.Record{}, false, pipeline.StoreFailed.Error("approval: the item is malformed")
	}
	return r, true, nil
}

// Put stores a record where its version is the stored one's.
func (a *Approvals) Put(ctx context.Context, r approval.Record) (bool, error) {
	b, err := r.Encode()
	if err != nil {
		return false, pipeline.StoreFailed.Error("%v", err)
	}
	in := &dynamodb.PutItemInput{
		TableName: &a.table,
		Item: item.Item{
			"pk": item.Text(r.Run), "version": item.Number(r.Version + 1), "record": item.Text(string(b)),
			"state": item.Text(string(r.State)), "ttl": item.Number(r.Expires.Add(keptAge).Unix()),
		},
		ConditionExpression: aws.String("attribute_not_exists(pk)"),
	}
	if r.Version > 0 {
		in.ConditionExpression = aws.String("#version = :version")
		in.ExpressionAttributeNames = map[string]string{"#version": "version"}
		in.ExpressionAttributeValues = item.Item{":version": item.Number(r.Version)}
	}
	_, err = a.db.PutItem(ctx, in)
	if item.Unmet(err) {
		return false, nil
	}
	return err == nil, client.Fault("put approval "+strconv.FormatInt(r.Version, 10), err)
}
