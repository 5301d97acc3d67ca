// Package approval is what a run waits for where policy asks a person: one
// record for each waiting run, the answers that were given to it, and the
// rules of who may answer and for how long.
//
// A record is bound to all that was asked: run, structure, target, actions,
// label and recipe digest. If any of them changes, the answers are void and
// the question is asked anew. What wakes a run carries no answer; act reads
// the record.
//
// The rules are pure and stand here once. An engine brings a Store that keeps
// records and compares versions. Not promised: that the person behind an id is
// who they say; whoever lets somebody answer has to know that.
package approval

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/pipeline"
)

// Schema is the schema field of a record.
const Schema = "approval.v1"

// MaxAge is how long a question waits for its answers. After that it is
// refused.
const MaxAge = 7 * 24 * time.Hour

// MaxWanted is the most approvals that a recipe can want.
const MaxWanted = pipeline.MaxApprovals

// maxAnswers bounds the answers of a record: who approved, and who denied.
const maxAnswers = MaxWanted

// MaxTokenBytes bounds what wakes a run: a task token of Step Functions
// (docs.aws.amazon.com/step-functions/latest/apireference/API_SendTaskSuccess.html).
const MaxTokenBytes = 2048

// MaxRecordBytes bounds an encoded record.
const MaxRecordBytes = 8 << 10

// State is how a question stands.
type State string

// The states. Only Waiting takes answers.
const (
	Waiting  State = "waiting"
	Approved State = "approved" // as often as the recipe wants
	Denied   State = "denied"
	Used     State = "used" // approved, and performed
	Expired  State = "expired"
)

// Answer is what a person says.
type Answer string

// The answers.
const (
	Approve Answer = "approve"
	Deny    Answer = "deny"
)

// Given is one person's answer.
type Given struct {
	Person string    `json:"person"`
	Answer Answer    `json:"answer"`
	At     time.Time `json:"at"`
}

// Question is what act asks.
type Question struct {
	Run     string `json:"run"`
	Binding string `json:"binding"` // digest of all that was asked, 64 hex digits
	Recipe  string `json:"recipe"`
	Channel string `json:"channel"`
	// Requester is the person whose message started the run, where they held
	// trigger on the channel when act asked; otherwise it is empty.
	Requester string `json:"requester,omitzero"`
	Wanted    int    `json:"wanted"` // approvals by as many persons, 1 to MaxWanted
}

// Record is a question with its answers.
type Record struct {
	Question
	State   State
	Answers []Given
	Asked   time.Time
	Expires time.Time
	Token   string // what wakes the run, where its engine needs anything
	Version int64  // counts the writes; 0 is a record that no store has
}

// Refusal is why an answer was not taken: one word of a closed list.
type Refusal string

// The refusals.
const (
	NotAsked    Refusal = "not_asked"    // the run does not wait
	OtherThing  Refusal = "changed"      // what is asked has changed since it was shown
	TooLate     Refusal = "expired"      // nobody answered in time
	Answered    Refusal = "answered"     // the question has its answer
	WrongPerson Refusal = "wrong_person" // neither the requester with trigger nor an approver
	SamePerson  Refusal = "same_person"  // has answered already
)

var refusals = map[Refusal]string{
	NotAsked:    "the run does not wait for an answer",
	OtherThing:  "what is asked has changed since it was shown: look at it again",
	TooLate:     "nobody answered in time: the run is refused",
	Answered:    "the question has its answer",
	WrongPerson: "the person may not answer: want the one whose message started the run, with trigger on its channel, or a holder of trigger on approve:RECIPE",
	SamePerson:  "the person has answered: the recipe wants another one too",
}

// Error says the refusal in a sentence.
func (r Refusal) Error() string {
	if s, ok := refusals[r]; ok {
		return s
	}
	return "the answer was not taken"
}

// Known reports whether r is on the closed list.
func (r Refusal) Known() bool { _, ok := refusals[r]; return ok }

// Channel is what approvers of a recipe hold trigger on.
func Channel(recipe string) string { return "approve:" + recipe }

// MayAnswer reports whether a person is asked: the requester, or whoever is
// an approver now. holds says who holds trigger where, now.
func (q Question) MayAnswer(person string, holds func(person, channel string) (bool, error)) (bool, error) {
	if person == "" || !pipeline.IsActorID(person) {
		return false, nil
	}
	channels := []string{Channel(q.Recipe)}
	if person == q.Requester {
		channels = append(channels, q.Channel)
	}
	for _, c := range channels {
		if ok, err := holds(person, c); err != nil || ok {
			return ok && err == nil, err
		}
	}
	return false, nil
}

