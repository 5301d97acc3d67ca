package sandbox

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestKindTellsACrashByItsFirstWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Kind{
		"":                              KindSilent,
		"some words":                    KindWords,
		"not at the start: panic: no":   KindWords,
		"panic: boom\n\ngoroutine 1":    KindPanic,
		"first\npanic: boom":            KindPanic,
		"fatal error: out of memory\n":  KindFatal,
		"runtime: goroutine stack\n":    KindFatal,
		"==\nWARNING: DATA RACE\nRead ": KindRace,
		strings.Repeat("x", headBytes) + "\npanic: late": KindWords,
	} {
		d := new(Diagnostics)
		if n, err := d.Write([]byte(text)); n != len(text) || err != nil {
			t.Errorf("want all %d bytes taken, got %d: %v", len(text), n, err)
		}
		if got := d.Kind(); got != want {
			t.Errorf("%.40q: want %s, got %s", text, want, got)
		}
	}
}

func TestDiagnosticsPrintNoWordAndKeepLittle(t *testing.T) {
	t.Parallel()
	form := regexp.MustCompile(`^(silent|(words|panic|fatal error|data race), [0-9]+ bytes, sha256 [0-9a-f]{16})$`)
	rapid.Check(t, func(t *rapid.T) {
		d := new(Diagnostics)
		total := 0
		for _, chunk := range rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 3000)).Draw(t, "chunks") {
			if n, err := d.Write(chunk); n != len(chunk) || err != nil {
				t.Fatalf("want %d bytes taken, got %d: %v", len(chunk), n, err)
			}
			total += len(chunk)
		}
		if d.Bytes() != int64(total) || len(d.head) > headBytes {
			t.Fatalf("want %d bytes counted and at most %d kept, got %d and %d", total, headBytes, d.Bytes(), len(d.head))
		}
		for _, verb := range []string{"%v", "%s", "%+v", "%#v"} {
			if text := fmt.Sprintf(verb, d); !form.MatchString(text) {
				t.Fatalf("%s: want our own words, got %q", verb, text)
			}
		}
	})
}

func TestEveryKindHasAWordAndZeroIsInvalid(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for kind := KindInvalid; kind <= KindRace; kind++ {
		if seen[kind.String()] {
			t.Errorf("kind %d: want a word of its own, got %q again", kind, kind)
		}
		seen[kind.String()] = true
	}
	if (KindRace + 1).String() != KindInvalid.String() {
		t.Error("want an unknown kind invalid")
	}
}
