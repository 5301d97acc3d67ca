package learned

import (
	"testing"
	"unicode"
	"unicode/utf8"

	"decant.dev/fence"
)

// Whatever a text is, the quick look gives what the fence's own splitting gives.
func FuzzOwnIsWhatTheFenceSplits(f *testing.F) {
	for _, s := range []string{
		"", "plain\ntext", "> quoted\nown", " \t&gt; quoted\nown", "\u200b> quoted", "＞ quoted", "a\n<BlockQuote>b</blockquote>\nc",
		"On 1 May 2026, a@example.com wrote:\n\n> hello\nown", "On 1 May 2026, Ann Example\nwrote:\nhello", "Am 3. Mai schrieb Ann:\nhallo",
		"May 3 2026 Ann <a@example.com>:\nhello", "own\n-----Original Message-----\nquoted", "own\n-- forwarded message --\nquoted",
		"Begin forwarded message:\nquoted", "own\n*From*: a\nSent: b\nTo: c\nquoted", "Von : a\nDatum: b\nAn: c", "od:\ndata:\ndo:", "El 3 de mayo, Ana escribió:\nhola",
		"Il 3 maggio Anna ha scritto :\nciao", "K 3 napisał(a):", "steps 1:\n2:\n", "On 3 May, Ann <a@example.com>\n> wrote:\nhello", "FROM\t: a\nsent: b\nto: c", "från: a\nSkickat: b\ntill: c", "a\x01b wrote:\nc", "On 3 \u00e9 @ wrote:\nx", "os: linux\nversion: 3", "def f(x):\n  return 1\n", "at 0x7f> x\n", "a\x00> b", "\x7f> b", "\v> b", "On 1 May, Ann \u212aK wrote\u200b:\nx", "On 1 ſept Ann ſkrev:\nx", "From：a\nDate：b\nTo：c", "*发件人：a\n日期：b\n主题：c", "an “apt” word\nnext", "<bloc\u212aquote>x", "x\r> y\r\n> z",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > MaxBody {
			return
		}
		want, _ := fence.SplitQuotes(text)
		if got := own(text); got != want {
			t.Errorf("want %q, got %q", want, got)
		}
	})
}

// No rune of Unicode that the glance takes for a drawn one is skipped by the fence, at the start of a line or at its end.
func TestNoRuneHidesASignFromTheGlance(t *testing.T) {
	t.Parallel()
	step := rune(1)
	if testing.Short() || raceDetector {
		step = 17
	}
	for r := rune(0x80); r <= unicode.MaxRune; r += step {
		if !utf8.ValidRune(r) || !seen(r) {
			continue
		}
		for _, text := range []string{string(r) + "> a\nb", "On 3 May, a@example.com wrote:" + string(r) + "\nb"} {
			if glance(text) == unclear {
				continue
			}
			if want, _ := fence.SplitQuotes(text); own(text) != want {
				t.Errorf("%U: want %q, got %q", r, want, own(text))
			}
		}
	}
}