// Standing is the state now: a question that waits past its time is expired.
// An approved one keeps its answer until it is performed.
func (r Record) Standing(now time.Time) State {
	switch r.State {
	case Waiting:
		if !now.Before(r.Expires) {
			return Expired
		}
		return Waiting
	case Approved, Denied, Used:
		return r.State
	default:
		return Expired
	}
}

// asked is the record of a question that nobody has answered.
func asked(q Question, now time.Time) Record {
	now = now.UTC().Truncate(time.Second)
	return Record{Question: q, State: Waiting, Asked: now, Expires: now.Add(MaxAge)}
}

// give adds one answer. The person may answer; that was decided before.
func (r Record) give(binding, person string, a Answer, now time.Time) (Record, error) {
	if r.Binding != binding {
		return r, OtherThing
	}
	switch r.Standing(now) {
	case Waiting:
	case Expired:
		return r, TooLate
	default:
		return r, Answered
	}
	if slices.ContainsFunc(r.Answers, func(g Given) bool { return g.Person == person }) {
		return r, SamePerson
	}
	r.Answers = append(slices.Clone(r.Answers), Given{person, a, now.UTC().Truncate(time.Second)})
	switch {
	case a == Deny:
		r.State = Denied
	case a != Approve:
		return r, fmt.Errorf("answer %.16q: want %s or %s", string(a), Approve, Deny)
	case len(r.Answers) >= r.Wanted:
		r.State = Approved
	}
	return r, nil
}

// Check reports the first field of a question that is out of its bounds.
func (q Question) Check() error {
	switch {
	case !pipeline.IsRunID(q.Run):
		return errors.New("approval: run: want a run's id")
	case !pipeline.IsDigest(q.Binding):
		return errors.New("approval: binding: want 64 hex digits")
	case !pipeline.IsRecipeName(q.Recipe):
		return errors.New("approval: recipe: want a recipe's name")
	case !pipeline.IsChannel(q.Channel):
		return errors.New("approval: channel: want a channel")
	case q.Requester != "" && !pipeline.IsActorID(q.Requester):
		return errors.New("approval: requester: want a person's id, or none")
	case q.Wanted < 1 || q.Wanted > MaxWanted:
		return fmt.Errorf("approval: wanted: want 1 to %d", MaxWanted)
	}
	return nil
}

// wire is a record as it is stored.
type wire struct {
	Schema string `json:"schema"`
	Question
	State   State     `json:"state"`
	Answers []Given   `json:"answers"`
	Asked   time.Time `json:"asked"`
	Expires time.Time `json:"expires"`
	Token   string    `json:"token,omitzero"`
}

// Encode writes the record without its version, which a store keeps beside it.
func (r Record) Encode() ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	answers := r.Answers
	if answers == nil {
		answers = []Given{}
	}
	return json.Marshal(wire{Schema, r.Question, r.State, answers, r.Asked, r.Expires, r.Token}, json.Deterministic(true))
}

// Decode reads a record strictly.
func Decode(b []byte, version int64) (Record, error) {
	if len(b) > MaxRecordBytes {
		return Record{}, fmt.Errorf("approval of %d bytes: want at most %d", len(b), MaxRecordBytes)
	}
	var w wire
	if err := json.Unmarshal(b, &w, json.RejectUnknownMembers(true)); err != nil || w.Schema != Schema {
		return Record{}, fmt.Errorf("approval of %d bytes is malformed: want %s", len(b), Schema)
	}
	r := Record{Question: w.Question, State: w.State, Answers: w.Answers, Asked: w.Asked, Expires: w.Expires, Token: w.Token, Version: version}
	return r, r.Check()
}

// Check reports the first field of a record that is out of its bounds or does
// not fit its answers.
func (r Record) Check() error {
	if err := r.Question.Check(); err != nil {
		return err
	}
	approvals, denials := 0, 0
	persons := map[string]bool{}
	for _, g := range r.Answers {
		switch g.Answer {
		case Approve:
			approvals++
		case Deny:
			denials++
		default:
			return errors.New("approval: answer: want approve or deny")
		}
		if !pipeline.IsActorID(g.Person) || persons[g.Person] {
			return errors.New("approval: answer: want one of each person")
		}
		persons[g.Person] = true
	}
	fits := false
	switch r.State {
	case Waiting:
		fits = denials == 0 && approvals < r.Wanted
	case Approved, Used:
		fits = denials == 0 && approvals == r.Wanted
	case Denied:
		fits = denials == 1 && approvals < r.Wanted
	}
	switch {
	case !fits || len(r.Answers) > maxAnswers:
		return errors.New("approval: state: want one that its answers give")
	case r.Asked.IsZero() || !r.Expires.After(r.Asked):
		return errors.New("approval: expires: want a time after it was asked")
	case len(r.Token) > MaxTokenBytes:
		return fmt.Errorf("approval: token: want at most %d bytes", MaxTokenBytes)
	}
	return nil
}
