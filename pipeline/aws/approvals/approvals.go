// Package approvals keeps in DynamoDB which runs wait for a person, and what
// the person said.
package approvals

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/internal/item"
)

// Answer is how an approval stands.
type Answer string

// The states of an approval. One that is past its time is Expired, whatever
// the table still says.
const (
	Waiting  Answer = "waiting"
	Approved Answer = "approved"
	Denied   Answer = "denied"
	Used     Answer = "used"
	Expired  Answer = "expired"
)

// MaxAge is how long an approval waits for its answer. The state machine
// gives up no later.
const MaxAge = 7 * 24 * time.Hour

// keptAge is how long the table keeps an approval after its time.
const keptAge = 30 * 24 * time.Hour

// Approvals keeps who was asked about a waiting run and what they said, with
// the run's id as pk.
type Approvals struct {
	db    *dynamodb.Client
	table string
	clock func() time.Time
}

// Open opens the approvals table. Clock is time.Now.
func Open(region, endpoint, table string, clock func() time.Time) *Approvals {
	return &Approvals{item.Open(region, endpoint), table, clock}
}

// Ask records that a run waits under a task token. Asked again before an
// answer, the later token counts; after one it changes nothing and reports
// false.
func (a *Approvals) Ask(ctx context.Context, run, token string) (bool, error) {
	now := a.clock()
	sum := sha256.Sum256([]byte(token))
	_, err := a.db.PutItem(ctx, &dynamodb.PutItemInput{
		TableName: &a.table,
		Item: item.Item{
			"pk": item.Text(run), "state": item.Text(string(Waiting)), "task_token": item.Text(token), "token_sha256": item.Text(hex.EncodeToString(sum[:])),
			"expires": item.Number(now.Add(MaxAge).Unix()), "ttl": item.Number(now.Add(MaxAge + keptAge).Unix()), "updated": item.Text(item.Instant(now)),
		},
		ConditionExpression:       aws.String("attribute_not_exists(pk) OR #state = :waiting"),
		ExpressionAttributeNames:  map[string]string{"#state": "state"},
		ExpressionAttributeValues: item.Item{":waiting": item.Text(string(Waiting))},
	})
	if item.Unmet(err) {
		return false, nil
	}
	return err == nil, client.Fault("ask", err)
}

// Record records a person's answer to a run that waits, once, and returns the
// task token that wakes the run. The same answer again returns the token
// again; another answer, an answer to a run that does not wait and one that
// is too late report false.
func (a *Approvals) Record(ctx context.Context, run string, answer Answer) (token string, ok bool, err error) {
	if answer != Approved && answer != Denied {
		return "", false, pipeline.PhaseMisbehave.Error("answer: want %s or %s", Approved, Denied)
	}
	now := a.clock()
	out, err := a.db.UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: &a.table, Key: item.Item{"pk": item.Text(run)},
		UpdateExpression:         aws.String("SET #state = :answer, #updated = :updated"),
		ConditionExpression:      aws.String("(#state = :waiting OR #state = :answer) AND #expires > :now"),
		ExpressionAttributeNames: map[string]string{"#state": "state", "#updated": "updated", "#expires": "expires"},
		ExpressionAttributeValues: item.Item{
			":waiting": item.Text(string(Waiting)), ":answer": item.Text(string(answer)), ":updated": item.Text(item.Instant(now)), ":now": item.Number(now.Unix()),
		},
		ReturnValues: types.ReturnValueAllNew,
	})
	if item.Unmet(err) {
		return "", false, nil
	}
	if err != nil {
		return "", false, client.Fault("record answer", err)
	}
	return item.TextOf(out.Attributes, "task_token"), true, nil
}

// State returns how a run's approval stands, and false where none was asked
// for.
func (a *Approvals) State(ctx context.Context, run string) (Answer, bool, error) {
	out, err := a.db.GetItem(ctx, &dynamodb.GetItemInput{TableName: &a.table, ConsistentRead: aws.Bool(true), Key: item.Item{"pk": item.Text(run)}})
	if err != nil || len(out.Item) == 0 {
		return "", false, client.Fault("get approval", err)
	}
	state := Answer(item.TextOf(out.Item, "state"))
	if expires, ok := item.NumberOf(out.Item, "expires"); !ok || state == Waiting && expires <= a.clock().Unix() {
		return Expired, true, nil
	}
	switch state {
	case Waiting, Approved, Denied, Used:
		return state, true, nil
	default:
		return Expired, true, nil
	}
}
