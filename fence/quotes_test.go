package fence

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSplitQuotesTakesForeignWordsOut(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, text, own string
		quotes          int
	}{
		{"none", "Please close this.\nThanks", "Please close this.\nThanks", 0},
		{"sign", "> obey me\nI disagree.\n", "I disagree.\n", 1},
		{"nested", "a\n> > x\n> y\nb\n  > z\nc", "a\nb\nc", 2},
		{"full width", "＞ obey\nno", "no", 1},
		{"hidden before the sign", "\u200b> obey\nno", "no", 1},
		{"escaped sign", "&gt; obey\nno", "no", 1},
		{"attribution", "Yes.\n\nOn 3 May 2026, Mallory <m@example.com> wrote:\n> obey\n\nReally.", "Yes.\n\n\nReally.", 1},
		{"attribution on two lines", "Yes.\nOn Mon, 3 May 2026 at 10:00 Mallory\n<m@example.com> wrote:\n> obey\n", "Yes.\n", 1},
		{"attribution without signs", "Yes.\n\nOn 3 May 2026, Mallory wrote:\nobey me\nor else", "Yes.\n\n", 1},
		{"german", "Ja.\nAm 3.5.2026 um 10:00 schrieb M:\n> tu es", "Ja.\n", 1},
		{"french", "Oui.\nLe 3 mai 2026, M <m@example.com> a écrit :\nfais-le", "Oui.\n", 1},
		{"chinese", "好。\nM <m@example.com> 于2026年5月3日写道：\n做", "好。\n", 1},
		{"persian", "بله\nدر ۳ مه ۲۰۲۶، م نوشت:\nبکن", "بله\n", 1},
		{"japanese", "はい\n2026年5月3日 10:00 M <m@example.com>:\n> やれ", "はい\n", 1},
		{"outlook", "ok\n-----Original Message-----\nFrom: x\nobey", "ok\n", 1},
		{"forward", "fyi\n---------- Forwarded message ---------\nobey", "fyi\n", 1},
		{"apple", "fyi\nBegin forwarded message:\n\nobey", "fyi\n", 1},
		{"headers", "see below\n\nFrom: M\nSent: Monday\nTo: me\nSubject: x\n\nobey", "see below\n\n", 1},
		{"german headers", "siehe\nVon: M\nGesendet: Montag\nAn: mich\n\ntu es", "siehe\n", 1},
		{"blockquote", "a\n<blockquote>\nobey\n</blockquote>\nb", "a\nb", 1},
		{"nested blockquote", "a\n<BLOCKQUOTE class=x>obey</blockquote>\nb", "a\nb", 1},
		{"blockquote in a blockquote", "a\n<blockquote>\n<blockquote>obey</blockquote>\nobey\n</blockquote>\nb", "a\nb", 1},
		{"only a quote", "> obey", "", 1},
		{"crlf", "> obey\r\nno\r\n", "no\r\n", 1},
		{"from in text", "From: my point of view this is fine", "From: my point of view this is fine", 0},
		{"from and date in text", "From: Rome\nDate: Monday\nI travel.", "From: Rome\nDate: Monday\nI travel.", 0},
		{"wrote in text", "As she wrote:\nthis works", "As she wrote:\nthis works", 0},
		{"arrow", "a -> b, x > y\nc => d", "a -> b, x > y\nc => d", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			own, quotes := SplitQuotes(tc.text)
			if own != tc.own || len(quotes) != tc.quotes {
				t.Errorf("got own %q and quotes %q, want %q and %d", own, quotes, tc.own, tc.quotes)
			}
		})
	}
}

func FuzzSplitQuotesLosesNothing(f *testing.F) {
	for _, s := range []string{"", "> a\nb", "On 3 May, X wrote:\n\n> y\nz", "<blockquote>\n<blockquote>a</blockquote>\nb", "From: a\nDate: b\nTo: c", ">\r\n>\r"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		own, quotes := SplitQuotes(text)
		lines := map[string]int{}
		for _, l := range strings.SplitAfter(text, "\n") {
			lines[l]++
		}
		total := len(own)
		for _, part := range append([]string{own}, quotes...) {
			for _, l := range strings.SplitAfter(part, "\n") {
				if l != "" {
					lines[l]--
				}
			}
		}
		for _, q := range quotes {
			total += len(q)
		}
		for l, n := range lines {
			if n != 0 && l != "" {
				t.Fatal("a line is lost or doubled")
			}
		}
		if total != len(text) {
			t.Fatalf("%d bytes became %d", len(text), total)
		}
		for _, l := range strings.Split(own, "\n") {
			if isMarked(l) {
				t.Fatal("a marked line counts as own")
			}
		}
	})
}

// What a line must have to be looked at closely costs no match.
func TestNoLineThatMatchesIsPassedOver(t *testing.T) {
	t.Parallel()
	parts := []string{"on ", "On ", "am ", "در ", "1", "۱", "@", " x ", "<a@b>", " wrote", "写道", " نوشت", ":", "：", "-----", "--", "BEGIN", "begin forwarded message", "Original Message", "From", "von", "*", " "}
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 9).Draw(t, "parts"), "")
		if got, want := isAttribution(line), attribution.MatchString(line); got != want {
			t.Fatalf("%q is an attribution: %t, want %t", line, got, want)
		}
		if got, want := isSeparator(line), separator.MatchString(line); got != want {
			t.Fatalf("%q is a separator: %t, want %t", line, got, want)
		}
		thread := []string{line, "date: x", "to: y"}
		if got, want := startsHeaders(thread), fromHeader.MatchString(trim(line)); got != want {
			t.Fatalf("%q starts headers: %t, want %t", line, got, want)
		}
	})
}
