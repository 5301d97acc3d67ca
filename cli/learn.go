package cli

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"decant.dev/extract/learned"
	"decant.dev/internal/terminal"
)

const learnUsage = `Usage: decant learn --recipe NAME --field FIELD --csv FILE --text COLUMNS
                    --label COLUMN [--group COLUMN] [--folds N] --out MODEL

Learn trains a linear model for a choice of the recipe's shape from your own
history: a CSV file with a header and a row for each item. It first measures by
cross-validation what can be expected of unseen items, prints that, and then
trains on all rows. The same rows give the same model, to the byte.

  --recipe NAME     the recipe whose shape has the field
  --field FIELD     the choice to learn; several with commas between them
  --csv FILE        the history
  --text COLUMNS    the title's column, then those of the body, with commas
                    between them; an item's record fields of these names, or
                    its message for "body", are what is read later
  --label COLUMN    the column of the right answer; one for each field
  --group COLUMN    report each group apart, and let groups of 20 rows or more
                    have weights of their own
  --folds N         parts of the cross-validation, 2 to 20; by default 5
  --out MODEL       where the model is written

Example:
  decant learn --recipe issues --field kind --csv history.csv --text title,body --label label --out kind.model

docs/learned.md says how a recipe uses the model.
`

func (a *App) learn(_ context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("learn", flag.ContinueOnError)
	recipe := flags.String("recipe", "", "")
	field := flags.String("field", "", "")
	file := flags.String("csv", "", "")
	text := flags.String("text", "", "")
	label := flags.String("label", "", "")
	group := flags.String("group", "", "")
	folds := flags.Int("folds", 5, "")
	out := flags.String("out", "", "")
	rest, err := a.parse(flags, learnUsage, args)
	if err != nil {
		return 0, err
	}
	for _, f := range []struct{ name, value string }{
		{"recipe", *recipe}, {"field", *field}, {"csv", *file}, {"text", *text}, {"label", *label}, {"out", *out},
	} {
		if f.value == "" {
			return 0, usagef("learn: want --%s; see decant help learn", f.name)
		}
	}
	spec := learned.Spec{Fields: list(*field), Text: list(*text), Group: *group, Folds: *folds}
	want := columns{spec.Text, list(*label), *group}
	switch {
	case len(rest) > 0:
		return 0, usagef("learn: want flags only, got an argument")
	case len(want.labels) != len(spec.Fields):
		return 0, usagef("learn: --label: want %d columns, one for each field, got %d", len(spec.Fields), len(want.labels))
	case *folds < 2 || *folds > 20:
		return 0, usagef("learn: --folds: want 2 to 20")
	}
	p, err := a.pipeline("learn: --recipe", *recipe)
	if err != nil {
		return 0, err
	}
	rows, err := readCSV(*file, want)
	if err != nil {
		return 0, fmt.Errorf("learn: %w", err)
	}
	model, reports, err := learned.Train(p.Recipe.Shape(), spec, rows)
	if err != nil {
		return 0, fmt.Errorf("learn: %w", badLabel(err, want, spec.Fields))
	}
	for _, r := range reports {
		fmt.Fprintf(a.Stdout, "%s: %d rows, cross-validated in %d folds\n", r.Field, r.Rows, *folds)
		a.printMeasure(r, *group)
	}
	b := model.Bytes()
	if err := writeWhole(*out, b); err != nil {
		return 0, fmt.Errorf("learn: %w", err)
	}
	fmt.Fprintf(a.Stdout, "wrote %s: %d bytes, sha256 %s…\n", terminal.Line(*out), len(b), model.Checksum()[:12])
	return exitOK, nil
}

// writeWhole puts a file in its place at once, so that none is ever seen half written.
func writeWhole(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".decant-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if _, err := f.Write(b); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// printMeasure prints a measurement's tables.
func (a *App) printMeasure(r learned.Report, group string) {
	out := &strings.Builder{}
	wide := len("confidence")
	choices := make([]string, len(r.Choices))
	widths := make([]int, len(r.Choices))
	for i, c := range r.Choices {
		choices[i] = terminal.Cut(c, 40) // a model's file may have made it up
		widths[i] = utf8.RuneCountInString(choices[i])
		wide = max(wide, widths[i])
	}
	fmt.Fprintf(out, "\n  %-*s  %6s  %9s  %6s  %5s\n", wide, "", "rows", "precision", "recall", "F1")
	for i, c := range r.Classes {
		fmt.Fprintf(out, "  %-*s  %6d  %9.3f  %6.3f  %5.3f\n", wide, choices[i], c.Rows, c.Precision, c.Recall, c.F1)
	}
	fmt.Fprintf(out, "  %-*s  %6d  %9s  %6s  %5.3f\n", wide, "macro F1", r.Rows, "", "", r.MacroF1)
	if group != "" {
		names := wide
		for _, g := range r.Groups {
			names = max(names, utf8.RuneCountInString(terminal.Cut(g.Group, 40)))
		}
		fmt.Fprintf(out, "\n  %-*s  %6s  %8s\n", names, "group", "rows", "macro F1")
		for _, g := range r.Groups {
			fmt.Fprintf(out, "  %-*s  %6d  %8.3f\n", names, terminal.Cut(g.Group, 40), g.Rows, g.MacroF1)
		}
		fmt.Fprintf(out, "  %-*s  %6s  %8.3f\n", names, "mean", "", r.GroupMean)
	}
	fmt.Fprintf(out, "\n  label \\ answer\n  %-*s", wide, "")
	for i, c := range choices {
		fmt.Fprintf(out, "  %*s", max(6, widths[i]), c)
	}
	fmt.Fprintln(out)
	for i, row := range r.Confusion {
		fmt.Fprintf(out, "  %-*s", wide, choices[i])
		for k, n := range row {
			fmt.Fprintf(out, "  %*d", max(6, widths[k]), n)
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintf(out, "\n  %-*s  %6s  %9s  %6s\n", wide, "confidence", "rows", "mean", "right")
	for i, b := range r.Bins {
		if b.Rows > 0 {
			fmt.Fprintf(out, "  %-*s  %6d  %8.1f%%  %5.1f%%\n", wide, fmt.Sprintf("%d-%d%%", 10*i, 10*i+10), b.Rows, 100*b.Confidence, 100*b.Right)
		}
	}
	fmt.Fprintf(out, "  expected calibration error %.3f\n\n", r.CalibrationError)
	fmt.Fprint(a.Stdout, out)
}
