package render

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// fragments are what Markdown is made of; constants and texts are drawn from
// them so that they meet in ways that nobody lists.
var fragments = []string{
	"`", "``", "```", "~~~", "\n", "\n\n", "\n\n\n", " ", "    ", "\t", "*", "**", "_", "~~", "[", "]", "(", ")", "](", "!", "<", ">", "<div>", "</div>", "<b>", "<!--", "-->",
	"<a href=\"", "\">", "'", "\"", "$", "$$", "|", "\n|-|-|\n", "\n|-|\n", ":-", "\n:-:\n", "\n-:\n", "#", "# ", "> ", "\n> ", "- ", "\n- ", "\n  ", "1. ", "\\", "\n---\n", "\n===\n",
	"https://a.b/", "www.a.b", "a@b.c", "@", "x", "word ", "&amp;", "&#96;", "&lt;", "[^1]", "[^1]: ", "[a]: ", "[a](b)", "- [ ] ", "> [!NOTE]\n", "<pre>", "</pre>", "<script>", "<?", "?>", "<!A", "<![CDATA[", "]]>",
	"<details>", "\u00a0", "⟦", "é", "<https://a.b>", "<x y='", ":", "mailto:", "\f", "\v",
}

// drawn is up to n fragments in a row.
func drawn(r *rand.Rand, n int) string {
	var sb strings.Builder
	for range r.IntN(n + 1) {
		sb.WriteString(fragments[r.IntN(len(fragments))])
	}
	return sb.String()
}

// Of many templates that no author would write, each is refused or keeps each
// text in code.
func TestNoConstantsLetATextOut(t *testing.T) {
	t.Parallel()
	held := 0
	for seed := range uint64(12000) {
		r := rand.New(rand.NewPCG(seed, 8))
		parts := []string{drawn(r, 4), "…", drawn(r, 3), "…", drawn(r, 3)}
		if _, err := Template(said("x", parts...)); err == nil {
			held++
		}
		checkTemplate(t, drawn(r, 5), parts)
	}
	if held < 800 {
		t.Errorf("%d of 12000 templates were accepted: want enough to show something", held)
	}
}
