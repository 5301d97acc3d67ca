package learned

import (
	"context"
	"encoding/csv"
	"os"
	"testing"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/internal/inputs"
)

type triage struct {
	Kind string `json:"kind" jsonschema:"enum=bug,enum=feature,enum=question,enum=spam"`
}

func triageShape(tb testing.TB) *shape.Shape {
	tb.Helper()
	s, err := shape.Of[triage]()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

var issueSpec = Spec{Fields: []string{"kind"}, Text: []string{"title", "body"}, Group: "repo", Folds: 5}

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

func TestCV(t *testing.T) {
	m, r, err := Train(triageShape(t), issueSpec, issueRows(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%.4f %+v ece %.4f T %v size %d", r[0].GroupMean, r[0].Groups, r[0].CalibrationError, m.fields[0].temperature, len(m.Bytes()))
	t.Log(r[0].Bins)
	if _, err := Read(m.Bytes()); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkPredict(b *testing.B) {
	list := issueRows(b)
	m, _, err := Train(triageShape(b), issueSpec, list)
	if err != nil {
		b.Fatal(err)
	}
	r := &reader{}
	texts := make([]Text, len(list))
	n := 0
	for i, row := range list {
		texts[i] = m.textOf(elementsOf(m.columns, row.Text))
		n += len(row.Text[0]) + len(row.Text[1])
	}
	_ = context.Background
	_ = extract.Answer{}
	_ = fence.Element{}
	for i := 0; b.Loop(); i++ {
		row := list[i%len(list)]
		t := m.textOf(elementsOf(m.columns, row.Text))
		t.Group = row.Group
		m.predict(r, t)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "items/s")
}
