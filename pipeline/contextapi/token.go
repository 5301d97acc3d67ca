package contextapi

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strings"

	"decant.dev/pipeline"
)

const secretBytes = 32

// Token lets its bearer read one run's context while the run is active. It
// reads <run>.<secret>: the run's id, and 256 random bits in base64url
// without padding (RFC 4648 section 5), 43 characters. It is opaque: it prints
// as its run, whatever the verb, and only Reveal gives it away. The zero value
// is no token.
type Token struct {
	run    string
	secret func() [secretBytes]byte // a function, so that reflection does not reach it
}

// Mint makes a run's token. An error means that random gave out, or that run
// is no run's id.
func Mint(run string, random io.Reader) (Token, error) {
	var secret [secretBytes]byte
	if !pipeline.IsRunID(run) {
		return Token{}, errors.New("token: want a run's id")
	}
	if _, err := io.ReadFull(random, secret[:]); err != nil {
		return Token{}, fmt.Errorf("token: want %d random bytes: %w", secretBytes, err)
	}
	return Token{run, func() [secretBytes]byte { return secret }}, nil
}

var errToken = errors.New("token: want <run>.<secret>, 32 hex digits and 43 characters of base64url")

// ParseToken reads what Reveal gives, and nothing else: each token has one
// spelling. The error repeats none of it.
func ParseToken(s string) (Token, error) {
	run, text, ok := strings.Cut(s, ".")
	if !ok || !pipeline.IsRunID(run) || len(text) != base64.RawURLEncoding.EncodedLen(secretBytes) || strings.ContainsAny(text, "\r\n") {
		return Token{}, errToken
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(b) != secretBytes {
		return Token{}, errToken
	}
	secret := [secretBytes]byte(b)
	return Token{run, func() [secretBytes]byte { return secret }}, nil
}

// Run is the run whose context the token opens.
func (t Token) Run() string { return t.run }

// Reveal gives the token as its bearer shows it. It is for the adapter, and
// is neither logged nor stored beside what it opens.
func (t Token) Reveal() string {
	if t.secret == nil {
		return ""
	}
	secret := t.secret()
	return t.run + "." + base64.RawURLEncoding.EncodeToString(secret[:])
}

// Digest is what is kept of the token.
func (t Token) Digest() Digest {
	return sha256.Sum256([]byte("decant context token v1\n" + t.Reveal()))
}

// Format prints the run and not the secret.
func (t Token) Format(f fmt.State, _ rune) { fmt.Fprint(f, t.redacted()) }

// MarshalText gives the same words as Format, so that JSON and logs do.
func (t Token) MarshalText() ([]byte, error) { return []byte(t.redacted()), nil }

func (t Token) redacted() string {
	if t.secret == nil {
		return "token(none)"
	}
	return "token(run " + t.run + ", redacted)"
}

// Digest is the SHA-256 of a token. Whoever has it cannot make the token.
type Digest [sha256.Size]byte

// String gives the digest as 64 lower-case hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }
