package tables

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/internal/item"
)

// Admissions keeps act's first answer about a run for its second, in the act
// table:
//
//	pk run#<run>  sk admission  the label
type Admissions struct {
	db    *dynamodb.Client
	table string
}

var _ act.Admissions = (*Admissions)(nil)

// Admissions opens the act table.
func (c *Client) Admissions(table string) *Admissions { return &Admissions{c.db, table} }

func admissionKey(run string) item.Item {
	return item.Item{"pk": item.Text("run#" + run), "sk": item.Text("admission")}
}

// Admit records the label of a run, in place of an earlier attempt's.
func (a *Admissions) Admit(ctx context.Context, run string, l plan.Label) error {
	if !pipeline.IsRunID(run) || !l.Valid() {
		return pipeline.StoreFailed.Error("admission: want a run's id and a label")
	}
	i := admissionKey(run)
	i["label"] = item.Text(l.String())
	_, err := a.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &a.table, Item: i})
	return client.Fault("admit", err)
}

// Admitted returns the label that was recorded, and false where none was.
func (a *Admissions) Admitted(ctx context.Context, run string) (plan.Label, bool, error) {
	out, err := a.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &a.table, ConsistentRead: aws.Bool(true), Key: admissionKey(run)})
	if err != nil || len(out.Item) == 0 {
		return 0, false, client.Fault("read admission", err)
	}
	var l plan.Label
	if err := l.UnmarshalText([]byte(item.TextOf(out.Item, "label"))); err != nil {
		return 0, false, errMalformed
	}
	return l, true, nil
}
