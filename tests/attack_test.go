package tests

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"decant.dev/internal/inputs"
)

// The recipe of this module holds against the shared corpus, with a hostile
// extractor and with its own. With the full numbers it is a step of .ci/run
// of its own; here each text is tried, or under the race detector a sample.
func TestIssuesHoldsAgainstTheCorpus(t *testing.T) {
	t.Parallel()
	corpus := inputs.Path(t, "attacks", "payloads.jsonl")
	one := 1
	if race {
		one = 40
	}
	sample, texts := sampled(t, corpus, one)
	code, stdout, stderr := decant(t, t.TempDir(), "attack", "--json", "--unsandboxed", "--n", "50", "--corpus", sample, "issues")
	var report struct {
		Off     int `json:"off"`
		Classes []struct {
			Class       string
			Runs, Wrote int
		} `json:"classes"`
		Escapes struct{ Out []string } `json:"escapes"`
	}
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || code != 0 {
		t.Fatalf("exit %d, %v: %s%s", code, err, stdout, stderr)
	}
	if report.Off != 0 || len(report.Escapes.Out) > 0 {
		t.Errorf("%d runs off the list, %v got out", report.Off, report.Escapes.Out)
	}
	for _, c := range report.Classes {
		if c.Class == "texts" && (c.Runs != 2*texts || c.Wrote < c.Runs/3) {
			t.Errorf("%d texts: %d runs, of which %d wrote", texts, c.Runs, c.Wrote)
		}
	}
	code, stdout, stderr = decant(t, t.TempDir(), "attack", "--flips", "--json", "--unsandboxed", "--n", "20", "--corpus", sample, "issues")
	if code != 0 || !bytes.Contains([]byte(stdout), []byte(`"runs":183,"off":0`)) {
		t.Errorf("flips: exit %d: %s%s", code, stdout, stderr)
	}
}

// sampled writes one line in n of a file to another.
func sampled(t *testing.T, file string, n int) (path string, lines int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	for i, line := range bytes.SplitAfter(b, []byte("\n")) {
		if i%n == 0 && len(bytes.TrimSpace(line)) > 0 {
			out = append(out, line...)
			lines++
		}
	}
	path = filepath.Join(t.TempDir(), "corpus.jsonl")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path, lines
}
