package approval

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"decant.dev/pipeline"
)

// LinkPath is the path of a link, before the run's id.
const LinkPath = "/approve/"

// LinkKeyBytes is the size of a key.
const LinkKeyBytes = 32

// LinkKey signs links. Whoever holds a link may answer as the person it names,
// once, and as long as the question waits and is the one that the link was made
// for; so it is sent to that person alone. It prints as nothing.
type LinkKey struct{ key []byte }

// Format prints a word in place of the key, for every verb.
func (LinkKey) Format(f fmt.State, _ rune) { fmt.Fprint(f, "link key") }

// NewLinkKey makes a key.
func NewLinkKey() (LinkKey, []byte, error) {
	b := make([]byte, LinkKeyBytes)
	_, err := rand.Read(b)
	return LinkKey{b}, b, err
}

// ParseLinkKey takes a key that was made before.
func ParseLinkKey(b []byte) (LinkKey, error) {
	if len(b) != LinkKeyBytes {
		return LinkKey{}, fmt.Errorf("link key: want %d bytes, got %d", LinkKeyBytes, len(b))
	}
	return LinkKey{b}, nil
}

// Link is what a link says: who may answer just what, until when.
type Link struct {
	Run, Binding, Person string
	Expires              time.Time // in whole seconds
}

// The reasons why a link is refused, beside the refusals of an answer.
var (
	ErrForged = errors.New("the link is not one of ours, or was changed")
	ErrOld    = errors.New("the link has expired")
)

// Path is the link's path and query: LinkPath, the run, and what is signed.
func (k LinkKey) Path(l Link) string {
	q := url.Values{}
	q.Set("binding", l.Binding)
	q.Set("person", l.Person)
	q.Set("expires", strconv.FormatInt(l.Expires.Unix(), 10))
	q.Set("signature", base64.RawURLEncoding.EncodeToString(k.sign(l)))
	return LinkPath + l.Run + "?" + q.Encode()
}

// Verify reads a link's run and query. It decides nothing about the question.
func (k LinkKey) Verify(run string, q url.Values, now time.Time) (Link, error) {
	expires, err := strconv.ParseInt(q.Get("expires"), 10, 64)
	l := Link{run, q.Get("binding"), q.Get("person"), time.Unix(expires, 0).UTC()}
	signature, fault := base64.RawURLEncoding.Strict().DecodeString(q.Get("signature"))
	for _, values := range q {
		if len(values) != 1 {
			return Link{}, ErrForged
		}
	}
	if err != nil || fault != nil || len(k.key) != LinkKeyBytes || !hmac.Equal(signature, k.sign(l)) ||
		!pipeline.IsRunID(l.Run) || !pipeline.IsDigest(l.Binding) || !pipeline.IsActorID(l.Person) {
		return Link{}, ErrForged
	}
	if !now.Before(l.Expires) {
		return Link{}, ErrOld
	}
	return l, nil
}

func (k LinkKey) sign(l Link) []byte {
	mac := hmac.New(sha256.New, k.key)
	fmt.Fprintf(mac, "decant approval link v1\n%q\n%q\n%q\n%d\n", l.Run, l.Binding, l.Person, l.Expires.Unix())
	return mac.Sum(nil)
}
