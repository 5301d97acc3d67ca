package learned

import (
	"math"
	"testing"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-9 }

// The figures are worked out by hand.
func TestAReportsFiguresAreRight(t *testing.T) {
	t.Parallel()
	tally := NewTally([]string{"a", "b", "c"})
	for _, x := range []struct {
		group         string
		label, answer int
		chance        float64
	}{
		{"north", 0, 0, 0.95}, {"north", 0, 0, 0.95}, {"north", 0, 1, 0.55}, {"south", 1, 1, 0.55}, {"south", 1, 1, 1}, {"", 1, 0, 0.95},
	} {
		tally.Add(x.group, x.label, x.answer, x.chance)
	}
	r := tally.Report("kind")
	a, b, c := r.Classes[0], r.Classes[1], r.Classes[2]
	if !near(a.Precision, 2.0/3) || !near(a.Recall, 2.0/3) || !near(a.F1, 2.0/3) || a.Rows != 3 {
		t.Errorf("a: %+v", a)
	}
	if !near(b.F1, 2.0/3) || c != (ClassScore{Choice: "c"}) {
		t.Errorf("b: %+v, c: %+v", b, c)
	}
	if !near(r.MacroF1, 2.0/3) {
		t.Errorf("macro F1 %v, want that of the two choices that occur", r.MacroF1)
	}
	// north: a has F1 4/5, b was answered but is no label, 0; south: b alone, 1.
	if len(r.Groups) != 2 || r.Groups[0].Group != "north" || !near(r.Groups[0].MacroF1, 0.4) || !near(r.Groups[1].MacroF1, 1) || !near(r.GroupMean, 0.7) || r.Groups[0].Rows != 3 {
		t.Errorf("groups %+v, mean %v", r.Groups, r.GroupMean)
	}
	// Of four rows at a mean of 0.9625 three are right, of two at 0.55 one.
	if want := 4.0/6*math.Abs(0.9625-0.75) + 2.0/6*0.05; !near(r.CalibrationError, want) {
		t.Errorf("calibration error %v, want %v", r.CalibrationError, want)
	}
	if r.Confusion[0][1] != 1 || r.Confusion[1][0] != 1 || r.Confusion[1][1] != 2 || r.Rows != 6 {
		t.Errorf("confusion %v", r.Confusion)
	}
	if r := NewTally([]string{"a", "b"}).Report("kind"); r.MacroF1 != 0 || r.CalibrationError != 0 || math.IsNaN(r.GroupMean) {
		t.Errorf("of no rows: %+v", r)
	}
}

// Scores that are so many times too large are cooled by as much.
func TestCalibrationFindsTheTemperature(t *testing.T) {
	t.Parallel()
	for _, want := range []float64{0.25, 1, 6} {
		var scores [][]float64
		var ys []int
		for i := range 1000 { // a chance of 0.8, met in 800 of 1000
			scores = append(scores, []float64{want * math.Log(4), 0})
			y := 0
			if i%5 == 0 {
				y = 1
			}
			ys = append(ys, y)
		}
		if got := calibrate(scores, ys); math.Abs(got/want-1) > 0.01 {
			t.Errorf("want a temperature of %v, got %v", want, got)
		}
	}
	always := calibrate([][]float64{{1, 0}, {0, 1}}, []int{0, 1})
	never := calibrate([][]float64{{1, 0}, {0, 1}}, []int{1, 0})
	if always < minTemperature*0.99 || never > maxTemperature*1.01 {
		t.Errorf("temperatures %v and %v are out of bounds", always, never)
	}
}
