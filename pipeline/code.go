package pipeline

import (
	"fmt"
	"slices"
)

// Status is how a run stands or ended, as `decant run` prints it.
type Status string

// The statuses of a run.
const (
	Staged      Status = "staged"      // computed and shown, nothing written
	Done        Status = "done"        // every action that has a sink here has its receipt
	Waiting     Status = "waiting"     // an action needs a person's answer
	Dropped     Status = "dropped"     // the actor may not start runs
	Ignored     Status = "ignored"     // nothing handles the event
	Quarantined Status = "quarantined" // kept aside with a code; the rest goes on
	Refused     Status = "refused"     // a wall said no
	Failed      Status = "failed"      // malformed input or a part that broke
)

// Statuses lists every status.
func Statuses() []Status {
	return []Status{Staged, Done, Waiting, Dropped, Ignored, Quarantined, Refused, Failed}
}

// Known reports whether s is one of Statuses.
func (s Status) Known() bool { return slices.Contains(Statuses(), s) }

// Exit returns the exit code of `decant run` for the status: 0 done, staged,
// dropped or ignored; 3 refused, waiting or quarantined; 1 anything else.
func (s Status) Exit() int {
	switch s {
	case Staged, Done, Dropped, Ignored:
		return 0
	case Waiting, Quarantined, Refused:
		return 3
	default:
		return 1
	}
}

// Code is one word of a closed list that says why a run ended as it did. It
// is the only thing that a phase reports of a failure: no message, stack or
// cause crosses, so no text can.
type Code string

// The codes. Each has one status; OK has none.
const (
	OK Code = ""

	// Ingress.
	BadSignature   Code = "bad_signature"   // signature missing, wrong, or over other bytes
	OutsideWindow  Code = "outside_window"  // the signature is right, and its time too long ago or ahead
	NoSecret       Code = "no_secret"       // no webhook secret is configured
	BodyTooLarge   Code = "body_too_large"  // the body exceeds the source's limit
	MalformedEvent Code = "malformed_event" // the event around the body is not of its format
	MalformedBody  Code = "malformed_body"  // the body is not strict JSON within its bounds
	BodyMisfit     Code = "body_misfit"     // the body does not fit the event's name
	Ping           Code = "ping"            // a delivery that only tests the connection
	UnhandledEvent Code = "unhandled_event" // no recipe names the event

	// Admission.
	AgentsNeverTrigger Code = "agents_never_trigger" // the actor is an agent, an app, an import or one of our own identities
	UnknownRecipe      Code = "unknown_recipe"       // act was not built with the recipe
	RecipeChanged      Code = "recipe_changed"       // the envelope was made for another version of the recipe
	OutcomesEmpty      Code = "outcomes_empty"       // the outcome list was never written
	OutcomesStale      Code = "outcomes_stale"       // the outcome list is for another shape or policy
	Paused             Code = "paused"               // a person has stopped the recipe
	OverBudget         Code = "over_budget"          // a budget of the recipe is used up; the run may be tried again later

	// Fetch.
	TriggerTooLarge Code = "trigger_too_large" // the triggering message exceeds 256 KiB
	NoCommand       Code = "no_command"        // a comment that asks for nothing
	Unreadable      Code = "unreadable"        // the body could not be turned into elements

	// Fetch, of a tick's list.
	SourceUnreachable Code = "source_unreachable" // no connection, no answer in time, or the source's own failure
	SourceRefused     Code = "source_refused"     // a host, address or redirect that is not allowed, or the source says no
	SourceBusy        Code = "source_busy"        // the source asks to be asked later
	SourceTooLarge    Code = "source_too_large"   // more than is read of a source
	SourceMalformed   Code = "source_malformed"   // not the format, length or encoding that it says it is

	// Extract.
	NoAnswer       Code = "no_answer"       // the extractor could not be had
	TooDear        Code = "too_dear"        // asking could cost more than the recipe reserves for a run
	Undecodable    Code = "undecodable"     // two answers did not decode
	Ungrounded     Code = "ungrounded"      // a quote stands in no element
	BoundaryEchoed Code = "boundary_echoed" // the answer contains the boundary

	// Act.
	UnlistedOutcome  Code = "unlisted_outcome"  // the outcome is not on the list
	NotCanonical     Code = "not_canonical"     // the structure did not decode strictly on act's side
	PlanFailed       Code = "plan_failed"       // the plan panicked or returned an invalid action
	PolicyNever      Code = "policy_never"      // policy forbids an action under the label
	ApprovalNeeded   Code = "approval_needed"   // policy asks a person first
	ApprovalDenied   Code = "approval_denied"   // the person said no
	ApprovalExpired  Code = "approval_expired"  // nobody answered in time
	ApproverLost     Code = "approver_lost"     // who approved may not do so any more
	StoreFailed      Code = "store_failed"      // a store did not take a write
	NotAdmitted      Code = "not_admitted"      // act was not asked to admit the run first
	NothingToDo      Code = "nothing_to_do"     // the plan gives no action for what was read
	AlreadyPerformed Code = "already_performed" // the run has receipts of another outcome, which stand
	SinkRefused      Code = "sink_refused"      // a sink will not perform an action; the others were performed
	SinkUnavailable  Code = "sink_unavailable"  // an action is still to be sent: its sink is out of order, or there was no time
	InFlight         Code = "in_flight"         // an action is being sent by somebody else
	OutcomeUnknown   Code = "outcome_unknown"   // an action was sent and nobody can say yet what became of it

	// Any phase.
	Stopped        Code = "stopped"         // the engine was told to stop; the next start goes on
	PhaseDied      Code = "phase_died"      // the phase's process ended
	PhaseTimeout   Code = "phase_timeout"   // the phase did not answer in time
	PhaseUnready   Code = "phase_unready"   // the phase could not be started: see decant doctor
	PhaseMisbehave Code = "phase_misbehave" // the phase answered for another run, too much, or not in its format
	PhasePanic     Code = "phase_panic"     // the phase's handler panicked
)

