package tables

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/act/table"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/internal/item"
)

// Ledger keeps act's receipts, and beside them the rows of the table sink:
//
//	pk run#<run>     sk commit           that the run was committed
//	pk run#<run>     sk receipt#<nn>     its receipts, by index
//	pk table#<name>  sk <key>            rows, with the columns in a map
//
// It holds no row under a name that a recipe chose beside the names above, so
// that no column can stand in a key's place.
type Ledger struct {
	db    *dynamodb.Client
	table string
}

// Ledger opens the act table.
func (c *Client) Ledger(table string) *Ledger { return &Ledger{c.db, table} }

// Bounds of keys and transactions
// (docs.aws.amazon.com/amazondynamodb/latest/developerguide/Constraints.html).
const (
	maxSortKeyBytes = 1024
	maxWrites       = 100
)

// commitAttempts bounds how often a commit is tried against others that touch
// the same items.
const commitAttempts = 4

// Commit stores receipts and performs writes in one transaction, unless the
// run was committed before: then nothing is stored and its receipts are
// returned. Of two writes to one row the later stands.
func (l *Ledger) Commit(ctx context.Context, receipts []act.Receipt, writes []table.Write) ([]act.Receipt, bool, error) {
	if len(receipts) == 0 {
		return nil, false, pipeline.StoreFailed.Error("ledger: want at least one receipt")
	}
	run := receipts[0].Run
	puts, err := l.puts(run, receipts, writes)
	if err != nil {
		return nil, false, err
	}
	for attempt := range commitAttempts {
		_, err := l.db.TransactWriteItems(ctx, &dynamodb.TransactWriteItemsInput{TransactItems: puts})
		if err == nil {
			return nil, true, nil
		}
		var cancelled *types.TransactionCanceledException
		if !errors.As(err, &cancelled) {
			return nil, false, client.Fault("commit", err)
		}
		existing, err := l.Receipts(ctx, run)
		if err != nil || len(existing) > 0 {
			return existing, false, err
		}
		if !conflicted(cancelled) {
			return nil, false, pipeline.StoreFailed.Error("commit: want a transaction that is taken or that finds receipts, got neither")
		}
		select {
		case <-time.After(20 * time.Millisecond << attempt):
		case <-ctx.Done():
			return nil, false, client.Fault("commit", ctx.Err())
		}
	}
	return nil, false, client.RetryableError{}
}

// conflicted reports whether another transaction on the same items, or a
// throttled table, is all that stood in the way.
func conflicted(e *types.TransactionCanceledException) bool {
	again := false
	for _, r := range e.CancellationReasons {
		switch aws.ToString(r.Code) {
		case "", "None":
		case "TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded":
			again = true
		default:
			return false
		}
	}
	return again
}

func (l *Ledger) puts(run string, receipts []act.Receipt, writes []table.Write) ([]types.TransactWriteItem, error) {
	if !pipeline.IsRunID(run) {
		return nil, pipeline.StoreFailed.Error("ledger: want a run's id")
	}
	fresh := aws.String("attribute_not_exists(pk)")
	put := func(i item.Item, condition *string) types.TransactWriteItem {
		return types.TransactWriteItem{Put: &types.Put{TableName: &l.table, Item: i, ConditionExpression: condition}}
	}
	puts := []types.TransactWriteItem{put(item.Item{"pk": item.Text("run#" + run), "sk": item.Text("commit")}, fresh)}
	for _, r := range receipts {
		if r.Run != run || r.Index < 0 || r.Index >= plan.MaxActions {
			return nil, pipeline.StoreFailed.Error("ledger: want receipts of one run with indices from 0 to %d", plan.MaxActions-1)
		}
		puts = append(puts, put(receiptItem(r), fresh))
	}
	at := map[string]int{}
	for _, w := range writes {
		i, err := rowItem(w)
		if err != nil {
			return nil, err
		}
		key := w.Table + "\x00" + w.Key
		if before, twice := at[key]; twice {
			puts[before] = put(i, nil)
			continue
		}
		at[key] = len(puts)
		puts = append(puts, put(i, nil))
	}
	if len(puts) > maxWrites {
		return nil, pipeline.StoreFailed.Error("ledger: %d writes in one transaction: want at most %d", len(puts), maxWrites)
	}
	return puts, nil
}

func receiptItem(r act.Receipt) item.Item {
	i := item.Item{
		"pk": item.Text("run#" + r.Run), "sk": item.Text(fmt.Sprintf("receipt#%02d", r.Index)),
		"schema": item.Text(act.ReceiptSchema), "index": item.Number(int64(r.Index)), "kind": item.Text(string(r.Kind)),
		"params_sha256": item.Text(r.ParamsSHA256), "state": item.Text(string(r.State)), "attempt": item.Number(int64(r.Attempt)), "outcome": item.Text(r.Outcome), "remote": item.Text(r.Remote),
		"label": item.Text(r.Label.String()), "at": item.Number(r.At.UnixMilli()),
	}
	if r.ActingFor != "" {
		i["acting_for"] = item.Text(r.ActingFor)
	}
	return i
}

