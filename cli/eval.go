package cli

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"decant.dev/extract/learned"
	"decant.dev/internal/terminal"
)

const evalUsage = `Usage: decant eval --model MODEL --csv FILE --label COLUMN [--field FIELD]
                   [--group COLUMN] [--json]

Eval measures a model of decant learn on rows that it was not trained on:
precision, recall and F1 of each choice, a table of labels and answers, and
whether its confidences mean what they say. On the rows that it was trained on
the figures are far too good.

  --model MODEL     the model
  --csv FILE        rows with the model's text columns
  --label COLUMN    the column of the right answer
  --field FIELD     the field, where the model decides several
  --group COLUMN    report each group apart
  --json            print one eval.v1 object

Example:
  decant eval --model kind.model --csv later.csv --label label
`

// evalReport is eval.v1.
type evalReport struct {
	Schema         string                    `json:"schema"`
	Field          string                    `json:"field"`
	Rows           int                       `json:"rows"`
	MacroF1        float64                   `json:"macro_f1"`
	GroupMacroF1   map[string]float64        `json:"group_macro_f1"`
	GroupMean      float64                   `json:"group_macro_f1_mean"` // macro_f1 without groups
	ItemsPerSecond float64                   `json:"items_per_second"`
	Confusion      map[string]map[string]int `json:"confusion"` // by label and answer
	Classes        map[string]evalClass      `json:"classes"`
	Calibration    float64                   `json:"calibration_error"`
}

type evalClass struct {
	Rows      int     `json:"rows"`
	Precision float64 `json:"precision"`
	Recall    float64 `json:"recall"`
	F1        float64 `json:"f1"`
}

func (a *App) eval(_ context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("eval", flag.ContinueOnError)
	path := flags.String("model", "", "")
	file := flags.String("csv", "", "")
	label := flags.String("label", "", "")
	field := flags.String("field", "", "")
	group := flags.String("group", "", "")
	asJSON := flags.Bool("json", false, "")
	rest, err := a.parse(flags, evalUsage, args)
	switch {
	case err != nil:
		return 0, err
	case len(rest) > 0:
		return 0, usagef("eval: want flags only, got an argument")
	case *path == "" || *file == "" || *label == "":
		return 0, usagef("eval: want --model, --csv and --label; see decant help eval")
	}
	model, err := readModel(*path)
	if err != nil {
		return 0, fmt.Errorf("eval: %w", err)
	}
	fields := model.Fields()
	at := slices.Index(fields, *field)
	switch {
	case *field == "" && len(fields) == 1:
		at = 0
	case at < 0:
		return 0, usagef("eval: --field: want one of %s", shownList(fields))
	}
	text, _ := model.Columns()
	want := columns{text, []string{*label}, *group}
	rows, err := readCSV(*file, want)
	if err != nil {
		return 0, fmt.Errorf("eval: %w", err)
	}
	choices := model.Choices(fields[at])
	right := make([]int, len(rows))
	for i, row := range rows {
		if right[i] = slices.Index(choices, row.Labels[0]); right[i] < 0 {
			wrong := &learned.LabelError{Row: i, Field: fields[at], Choices: choices}
			return 0, fmt.Errorf("eval: %w", badLabel(wrong, want, fields[at:]))
		}
	}
	tally, predictor := learned.NewTally(choices), model.Predictor()
	start := a.Clock()
	for i, row := range rows {
		answers, chances := predictor.Predict(row.Text, row.Group)
		tally.Add(row.Group, right[i], answers[at], chances[at])
	}
	taken := a.Clock().Sub(start).Seconds()
	r := tally.Report(fields[at])
	rate := 0.0
	if taken > 0 {
		rate = float64(len(rows)) / taken
	}
	if *asJSON {
		return exitOK, a.evalJSON(r, rate)
	}
	fmt.Fprintf(a.Stdout, "%s: %d rows, %.0f items a second\n", terminal.Line(r.Field), r.Rows, rate)
	a.printMeasure(r, *group)
	return exitOK, nil
}

// readModel reads a model's file.
func readModel(path string) (*learned.Model, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, learned.MaxFile+1))
	if err != nil {
		return nil, err
	}
	return learned.Read(b)
}

func (a *App) evalJSON(r learned.Report, rate float64) error {
	out := evalReport{
		Schema: "eval.v1", Field: r.Field, Rows: r.Rows, MacroF1: r.MacroF1, GroupMacroF1: map[string]float64{}, GroupMean: r.GroupMean,
		ItemsPerSecond: rate, Confusion: map[string]map[string]int{}, Classes: map[string]evalClass{}, Calibration: r.CalibrationError,
	}
	for _, g := range r.Groups {
		out.GroupMacroF1[strings.ToValidUTF8(g.Group, "\uFFFD")] = g.MacroF1
	}
	for i, c := range r.Classes {
		out.Classes[c.Choice] = evalClass{c.Rows, c.Precision, c.Recall, c.F1}
		out.Confusion[c.Choice] = map[string]int{}
		for k, n := range r.Confusion[i] {
			out.Confusion[c.Choice][r.Choices[k]] = n
		}
	}
	line, err := json.Marshal(out, json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(a.Stdout, "%s\n", line)
	return err
}
