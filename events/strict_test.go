package events

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"
)

func TestMeasureFindsDepthAndKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		keys := 0
		depth := rapid.IntRange(MaxDepth-3, MaxDepth+3).Draw(t, "depth")
		var open, closing strings.Builder
		tails := []string{}
		for range depth {
			str := rapid.SampledFrom([]string{`"[{"`, `"\"[:"`, `"\\"`, `"\\\"{{{"`, `"]]}}"`, `1`, `[]`}).Draw(t, "sibling")
			if len(tails) == depth-1 && str == `[]` {
				str = `""` // so that the innermost list is the deepest
			}
			if rapid.Bool().Draw(t, "object") {
				open.WriteString(`{"[":` + str + `,"k":`)
				tails = append(tails, `}`)
				keys += 2
			} else {
				open.WriteString(`[` + str + `,`)
				tails = append(tails, `]`)
			}
		}
		for i := len(tails) - 1; i >= 0; i-- {
			closing.WriteString(tails[i])
		}
		doc := open.String() + `"{"` + closing.String()
		if !jsontext.Value(doc).IsValid() {
			t.Fatalf("the test built what is not JSON: %s", doc)
		}
		got, gotKeys := measure([]byte(doc))
		if depth <= MaxDepth && (got != depth || gotKeys != keys) || depth > MaxDepth && got != MaxDepth+1 {
			t.Fatalf("depth %d, %d keys: got %d, %d", depth, keys, got, gotKeys)
		}
	})
}

func TestStringEndIsTheFirstUnescapedQuote(t *testing.T) {
	t.Parallel()
	for in, end := range map[string]int{
		`"`: 0, `a"`: 1, `\""`: 2, `\\"`: 2, `\\\""`: 4, `a\"b\\"c"`: 6, ``: -1, `\"`: -1, `a\\\"`: -1,
	} {
		if got := stringEnd([]byte(in)); got != end {
			t.Errorf("%s: got %d, want %d", in, got, end)
		}
	}
}
