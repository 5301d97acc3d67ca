package github

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"decant.dev/act/credential"
)

// A marker ends each comment. GitHub shows nothing of it.
const (
	markerHead = "<!-- decant:v1:"
	markerTail = " -->"
)

// marker is what a job's comment ends with: an HMAC-SHA256 of its key, so that
// nobody can write it before this sink has.
func marker(secret credential.Secret, key string) string {
	mac := hmac.New(sha256.New, []byte(secret.Reveal()))
	mac.Write([]byte("decant comment marker v1\n" + key))
	return markerHead + hex.EncodeToString(mac.Sum(nil)) + markerTail
}

// marked is a comment as it is sent: its body byte for byte, an empty line,
// and the marker.
func (s *Sink) marked(c comment) string { return c.body + "\n\n" + marker(s.Marker[0], c.key) }

// bears reports whether a text holds the marker of a key, made with any of the
// sink's keys. It is looked for anywhere: a maintainer may have added to the
// comment, and a marker that was never published stands in no text.
func (s *Sink) bears(text, key string) bool {
	for _, secret := range s.Marker {
		if strings.Contains(text, marker(secret, key)) {
			return true
		}
	}
	return false
}
