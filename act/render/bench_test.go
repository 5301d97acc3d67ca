package render

import (
	"strings"
	"testing"
	"time"
)

// Each renderer beside a copy of the same bytes, for texts of 160 characters
// and for the largest structure's 32 KiB. "of-copy" is the share of the copy's
// speed.
func BenchmarkRender(b *testing.B) {
	for _, in := range []struct{ name, text string }{
		{"ascii-160", strings.Repeat("It fails after 3 days ", 8)[:160]},
		{"code-160", strings.Repeat("if a<b && c[d] == \"e\" { f(`g`) } ", 8)[:160]},
		{"persian-32k", strings.Repeat("صفحه\u200cی ورود باز نمی\u200cشود ", 700)},
		{"colons-32k", strings.Repeat(" ", 1<<14) + strings.Repeat(":", 1<<14)},
		{"ticks-32k", strings.Repeat("`a``b```c", 3641)},
	} {
		for _, p := range Places()[1:] {
			b.Run(in.name+"/"+p.String(), func(b *testing.B) {
				b.SetBytes(int64(len(in.text)))
				for b.Loop() {
					p.Text(in.text)
				}
				rendering := b.Elapsed()
				b.StopTimer()
				start, n := time.Now(), b.N
				for range n {
					kept = strings.Clone(in.text)
				}
				b.ReportMetric(float64(time.Since(start))/float64(rendering), "of-copy")
			})
		}
	}
}

var kept string
