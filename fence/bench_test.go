package fence

import (
	"bytes"
	"crypto/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"decant.dev/internal/inputs"
)

const benchSize = 1 << 20

// benchTexts are honest texts of one kind of script each, about 60 characters a line.
func benchTexts() map[string]string {
	return map[string]string{
		"ascii":   repeat("The build fails on the second run; see the log in out/test.log.\n"),
		"persian": repeat("گزارش\u200cهای هفتگی را می\u200cخواهم ببینم ولی صفحه هنوز باز نمی\u200cشود و خطا می\u200cدهد\n"),
		"chinese": repeat("第二次构建失败，请看日志文件中的错误信息，谢谢大家帮忙解决这个问题。\n"),
		"code":    repeat("\tif a < b && c > d { return m[\"key\"] } // <p>hello</p>\n"),
		"emoji":   repeat("done 👨\u200d👩\u200d👧\u200d👦 ✔️ next 🏳️\u200d🌈 ok\n"),
	}
}

func repeat(s string) string { return strings.Repeat(s, benchSize/len(s)) }

func benchBoundary(b *testing.B) Boundary {
	b.Helper()
	bd, err := NewBoundary(rand.Reader)
	if err != nil {
		b.Fatal(err)
	}
	return bd
}

var benchAttributes = Attributes{OriginMessage, RoleUser, TrustUnverified, Author{ID: "7c21", Kind: KindPerson}, 0}

func BenchmarkAppendBlock(b *testing.B) {
	bd := benchBoundary(b)
	for name, text := range benchTexts() {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				AppendBlock(nil, 1, bd, benchAttributes, text)
			}
			b.StopTimer()
			fenced := b.Elapsed()
			dst := make([]byte, len(text))
			begin := time.Now()
			for range b.N {
				copy(dst, text)
			}
			b.ReportMetric(float64(fenced)/float64(max(1, time.Since(begin))), "times-copy")
		})
	}
}

func BenchmarkUnfence(b *testing.B) {
	bd := benchBoundary(b)
	for name, text := range benchTexts() {
		b.Run(name, func(b *testing.B) {
			block := string(AppendBlock(nil, 1, bd, benchAttributes, text))
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := Unfence(block); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRender(b *testing.B) {
	for name, text := range benchTexts() {
		b.Run(name, func(b *testing.B) {
			c := validContext()
			c.Limits = Limits{MaxLimit, MaxLimit}
			c.Elements[0].Text = text
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, err := Render(c, rand.Reader); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkFencePython times the fence of the seed document on the same text, where python3 and the document are at hand.
func BenchmarkFencePython(b *testing.B) {
	python, err := exec.LookPath("python3")
	if err != nil {
		b.Skip("python3 is not at hand")
	}
	seed := seedDocument(b)
	bd := benchBoundary(b)
	for _, name := range []string{"ascii", "persian", "chinese"} {
		text := benchTexts()[name]
		b.Run(name, func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "text")
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				b.Fatal(err)
			}
			out, err := exec.Command(python, "testdata/pyfence.py", seed, file).Output()
			if err != nil {
				b.Skip("python3 could not run the document's fence")
			}
			theirs, err := strconv.ParseFloat(string(bytes.TrimSpace(out)), 64)
			if err != nil || theirs <= 0 {
				b.Fatal("want a figure in MB/s from pyfence.py")
			}
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				AppendBlock(nil, 1, bd, benchAttributes, text)
			}
			best := time.Hour // of five, as pyfence.py takes it
			for range 5 {
				begin := time.Now()
				AppendBlock(nil, 1, bd, benchAttributes, text)
				best = min(best, time.Since(begin))
			}
			ours := float64(len(text)) / 1e6 / best.Seconds()
			b.ReportMetric(ours, "go-MB/s")
			b.ReportMetric(theirs, "python-MB/s")
			b.ReportMetric(ours/theirs, "times-python")
		})
	}
}

func seedDocument(tb testing.TB) string {
	tb.Helper()
	files, _ := filepath.Glob(filepath.Join(inputs.Path(tb, "seeds"), "*.txt"))
	for _, f := range files {
		doc, err := os.ReadFile(f)
		if err == nil && bytes.Contains(doc, []byte("def fence(")) {
			return f
		}
	}
	tb.Skip("the document with the Python fence is absent")
	return ""
}

func BenchmarkSplitQuotes(b *testing.B) {
	text := benchTexts()["ascii"][:MaxTriggerBytes]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		SplitQuotes(text)
	}
}
