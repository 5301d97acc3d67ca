package act

import (
	"context"
	"time"

	"decant.dev/act/plan"
	"decant.dev/act/table"
)

// ReceiptSchema is the schema field of a receipt.
const ReceiptSchema = "receipt.v1"

// State is how far one action of a run has come.
type State string

// The states of a receipt. A kind whose sink writes through the ledger's own
// transaction goes from nothing to done in one commit; Claimed and Sent are
// for sinks that are reached over a network.
const (
	Claimed State = "claimed"
	Sent    State = "sent"
	Done    State = "done"
	Refused State = "refused"
	Unknown State = "unknown"
)

// Receipt is the durable record that an action was performed.
type Receipt struct {
	Schema       string     `json:"schema"`
	Run          string     `json:"run"`
	Index        int        `json:"index"`
	Kind         plan.Kind  `json:"kind"`
	ParamsSHA256 string     `json:"params_sha256"` // digest of the parameters with handles resolved
	State        State      `json:"state"`
	Outcome      string     `json:"outcome"` // what the sink answered, in its own closed words
	Label        plan.Label `json:"label"`
	ActingFor    string     `json:"acting_for,omitempty"` // the person whose message started the run
	At           time.Time  `json:"at"`
}

// Ledger keeps receipts, and the rows of sinks that store beside them.
type Ledger interface {
	// Receipts returns the receipts of a run, by index.
	Receipts(ctx context.Context, run string) ([]Receipt, error)
	// Commit stores the receipts and performs the writes in one transaction.
	// If any receipt of the same run and index exists already, nothing is
	// stored and the existing receipts are returned with stored false.
	Commit(ctx context.Context, receipts []Receipt, writes []table.Write) (existing []Receipt, stored bool, err error)
}
