package learned

import (
	"encoding/csv"
	"os"
	"strings"
	"testing"

	"decant.dev/internal/inputs"
	"decant.dev/recipes/issues"
)

var issueSpec = Spec{Fields: []string{"kind"}, Text: []string{"title", "body"}, Group: "repo", Folds: 5}

// issueRows are 1,500 labelled issues of five repositories.
func issueRows(tb testing.TB) []Row {
	tb.Helper()
	f, err := os.Open(inputs.Path(tb, "data", "issues", "train.csv"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	list, err := csv.NewReader(f).ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	var out []Row
	for _, x := range list[1:] {
		out = append(out, Row{Text: x[3:5], Group: x[0], Labels: x[2:3]})
	}
	return out
}

// What cross-validation finds on real issues. The floors are below what was found, above what keyword rules and fastText find.
func TestRealIssuesAreTold(t *testing.T) {
	t.Parallel()
	list, floor := issueRows(t), 0.792
	if testing.Short() || raceDetector {
		var some []Row
		for i := 0; i < len(list); i += 5 {
			some = append(some, list[i])
		}
		list, floor = some, 0.55
	}
	m, reports, err := Train(issues.Recipe.Shape(), issueSpec, list)
	if err != nil {
		t.Fatal(err)
	}
	r := reports[0]
	for _, g := range r.Groups {
		t.Logf("%-24s %4d rows  macro F1 %.3f", g.Group, g.Rows, g.MacroF1)
	}
	for _, c := range r.Classes {
		t.Logf("%-24s %4d rows  precision %.3f  recall %.3f  F1 %.3f", c.Choice, c.Rows, c.Precision, c.Recall, c.F1)
	}
	size := len(m.Bytes())
	t.Logf("mean of the groups %.4f, macro F1 %.4f, calibration error %.3f, model %d bytes", r.GroupMean, r.MacroF1, r.CalibrationError, size)
	if r.GroupMean < floor || r.CalibrationError > 0.1 || size > 4<<20 {
		t.Errorf("want a mean of %.3f or more, a calibration error of 0.1 or less and 4 MiB or less", floor)
	}
}

// BenchmarkPredict answers issues on one core, and beside it copies the same texts and looks for one byte in them: the least that reading
// them costs. The last line gives how many times that the answers cost.
func BenchmarkPredict(b *testing.B) {
	list := issueRows(b)
	m, _, err := Train(issues.Recipe.Shape(), issueSpec, list)
	if err != nil {
		b.Fatal(err)
	}
	bytes := 0
	for _, row := range list {
		bytes += len(clip(row.Text[0], MaxTitle)) + len(clip(row.Text[1], MaxBody))
	}
	var scan, answer float64
	b.Run("scan", func(b *testing.B) {
		b.SetBytes(int64(bytes))
		found := 0
		buf := make([]byte, 0, MaxBody)
		for b.Loop() {
			for _, row := range list {
				buf = append(buf[:0], clip(row.Text[1], MaxBody)...)
				found += strings.Count(row.Text[0], "e")
				for _, c := range buf {
					if c == 'e' {
						found++
					}
				}
			}
		}
		scan = b.Elapsed().Seconds() / float64(b.N)
		b.ReportMetric(float64(found)/float64(b.N), "found")
	})
	b.Run("answer", func(b *testing.B) {
		b.SetBytes(int64(bytes))
		p := m.Predictor()
		for b.Loop() {
			for _, row := range list {
				p.Predict(row.Text, row.Group)
			}
		}
		answer = b.Elapsed().Seconds() / float64(b.N)
		b.ReportMetric(float64(len(list))/answer, "items/s")
		if scan > 0 {
			b.ReportMetric(answer/scan, "scans")
		}
	})
}
