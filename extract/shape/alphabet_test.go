package shape

import (
	"regexp/syntax"
	"testing"
	"unicode/utf8"
)

func TestAlphabetHasTheStatedSize(t *testing.T) {
	t.Parallel()
	const scalars = 0x110000 - 0x800
	const without = 32 + 1 + 32 + 2 + 12 + 128 + 66 // C0, DEL, C1, separators, bidi, tags, noncharacters
	if alphabetSize != scalars-without {
		t.Errorf("want %d, got %d", scalars-without, alphabetSize)
	}
}

func TestAlphabetPatternAndRuleAgreeOnEveryRune(t *testing.T) {
	t.Parallel()
	re, err := syntax.Parse(alphabetPattern, syntax.Perl)
	if err != nil {
		t.Fatal(err)
	}
	class := re.Sub[1].Sub[0].Rune // ^, [class]*, $
	i := 0
	for r := rune(0); r <= utf8.MaxRune; r++ {
		in := false
		for k := 0; k < len(class); k += 2 {
			in = in || class[k] <= r && r <= class[k+1]
		}
		if in == out(r) || in && !utf8.ValidRune(r) {
			t.Fatalf("%U: pattern and rule differ", r)
		}
		if in {
			if letter(i) != r {
				t.Fatalf("letter %d: want %U, got %U", i, r, letter(i))
			}
			i++
		}
	}
	if letter(alphabetSize) != -1 || !out(-1) || !out(utf8.MaxRune+1) {
		t.Error("the alphabet has no end")
	}
}

func TestPlainBytesAreInTheAlphabet(t *testing.T) {
	t.Parallel()
	for c := range 256 {
		if plainByte[c] && (c >= utf8.RuneSelf || out(rune(c)) || c == '"' || c == '\\') {
			t.Errorf("%#x is taken without a look", c)
		}
	}
}
