package act

import (
	"testing"

	"decant.dev/pipeline"
)

// BenchmarkDecisions is both of act's answers for one run, staged, on one core:
// the structure decoded strictly, the plan run, its outcome found on the list,
// policy applied.
func BenchmarkDecisions(b *testing.B) {
	h, _ := handlerOf(listed(b, spec()), false)
	in := input("own.words", maintainer, full)
	for b.Loop() {
		h.Admit(b.Context(), AdmitInput{Envelope: in.Envelope})
		if out := h.Act(b.Context(), in); out.Status != pipeline.Staged {
			b.Fatal(out.Status, out.Code)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "decisions/s")
}
