package cli

import (
	"bytes"
	"strings"
	"testing"

	"decant.dev/extract/learned"
)

// A model's file and a CSV file name choices, columns and groups: none of them reaches the terminal as it is.
func TestWhatFilesNameIsEscapedInTables(t *testing.T) {
	t.Parallel()
	const hostile = "\x1b[31mred\r\n\u202e"
	tally := learned.NewTally([]string{hostile, "b"})
	tally.Add(hostile, 0, 1, 0.5)
	var out bytes.Buffer
	(&App{Stdout: &out}).printMeasure(tally.Report("kind"), "repo")
	missing := columns{text: []string{hostile}, labels: []string{"label"}}
	_, err := missing.find([]string{"label"})
	if err == nil {
		t.Fatal("want an error of a missing column")
	}
	label := badLabel(&learned.LabelError{Field: "kind", Choices: []string{hostile}}, columns{labels: []string{hostile}}, []string{"kind"})
	for name, got := range map[string]string{"table": out.String(), "columns": err.Error(), "label": label.Error()} {
		if strings.ContainsAny(got, "\x1b\r\u202e") || !strings.Contains(got, "⟦U+001B⟧") {
			t.Errorf("%s: got %q", name, got)
		}
	}
}
