package act

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"time"

	"decant.dev/act/plan"
	"decant.dev/pipeline"
)

// Sink performs one kind of action, or several, over a network. What it is
// given is on the recipe's list and was let through by policy.
type Sink interface {
	// Limit is how long one Send or Find may take, at most MaxSinkTime. The
	// sink ends its call by then, whatever its peer does.
	Limit() time.Duration
	// Send performs a job. It is called at most once for each attempt.
	Send(ctx context.Context, j Job) Answer
	// Find asks whether a job was performed, by its key or by what it would
	// have left: Performed, or NotPerformed only where it can never have been.
	// A sink that cannot be asked answers Unsure.
	Find(ctx context.Context, j Job) Answer
}

// Job is one action as its sink is given it: parameters resolved, and rendered
// for the sink's place.
type Job struct {
	Kind   plan.Kind
	Key    string // idempotency key: of the run and the index alone, 32 hex digits
	Run    string
	Source string         // of the event; a sink that stores keeps it beside the texts
	Label  plan.Label     // of the run, as Source
	Params map[string]any // by name: string, int64, bool or nil
	Target pipeline.Target
	Place  string // what handles of the target resolve to, as pipeline.Envelope.Place says it
}

// Verdict is what a sink knows of a job.
type Verdict uint8

// The verdicts. The zero Verdict is Unsure: what nobody can say may have been
// performed.
const (
	Unsure       Verdict = iota
	Performed            // once, by this call or an earlier one
	NotPerformed         // certainly not; it may be sent again
	Rejected             // certainly not, and it never will be
)

// Answer is what a sink came back with. Word says why, in the sink's own
// closed words; Remote is the id of what was made. Neither holds text of a
// stranger or of the peer.
type Answer struct {
	Verdict Verdict
	Word    string        // ^[a-z][a-z0-9_]{0,31}$
	Remote  string        // ^[A-Za-z0-9_-]{0,64}$
	After   time.Duration // with NotPerformed: when to try again at the earliest
}

// Bounds of sending.
const (
	// MaxSinkTime bounds Sink.Limit.
	MaxSinkTime = 20 * time.Second
	// Lease is how long a job that was sent belongs to whoever sent it. A sink
	// is called within MaxSinkTime of that and may take as long, so that what is
	// looked for after the lease can no longer be under way here.
	Lease = 60 * time.Second
	// maxSends bounds how often one question sends a job that was certainly not
	// performed, and maxWait how long it waits in between.
	maxSends = 3
	maxWait  = 5 * time.Second
)

var (
	wordForm   = regexp.MustCompile(`^[a-z][a-z0-9_]{0,31}$`)
	remoteForm = regexp.MustCompile(`^[A-Za-z0-9_-]{0,64}$`)
)

// IdempotencyKey is the key of one action of a run: of run and index alone, so
// that each attempt bears the same.
func IdempotencyKey(run string, index int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "decant idempotency key v1\n%s\n%d\n", run, index))
	return hex.EncodeToString(sum[:16])
}
