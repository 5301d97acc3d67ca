package learned

import (
	"bytes"
	"errors"
	"runtime"
	"strings"
	"testing"
)

func TestTheSameRowsGiveTheSameBytes(t *testing.T) {
	s := shapeOf[ticket](t)
	first := smallModel(t).Bytes()
	for _, procs := range []int{1, 4} {
		was := runtime.GOMAXPROCS(procs)
		m, _, err := Train(s, ticketSpec, tickets(120))
		runtime.GOMAXPROCS(was)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(m.Bytes(), first) {
			t.Errorf("with %d processors: other bytes", procs)
		}
	}
	swapped := tickets(120)
	swapped[0], swapped[1] = swapped[1], swapped[0]
	m, _, err := Train(s, ticketSpec, swapped)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(m.Bytes(), first) {
		t.Error("other rows give the same bytes: the comparison above cannot fail")
	}
}

// One label in ten is wrong: what can be known is answered, and the chances say how often.
func TestWhatRowsSayIsLearned(t *testing.T) {
	t.Parallel()
	list := tickets(600)
	m, reports, err := Train(shapeOf[ticket](t), ticketSpec, list[:480])
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		floor := 0.95
		if r.Field == "kind" {
			floor = 0.85
		}
		if r.MacroF1 < floor || r.Rows != 480 || r.CalibrationError > 0.15 || len(r.Groups) != 2 {
			t.Errorf("%s: macro F1 %.3f over %d rows, calibration error %.3f, %d groups", r.Field, r.MacroF1, r.Rows, r.CalibrationError, len(r.Groups))
		}
	}
	p, right := m.Predictor(), 0
	for _, row := range list[480:] {
		labels, _ := p.Predict(row.Text, row.Group)
		if m.fields[0].choices[labels[0]] == row.Labels[0] {
			right++
		}
	}
	if right < 100 {
		t.Errorf("%d of 120 unseen rows right, want 100 or more", right)
	}
}

// Labels that say nothing are answered with chances that say so: cross-validation does not look at what it is asked.
func TestNoiseIsReportedAsNoise(t *testing.T) {
	t.Parallel()
	list := tickets(300)
	seed := uint32(1)
	for i := range list {
		seed = seed*1664525 + 1013904223
		list[i].Labels[0] = []string{"fault", "wish", "talk"}[seed>>16%3]
	}
	spec := ticketSpec
	spec.Fields, spec.Group = []string{"kind"}, ""
	for i := range list {
		list[i].Labels = list[i].Labels[:1]
	}
	_, reports, err := Train(shapeOf[ticket](t), spec, list)
	if err != nil {
		t.Fatal(err)
	}
	if r := reports[0]; r.MacroF1 > 0.45 || r.CalibrationError > 0.15 || len(r.Groups) != 0 || r.GroupMean != r.MacroF1 {
		t.Errorf("macro F1 %.3f, calibration error %.3f of labels drawn at random", r.MacroF1, r.CalibrationError)
	}
}

// A choice with fewer rows than folds is never answered.
func TestAChoiceWithoutRowsIsNeverAnswered(t *testing.T) {
	t.Parallel()
	list := tickets(120)
	for i := range list {
		if list[i].Labels[0] == "talk" && i > 6 {
			list[i].Labels[0] = "wish"
		}
	}
	m, _, err := Train(shapeOf[ticket](t), ticketSpec, list)
	if err != nil {
		t.Fatal(err)
	}
	p := m.Predictor()
	for _, row := range list {
		if labels, _ := p.Predict(row.Text, ""); m.fields[0].choices[labels[0]] == "talk" {
			t.Fatal("answered a choice that training did not have")
		}
	}
}

func TestTrainingSaysWhatIsWrongWithoutTheText(t *testing.T) {
	t.Parallel()
	s := shapeOf[ticket](t)
	with := func(change func(*Spec)) Spec {
		spec := ticketSpec
		change(&spec)
		return spec
	}
	rows := func(change func([]Row)) []Row {
		list := tickets(60)
		change(list)
		return list
	}
	whole := tickets(60)
	for name, tc := range map[string]struct {
		spec Spec
		list []Row
		says string
	}{
		"no field":      {with(func(s *Spec) { s.Fields = nil }), whole, "want 1 to 16 fields, got 0"},
		"no text":       {with(func(s *Spec) { s.Text = nil }), whole, "want 1 to 16 columns of text, got 0"},
		"one fold":      {with(func(s *Spec) { s.Folds = 1 }), whole, "want 2 to 20 folds, got 1"},
		"unknown field": {with(func(s *Spec) { s.Fields = []string{"sort", "level", "urgent"} }), whole, `field "sort": want a field of the shape`},
		"a text":        {with(func(s *Spec) { s.Fields = []string{"note", "level", "urgent"} }), whole, `field "note": want a choice`},
		"field twice":   {with(func(s *Spec) { s.Fields = []string{"kind", "kind", "urgent"} }), whole, "each field and each column once"},
		"column twice":  {with(func(s *Spec) { s.Group = "body" }), whole, "each field and each column once"},
		"empty column":  {with(func(s *Spec) { s.Text = []string{"title", ""} }), whole, "1 to 128 bytes"},
		"no UTF-8":      {with(func(s *Spec) { s.Group = "\xff" }), whole, "of UTF-8"},
		"no rows":       {ticketSpec, nil, "want at least two choices with 4 rows each, got 0"},
		"short row":     {ticketSpec, rows(func(l []Row) { l[3].Text = l[3].Text[:1] }), "row 4: want 2 texts and 3 labels"},
		"no such label": {ticketSpec, rows(func(l []Row) { l[5].Labels[1] = "SECRETWORD" }), `row 6: field level: want one of "0", "1", "2", got another`},
		"too many rows": {ticketSpec, make([]Row, MaxRows+1), "want at most 200000 rows"},
	} {
		_, _, err := Train(s, tc.spec, tc.list)
		switch {
		case err == nil || !strings.Contains(err.Error(), tc.says):
			t.Errorf("%s: got %v, want %s", name, err, tc.says)
		case strings.Contains(err.Error(), "SECRETWORD"):
			t.Errorf("%s: the error shows a cell: %v", name, err)
		}
		var label *LabelError
		if errors.As(err, &label) != (name == "no such label") {
			t.Errorf("%s: got %T", name, err)
		}
	}
}
