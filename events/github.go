package events

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"decant.dev/pipeline"
)

// GitHub is the source of what this file verifies.
const GitHub = "github"

// VerifyGitHub checks the request's X-Hub-Signature-256, which must be there
// exactly once, as "sha256=" and 64 hex digits, over the body's bytes as
// received. Both secrets are always computed, in constant time; the answer
// says which one matched. Without any secret it is [pipeline.NoSecret], in
// every other case but a match [pipeline.BadSignature].
//
// Scheme: https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
func VerifyGitHub(h HTTP, s Secrets) (Matched, error) {
	if !s.Any() {
		return MatchedNone, pipeline.NoSecret.Error("want a webhook secret for %s, got none", GitHub)
	}
	values := h.Values("x-hub-signature-256")
	if len(values) != 1 {
		return MatchedNone, pipeline.BadSignature.Error("want one x-hub-signature-256 header, got %d", len(values))
	}
	digits, ok := strings.CutPrefix(values[0], "sha256=")
	if !ok {
		return MatchedNone, pipeline.BadSignature.Error(`malformed signature header: want "sha256=" prefix`)
	}
	want, err := hex.DecodeString(digits)
	if err != nil || len(want) != 32 {
		return MatchedNone, pipeline.BadSignature.Error("malformed signature header: want 64 hex digits, got %d bytes", len(digits))
	}
	matched := s.match([][]byte{want}, func(s Secret) []byte { return s.sum(sha256.New, h.Body) })
	if matched == MatchedNone {
		return MatchedNone, pipeline.BadSignature.Error("want the body's signature under a configured secret, got another")
	}
	return matched, nil
}

// ReceiveGitHub verifies a webhook request and then reads its body: the event
// that X-GitHub-Event names, by GitHubDelivery. Nothing of the body is read
// before its signature is proved.
func ReceiveGitHub(h HTTP, s Secrets) (Delivery, Matched, error) {
	matched, err := VerifyGitHub(h, s)
	if err != nil {
		return Delivery{}, matched, err
	}
	names := h.Values("x-github-event")
	if len(names) != 1 {
		return Delivery{}, matched, pipeline.MalformedEvent.Error("want one x-github-event header, got %d", len(names))
	}
	d, err := GitHubDelivery(names[0], h.Body)
	return d, matched, err
}

// GitHubClass returns the name of the event that a request says it is, where
// GitHub documents it, and otherwise "other": a word that may be counted by.
func GitHubClass(h HTTP) string {
	values := h.Values("x-github-event")
	if len(values) != 1 {
		return "other"
	}
	name, _, _ := strings.Cut(values[0], ".")
	if !ours(name) && !documented(name) {
		return "other"
	}
	return name
}
