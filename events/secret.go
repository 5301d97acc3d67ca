package events

import (
	"crypto/hmac"
	"crypto/subtle"
	"fmt"
	"hash"
)

// Secret is a webhook secret. It is opaque: it keeps the key inside a
// function, where neither formatting nor reflection reaches it, also when it
// stands in an unexported field. The zero value is no secret at all.
type Secret struct {
	key func() []byte
}

// NewSecret makes a secret of the key as configured at the source, byte for
// byte. An empty key gives the zero value.
func NewSecret(key string) Secret {
	if key == "" {
		return Secret{}
	}
	return Secret{key: func() []byte { return []byte(key) }}
}

// Configured reports whether there is a secret.
func (s Secret) Configured() bool { return s.key != nil }

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
	MatchedUnsigned // the hook's scheme is None: nothing was proved
)

// String returns "current", "previous", "unsigned" or "none".
func (m Matched) String() string {
	switch m {
	case MatchedCurrent:
		return "current"
	case MatchedPrevious:
		return "previous"
	case MatchedUnsigned:
		return "unsigned"
	default:
		return "none"
	}
}

// unset stands in for a secret that is not configured, so that checking a
// signature costs the same with one secret as with two.
var unset = NewSecret("no secret is configured")

// sum is the MAC of the parts, one after the other.
func (s Secret) sum(h func() hash.Hash, parts ...[]byte) []byte {
	mac := hmac.New(h, s.key())
	for _, part := range parts {
		mac.Write(part)
	}
	return mac.Sum(nil)
}

// match says which secret gives one of the values that are wanted. Both are
// always computed and compared with each, in constant time. A secret that is
// not configured gives none, and nor does one for which expected has no value.
func (s Secrets) match(wanted [][]byte, expected func(Secret) []byte) Matched {
	gives := func(s Secret) bool {
		configured := s.Configured()
		if !configured {
			s = unset
		}
		mac, found := expected(s), 0
		for _, want := range wanted {
			found |= subtle.ConstantTimeCompare(mac, want)
		}
		return found == 1 && configured && len(mac) > 0
	}
	current, previous := gives(s.Current), gives(s.Previous)
	switch {
	case current:
		return MatchedCurrent
	case previous:
		return MatchedPrevious
	default:
		return MatchedNone
	}
}

// Any reports whether a secret is configured.
func (s Secrets) Any() bool { return s.Current.Configured() || s.Previous.Configured() }
