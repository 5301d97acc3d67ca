package tests

import (
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"decant.dev/extract/shape"
)

// The page on models tells the table of capabilities as it is.
func TestModelsPageHasTheTableOfCapabilities(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/models.md")
	if err != nil {
		t.Fatal(err)
	}
	word := func(b bool) string { return map[bool]string{true: "yes", false: "no"}[b] }
	number := func(n int) string {
		if n > math.MaxInt16 {
			return "any"
		}
		return fmt.Sprint(n)
	}
	for _, p := range shape.Providers() {
		row := fmt.Sprintf("| `%s` | %s | %s | %s | %s | %s |\n", p.Name, word(p.Bounds), word(p.Lengths), word(p.Patterns), number(p.Optional), number(p.Unions))
		if !strings.Contains(string(page), row) {
			t.Errorf("want the row %s", row)
		}
	}
}
