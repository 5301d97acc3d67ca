package events

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"decant.dev/pipeline"
)

// StandardWebhooks is the scheme of https://www.standardwebhooks.com, spec
// 1.0.0: an HMAC-SHA256 over id, time and body, in the headers webhook-id,
// webhook-timestamp and webhook-signature, of which the last may hold several.
// A secret is "whsec_" and the base64 of 24 to 64 bytes; the prefix may be
// left out, as other implementations have it.
type StandardWebhooks struct {
	Tolerance time.Duration // how far a time may be from now, both ways; zero is 5 minutes
	Svix      bool          // the headers are svix-id, svix-timestamp and svix-signature
}

func (s StandardWebhooks) String() string {
	return "Standard Webhooks, within " + tolerance(s.Tolerance).String()
}

func (s StandardWebhooks) check() error { return checkTolerance(s.Tolerance) }

func (StandardWebhooks) usable(s Secret) bool { _, ok := standardKey(s); return ok }

// standardKey reads a secret strictly. The library would take any base64, and
// an empty key.
func standardKey(s Secret) ([]byte, bool) {
	key, err := base64.StdEncoding.Strict().DecodeString(strings.TrimPrefix(string(s.key()), "whsec_"))
	return key, err == nil && len(key) >= 24 && len(key) <= 64
}

func (s StandardWebhooks) prefix() string {
	if s.Svix {
		return "svix-"
	}
	return "webhook-"
}

func (s StandardWebhooks) headers() []string {
	return []string{s.prefix() + "id", s.prefix() + "timestamp", s.prefix() + "signature"}
}

func (s StandardWebhooks) verify(h HTTP, secrets Secrets, now time.Time) (Matched, error) {
	prefix := s.prefix()
	id, err := header(h, prefix+"id")
	if err != nil {
		return MatchedNone, err
	}
	if !isMessageID(id) {
		return MatchedNone, pipeline.BadSignature.Error("malformed %sid: want 1 to 256 visible characters without a full stop", prefix)
	}
	stamp, err := header(h, prefix+"timestamp")
	if err != nil {
		return MatchedNone, err
	}
	at, err := parseStamp(stamp)
	if err != nil {
		return MatchedNone, err
	}
	list, err := header(h, prefix+"signature")
	if err != nil {
		return MatchedNone, err
	}
	wanted, err := standardSignatures(list)
	if err != nil {
		return MatchedNone, err
	}
	matched := secrets.match(wanted, func(secret Secret) []byte {
		key, ok := standardKey(secret)
		signer, err := standardwebhooks.NewWebhookRaw(key)
		if err != nil {
			return nil
		}
		signed, err := signer.Sign(id, at, h.Body)
		if err != nil || !ok {
			return nil
		}
		return []byte(signed)
	})
	return inWindow(matched, at, now, s.Tolerance)
}

// isMessageID refuses a full stop, since the signed bytes could then be parted
// in two ways.
func isMessageID(id string) bool {
	for i := range len(id) {
		if c := id[i]; c <= ' ' || c > '~' || c == '.' {
			return false
		}
	}
	return len(id) >= 1 && len(id) <= 256
}

// standardSignatures returns those of a list that are of version v1, each with
// its version. Others are not of this scheme, and left out.
func standardSignatures(list string) ([][]byte, error) {
	parts := strings.Split(list, " ")
	if len(parts) > maxSignatures {
		return nil, pipeline.BadSignature.Error("want at most %d signatures, got %d", maxSignatures, len(parts))
	}
	var all [][]byte
	for _, part := range parts {
		version, _, ok := strings.Cut(part, ",")
		switch {
		case !ok:
			return nil, pipeline.BadSignature.Error(`malformed signature header: want "v1," and a signature, with spaces between`)
		case version == "v1":
			all = append(all, []byte(part))
		}
	}
	if len(all) == 0 {
		return nil, pipeline.BadSignature.Error("want a signature of version v1, got none")
	}
	return all, nil
}

// header returns the one value of a header.
func header(h HTTP, name string) (string, error) {
	values := h.Values(name)
	switch {
	case len(values) != 1:
		return "", pipeline.BadSignature.Error("want one %s header, got %d", name, len(values))
	case len(values[0]) > maxHeaderBytes:
		return "", pipeline.BadSignature.Error("want a %s header of at most %d bytes, got %d", name, maxHeaderBytes, len(values[0]))
	}
	return values[0], nil
}

// parseStamp reads a time in seconds since 1970, in plain digits: there is one
// spelling of each, so that what is signed is what was read.
func parseStamp(s string) (time.Time, error) {
	seconds, err := strconv.ParseUint(s, 10, 40)
	if err != nil || strconv.FormatUint(seconds, 10) != s {
		return time.Time{}, pipeline.BadSignature.Error("malformed timestamp header: want seconds since 1970, got %d bytes", len(s))
	}
	return time.Unix(int64(seconds), 0), nil
}

// inWindow answers for a signature that was looked for, of a time.
func inWindow(matched Matched, at, now time.Time, within time.Duration) (Matched, error) {
	within = tolerance(within)
	switch off := now.Sub(at); {
	case matched == MatchedNone:
		return MatchedNone, pipeline.BadSignature.Error("want the body's signature under a configured secret, got another")
	case off > within, off < -within:
		return MatchedNone, pipeline.OutsideWindow.Error("want a time at most %s from now", within)
	}
	return matched, nil
}

func tolerance(t time.Duration) time.Duration {
	if t == 0 {
		return defaultTolerance
	}
	return t
}

func checkTolerance(t time.Duration) error {
	if t = tolerance(t); t < minTolerance || t > maxTolerance {
		return fmt.Errorf("tolerance %s: want %s to %s", t, minTolerance, maxTolerance)
	}
	return nil
}
