package sandbox

import (
	"strings"
	"testing"
)

func TestAReportIsFullOnlyWithBothLayers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		report Report
		full   bool
		text   string
	}{
		{Report{}, false, "no Landlock, no seccomp"},
		{Report{Landlock: 7}, false, "Landlock ABI 7, no seccomp"},
		{Report{Seccomp: true}, false, "no Landlock, seccomp"},
		{Report{Landlock: 1, Seccomp: true}, true, "Landlock ABI 1, seccomp"},
	} {
		if test.report.Full() != test.full || test.report.String() != test.text {
			t.Errorf("want %v, %q, got %v, %q", test.full, test.text, test.report.Full(), test.report)
		}
	}
}

func TestCheckGivesReasonsWhereSomethingIsMissing(t *testing.T) {
	t.Parallel()
	report := Check()
	if report.Full() != (len(report.Reasons) == 0) || Available() != report.Full() {
		t.Errorf("want reasons unless full, got %s: %s", report, strings.Join(report.Reasons, "; "))
	}
	if !report.Full() {
		if _, err := Restrict(Profile{}); err == nil {
			t.Error("want Restrict to fail where the sandbox is not full")
		}
	}
}
