package rules

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFoldingMakesSpellingsAlike(t *testing.T) {
	t.Parallel()
	tests := []struct{ a, b string }{
		{"CRASH", "crash"},
		{"Straße", "straße"},
		{"ΣΊΣΥΦΟΣ", "σίσυφος"},
		{"ОШИБКА", "ошибка"},
		{"\u212Aelvin", "kelvin"},
		{"doesn\u2019t", "doesn't"},
		{"steps \t\r\n to", "steps to"},
		{"a\u00a0b", "a b"},
		{"\u023A", "\u2C65"},
	}
	for _, tt := range tests {
		if foldString(tt.a) != foldString(tt.b) {
			t.Errorf("%q folds to %q and %q to %q", tt.a, foldString(tt.a), tt.b, foldString(tt.b))
		}
	}
	if foldString("crash") == foldString("trash") {
		t.Error("different words fold alike")
	}
}

// FuzzFoldLeadsBack: folding is idempotent, and every position leads back to the character that it came from.
func FuzzFoldLeadsBack(f *testing.F) {
	for _, s := range []string{"", "Ab  C", "ſK İ\u023A\u2019", "\xff \xc3", "漢字  かな", "a\u3000\u3000b", " \n \n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var x folded
		x.append("before ", 0)
		at := len(x.buf)
		x.append(text, 100)
		if again := foldString(string(x.buf)); again != string(x.buf) {
			t.Fatalf("folding %q again gives %q", x.buf, again)
		}
		last := -1
		for i := at; i < len(x.buf); {
			r, n := utf8.DecodeRune(x.buf[i:])
			src := x.source(i) - 100
			if src <= last || src >= len(text) {
				t.Fatalf("position %d leads back to %d after %d of %d", i, src, last, len(text))
			}
			from, _ := utf8.DecodeRuneInString(text[src:])
			if from < utf8.RuneSelf && strings.ContainsRune("\t\r\n\v\f ", from) {
				from = ' '
			}
			if r != utf8.RuneError && fold(from) != r && fold(from) != fold(r) {
				t.Fatalf("position %d holds %U and leads back to %U", i, r, from)
			}
			last, i = src, i+n
		}
	})
}
