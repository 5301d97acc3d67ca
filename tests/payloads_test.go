package tests

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"decant.dev/internal/inputs"
	"decant.dev/pipeline"
)

// Every real payload of GitHub's runs to a good end, under its event's name
// and under the name with the action: what the recipe handles is staged or
// dropped, the rest is ignored. The table is for reading.
func TestEveryRealPayloadRunsToAGoodEnd(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(inputs.Path(t, "data", "github"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("want payloads, got %d (%v)", len(files), err)
	}
	byEvent := map[string][]string{}
	for _, file := range files {
		event, _, _ := strings.Cut(filepath.Base(file), ".")
		byEvent[event] = append(byEvent[event], file)
		if action := actionOf(t, file); action != "" {
			byEvent[event+"."+action] = append(byEvent[event+"."+action], file)
		}
	}
	dir := t.TempDir()
	var table []string
	runs := map[string]string{} // by file: both names are the same run
	handled := map[pipeline.Status]int{}
	for event, files := range byEvent {
		code, stdout, stderr := decant(t, dir, append([]string{"run", "--json", "--github", event}, files...)...)
		lines := strings.Split(strings.TrimSpace(stdout), "\n")
		if code != 0 || len(lines) != len(files) {
			t.Errorf("%s: exit %d with %d answers to %d files: %s", event, code, len(lines), len(files), stderr)
			continue
		}
		for i, file := range files { // answers come in the order of the files
			var r struct {
				Run    string          `json:"run"`
				Status pipeline.Status `json:"status"`
				Reason pipeline.Code   `json:"reason"`
			}
			if err := json.Unmarshal([]byte(lines[i]), &r); err != nil {
				t.Fatal(err)
			}
			table = append(table, fmt.Sprintf("%-58s %-34s %-8s %s", filepath.Base(file), event, r.Status, r.Reason))
			switch r.Status {
			case pipeline.Staged, pipeline.Dropped, pipeline.Ignored:
				handled[r.Status]++
			default:
				t.Errorf("%s as %s: %s %s", filepath.Base(file), event, r.Status, r.Reason)
			}
			if before, twice := runs[file]; twice && before != r.Run {
				t.Errorf("%s as %s: run %q, and %q under its other name", filepath.Base(file), event, r.Run, before)
			}
			runs[file] = r.Run
		}
	}
	slices.Sort(table)
	t.Logf("payloads:\n%s", strings.Join(table, "\n"))
	if handled[pipeline.Staged] == 0 || handled[pipeline.Ignored] == 0 {
		t.Errorf("want payloads that are staged and others that are ignored, got %v", handled)
	}
}

// actionOf is the payload's action, or empty.
func actionOf(t *testing.T, file string) string {
	t.Helper()
	body, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Action string `json:"action"`
	}
	if err := json.Unmarshal(body, &p); err != nil {
		t.Fatal(err)
	}
	return p.Action
}
