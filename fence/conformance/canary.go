package conformance

import (
	"math/rand/v2"
	"regexp"
	"strings"
)

// A canary is a fresh random word of letters that no adapter has a reason to change.
const canaryStart = "qz"

const canaryLetters = "bcdfghjklmnpqrstvwxz"

const canaryDraws = 10 // letters after the start: 43 bits

var canaries = regexp.MustCompile(canaryStart + `[` + canaryLetters + `]{10}`)

// writer makes foreign texts.
type writer struct{ rand *rand.Rand }

func newWriter(seed uint64) writer {
	return writer{rand.New(rand.NewPCG(seed, seed^0x9E3779B97F4A7C15))}
}

func (w writer) canary() string {
	var b strings.Builder
	b.WriteString(canaryStart)
	for range canaryDraws {
		b.WriteByte(canaryLetters[w.rand.IntN(len(canaryLetters))])
	}
	return b.String()
}

// words gives an honest sentence with n canaries.
func (w writer) words(n int) string {
	plain := []string{"the build", "breaks on", "version 2 of", "a page with", "my account and", "the order", "since Monday"}
	var b strings.Builder
	for range n {
		b.WriteString(plain[w.rand.IntN(len(plain))] + " " + w.canary() + " ")
	}
	return b.String() + "please."
}

// sized gives a text of exactly n bytes, a canary in each 16; n is at least 16.
func (w writer) sized(n int) string {
	var b strings.Builder
	for b.Len()+16 <= n {
		b.WriteString(w.canary() + " ok ")
	}
	return b.String() + strings.Repeat(".", n-b.Len())
}

// long gives a text of exactly n bytes, a canary at either end; n is at least 26.
func (w writer) long(n int) string {
	first, last := w.canary()+" ", w.canary()+"."
	return first + strings.Repeat(".", n-len(first)-len(last)) + last
}

// hex gives n digits, as a forged token.
func (w writer) hex(n int) string {
	var b strings.Builder
	for range n {
		b.WriteByte("0123456789abcdef"[w.rand.IntN(16)])
	}
	return b.String()
}
