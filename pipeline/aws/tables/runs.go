package tables

import (
	"context"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/internal/item"
)

// Runs keeps how each run stands, with its id as pk. Act writes envelope,
// label and what it did; the state machine writes trace, and status and code
// where a run ended without act. Structure and actions hold the texts that
// the structure carries by its shape, and no other foreign text.
type Runs struct {
	db    *dynamodb.Client
	table string
	clock func() time.Time
}

// Runs opens the runs table. Clock is time.Now.
func (c *Client) Runs(table string, clock func() time.Time) *Runs { return &Runs{c.db, table, clock} }

// Admitted records a run's envelope and the label that it was admitted under,
// or the code that it was refused with. What a run that is over has recorded
// stays.
func (r *Runs) Admitted(ctx context.Context, env pipeline.Envelope, a act.Admission) error {
	b, err := env.Encode()
	if err != nil {
		return pipeline.MalformedEvent.Error("%v", err)
	}
	set := update{}
	set.text("envelope", string(b))
	set.label(a.Label)
	if a.Code != pipeline.OK {
		set.text("status", string(a.Code.Status()))
		set.text("code", string(a.Code))
	}
	return r.write(ctx, env.Run, set)
}

// Acted records what act did with a structure.
func (r *Runs) Acted(ctx context.Context, run string, structure jsontext.Value, out act.Output) error {
	actions, err := json.Marshal(out.Actions, json.Deterministic(true))
	if err != nil {
		return pipeline.StoreFailed.Error("runs: actions could not be encoded")
	}
	set := update{}
	set.text("status", string(out.Status))
	set.text("code", string(out.Code))
	set.label(out.Label)
	set.text("actions", string(actions))
	if out.Code != pipeline.NotCanonical { // the structure is one of the recipe's shape
		set.text("structure", string(structure))
	}
	return r.write(ctx, run, set)
}

// Run is one run as the table has it.
type Run struct {
	Run       string
	Envelope  []byte
	Status    pipeline.Status // empty while the run is under way
	Code      pipeline.Code
	Label     string
	Structure []byte
	Actions   []byte
	Trace     []byte
	Updated   string
}

// Get returns one run, and false where there is none.
func (r *Runs) Get(ctx context.Context, run string) (Run, bool, error) {
	out, err := r.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &r.table, ConsistentRead: aws.Bool(true), Key: item.Item{"pk": item.Text(run)}})
	if err != nil || len(out.Item) == 0 {
		return Run{}, false, client.Fault("get run", err)
	}
	return runOf(out.Item), true, nil
}

// Forget takes out of a run's record what strangers may have written: its
// structure, its trace and its actions. How it ended stays.
func (r *Runs) Forget(ctx context.Context, run string) error {
	_, err := r.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &r.table, Key: item.Item{"pk": item.Text(run)},
		UpdateExpression:         aws.String("REMOVE #structure, #trace, #actions"),
		ExpressionAttributeNames: map[string]string{"#structure": "structure", "#trace": "trace", "#actions": "actions"},
		ConditionExpression:      aws.String("attribute_exists(pk)"),
	})
	return client.Fault("forget run", err)
}

// maxScanned bounds how many runs List reads.
const maxScanned = 100_000

// List returns the runs whose id begins with prefix and, unless it is empty,
// have the status, in no order. It reads the whole table, page by page.
func (r *Runs) List(ctx context.Context, prefix string, status pipeline.Status) ([]Run, error) {
	in := &dynamodb.ScanInput{TableName: &r.table}
	var filters []string
	if prefix != "" || status != "" {
		in.ExpressionAttributeValues = item.Item{}
	}
	if prefix != "" {
		filters = append(filters, "begins_with(pk, :prefix)")
		in.ExpressionAttributeValues[":prefix"] = item.Text(prefix)
	}
	if status != "" {
		filters = append(filters, "#status = :status")
		in.ExpressionAttributeNames = map[string]string{"#status": "status"}
		in.ExpressionAttributeValues[":status"] = item.Text(string(status))
	}
	if len(filters) > 0 {
		in.FilterExpression = aws.String(strings.Join(filters, " AND "))
	}
	var all []Run
	scanned := 0
	for {
		out, err := r.db.Scan(ctx, in)
		if err != nil {
			return nil, client.Fault("list runs", err)
		}
		for _, i := range out.Items {
			all = append(all, runOf(i))
		}
		scanned += int(out.ScannedCount)
		switch {
		case len(out.LastEvaluatedKey) == 0:
			return all, nil
		case scanned > maxScanned:
			return nil, pipeline.StoreFailed.Error("list runs: the table has more than %d: name the run", maxScanned)
		}
		in.ExclusiveStartKey = out.LastEvaluatedKey
	}
}

func runOf(i item.Item) Run {
	bytes := func(name string) []byte {
		if s := item.TextOf(i, name); s != "" {
			return []byte(s)
		}
		return nil
	}
	return Run{
		Run: item.TextOf(i, "pk"), Envelope: bytes("envelope"), Status: pipeline.Status(item.TextOf(i, "status")), Code: pipeline.Code(item.TextOf(i, "code")),
		Label: item.TextOf(i, "label"), Structure: bytes("structure"), Actions: bytes("actions"), Trace: bytes("trace"), Updated: item.TextOf(i, "updated"),
	}
}

// update gathers the attributes that one write sets.
type update struct {
	expression string
	names      map[string]string
	values     item.Item
}

func (u *update) text(name, value string) {
	if u.names == nil {
		u.names, u.values, u.expression = map[string]string{}, item.Item{}, "SET "
	} else {
		u.expression += ", "
	}
	u.names["#"+name], u.values[":"+name] = name, item.Text(value)
	u.expression += "#" + name + " = :" + name
}

func (u *update) label(l plan.Label) {
	if l.Valid() {
		u.text("label", l.String())
	}
}

// write sets attributes of a run's item.Item, unless the run is done: an answer to
// a question that is asked again after that changes nothing.
func (r *Runs) write(ctx context.Context, run string, set update) error {
	set.text("updated", item.Instant(r.clock()))
	set.names["#status"], set.values[":done"] = "status", item.Text(string(pipeline.Done))
	_, err := r.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &r.table, Key: item.Item{"pk": item.Text(run)}, UpdateExpression: &set.expression,
		ExpressionAttributeNames: set.names, ExpressionAttributeValues: set.values,
		ConditionExpression: aws.String("attribute_not_exists(#status) OR #status <> :done"),
		ReturnValues:        types.ReturnValueNone,
	})
	if item.Unmet(err) {
		return nil
	}
	return client.Fault("update run", err)
}
