package events

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"hash"
	"strings"
	"time"

	"decant.dev/pipeline"
)

// HMAC is a keyed hash of the body in a header, of a sender that has no
// standard's. Its secret is the key, byte for byte.
type HMAC struct {
	Header   string // of the signature, in lower case, as "x-signature"
	Prefix   string // what stands before the signature, as "sha256="; not with StripeList
	Encoding Encoding
	Hash     Hash
	Signs    Signs
	// Timestamp is the header of the time, with SignsDotted and SignsSlack. It
	// is in seconds since 1970.
	Timestamp string
	Tolerance time.Duration // how far a time may be from now, both ways; zero is 5 minutes; not with SignsBody
}

// Encoding is how a signature is written. There is one spelling of each:
// hexadecimal digits are of lower case, base64 is padded (RFC 4648 section 4).
type Encoding uint8

// The encodings.
const (
	Hex Encoding = iota + 1
	Base64
)

// Hash is the hash of a MAC.
type Hash uint8

// The hashes.
const (
	SHA256 Hash = iota + 1
	SHA512
)

// Signs is what a MAC is over.
type Signs uint8

// The forms of what is signed, with {timestamp} as it stands in the header.
// Without a time there is no window: a delivery proves itself for as long as
// the secret is valid, and is the same run whenever it comes.
const (
	SignsBody   Signs = iota + 1 // {body}
	SignsDotted                  // {timestamp}.{body}
	SignsSlack                   // v0:{timestamp}:{body} (docs.slack.dev/authentication/verifying-requests-from-slack)
	// SignsStripe is {timestamp}.{body}, with the header "t={timestamp},v1={signature}",
	// of which v1 may stand several times (docs.stripe.com/webhooks, "Verify webhook signatures manually").
	SignsStripe
)

func (s HMAC) String() string {
	what := "HMAC of the body, without a window"
	if s.Signs != SignsBody {
		what = "HMAC of time and body, within " + tolerance(s.Tolerance).String()
	}
	return what
}

func (s HMAC) headers() []string {
	if s.Timestamp != "" {
		return []string{s.Header, s.Timestamp}
	}
	return []string{s.Header}
}

func (s HMAC) check() error {
	stamped := s.Signs == SignsDotted || s.Signs == SignsSlack
	switch {
	case !isHeader(s.Header):
		return errors.New(`field Header: want a header's name in lower case, as "x-signature"`)
	case len(s.Prefix) > 32 || strings.ContainsFunc(s.Prefix, func(r rune) bool { return r <= ' ' || r > '~' }):
		return errors.New("field Prefix: want at most 32 visible characters")
	case s.Encoding != Hex && s.Encoding != Base64:
		return errors.New("field Encoding: want Hex or Base64")
	case s.Hash != SHA256 && s.Hash != SHA512:
		return errors.New("field Hash: want SHA256 or SHA512")
	case s.Signs < SignsBody || s.Signs > SignsStripe:
		return errors.New("field Signs: want SignsBody, SignsDotted, SignsSlack or SignsStripe")
	case s.Signs == SignsStripe && s.Prefix != "":
		return errors.New("field Prefix: want none with SignsStripe, whose header is a list")
	case stamped && (!isHeader(s.Timestamp) || s.Timestamp == s.Header):
		return errors.New("field Timestamp: want the name of another header in lower case, since a time is signed")
	case !stamped && s.Timestamp != "":
		return errors.New("field Timestamp: want none, since no header of its own is signed")
	case s.Signs == SignsBody && s.Tolerance != 0:
		return errors.New("field Tolerance: want none, since no time is signed")
	}
	return checkTolerance(s.Tolerance)
}

// isHeader reports whether s is a field name of RFC 9110 in lower case, of
// letters, digits and hyphens.
func isHeader(s string) bool {
	return len(s) <= 64 && s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// usable takes any key of 16 bytes or more: shorter ones can be guessed.
func (HMAC) usable(s Secret) bool { return len(s.key()) >= minKey }

const minKey = 16

func (s HMAC) verify(h HTTP, secrets Secrets, now time.Time) (Matched, error) {
	value, err := header(h, s.Header)
	if err != nil {
		return MatchedNone, err
	}
	stamp, wanted := "", [][]byte{[]byte(value)}
	switch s.Signs {
	case SignsDotted, SignsSlack:
		stamp, err = header(h, s.Timestamp)
	case SignsStripe:
		stamp, wanted, err = stripeList(value)
	}
	if err != nil {
		return MatchedNone, err
	}
	at := now
	if s.Signs != SignsBody {
		if at, err = parseStamp(stamp); err != nil {
			return MatchedNone, err
		}
	}
	matched := secrets.match(wanted, func(secret Secret) []byte {
		if !s.usable(secret) {
			return nil
		}
		return []byte(s.Prefix + s.encode(secret.sum(s.hash(), s.before(stamp), h.Body)))
	})
	return inWindow(matched, at, now, s.Tolerance)
}

// before is what is signed before the body.
func (s HMAC) before(stamp string) []byte {
	switch s.Signs {
	case SignsDotted, SignsStripe:
		return []byte(stamp + ".")
	case SignsSlack:
		return []byte("v0:" + stamp + ":")
	default:
		return nil
	}
}

func (s HMAC) hash() func() hash.Hash {
	if s.Hash == SHA512 {
		return sha512.New
	}
	return sha256.New
}

func (s HMAC) encode(sum []byte) string {
	if s.Encoding == Base64 {
		return base64.StdEncoding.EncodeToString(sum)
	}
	return hex.EncodeToString(sum)
}

// stripeList reads "t=…,v1=…,v1=…". Keys of other versions are left out.
func stripeList(list string) (stamp string, wanted [][]byte, err error) {
	parts := strings.Split(list, ",")
	if len(parts) > maxSignatures+1 {
		return "", nil, pipeline.BadSignature.Error("want at most %d signatures, got more", maxSignatures)
	}
	times := 0
	for _, part := range parts {
		key, value, ok := strings.Cut(part, "=")
		switch {
		case !ok:
			return "", nil, pipeline.BadSignature.Error(`malformed signature header: want "t=" and "v1=" with commas between`)
		case key == "t":
			stamp = value
			times++
		case key == "v1":
			wanted = append(wanted, []byte(value))
		}
	}
	if times != 1 || len(wanted) == 0 {
		return "", nil, pipeline.BadSignature.Error("malformed signature header: want one time and a signature, got %d and %d", times, len(wanted))
	}
	return stamp, wanted, nil
}
