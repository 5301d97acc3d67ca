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
	"decant.dev/pipeline/aws/approvals"
	"decant.dev/pipeline/aws/client"
	"decant.dev/recipes/issues"
)

// world is everything around act, in memory.
type world struct {
	holds    bool
	commit   error
	commits  int
	runs     error
	acted    []act.Output
	asked    bool
	answer   approvals.Answer
	approval error
}

func (w *world) HoldsTrigger(context.Context, string, string) (bool, error)       { return w.holds, nil }
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
func (w *world) State(context.Context, string) (approvals.Answer, bool, error) {
	return w.answer, w.asked, w.approval
}

func handler(t *testing.T, w *world, live bool) *Handler {
	t.Helper()
	h, err := New(Config{
		Recipes: []*pipeline.Recipe{issues.Recipe}, Authorizer: w, Admissions: everyone{}, Ledger: w, Runs: w, Approvals: w, Live: live,
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

// A run that policy holds waits until its record says otherwise, and no
// record makes it write.
func TestAHeldRunFollowsItsRecord(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		asked  bool
		answer approvals.Answer
		code   pipeline.Code
	}{
		{false, "", ""}, {true, approvals.Waiting, ""},
		{true, approvals.Denied, pipeline.PolicyNever}, {true, approvals.Expired, pipeline.PolicyNever}, {true, approvals.Used, pipeline.PolicyNever},
		{true, "", pipeline.PolicyNever}, {true, "zz9", pipeline.PolicyNever},
	} {
		w := &world{asked: tc.asked, answer: tc.answer}
		got, code, err := ask(t, handler(t, w, true), spam)
		if err != nil || code != tc.code || tc.code == "" && !strings.Contains(got, `"status":"waiting"`) || w.commits != 0 {
			t.Errorf("%t %q: got %s, %q, %v, %d commits; want %q", tc.asked, tc.answer, got, code, err, w.commits, tc.code)
		}
	}
	w := &world{approval: client.RetryableError{}}
	if _, _, err := ask(t, handler(t, w, true), spam); err != (client.RetryableError{}) {
		t.Errorf("a record that cannot be read: got %v", err)
	}
}

// FuzzHandle: whatever act is asked, it neither panics nor commits on what is
// no envelope and structure.
func FuzzHandle(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"envelope":{}}`, `{"envelope":{},"structure":` + bug + `}`, `{"envelope":null,"structure":null}`} {
		f.Add([]byte(seed))
	}
	w := &world{}
	h, err := New(Config{Recipes: []*pipeline.Recipe{issues.Recipe}, Authorizer: w, Admissions: everyone{}, Ledger: w, Runs: w, Approvals: w, Live: true, Clock: time.Now})
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
