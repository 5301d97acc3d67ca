package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
)

// Secret is a webhook secret. It is opaque: it keeps the key inside a
// function, where neither formatting nor reflection reaches it, also when it
// stands in an unexported field. The zero value is no secret at all.
type Secret struct {
	mac func(body []byte) [sha256.Size]byte
}

// NewSecret makes a secret of the key as configured at the source, byte for
// byte. An empty key gives the zero value.
func NewSecret(key string) Secret {
	if key == "" {
		return Secret{}
	}
	return Secret{mac: func(body []byte) [sha256.Size]byte {
		h := hmac.New(sha256.New, []byte(key))
		h.Write(body)
		var sum [sha256.Size]byte
		h.Sum(sum[:0])
		return sum
	}}
}

// Configured reports whether there is a secret.
func (s Secret) Configured() bool { return s.mac != nil }

// Format prints whether there is a secret, for every verb.
func (s Secret) Format(f fmt.State, _ rune) {
	fmt.Fprint(f, s.redacted())
}

// MarshalText gives the same words as Format, so that JSON and logs do.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.redacted()), nil }

func (s Secret) redacted() string {
	if s.Configured() {
		return "secret(redacted)"
	}
	return "secret(none)"
}

// Secrets are the two secrets that are valid while one replaces the other.
// Either may be the zero value.
type Secrets struct {
	Current, Previous Secret
}

// Matched says which secret proved a signature, so that a rotation can be
// counted to its end.
type Matched uint8

// What a signature matched. The zero value is no match.
const (
	MatchedNone Matched = iota
	MatchedCurrent
	MatchedPrevious
)

// String returns "current", "previous" or "none".
func (m Matched) String() string {
	switch m {
	case MatchedCurrent:
		return "current"
	case MatchedPrevious:
		return "previous"
	default:
		return "none"
	}
}

// unset stands in for a secret that is not configured, so that checking a
// signature costs the same with one secret as with two.
var unset = NewSecret("no secret is configured")

// matches reports whether want is the secret's MAC over body, in constant
// time. A secret that is not configured matches nothing.
func (s Secret) matches(want, body []byte) bool {
	mac := s.mac
	if mac == nil {
		mac = unset.mac
	}
	sum := mac(body)
	return hmac.Equal(sum[:], want) && s.mac != nil
}

// match checks both secrets, always.
func (s Secrets) match(want, body []byte) Matched {
	current, previous := s.Current.matches(want, body), s.Previous.matches(want, body)
	switch {
	case current:
		return MatchedCurrent
	case previous:
		return MatchedPrevious
	default:
		return MatchedNone
	}
}
