package terminal

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// unline is the inverse of Line: it undoes each escape.
func unline(t testing.TB, s string) string {
	t.Helper()
	var sb strings.Builder
	for {
		before, rest, escaped := strings.Cut(s, "⟦")
		sb.WriteString(before)
		if !escaped {
			return sb.String()
		}
		word, after, closed := strings.Cut(rest, "⟧")
		s = after
		digits, isRune := strings.CutPrefix(word, "U+")
		if !isRune {
			digits = strings.TrimPrefix(word, "0x")
		}
		n, err := strconv.ParseUint(digits, 16, 32)
		switch {
		case !closed || err != nil || !isRune && n > 0xFF:
			t.Fatalf("want an escape, got %q", word)
		case isRune:
			sb.WriteRune(rune(n))
		default:
			sb.WriteByte(byte(n))
		}
	}
}

// deceptive reports whether a terminal could act on r, or a person be misled
// by it. It is written from Unicode's properties, not from Line.
func deceptive(r rune) bool {
	return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Bidi_Control, unicode.Join_Control,
		unicode.Other_Default_Ignorable_Code_Point) || r != ' ' && unicode.IsSpace(r)
}

func check(t testing.TB, s string) {
	t.Helper()
	line := Line(s)
	if !utf8.ValidString(line) {
		t.Fatalf("an invalid byte survives: %x gives %x", s, line)
	}
	var before rune
	for _, r := range line {
		selects := unicode.Is(unicode.Variation_Selector, r)
		if deceptive(r) || selects && !(r>>1 == 0xFE0E>>1 && unicode.IsSymbol(before)) {
			t.Fatalf("%U survives: %q gives %+q", r, s, line)
		}
		before = r
	}
	if back := unline(t, line); back != s {
		t.Fatalf("%q gives %q, and so does %q", s, line, back)
	}
}

// Nothing that a terminal could act on survives, and since a text can be had
// back from its line, no two texts look the same.
func FuzzLineIsHarmlessAndInjective(f *testing.F) {
	for _, s := range []string{
		"", "plain", "two\nlines\r\n", "\x1b]0;owned\a", "\u202e reversed", "zero\u200bwidth", "⟦U+202E⟧", "⟦", "⟧⟦0xFF⟧", "\xff\xfe\xe2\x9f",
		"\U000E0049\U000E0047 tags", "a\uFE0F\U000E0101 selectors", "☃\uFE0F ☃\uFE0F\uFE0F", "\u3164\u115f fillers", "0\x98\uFE0F0", "\u0085\u2028\u2029", "\ufffd", "\u00a0",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) { check(t, s) })
}

// Every rune and every byte, after a symbol and after a letter. Of the large
// scripts, where every character is a letter, it is one in 61.
func TestEveryRuneIsHarmless(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= unicode.MaxRune; r++ {
		uniform := r >= 0x3400 && r < 0xA000 || r >= 0xAC00 && r < 0xF900 || r >= 0x12000 && r < 0xE0000 || r >= 0xE1000
		if utf8.ValidRune(r) && (!uniform || r%61 == 0) {
			check(t, "☃"+string(r)+"a"+string(r))
		}
	}
	for b := range 256 {
		check(t, string([]byte{byte(b), 'a', byte(b)}))
	}
}

func TestHonestTextStaysAsItIs(t *testing.T) {
	t.Parallel()
	for _, s := range []string{
		"A crash in v1.2.3 (see #4), 100% of the time!", "Größe ändern — naïve façade", "Ошибка при запуске", "崩溃：《数据》分析", "الخطأ", "त्रुटि",
		"cafe\u0301", "☃ and 🎉 and \u26A0\uFE0F", "a ‘quote’ … and 【brackets】",
	} {
		if got := Line(s); got != s {
			t.Errorf("%q became %q", s, got)
		}
	}
}

func TestCutIsTheLineOfTheFirstRunes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		n    int
		want string
	}{
		{"", 0, ""}, {"a", 0, "…"}, {"abc", 3, "abc"}, {"abcd", 3, "abc…"}, {"日本語", 2, "日本…"},
		{"\x1b[31m", 1, "⟦U+001B⟧…"}, {"\xffab", 2, "⟦0xFF⟧a…"}, {"\xff\xfe", 2, "⟦0xFF⟧⟦0xFE⟧"}, {"\u202eabc", 4, "⟦U+202E⟧abc"},
	} {
		if got := Cut(c.in, c.n); got != c.want {
			t.Errorf("Cut(%q, %d) = %q, want %q", c.in, c.n, got, c.want)
		}
	}
}

func ExampleLine() {
	fmt.Println(Line("title \u202e\x1b[2J ⟦end⟧"))
	// Output: title ⟦U+202E⟧⟦U+001B⟧[2J ⟦U+27E6⟧end⟧
}
