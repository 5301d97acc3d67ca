package tables

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/internal/item"
)

// Budgets keeps how much of each budget is used, in the act table:
//
//	pk budget#<counter>  sk used     the amount, until the window is over
//	pk run#<run>         sk charges  the counters that the run was added to
type Budgets struct {
	db    *dynamodb.Client
	table string
}

var _ act.Budgets = (*Budgets)(nil)

// Budgets opens the act table.
func (c *Client) Budgets(table string) *Budgets { return &Budgets{c.db, table} }

// chargeAttempts bounds how often a charge is tried against others that touch
// the same counters.
const chargeAttempts = 10

// keptWindow is how long the table keeps a counter after its window.
const keptWindow = 24 * time.Hour

// charges are the counters that a run was added to.
type charges struct {
	keys    []string
	version int64 // how often it was written, 0 where there is none
}

// Charge adds each spend of a run to its counter, or none of them where a
// counter would go over its limit.
func (b *Budgets) Charge(ctx context.Context, run string, spends []plan.Spend) (bool, error) {
	if !pipeline.IsRunID(run) || len(spends) > act.MaxSpends {
		return false, pipeline.StoreFailed.Error("budgets: want a run's id and at most %d spends", act.MaxSpends)
	}
	for attempt := range chargeAttempts {
		before, err := b.charged(ctx, run)
		if err != nil {
			return false, err
		}
		fresh := slices.DeleteFunc(slices.Clone(spends), func(s plan.Spend) bool { return slices.Contains(before.keys, s.Key) })
		if len(fresh) == 0 {
			return true, nil
		}
		if slices.ContainsFunc(fresh, func(s plan.Spend) bool { return s.Amount < 1 || s.Amount > s.Limit }) {
			return false, nil
		}
		_, err = b.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: b.transaction(run, before, fresh)})
		if err == nil {
			return true, nil
		}
		var cancelled *types.TransactionCanceledException
		if !errors.As(err, &cancelled) {
			return false, client.Fault("charge", err)
		}
		switch unmet := unmetAt(cancelled); {
		case unmet > 0:
			return false, nil
		case unmet == 0: // the run was charged meanwhile: look again
		case !conflicted(cancelled):
			return false, pipeline.StoreFailed.Error("charge: want a transaction that is taken or whose condition is not met, got neither")
		}
		select {
		case <-time.After(rand.N(20 * time.Millisecond << min(attempt, 5))):
		case <-ctx.Done():
			return false, client.Fault("charge", ctx.Err())
		}
	}
	return false, client.RetryableError{}
}

// unmetAt returns the place of a condition that was not met: a counter's
// before the run's own, which is the first; -1 where there is none.
func unmetAt(e *types.TransactionCanceledException) int {
	at := -1
	for i, r := range e.CancellationReasons {
		if aws.ToString(r.Code) == "ConditionalCheckFailed" {
			at = max(at, i)
		}
	}
	return at
}

func (b *Budgets) charged(ctx context.Context, run string) (charges, error) {
	out, err := b.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &b.table, ConsistentRead: aws.Bool(true),
		Key: item.Item{"pk": item.Text("run#" + run), "sk": item.Text("charges")}})
	if err != nil || len(out.Item) == 0 {
		return charges{}, client.Fault("read charges", err)
	}
	keys, ok := out.Item["keys"].(*types.AttributeValueMemberSS)
	version, numbered := item.NumberOf(out.Item, "version")
	if !ok || !numbered {
		return charges{}, errMalformed
	}
	return charges{keys.Value, version}, nil
}

// transaction is the run's own item first, then each counter.
func (b *Budgets) transaction(run string, before charges, fresh []plan.Spend) []types.TransactWriteItem {
	keys, last := slices.Clone(before.keys), time.Time{}
	for _, s := range fresh {
		keys = append(keys, s.Key)
		if s.Until.After(last) {
			last = s.Until
		}
	}
	own := &types.Put{TableName: &b.table, ConditionExpression: aws.String("attribute_not_exists(pk)"), Item: item.Item{
		"pk": item.Text("run#" + run), "sk": item.Text("charges"), "keys": &types.AttributeValueMemberSS{Value: keys},
		"version": item.Number(before.version + 1), "ttl": item.Number(last.Add(keptWindow).Unix()),
	}}
	if before.version > 0 {
		own.ConditionExpression = aws.String("#version = :version")
		own.ExpressionAttributeNames = map[string]string{"#version": "version"}
		own.ExpressionAttributeValues = item.Item{":version": item.Number(before.version)}
	}
	all := []types.TransactWriteItem{{Put: own}}
	for _, s := range fresh {
		all = append(all, types.TransactWriteItem{Update: &types.Update{
			TableName: &b.table, Key: counterKey(s.Key),
			UpdateExpression:         aws.String("SET #used = if_not_exists(#used, :zero) + :amount, #ttl = :ttl"),
			ConditionExpression:      aws.String("attribute_not_exists(#used) OR #used <= :room"),
			ExpressionAttributeNames: map[string]string{"#used": "used", "#ttl": "ttl"},
			ExpressionAttributeValues: item.Item{
				":zero": item.Number(0), ":amount": item.Number(s.Amount), ":room": item.Number(s.Limit - s.Amount),
				":ttl": item.Number(s.Until.Add(keptWindow).Unix()),
			},
		}})
	}
	return all
}

func counterKey(key string) item.Item {
	return item.Item{"pk": item.Text("budget#" + key), "sk": item.Text("used")}
}

// Used returns what a counter holds, 0 where nothing was added to it.
func (b *Budgets) Used(ctx context.Context, key string) (int64, error) {
	out, err := b.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &b.table, ConsistentRead: aws.Bool(true), Key: counterKey(key)})
	if err != nil || len(out.Item) == 0 {
		return 0, client.Fault("read budget", err)
	}
	n, ok := item.NumberOf(out.Item, "used")
	if !ok {
		return 0, errMalformed
	}
	return n, nil
}
