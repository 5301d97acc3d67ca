package pipeline

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// table is design sections 10 and 11, written a second time: each code with
// the status of its run, the exit code of the command and what an ingress
// answers.
var table = []struct {
	code       string
	status     string
	exit, http int
	phase      bool // a taken over phase may choose it
}{
	{"bad_signature", "refused", 3, 401, false},
	{"outside_window", "refused", 3, 401, false},
	{"no_secret", "refused", 3, 401, false},
	{"body_too_large", "failed", 1, 413, false},
	{"malformed_event", "failed", 1, 400, false},
	{"malformed_body", "failed", 1, 400, false},
	{"body_misfit", "failed", 1, 400, false},
	{"ping", "ignored", 0, 202, false},
	{"unhandled_event", "ignored", 0, 202, false},
	{"agents_never_trigger", "dropped", 0, 202, false},
	{"unknown_recipe", "refused", 3, 500, false},
	{"recipe_changed", "refused", 3, 500, false},
	{"outcomes_empty", "refused", 3, 500, false},
	{"outcomes_stale", "refused", 3, 500, false},
	{"paused", "refused", 3, 500, false},
	{"over_budget", "refused", 3, 500, false},
	{"trigger_too_large", "failed", 1, 413, true},
	{"no_command", "ignored", 0, 202, true},
	{"unreadable", "quarantined", 3, 500, true},
	{"source_unreachable", "failed", 1, 500, false},
	{"source_refused", "failed", 1, 500, false},
	{"source_busy", "failed", 1, 500, false},
	{"source_too_large", "failed", 1, 500, false},
	{"source_malformed", "failed", 1, 500, false},
	{"no_answer", "quarantined", 3, 500, true},
	{"undecodable", "quarantined", 3, 500, true},
	{"ungrounded", "quarantined", 3, 500, true},
	{"too_dear", "quarantined", 3, 500, true},
	{"boundary_echoed", "quarantined", 3, 500, true},
	{"unlisted_outcome", "refused", 3, 500, false},
	{"not_canonical", "refused", 3, 500, false},
	{"plan_failed", "refused", 3, 500, false},
	{"policy_never", "refused", 3, 500, false},
	{"approval_needed", "waiting", 3, 500, false},
	{"approval_denied", "refused", 3, 500, false},
	{"approval_expired", "refused", 3, 500, false},
	{"approver_lost", "refused", 3, 500, false},
	{"store_failed", "failed", 1, 500, false},
	{"not_admitted", "refused", 3, 500, false},
	{"nothing_to_do", "done", 0, 500, false},
	{"already_performed", "done", 0, 500, false},
	{"sink_refused", "failed", 1, 500, false},
	{"sink_unavailable", "failed", 1, 500, false},
	{"in_flight", "failed", 1, 500, false},
	{"outcome_unknown", "failed", 1, 500, false},
	{"stopped", "failed", 1, 500, false},
	{"phase_died", "quarantined", 3, 500, true},
	{"phase_timeout", "quarantined", 3, 500, true},
	{"phase_unready", "failed", 1, 500, false},
	{"phase_misbehave", "quarantined", 3, 500, true},
	{"phase_panic", "quarantined", 3, 500, true},
}

func TestEveryCodeHasAStatusAnExitAndAnAnswer(t *testing.T) {
	t.Parallel()
	left := Codes()
	if len(left) != len(table) {
		t.Errorf("%d codes: want %d", len(left), len(table))
	}
	for _, row := range table {
		c := Code(row.code)
		i := slices.Index(left, c)
		if i < 0 {
			t.Errorf("%s is no code", c)
			continue
		}
		left = slices.Delete(left, i, i+1)
		if string(c.Status()) != row.status || c.Status().Exit() != row.exit || c.HTTP() != row.http || !c.Known() || !c.Status().Known() {
			t.Errorf("%s: %s, exit %d, HTTP %d: want %s, %d, %d", c, c.Status(), c.Status().Exit(), c.HTTP(), row.status, row.exit, row.http)
		}
	}
	for _, c := range left {
		t.Errorf("%s stands in no row of this test", c)
	}
	if OK.HTTP() != 202 || !OK.Known() || slices.Contains(Codes(), OK) {
		t.Error("OK: want HTTP 202, known and in no list")
	}
	for _, c := range []Code{"mail_bounced", "Ping", "ping ", "bad-signature"} {
		if c.Known() || c.Status() != Failed || c.HTTP() != 500 {
			t.Errorf("%q: known %t, %s, HTTP %d: want unknown, failed, 500", c, c.Known(), c.Status(), c.HTTP())
		}
	}
}

