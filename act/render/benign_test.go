package render

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden list anew")

// The golden list says of each honest text how many escapes each place shows
// for it, but for line breaks and tabs, which a text of a shape cannot hold.
// It is read in review: a line is there only where something is shown.
func TestHonestTextStaysReadable(t *testing.T) {
	t.Parallel()
	var list bytes.Buffer
	texts, shown := 0, 0
	for _, s := range corpus(t, "benign.jsonl") {
		text := strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ", "\t", " ").Replace(s.Text)
		var counts []string
		for _, p := range []struct {
			name   string
			render func(string) string
		}{{"markdown", Markdown}, {"csv", CSV}, {"html", HTML}, {"plain", Plain}, {"terminal", Terminal}} {
			if n := strings.Count(p.render(text), "⟦"); n > 0 {
				counts = append(counts, fmt.Sprintf("%s %d", p.name, n))
			}
		}
		texts++
		if counts != nil {
			shown++
			fmt.Fprintf(&list, "%s: %s\n", s.ID, strings.Join(counts, ", "))
		}
	}
	fmt.Fprintf(&list, "%d of %d texts\n", shown, texts)
	golden := filepath.Join("testdata", "benign.golden")
	if *update {
		if err := os.WriteFile(golden, list.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(list.Bytes(), want) {
		t.Errorf("escapes in honest texts differ from %s; review, then go test -update:\n%s", golden, list.Bytes())
	}
}

// What people write every day is the same in each place but for its format.
func TestEverydayTextIsShownAsItIs(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"A crash in v1.2.3 (see 4), 100% of the time!", "Größe ändern — naïve façade", "Ошибка при запуске", "崩溃：《数据》分析", "الخطأ", "می\u200cخواهم", "क्\u200dष",
		"cafe\u0301", "☃\uFE0F 🎉 👨\u200d👩\u200d👧 1\uFE0F\u20E3", "a ‘quote’ … and 【brackets】", "12\u202f500\u00a0€", "2.3 GB at 10:45", "C:\\Users\\Ann", "a_b(c) ~ d^2 * e",
	} {
		for name, got := range map[string]string{"markdown": strings.Trim(Markdown(s), "`"), "csv": strings.Trim(CSV(s), `"`), "html": HTML(s), "plain": Plain(s)} {
			if got != s {
				t.Errorf("%s writes %+q as %+q", name, s, got)
			}
		}
	}
}

func Example() {
	for _, s := range []string{"v1.2.3", "@someone `x` [a](b)", "=1+1", "\u202e::debug"} {
		fmt.Println(Markdown(s), CSV(s), JSON(s), HTML(s), Plain(s))
	}
	// Output:
	// `v1.2.3` "v1.2.3" "v1.2.3" v1.2.3 v1.2.3
	// ``@someone `x` [a](b)`` "⟦U+0040⟧someone `x` [a](b)" "@someone \u0060x\u0060 [a](b)" @someone &#96;x&#96; [a](b) ⟦U+0040⟧someone `x` [a](b)
	// `=1+1` "⟦U+003D⟧1+1" "=1+1" &#61;1+1 =1+1
	// `⟦U+202E⟧::debug` "⟦U+202E⟧::debug" "\u202e::debug" ⟦U+202E⟧::debug ⟦U+202E⟧::debug
}
