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
// transaction goes from nothing to done in one commit; the others are for
// sinks that are reached over a network.
const (
	Claimed State = "claimed" // to be sent; certainly not performed
	Sent    State = "sent"    // being sent, or left so by a process that ended
	Done    State = "done"    // performed
	Refused State = "refused" // not performed, and it will not be
	Unknown State = "unknown" // sent, and nobody can say yet what became of it
)

// States lists every state.
func States() []State { return []State{Claimed, Sent, Done, Refused, Unknown} }

// Receipt is the durable record that an action was performed.
type Receipt struct {
	Schema       string     `json:"schema"`
	Run          string     `json:"run"`
	Index        int        `json:"index"`
	Kind         plan.Kind  `json:"kind"`
	ParamsSHA256 string     `json:"params_sha256"` // digest of the parameters with handles resolved
	State        State      `json:"state"`
	Attempt      int        `json:"attempt,omitempty"` // how often it was sent
	Outcome      string     `json:"outcome"`           // what the sink answered, in its own closed words
	Remote       string     `json:"remote,omitempty"`  // the id of what was made, as the sink gave it
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
	// Advance puts to in from's place, where the stored receipt of that run and
	// index has from's state and attempt; otherwise it changes nothing and
	// returns false.
	Advance(ctx context.Context, from, to Receipt) (bool, error)
}