func TestEveryStatusHasAnExit(t *testing.T) {
	t.Parallel()
	exits := map[string]int{"staged": 0, "done": 0, "waiting": 3, "dropped": 0, "ignored": 0, "quarantined": 3, "refused": 3, "failed": 1}
	if len(Statuses()) != len(exits) {
		t.Errorf("%d statuses: want %d", len(Statuses()), len(exits))
	}
	for _, s := range Statuses() {
		if want, ok := exits[string(s)]; !ok || s.Exit() != want || !s.Known() {
			t.Errorf("%s: exit %d: want %d", s, s.Exit(), want)
		}
	}
	for _, s := range []Status{"", "Done", "ok"} {
		if s.Known() || s.Exit() != 1 {
			t.Errorf("%q: known %t, exit %d: want unknown, 1", s, s.Known(), s.Exit())
		}
	}
}

// A phase that is taken over ends a run with one of TerminalCodes codes: it
// cannot claim what only a wall may say, and nothing of its own making.
func TestFromPhaseLetsThroughTerminalCodesOnly(t *testing.T) {
	t.Parallel()
	ends := map[Code]bool{}
	for _, row := range table {
		c := Code(row.code)
		want := PhaseMisbehave
		if row.phase {
			want = c
		}
		if got := FromPhase(c); got != want {
			t.Errorf("%s ends as %q: want %q", c, got, want)
		}
		ends[FromPhase(c)] = true
	}
	if len(ends) != TerminalCodes() {
		t.Errorf("a phase can choose among %d codes and %d are counted", len(ends), TerminalCodes())
	}
	if FromPhase(OK) != OK {
		t.Error("OK does not pass")
	}
	for _, c := range []Code{"anything", "Undecodable", Code(strings.Repeat("x", 1<<16))} {
		if FromPhase(c) != PhaseMisbehave {
			t.Errorf("a code of %d bytes that is none passes", len(c))
		}
	}
}

// What fetch may say of a source ends a tick and never a run.
func TestFromListLetsThroughWhatASourceDid(t *testing.T) {
	t.Parallel()
	for _, row := range table {
		c := Code(row.code)
		want := FromPhase(c)
		if strings.HasPrefix(row.code, "source_") {
			want = c
		}
		if got := FromList(c); got != want {
			t.Errorf("%s ends a tick as %q: want %q", c, got, want)
		}
	}
}

func TestFaultCarriesItsCode(t *testing.T) {
	t.Parallel()
	err := fmt.Errorf("around: %w", BodyTooLarge.Error("%d bytes: want at most %d", 9, 8))
	var f *Fault
	if !errors.As(err, &f) || f.Code != BodyTooLarge || f.Error() != "body_too_large: 9 bytes: want at most 8" {
		t.Errorf("%v", err)
	}
	if got := (&Fault{Code: Ping}).Error(); got != "ping" {
		t.Errorf("a fault without detail says %q", got)
	}
}

// What may pass was not in what the run read, nor decided of it.
func TestWhatMayPassIsOutsideTheRun(t *testing.T) {
	t.Parallel()
	want := []Code{NoAnswer, PhaseDied, PhaseTimeout, PhaseUnready, StoreFailed, Paused, OverBudget}
	for _, c := range Codes() {
		if c.MayPass() != slices.Contains(want, c) {
			t.Errorf("%s may pass: %t", c, c.MayPass())
		}
	}
}
