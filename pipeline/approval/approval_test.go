package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"
)

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const (
	run       = "0123456789abcdef0123456789abcdef"
	requester = "github:12"
	approver  = "github:44"
	second    = "github:45"
	stranger  = "github:66"
	bot       = "github:777"
	place     = "github:octo-org/sample"
)

// memory is a Store in memory.
type memory struct {
	mu      sync.Mutex
	records map[string]Record
	before  func() // called as a write arrives
}

func (m *memory) Get(_ context.Context, run string) (Record, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	r, ok := m.records[run]
	return r, ok, nil
}

func (m *memory) Put(_ context.Context, r Record) (bool, error) {
	if m.before != nil {
		m.before()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.Version != m.records[r.Run].Version {
		return false, nil
	}
	r.Version++
	r.Answers = slices.Clone(r.Answers)
	m.records[r.Run] = r
	return true, nil
}

// holders is an authorizer of "person channel" pairs.
type holders map[string]bool

func (h holders) HoldsTrigger(_ context.Context, person, channel string) (bool, error) {
	if h["fails"] {
		return true, errors.New("zz9 of the authorizer")
	}
	return h[person+" "+channel], nil
}

func everybody() holders {
	return holders{
		requester + " " + place: true, approver + " " + Channel("issues"): true, second + " " + Channel("issues"): true,
		bot + " " + Channel("issues"): true, stranger + " " + place: true,
	}
}

type world struct {
	Book
	store *memory
	held  holders
	now   time.Time
}

func begin() *world {
	w := &world{store: &memory{records: map[string]Record{}}, held: everybody(), now: noon}
	w.Book = Book{Store: w.store, Authorizer: w.held, Own: []string{bot}, Clock: func() time.Time { return w.now }}
	return w
}

func question(wanted int) Question {
	return Question{Run: run, Binding: strings.Repeat("ab", 32), Recipe: "issues", Channel: place, Requester: requester, Wanted: wanted}
}

func (w *world) ask(t *testing.T, q Question) Record {
	t.Helper()
	r, err := w.Ask(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func (w *world) give(t *testing.T, person string, a Answer) (Record, error) {
	t.Helper()
	return w.Give(t.Context(), run, question(1).Binding, person, a)
}

func TestOnlyWhoIsAskedMayAnswer(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		person string
		change func(*world, *Question)
		want   error
	}{
		"the requester":                   {requester, nil, nil},
		"an approver":                     {approver, nil, nil},
		"a stranger":                      {stranger, nil, WrongPerson},
		"nobody":                          {"", nil, WrongPerson},
		"no person's id":                  {"someone", nil, WrongPerson},
		"our own identity":                {bot, nil, WrongPerson},
		"a requester without trigger now": {requester, func(w *world, _ *Question) { delete(w.held, requester+" "+place) }, WrongPerson},
		"an approver no more":             {approver, func(w *world, _ *Question) { delete(w.held, approver+" "+Channel("issues")) }, WrongPerson},
		"an approver of another recipe":   {approver, func(_ *world, q *Question) { q.Recipe = "other" }, WrongPerson},
		"who holds trigger, not asked":    {requester, func(_ *world, q *Question) { q.Requester = "" }, WrongPerson},
	} {
		w, q := begin(), question(1)
		if tc.change != nil {
			tc.change(w, &q)
		}
		w.ask(t, q)
		r, err := w.give(t, tc.person, Approve)
		if !errors.Is(err, tc.want) || (err == nil) != (r.State == Approved) {
			t.Errorf("%s: got %s, %v; want %v", name, r.State, err, tc.want)
		}
	}
	w := begin()
	w.ask(t, question(1))
	w.held["fails"] = true
	if r, err := w.give(t, approver, Approve); err == nil || r.State == Approved {
		t.Errorf("an authorizer that fails: got %s, %v", r.State, err)
	}
}

func TestEachRefusalHasItsOwnReason(t *testing.T) {
	t.Parallel()
	w := begin()
	if _, err := w.give(t, approver, Approve); !errors.Is(err, NotAsked) {
		t.Errorf("no question: got %v", err)
	}
	w.ask(t, question(1))
	if _, err := w.Give(t.Context(), run, strings.Repeat("cd", 32), approver, Approve); !errors.Is(err, OtherThing) {
		t.Errorf("another thing: got %v", err)
	}
	if _, err := w.Give(t.Context(), run, question(1).Binding, approver, "perhaps"); err == nil {
		t.Error("an answer of another word was taken")
	}
	w.now = noon.Add(MaxAge)
	if _, err := w.give(t, approver, Approve); !errors.Is(err, TooLate) {
		t.Errorf("at its end: got %v", err)
	}
	w.now = noon.Add(MaxAge - time.Second)
	if r, err := w.give(t, approver, Deny); err != nil || r.State != Denied {
		t.Errorf("a second before: got %s, %v", r.State, err)
	}
	if r, err := w.give(t, approver, Deny); err != nil || r.State != Denied || len(r.Answers) != 1 {
		t.Errorf("the same again: got %+v, %v", r, err)
	}
	for _, person := range []string{approver, second} {
		if _, err := w.give(t, person, Approve); !errors.Is(err, Answered) {
			t.Errorf("%s after the answer: got %v", person, err)
		}
	}
	for r := range refusals {
		if !r.Known() || r.Error() == "" {
			t.Errorf("%s has no sentence", string(r))
		}
	}
	if Refusal("zz9").Known() || strings.Contains(Refusal("zz9").Error(), "zz9") {
		t.Error("a refusal off the list is repeated")
	}
}

func TestTwoApprovalsAreOfTwoPersons(t *testing.T) {
	t.Parallel()
	w := begin()
	w.ask(t, question(2))
	for i, tc := range []struct {
		person string
		answer Answer
		want   State
		err    error
	}{
		{requester, Approve, Waiting, nil},
		{requester, Approve, Waiting, nil}, // the same answer again, which counts once
		{requester, Deny, Waiting, SamePerson},
		{approver, Approve, Approved, nil},
		{second, Approve, Approved, Answered},
	} {
		r, err := w.give(t, tc.person, tc.answer)
		if r.State != tc.want || !errors.Is(err, tc.err) {
			t.Errorf("step %d: got %s, %v; want %s, %v", i, r.State, err, tc.want, tc.err)
		}
	}
}

// Whatever changes of what was asked voids the answers.
func TestAChangedQuestionIsAskedAnew(t *testing.T) {
	t.Parallel()
	w := begin()
	w.ask(t, question(1))
	if _, err := w.give(t, approver, Approve); err != nil {
		t.Fatal(err)
	}
	if r := w.ask(t, question(1)); r.State != Approved {
		t.Errorf("the same question: got %s", r.State)
	}
	w.now = noon.Add(time.Hour)
	q := question(1)
	q.Binding = strings.Repeat("cd", 32)
	if r := w.ask(t, q); r.State != Waiting || len(r.Answers) != 0 || !r.Expires.Equal(w.now.Add(MaxAge)) {
		t.Errorf("a changed question: got %+v", r)
	}
	if err := w.Use(t.Context(), run, question(1).Binding); !errors.Is(err, NotAsked) {
		t.Errorf("the earlier approval was used: %v", err)
	}
}

func TestAnApprovalIsUsedOnce(t *testing.T) {
	t.Parallel()
	w := begin()
	q := w.ask(t, question(1))
	if err := w.Use(t.Context(), run, q.Binding); !errors.Is(err, NotAsked) {
		t.Errorf("before an answer: got %v", err)
	}
	if _, err := w.give(t, approver, Approve); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second is a repetition whose reply was lost
		if err := w.Use(t.Context(), run, q.Binding); err != nil {
			t.Fatal(err)
		}
	}
	if r, _, _ := w.store.Get(t.Context(), run); r.Standing(noon.Add(10*MaxAge)) != Used {
		t.Errorf("got %s", r.State)
	}
	if _, err := w.give(t, approver, Approve); !errors.Is(err, Answered) {
		t.Errorf("an answer after it was used: got %v", err)
	}
}

func TestWhoLostTheRightHasNotApproved(t *testing.T) {
	t.Parallel()
	w := begin()
	w.ask(t, question(2))
	for _, p := range []string{approver, second} {
		if _, err := w.give(t, p, Approve); err != nil {
			t.Fatal(err)
		}
	}
	r := w.ask(t, question(2))
	if ok, err := w.StillMay(t.Context(), r); !ok || err != nil {
		t.Errorf("got %t, %v", ok, err)
	}
	delete(w.held, second+" "+Channel("issues"))
	if ok, err := w.StillMay(t.Context(), r); ok || err != nil {
		t.Errorf("one of two lost it: got %t, %v", ok, err)
	}
	w.held["fails"] = true
	if ok, err := w.StillMay(t.Context(), r); ok || err == nil {
		t.Errorf("nobody can say: got %t, %v", ok, err)
	}
}

// What wakes the run survives a changed question, and an answer that came
// before it is told at once.
func TestATokenIsKeptAndAnAnsweredRunIsWokenAtOnce(t *testing.T) {
	t.Parallel()
	w := begin()
	if _, err := w.Wait(t.Context(), run, "token"); !errors.Is(err, NotAsked) {
		t.Errorf("no question: got %v", err)
	}
	w.ask(t, question(1))
	if waits, err := w.Wait(t.Context(), run, "token"); !waits || err != nil {
		t.Errorf("got %t, %v", waits, err)
	}
	if r, err := w.give(t, approver, Approve); err != nil || r.Token != "token" {
		t.Errorf("got token %q, %v", r.Token, err)
	}
	if waits, err := w.Wait(t.Context(), run, "second"); waits || err != nil {
		t.Errorf("after the answer: got %t, %v", waits, err)
	}
}

// A write that comes in between is not lost, and does not let one through that
// the rules refuse.
func TestConcurrentAnswersKeepTheRules(t *testing.T) {
	t.Parallel()
	w := begin()
	w.ask(t, question(1))
	w.store.before = func() {
		w.store.before = nil
		if _, err := w.give(t, second, Deny); err != nil {
			t.Errorf("in between: %v", err)
		}
	}
	if r, err := w.give(t, approver, Approve); !errors.Is(err, Answered) || r.State == Approved {
		t.Errorf("overtaken by a denial: got %s, %v", r.State, err)
	}
}

// For every sequence of answers the record is one that Check accepts, reads
// back as it was, and is approved only by as many distinct persons as wanted
// and with no denial.
func TestNoSequenceApprovesWithoutThePersons(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := begin()
		wanted := rapid.IntRange(1, MaxWanted).Draw(rt, "wanted")
		w.ask(t, question(wanted))
		yes := map[string]bool{}
		denied := false
		for range rapid.IntRange(0, 6).Draw(rt, "answers") {
			person := rapid.SampledFrom([]string{requester, approver, second, stranger, bot}).Draw(rt, "person")
			answer := rapid.SampledFrom([]Answer{Approve, Deny}).Draw(rt, "answer")
			w.now = w.now.Add(time.Duration(rapid.IntRange(0, 60).Draw(rt, "hours")) * time.Hour)
			r, err := w.give(t, person, answer)
			if err == nil && answer == Approve {
				yes[person] = true
			}
			denied = denied || err == nil && answer == Deny
			if err == nil && (person == stranger || person == bot || w.now.Sub(noon) >= MaxAge && r.State == Waiting) {
				rt.Fatalf("%s was taken at %s", person, w.now)
			}
		}
		r, _, _ := w.store.Get(t.Context(), run)
		if (r.State == Approved) != (len(yes) >= wanted && !denied) {
			rt.Fatalf("%s after %v, denied %t, of %d", r.State, yes, denied, wanted)
		}
		b, err := r.Encode()
		if err != nil {
			rt.Fatal(err)
		}
		back, err := Decode(b, r.Version)
		if err != nil || fmt.Sprint(back) != fmt.Sprint(r) {
			rt.Fatalf("got %+v, %v; want %+v", back, err, r)
		}
	})
}

func FuzzDecode(f *testing.F) {
	r := asked(question(1), noon)
	b, err := r.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{}`))
	f.Add([]byte(strings.Replace(string(b), "waiting", "approved", 1)))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Decode(b, 1)
		if err == nil && r.Check() != nil {
			t.Errorf("took a record that does not hold: %+v", r)
		}
		if err == nil && r.State == Approved && len(r.Answers) != r.Wanted {
			t.Errorf("approved by %d of %d", len(r.Answers), r.Wanted)
		}
	})
}