var statusOf = map[Code]Status{
	BadSignature: Refused, OutsideWindow: Refused, NoSecret: Refused,
	BodyTooLarge: Failed, MalformedEvent: Failed, MalformedBody: Failed, BodyMisfit: Failed,
	Ping: Ignored, UnhandledEvent: Ignored, NoCommand: Ignored,
	AgentsNeverTrigger: Dropped,
	UnknownRecipe:      Refused, RecipeChanged: Refused, OutcomesEmpty: Refused, OutcomesStale: Refused, Paused: Refused, OverBudget: Refused,
	TriggerTooLarge: Failed, Unreadable: Quarantined,
	SourceUnreachable: Failed, SourceRefused: Failed, SourceBusy: Failed, SourceTooLarge: Failed, SourceMalformed: Failed,
	NoAnswer: Quarantined, TooDear: Quarantined, Undecodable: Quarantined, Ungrounded: Quarantined, BoundaryEchoed: Quarantined,
	UnlistedOutcome: Refused, NotCanonical: Refused, PlanFailed: Refused, PolicyNever: Refused,
	ApprovalNeeded: Waiting, ApprovalDenied: Refused, ApprovalExpired: Refused, ApproverLost: Refused,
	StoreFailed: Failed, NotAdmitted: Refused, NothingToDo: Done, AlreadyPerformed: Done,
	SinkRefused: Failed, SinkUnavailable: Failed, InFlight: Failed, OutcomeUnknown: Failed,
	Stopped: Failed, PhaseUnready: Failed, PhaseDied: Quarantined, PhaseTimeout: Quarantined, PhaseMisbehave: Quarantined, PhasePanic: Quarantined,
}

// Codes lists every code but OK, in no particular order.
func Codes() []Code {
	codes := make([]Code, 0, len(statusOf))
	for c := range statusOf {
		codes = append(codes, c)
	}
	return codes
}

// Known reports whether c is OK or on the closed list.
func (c Code) Known() bool { _, ok := statusOf[c]; return ok || c == OK }

// Status returns the status of a run that ended with the code. A code that is
// not on the list is Failed.
func (c Code) Status() Status {
	if s, ok := statusOf[c]; ok {
		return s
	}
	return Failed
}

// CarriesOn reports whether a run that ended with the code may still be carried
// on with the structure that it had: what stood in its way was not in it, and
// may be gone.
func (c Code) CarriesOn() bool {
	switch c {
	case ApprovalNeeded, OverBudget, SinkUnavailable, InFlight, OutcomeUnknown:
		return true
	default:
		return false
	}
}

// MayPass reports whether a run that ended with the code may end otherwise if
// it is tried again as it is: what stood in its way was not in what it read.
func (c Code) MayPass() bool {
	switch c {
	case NoAnswer, PhaseDied, PhaseTimeout, PhaseUnready, StoreFailed, Paused, OverBudget:
		return true
	default:
		return false
	}
}

// TerminalCodes is the number of codes that fetch and extract can make a run
// end with instead of a structure. They are counted in what a run decides.
func TerminalCodes() int { return len(phaseCodes) }

var phaseCodes = []Code{
	TriggerTooLarge, NoCommand, Unreadable, NoAnswer, TooDear, Undecodable, Ungrounded, BoundaryEchoed,
	PhaseDied, PhaseTimeout, PhaseMisbehave, PhasePanic,
}

// FromPhase returns the code that a fetch or extract phase ended a run with,
// or PhaseMisbehave where it is none that they may choose: a phase that is
// taken over picks among TerminalCodes and no more.
func FromPhase(c Code) Code {
	if c == OK || slices.Contains(phaseCodes, c) {
		return c
	}
	return PhaseMisbehave
}

// FromList returns the code that fetch ended a tick with, or PhaseMisbehave
// where it is none that it may choose: one of FromPhase, or what its source
// did. A tick has no structure, so these are not counted in what a run decides.
func FromList(c Code) Code {
	switch c {
	case SourceUnreachable, SourceRefused, SourceBusy, SourceTooLarge, SourceMalformed:
		return c
	default:
		return FromPhase(c)
	}
}

// HTTP returns the status (RFC 9110) that an ingress answers with.
func (c Code) HTTP() int {
	switch c {
	case OK, Ping, UnhandledEvent, NoCommand, AgentsNeverTrigger:
		return 202
	case BadSignature, OutsideWindow, NoSecret:
		return 401
	case BodyTooLarge, TriggerTooLarge:
		return 413
	case MalformedEvent, MalformedBody, BodyMisfit:
		return 400
	default:
		return 500
	}
}

// Error makes an error that carries the code. The message after the code is
// for the operator and holds no foreign text.
func (c Code) Error(format string, args ...any) error {
	return &Fault{Code: c, Detail: fmt.Sprintf(format, args...)}
}

// Fault is an error with a code of the closed list.
type Fault struct {
	Code   Code
	Detail string // our own words, with foreign values quoted and cut at most
}

// Error returns "code: detail".
func (f *Fault) Error() string {
	if f.Detail == "" {
		return string(f.Code)
	}
	return string(f.Code) + ": " + f.Detail
}
