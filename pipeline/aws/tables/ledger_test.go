package tables

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/act/table"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/internal/item"
)

const run = "0123456789abcdef0123456789abcdef"

func receipt(index int) act.Receipt {
	return act.Receipt{
		Schema: act.ReceiptSchema, Run: run, Index: index, Kind: plan.KindTableRow, ParamsSHA256: "aa", State: act.Done,
		Outcome: "stored", Label: plan.Trigger, ActingFor: "github:1", At: time.UnixMilli(1796083174410).UTC(),
	}
}

// What a commit sends: each receipt and the run itself only where there is
// none, and rows under keys of their own.
func TestACommitIsConditionalOnEachReceiptAndTheRun(t *testing.T) {
	t.Parallel()
	l := &Ledger{table: "Act"}
	puts, err := l.puts(run, []act.Receipt{receipt(0), receipt(3)}, []table.Write{
		{Table: "triage", Key: "a#1", Source: "github", Label: plan.Unverified, Run: run, Columns: []table.Cell{{Name: "pk", Value: "x"}, {Name: "sk", Value: int64(1)}, {Name: "ttl", Value: int64(1)}}},
		{Table: "triage", Key: "a#1", Label: plan.Unverified, Run: run},
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range puts {
		if p.Put.Item["ttl"] != nil {
			t.Errorf("%s may expire", item.TextOf(p.Put.Item, "pk"))
		}
		conditional := p.Put.ConditionExpression != nil && *p.Put.ConditionExpression == "attribute_not_exists(pk)"
		got = append(got, fmt.Sprint(item.TextOf(p.Put.Item, "pk"), " ", item.TextOf(p.Put.Item, "sk"), " ", conditional))
	}
	want := []string{"run#" + run + " commit true", "run#" + run + " receipt#00 true", "run#" + run + " receipt#03 true", "table#triage a#1 false"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReceiptsComeBackOrAreMalformed(t *testing.T) {
	t.Parallel()
	want := receipt(7)
	for _, r := range []act.Receipt{want, {Schema: want.Schema, Run: run, Kind: "x", State: act.Unknown, Label: plan.System, At: want.At}} {
		if got, err := receiptOf(run, receiptItem(r)); err != nil || got != r {
			t.Errorf("got %+v, %v; want %+v", got, err, r)
		}
	}
	for _, name := range []string{"schema", "index", "label", "at"} {
		i := receiptItem(want)
		i[name] = &types.AttributeValueMemberBOOL{Value: true}
		if _, err := receiptOf(run, i); err == nil {
			t.Errorf("%s of another type was taken", name)
		}
	}
}

func TestWhatIsOutOfBoundsIsRefusedBeforeAnyWrite(t *testing.T) {
	t.Parallel()
	l := &Ledger{table: "Act"}
	row := func(name, key string, cells ...table.Cell) []table.Write {
		return []table.Write{{Table: name, Key: key, Label: plan.Unverified, Run: run, Columns: cells}}
	}
	other := receipt(0)
	other.Run = strings.Repeat("f", 32)
	var many []table.Write
	for i := range maxWrites {
		many = append(many, row("triage", fmt.Sprint(i))...)
	}
	for name, tc := range map[string]struct {
		run      string
		receipts []act.Receipt
		writes   []table.Write
	}{
		"run":             {"zz9", []act.Receipt{{Run: "zz9"}}, nil},
		"receipts of two": {run, []act.Receipt{receipt(0), other}, nil},
		"negative index":  {run, []act.Receipt{receipt(-1)}, nil},
		"index too large": {run, []act.Receipt{receipt(plan.MaxActions)}, nil},
		"table's name":    {run, []act.Receipt{receipt(0)}, row("Zz9-table", "k")},
		"no key":          {run, []act.Receipt{receipt(0)}, row("triage", "")},
		"long key":        {run, []act.Receipt{receipt(0)}, row("triage", strings.Repeat("zz9", 400))},
		"column's name":   {run, []act.Receipt{receipt(0)}, row("triage", "k", table.Cell{Name: "zz9 x", Value: nil})},
		"value's type":    {run, []act.Receipt{receipt(0)}, row("triage", "k", table.Cell{Name: "n", Value: 1.5})},
		"too many":        {run, []act.Receipt{receipt(0)}, many},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := l.puts(tc.run, tc.receipts, tc.writes)
			var fault *pipeline.Fault
			if !errors.As(err, &fault) || fault.Code != pipeline.StoreFailed || strings.Contains(err.Error(), "zz9") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOnlyAConflictIsTriedAgain(t *testing.T) {
	t.Parallel()
	reasons := func(codes ...string) *types.TransactionCanceledException {
		e := &types.TransactionCanceledException{}
		for _, c := range codes {
			e.CancellationReasons = append(e.CancellationReasons, types.CancellationReason{Code: &c})
		}
		return e
	}
	for _, tc := range []struct {
		e    *types.TransactionCanceledException
		want bool
	}{
		{reasons(), false}, {reasons("None"), false}, {reasons("None", "TransactionConflict"), true}, {reasons("ThrottlingError"), true},
		{reasons("ProvisionedThroughputExceeded"), true}, {reasons("TransactionConflict", "ValidationError"), false}, {reasons("ConditionalCheckFailed"), false},
	} {
		if got := conflicted(tc.e); got != tc.want {
			t.Errorf("%v: got %t, want %t", tc.e.CancellationReasons, got, tc.want)
		}
	}
}
