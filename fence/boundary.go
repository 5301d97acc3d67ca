package fence

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
)

// Sizes of a boundary, in bytes of randomness and in hex digits, and the length of the part that counts as an echo.
const (
	boundaryBytes  = 16
	boundaryDigits = 2 * boundaryBytes
	echoDigits     = 16
)

// ErrBoundary says that no boundary could be drawn that is absent from the content: the source of randomness is broken.
var ErrBoundary = errors.New("no boundary: every one drawn occurs in the content")

// Boundary is the random token of one turn: 128 bits in lower-case hex. It is opaque: formatting, logging and the text
// encoders never show it, only [Boundary.Hex] does. The zero value is invalid and no block can be made with it. Compare with
// [Boundary.Equal].
type Boundary struct {
	token *string // a pointer, since fmt shows the fields of a struct around it without asking Format
}

// NewBoundary draws a boundary from random (crypto/rand.Reader outside tests) after the contents are known, and draws
// again while it occurs in one of them. It fails when random fails, or with [ErrBoundary] after eight draws.
func NewBoundary(random io.Reader, contents ...string) (Boundary, error) {
	var raw [boundaryBytes]byte
	for range 8 {
		if _, err := io.ReadFull(random, raw[:]); err != nil {
			return Boundary{}, fmt.Errorf("drawing a boundary: want %d random bytes: %w", boundaryBytes, err)
		}
		token := hex.EncodeToString(raw[:])
		if !occurs(token, contents) {
			return Boundary{&token}, nil
		}
	}
	return Boundary{}, ErrBoundary
}

func occurs(token string, contents []string) bool {
	for _, c := range contents {
		if strings.Contains(c, token) {
			return true
		}
	}
	return false
}

// ParseBoundary reads the 32 lower-case hex digits that [Boundary.Hex] gives. The error does not repeat what came.
func ParseBoundary(s string) (Boundary, error) {
	if len(s) != boundaryDigits {
		return Boundary{}, fmt.Errorf("malformed boundary: want %d hex digits, got %d bytes", boundaryDigits, len(s))
	}
	for i := range len(s) {
		if !isHexLower(s[i]) {
			return Boundary{}, fmt.Errorf("malformed boundary: want a lower-case hex digit at %d", i)
		}
	}
	return Boundary{&s}, nil
}

func isHexLower(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// Hex gives the secret itself: for a block, and for the prompt object that extract reads. Never log it.
func (b Boundary) Hex() string {
	if b.IsZero() {
		return ""
	}
	return *b.token
}

// Equal reports whether both are the same token; a zero boundary equals none.
func (b Boundary) Equal(o Boundary) bool { return !b.IsZero() && b.Hex() == o.Hex() }

// IsZero reports whether b was never drawn.
func (b Boundary) IsZero() bool { return b.token == nil }

// Digest gives the SHA-256 of the hex digits, in hex: what may be stored and shown.
func (b Boundary) Digest() string {
	sum := sha256.Sum256([]byte(b.Hex()))
	return hex.EncodeToString(sum[:])
}

// String shows the start of the digest, never the boundary.
func (b Boundary) String() string {
	if b.IsZero() {
		return "boundary(none)"
	}
	return "boundary(sha256:" + b.Digest()[:12] + ")"
}

// Format shows what String shows, whatever the verb.
func (b Boundary) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, b.String()) }

// LogValue shows what String shows.
func (b Boundary) LogValue() slog.Value { return slog.StringValue(b.String()) }

// MarshalText refuses: a boundary is stored only by [EncodeObject].
func (b Boundary) MarshalText() ([]byte, error) {
	return nil, errors.New("a boundary has no text form: want Hex, or EncodeObject")
}

// EchoedIn reports whether an answer contains the boundary, or any 16 of its digits in a row, in either case.
func (b Boundary) EchoedIn(answer []byte) bool {
	if b.IsZero() {
		return false
	}
	lower := bytes.ToLower(answer)
	for i := 0; i+echoDigits <= boundaryDigits; i++ {
		if bytes.Contains(lower, []byte(b.Hex()[i:i+echoDigits])) {
			return true
		}
	}
	return false
}
