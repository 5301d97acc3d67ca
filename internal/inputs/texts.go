package inputs

import (
	"bufio"
	"os"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
)

// Texts returns the texts of a file of attacks/, in order, or skips the test.
// A line has its text as text, or its bytes in base64 as b64.
func Texts(tb testing.TB, name string) []string {
	tb.Helper()
	f, err := os.Open(Path(tb, "attacks", name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var all []string
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var line struct {
			Text string `json:"text"`
			B64  []byte `json:"b64"`
		}
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			tb.Fatal(err)
		}
		if line.B64 != nil {
			line.Text = string(line.B64)
		}
		all = append(all, line.Text)
	}
	if lines.Err() != nil || len(all) == 0 {
		tb.Fatalf("%s: want texts, one a line", name)
	}
	return all
}