func receiptOf(run string, i item.Item) (act.Receipt, error) {
	index, ok := item.NumberOf(i, "index")
	at, timed := item.NumberOf(i, "at")
	attempt, counted := item.NumberOf(i, "attempt")
	r := act.Receipt{
		Schema: act.ReceiptSchema, Run: run, Index: int(index), Kind: plan.Kind(item.TextOf(i, "kind")),
		ParamsSHA256: item.TextOf(i, "params_sha256"), State: act.State(item.TextOf(i, "state")), Attempt: int(attempt),
		Outcome: item.TextOf(i, "outcome"), Remote: item.TextOf(i, "remote"),
		ActingFor: item.TextOf(i, "acting_for"), At: time.UnixMilli(at).UTC(),
	}
	if !ok || !timed || !counted || item.TextOf(i, "schema") != act.ReceiptSchema || r.Label.UnmarshalText([]byte(item.TextOf(i, "label"))) != nil {
		return act.Receipt{}, errMalformed
	}
	return r, nil
}

// Advance puts to in from's place, where the stored receipt has from's state
// and attempt.
func (l *Ledger) Advance(ctx context.Context, from, to act.Receipt) (bool, error) {
	if from.Run != to.Run || from.Index != to.Index || !pipeline.IsRunID(from.Run) {
		return false, pipeline.StoreFailed.Error("ledger: want two receipts of one run and index")
	}
	_, err := l.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &l.table, Item: receiptItem(to),
		ConditionExpression:      aws.String("#state = :state AND #attempt = :attempt"),
		ExpressionAttributeNames: map[string]string{"#state": "state", "#attempt": "attempt"},
		ExpressionAttributeValues: item.Item{
			":state": item.Text(string(from.State)), ":attempt": item.Number(int64(from.Attempt)),
		},
	})
	if item.Unmet(err) {
		return false, nil
	}
	return err == nil, client.Fault("advance receipt", err)
}

// rowItem checks names and sizes again: nothing else stands between a
// recipe's constant and the table.
func rowItem(w table.Write) (item.Item, error) {
	if !plan.IsName(w.Table) || w.Key == "" || len(w.Key) > maxSortKeyBytes {
		return nil, pipeline.StoreFailed.Error("ledger: row: want a table of the form %s and a key of 1 to %d bytes", plan.NameForm, maxSortKeyBytes)
	}
	columns := item.Item{}
	for _, c := range w.Columns {
		v, ok := cell(c.Value)
		if !ok || !plan.IsName(c.Name) {
			return nil, pipeline.StoreFailed.Error("ledger: row: want columns of the form %s that hold text, whole numbers, booleans or nothing", plan.NameForm)
		}
		columns[c.Name] = v
	}
	return item.Item{
		"pk": item.Text("table#" + w.Table), "sk": item.Text(w.Key),
		"source": item.Text(w.Source), "label": item.Text(w.Label.String()), "run": item.Text(w.Run),
		"columns": &types.AttributeValueMemberM{Value: columns},
	}, nil
}

func cell(v any) (types.AttributeValue, bool) {
	switch v := v.(type) {
	case nil:
		return &types.AttributeValueMemberNULL{Value: true}, true
	case string:
		return item.Text(v), true
	case int64:
		return item.Number(v), true
	case bool:
		return &types.AttributeValueMemberBOOL{Value: v}, true
	default:
		return nil, false
	}
}

// Receipts returns the receipts of a run, by index.
func (l *Ledger) Receipts(ctx context.Context, run string) ([]act.Receipt, error) {
	items, err := l.query(ctx, "run#"+run, "receipt#")
	if err != nil {
		return nil, err
	}
	var receipts []act.Receipt
	for _, i := range items {
		r, err := receiptOf(run, i)
		if err != nil {
			return nil, err
		}
		receipts = append(receipts, r)
	}
	return receipts, nil
}

// Row is one row of the table sink, for people and tests.
type Row struct {
	Key, Source, Label, Run string
	Columns                 map[string]any // string, int64, bool or nil
}

// Rows returns the rows of a sink's table, by key, as far as one answer
// holds.
func (l *Ledger) Rows(ctx context.Context, name string) ([]Row, error) {
	items, err := l.query(ctx, "table#"+name, "")
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, i := range items {
		r := Row{Key: item.TextOf(i, "sk"), Source: item.TextOf(i, "source"), Label: item.TextOf(i, "label"), Run: item.TextOf(i, "run"), Columns: map[string]any{}}
		columns, ok := i["columns"].(*types.AttributeValueMemberM)
		if !ok {
			return nil, errMalformed
		}
		for name, v := range columns.Value {
			switch v := v.(type) {
			case *types.AttributeValueMemberS:
				r.Columns[name] = v.Value
			case *types.AttributeValueMemberN:
				n, whole := item.NumberOf(columns.Value, name)
				if !whole {
					return nil, errMalformed
				}
				r.Columns[name] = n
			case *types.AttributeValueMemberBOOL:
				r.Columns[name] = v.Value
			case *types.AttributeValueMemberNULL:
				r.Columns[name] = nil
			default:
				return nil, errMalformed
			}
		}
		rows = append(rows, r)
	}
	return rows, nil
}

// query returns the items of a partition whose sort keys begin with prefix,
// in their order.
func (l *Ledger) query(ctx context.Context, pk, prefix string) ([]item.Item, error) {
	in := &dynamodb.QueryInput{
		TableName: &l.table, ConsistentRead: aws.Bool(true), KeyConditionExpression: aws.String("pk = :pk"),
		ExpressionAttributeValues: item.Item{":pk": item.Text(pk)},
	}
	if prefix != "" {
		in.KeyConditionExpression = aws.String("pk = :pk AND begins_with(sk, :prefix)")
		in.ExpressionAttributeValues[":prefix"] = item.Text(prefix)
	}
	out, err := l.db.Query(ctx, in)
	if err != nil {
		return nil, client.Fault("query", err)
	}
	return out.Items, nil
}

var _ act.Ledger = (*Ledger)(nil)
