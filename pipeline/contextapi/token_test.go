package contextapi

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

const (
	ours   = "00112233445566778899aabbccddeeff"
	theirs = "ffeeddccbbaa99887766554433221100"
)

func mint(tb testing.TB, run string) Token {
	tb.Helper()
	t, err := Mint(run, rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func TestTokenComesBackAndIsNeverTheSame(t *testing.T) {
	t.Parallel()
	seen := map[Digest]bool{}
	for range 100 {
		token := mint(t, ours)
		back, err := ParseToken(token.Reveal())
		if err != nil || back.Run() != ours || back.Digest() != token.Digest() || len(token.Reveal()) != 32+1+43 {
			t.Fatalf("got %v, %v", back, err)
		}
		if seen[token.Digest()] {
			t.Fatal("a token was minted twice")
		}
		seen[token.Digest()] = true
	}
}

// A token of one run with another's name in it is another token.
func TestDigestCoversTheRun(t *testing.T) {
	t.Parallel()
	secret := bytes.Repeat([]byte{7}, secretBytes)
	a, errA := Mint(ours, bytes.NewReader(secret))
	b, errB := Mint(theirs, bytes.NewReader(secret))
	if errA != nil || errB != nil || a.Digest() == b.Digest() {
		t.Errorf("%v, %v, or one digest for two runs", errA, errB)
	}
	if (Token{}).Digest() == a.Digest() || (Token{}).Reveal() != "" {
		t.Error("no token is a token")
	}
}

func TestOnlyOneSpellingIsAToken(t *testing.T) {
	t.Parallel()
	good := mint(t, ours).Reveal()
	run, secret, _ := strings.Cut(good, ".")
	last := secret[len(secret)-1]
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	loose := alphabet[strings.IndexByte(alphabet, last)^1] // the same bytes, but for two bits that are not there
	for _, bad := range []string{
		"", ".", run, run + ".", "." + secret, secret, good + "=", good + " ", " " + good, good + "\n", run + "." + secret[1:], run + "." + secret + "A",
		strings.ToUpper(run) + "." + secret, run[1:] + "." + secret, run + ".." + secret[1:], run + "." + secret[:42] + "+", run + "." + secret[:42] + "/",
		run + "." + secret[:42] + "\n", run + "." + secret[:42] + string(loose), good + "." + secret, run + "." + strings.Repeat("é", 21) + "x",
	} {
		if got, err := ParseToken(bad); err == nil || got.secret != nil {
			t.Errorf("%q was taken", bad)
		} else if strings.Contains(err.Error(), secret[:8]) {
			t.Errorf("%q: the error repeats it", bad)
		}
	}
}

func TestMintWantsARunAndRandomness(t *testing.T) {
	t.Parallel()
	if _, err := Mint("zz9", rand.Reader); err == nil || strings.Contains(err.Error(), "zz9") {
		t.Errorf("a token of no run: %v", err)
	}
	if _, err := Mint(ours, bytes.NewReader(make([]byte, 31))); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("a token of 31 bytes: %v", err)
	}
}

// No verb, no encoder and no look at its fields shows the secret.
func TestTokenPrintsWithoutItsSecret(t *testing.T) {
	t.Parallel()
	token := mint(t, ours)
	_, secret, _ := strings.Cut(token.Reveal(), ".")
	raw := token.secret()
	holder := struct{ T Token }{token}
	j, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	shown := []string{string(j), fmt.Sprint(reflect.ValueOf(token))}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		shown = append(shown, fmt.Sprintf(verb, token), fmt.Sprintf(verb, holder), fmt.Sprintf(verb, &holder), fmt.Sprintf(verb, []Token{token}))
	}
	for _, s := range shown {
		if strings.Contains(s, secret) || strings.Contains(s, fmt.Sprintf("%x", raw)) || strings.Contains(s, fmt.Sprint(raw)) || !strings.Contains(s, ours) {
			t.Errorf("got %s", s)
		}
	}
	if got := fmt.Sprint(Token{}); got != "token(none)" {
		t.Errorf("got %s", got)
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add(mint(f, ours).Reveal())
	f.Add(ours + "." + strings.Repeat("A", 43))
	f.Add(ours + "." + strings.Repeat("A", 42) + "B")
	f.Fuzz(func(t *testing.T, s string) {
		token, err := ParseToken(s)
		if err == nil && token.Reveal() != s {
			t.Error("a token has two spellings")
		}
	})
}
