package cli

import (
	"strings"
	"testing"
	"unicode/utf8"

	"decant.dev/internal/attack"
)

// A report of what failed names the smallest write and every way out, in 80
// columns but for the structure, with nothing that a terminal acts on.
func TestAnAttackThatSucceededIsTold(t *testing.T) {
	t.Parallel()
	report := attack.Report{
		Recipe: "issues", Outcomes: "19056", Kinds: 59,
		Classes: []attack.Class{{Class: "malformed, read", Runs: 1_000_000, Wrote: 1_000_000, Off: 2, Ended: map[string]int{"done": 999_998, "agents_never_trigger": 2}}},
		Escapes: attack.Escapes{Tried: 108, Out: []string{"read /etc/passwd"}},
		Example: &attack.Example{Class: "malformed, read", Run: strings.Repeat("0", 32), Why: "no outcome of the list has these writes", Structure: "{\"kind\":\"\x1b[2J\u202e\"}"},
	}
	if report.Held() {
		t.Fatal("the report says that it held")
	}
	var out strings.Builder
	printAttack(&out, report)
	for _, want := range []string{
		"Of 108 tries to get out of the extract child 1 did:\n  read /etc/passwd\n", "2 runs wrote what is not on the list. The smallest:\n",
		"no outcome of the list has these writes", "⟦U+001B⟧[2J⟦U+202E⟧", "   999998 done", "        2 agents_never_trigger",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("want %q in\n%s", want, out.String())
		}
	}
	for line := range strings.Lines(out.String()) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > 80 && !strings.HasPrefix(line, "  structure ") {
			t.Errorf("more than 80 columns: %s", line)
		}
	}
}
