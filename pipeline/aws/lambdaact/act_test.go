package lambdaact

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/act/table"
	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/aws/client"
	"decant.dev/recipes/issues"
)

// world is everything around act, in memory.
type world struct {
	holds    bool
	approver bool
	commit   error
	commits  int
	runs     error
	acted    []act.Output
	paused   bool
	pausing  error
	records  map[string]approval.Record
	approval error
	spent    bool // no budget has room
	charging error
}

func (w *world) HoldsTrigger(_ context.Context, _, channel string) (bool, error) {
	return w.holds && !strings.HasPrefix(channel, "approve:") || w.approver && strings.HasPrefix(channel, "approve:"), nil
}
func (w *world) Receipts(context.Context, string) ([]act.Receipt, error)          { return nil, nil }
func (w *world) Admitted(context.Context, pipeline.Envelope, act.Admission) error { return w.runs }
func (w *world) Commit(context.Context, []act.Receipt, []table.Write) ([]act.Receipt, bool, error) {
	w.commits++
	return nil, w.commit == nil, w.commit
}
func (w *world) Acted(_ context.Context, _ string, _ jsontext.Value, out act.Output) error {
	w.acted = append(w.acted, out)
	return w.runs
}
func (w *world) Advance(context.Context, act.Receipt, act.Receipt) (bool, error) {
	return true, w.commit
}
func (w *world) Charge(context.Context, string, []plan.Spend) (bool, error) {
	return !w.spent, w.charging
}
func (w *world) Paused(context.Context, string) (bool, error) { return w.paused, w.pausing }
func (w *world) Get(_ context.Context, run string) (approval.Record, bool, error) {
	r, ok := w.records[run]
	return r, ok, w.approval
}
func (w *world) Put(_ context.Context, r approval.Record) (bool, error) {
	if w.records == nil {
		w.records = map[string]approval.Record{}
	}
	r.Version++
	w.records[r.Run] = r
	return w.approval == nil, w.approval
}

func handler(t *testing.T, w *world, live bool) *Handler {
	t.Helper()
	h, err := New(Config{
		Recipes: []*pipeline.Recipe{issues.Recipe}, Authorizer: w, Admissions: everyone{}, Ledger: w, Runs: w, Paused: w, Budgets: w, Approvals: w, Live: live,
		Clock: func() time.Time { return time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC) },
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func envelope(t *testing.T) string {
	t.Helper()
	b, err := pipeline.NewEnvelope("issues", issues.Recipe.Digest(), "github", []byte("body"), pipeline.Actor{ID: "github:1", Kind: pipeline.Person},
		"github:octo-org/sample", pipeline.Target{Event: "issues.opened", Repository: "octo-org/sample", Number: 1}, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)).Encode()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

const (
	bug  = `{"areas":[],"kind":"bug","missing":[],"reproducible":"yes","severity":1}`
	spam = `{"areas":[],"kind":"spam","missing":[],"reproducible":"unknown","severity":0}`
)

func ask(t *testing.T, h *Handler, structure string) (string, pipeline.Code, error) {
	t.Helper()
	payload := `{"envelope":` + envelope(t) + `}`
	if structure != "" {
		payload = `{"envelope":` + envelope(t) + `,"structure":` + structure + `}`
	}
	r, err := h.Handle(t.Context(), []byte(payload))
	var fault *pipeline.Fault
	if errors.As(err, &fault) {
		r.Code, err = fault.Code, nil
	}
	if r.Code != pipeline.OK || err != nil {
		return "", r.Code, err
	}
	b, fail := json.Marshal(r.Answer)
	if fail != nil {
		t.Fatal(fail)
	}
	return string(b), "", nil
}

func TestAdmissionNamesTheClassOfExtract(t *testing.T) {
	t.Parallel()
	for holds, want := range map[bool]string{false: `"class":"unverified","label":"unverified"`, true: `"class":"rest","label":"trigger"`} {
		if got, code, err := ask(t, handler(t, &world{holds: holds}, true), ""); err != nil || code != "" || !strings.Contains(got, want) {
			t.Errorf("holds %t: got %s, %s, %v; want %s", holds, got, code, err, want)
		}
	}
}

// The orchestrator may write the structure's JSON in any way; what it says
// must be the canonical form's.
func TestAStructureIsReadAsItsCanonicalForm(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		structure string
		code      pipeline.Code
	}{
		{bug, ""},
		{`{ "severity": 1.0, "kind": "\u0062ug", "areas": [], "missing": [], "reproducible": "yes" }`, ""},
		{`{"areas":["ui","build"],"kind":"bug","missing":[],"reproducible":"yes","severity":1}`, pipeline.NotCanonical}, // a set in another order
		{`{"areas":[],"kind":"bug","missing":[],"reproducible":"yes","severity":1,"trace":{}}`, pipeline.NotCanonical},
		{`{"areas":[],"kind":"bug","missing":[],"reproducible":"yes","severity":4}`, pipeline.NotCanonical},
		{`{"areas":[],"kind":"bug","missing":[],"reproducible":"yes","severity":1,"severity":1}`, pipeline.PhaseMisbehave},
		{`null`, pipeline.NotCanonical}, {`"zz9"`, pipeline.NotCanonical}, {`[]`, pipeline.NotCanonical}, {`1e999999`, pipeline.NotCanonical},
	} {
		w := &world{}
		got, code, err := ask(t, handler(t, w, true), tc.structure)
		if err != nil || code != tc.code || tc.code == "" && !strings.Contains(got, `"status":"done"`) {
			t.Errorf("%.60s: got %s, %q, %v; want %q", tc.structure, got, code, err, tc.code)
		}
		if (w.commits > 0) != (tc.code == "") {
			t.Errorf("%.60s: %d commits", tc.structure, w.commits)
		}
	}
}

func TestWithoutLiveNothingIsWritten(t *testing.T) {
	t.Parallel()
	for _, structure := range []string{bug, spam} {
		w := &world{}
		if got, code, err := ask(t, handler(t, w, false), structure); err != nil || code != "" || !strings.Contains(got, "staged") || w.commits != 0 {
			t.Errorf("got %s, %s, %v, %d commits", got, code, err, w.commits)
		}
	}
}

// A ledger that was throttled is asked again through a retry; one that
// refuses ends the run.
func TestALedgersFailureIsTold(t *testing.T) {
	t.Parallel()
	w := &world{commit: client.RetryableError{}}
	if _, _, err := ask(t, handler(t, w, true), bug); err != (client.RetryableError{}) || len(w.acted) != 0 {
		t.Errorf("got %v and %d records, want to be asked again and none", err, len(w.acted))
	}
	w = &world{commit: pipeline.StoreFailed.Error("refused")}
	if _, code, err := ask(t, handler(t, w, true), bug); err != nil || code != pipeline.StoreFailed {
		t.Errorf("got %s, %v", code, err)
	}
	w = &world{runs: client.RetryableError{}}
	for _, structure := range []string{"", bug} {
		if _, _, err := ask(t, handler(t, w, true), structure); err != (client.RetryableError{}) {
			t.Errorf("runs: got %v", err)
		}
	}
}

// A run that policy asks about waits until its record says otherwise, and
// only an approval makes it write.
func TestAHeldRunFollowsItsRecord(t *testing.T) {
	t.Parallel()
	given := func(a approval.Answer) []approval.Given { return []approval.Given{{Person: "github:44", Answer: a}} }
	for _, tc := range []struct {
		state   approval.State
		answers []approval.Given
		holds   bool
		code    pipeline.Code
		commits int
	}{
		{approval.Waiting, nil, false, "", 0},
		{approval.Denied, given(approval.Deny), true, pipeline.ApprovalDenied, 0},
		{approval.Approved, given(approval.Approve), false, pipeline.ApproverLost, 0},
		{approval.Approved, given(approval.Approve), true, "", 1},
		{"zz9", nil, true, pipeline.ApprovalExpired, 0},
	} {
		w := &world{}
		h := handler(t, w, true)
		got, code, err := ask(t, h, spam)
		if err != nil || code != "" || !strings.Contains(got, `"status":"waiting"`) || len(w.records) != 1 {
			t.Fatalf("got %s, %q, %v, %d records; want to wait", got, code, err, len(w.records))
		}
		for run, r := range w.records {
			r.State, r.Answers = tc.state, tc.answers
			w.records[run] = r
		}
		w.approver = tc.holds
		if got, code, err := ask(t, h, spam); err != nil || code != tc.code || w.commits != tc.commits {
			t.Errorf("%s: got %s, %q, %v, %d commits; want %q and %d", tc.state, got, code, err, w.commits, tc.code, tc.commits)
		}
	}
}

// What may be asked again of any store is asked again, and records nothing.
func TestAStoreThatIsThrottledIsAskedAgain(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]*world{"approvals": {approval: client.RetryableError{}}, "pauses": {pausing: client.RetryableError{}}} {
		if _, _, err := ask(t, handler(t, w, true), spam); err != (client.RetryableError{}) || len(w.acted) != 0 {
			t.Errorf("%s: got %v and %d records", name, err, len(w.acted))
		}
	}
}

func TestAPausedRecipeIsRefusedWithItsCode(t *testing.T) {
	t.Parallel()
	for _, structure := range []string{"", bug} {
		w := &world{paused: true}
		if _, code, err := ask(t, handler(t, w, true), structure); code != pipeline.Paused || err != nil || w.commits != 0 {
			t.Errorf("got %s, %v, %d commits", code, err, w.commits)
		}
	}
}

// Both of act's answers ask budgets: a run begins within them, and an action
// that is counted is performed within them.
func TestARunOverBudgetIsRefusedWithItsCode(t *testing.T) {
	t.Parallel()
	lacking := strings.Replace(bug, `"missing":[]`, `"missing":["steps"]`, 1) // what lacks something is commented on
	for _, structure := range []string{"", lacking} {
		w := &world{spent: true}
		if _, code, err := ask(t, handler(t, w, true), structure); code != pipeline.OverBudget || err != nil || w.commits != 0 {
			t.Errorf("%.40s: got %s, %v, %d commits", structure, code, err, w.commits)
		}
		w = &world{charging: client.RetryableError{}}
		if _, _, err := ask(t, handler(t, w, true), structure); err != (client.RetryableError{}) || len(w.acted) != 0 {
			t.Errorf("%.40s: got %v and %d records, want to be asked again", structure, err, len(w.acted))
		}
	}
}

// FuzzHandle: whatever act is asked, it neither panics nor commits on what is
// no envelope and structure.
func FuzzHandle(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"envelope":{}}`, `{"envelope":{},"structure":` + bug + `}`, `{"envelope":null,"structure":null}`} {
		f.Add([]byte(seed))
	}
	w := &world{}
	h, err := New(Config{Recipes: []*pipeline.Recipe{issues.Recipe}, Authorizer: w, Admissions: everyone{}, Ledger: w, Runs: w, Paused: w, Budgets: w, Approvals: w, Live: true, Clock: time.Now})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, payload []byte) {
		before := w.commits
		if r, err := h.Handle(t.Context(), payload); err == nil && r.Code == pipeline.OK && r.Run == "" || w.commits != before && r.Run == "" {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

// everyone is Admissions in which each run was admitted under the highest
// label, so that what act says now decides.
type everyone struct{}

func (everyone) Admit(context.Context, string, plan.Label) error { return nil }
func (everyone) Admitted(context.Context, string) (plan.Label, bool, error) {
	return plan.System, true, nil
}
