// Package webhook is the sink of messages to other programs: it posts the
// named values of an action, signed by the Standard Webhooks scheme
// (github.com/standard-webhooks/standard-webhooks, spec of 1.0.0), to a
// destination that whoever operates decant configured by name.
//
// A recipe names a destination and never an address. Redirects are not
// followed, and nothing of an answer but its status and Retry-After is looked
// at.
//
// A destination cannot be asked what it did. A post whose answer was lost
// stays unknown, unless the destination is declared to take each webhook-id
// once: then it is posted again.
package webhook

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"decant.dev/act"
	"decant.dev/act/credential"
	"decant.dev/act/internal/wire"
	"decant.dev/act/message"
	"decant.dev/act/plan"
)

// Bounds of one call.
const (
	DefaultLimit = 15 * time.Second
	maxAnswer    = 64 << 10 // nothing of it is read; what the client reads to use the connection again
	// A 429 without a time of its own waits a minute.
	defaultWait = time.Minute
)

// Destination is one receiver.
type Destination struct {
	URL string // https, with the path; without user, query and fragment
	// Secrets sign, as "whsec_" and the base64 of 24 to 64 bytes. While a
	// secret is rotated there are two, and each post bears a signature of both.
	Secrets []credential.Secret
	// Idempotent says that the receiver performs each webhook-id once, however
	// often it is posted. It is the operator's word, and nothing checks it.
	Idempotent bool
}

// Config is what the sink needs.
type Config struct {
	Destinations map[string]Destination // by name, of plan.NameForm
	Client       *http.Client           // the way out; nil is one that asks no proxy
	Limit        time.Duration          // of one Send; zero is DefaultLimit
	Clock        func() time.Time       // time.Now; receivers refuse a timestamp that is minutes off
	Loopback     bool                   // http to a loopback address is taken too, for tests
}

type destination struct {
	url        string
	client     *http.Client
	signers    []*standardwebhooks.Webhook
	idempotent bool
}

// Sink performs plan.KindWebhookPost. It is safe for concurrent use.
type Sink struct {
	destinations map[string]destination
	limit        time.Duration
	clock        func() time.Time
}

var _ act.Sink = (*Sink)(nil)

// New checks a configuration and makes its sink. No error holds a secret or
// the path of an address.
func New(c Config) (*Sink, error) {
	switch {
	case len(c.Destinations) == 0:
		return nil, errors.New("webhook: want at least one destination")
	case c.Clock == nil:
		return nil, errors.New("webhook: want a clock")
	case c.Limit < 0 || c.Limit > act.MaxSinkTime:
		return nil, fmt.Errorf("webhook: limit %s: want at most %s", c.Limit, act.MaxSinkTime)
	case c.Limit == 0:
		c.Limit = DefaultLimit
	}
	s := &Sink{destinations: map[string]destination{}, limit: c.Limit, clock: c.Clock}
	for _, name := range slices.Sorted(maps.Keys(c.Destinations)) {
		d := c.Destinations[name]
		if !plan.IsName(name) {
			return nil, fmt.Errorf("webhook: destination %.64q: want %s", name, plan.NameForm)
		}
		origin, err := wire.Origin(d.URL, c.Loopback)
		if err != nil {
			return nil, fmt.Errorf("webhook: destination %s: %w", name, err)
		}
		if len(d.Secrets) < 1 || len(d.Secrets) > 2 {
			return nil, fmt.Errorf("webhook: destination %s: %d secrets: want one, or two while they are rotated", name, len(d.Secrets))
		}
		to := destination{url: origin.String(), client: wire.NewClient(c.Client, origin), idempotent: d.Idempotent}
		for _, secret := range d.Secrets {
			key, ok := keyOf(secret)
			if !ok {
				return nil, fmt.Errorf(`webhook: destination %s: want secrets of "whsec_" and the base64 of 24 to 64 bytes`, name)
			}
			signer, err := standardwebhooks.NewWebhookRaw(key)
			if err != nil {
				return nil, fmt.Errorf("webhook: destination %s: want a key that signs", name)
			}
			to.signers = append(to.signers, signer)
		}
		s.destinations[name] = to
	}
	return s, nil
}

// keyOf reads a secret strictly. The library would take any base64, and an
// empty key.
func keyOf(s credential.Secret) ([]byte, bool) {
	text, ok := strings.CutPrefix(s.Reveal(), "whsec_")
	key, err := base64.StdEncoding.Strict().DecodeString(text)
	return key, ok && err == nil && len(key) >= 24 && len(key) <= 64
}

// Limit is how long one Send takes at most.
func (s *Sink) Limit() time.Duration { return s.limit }

// Format prints that there is a sink, and nothing of its keys.
func (s *Sink) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, "webhook sink") }

// read reads a job. One that no request could perform was never sent.
func (s *Sink) read(j act.Job) (destination, []byte, act.Answer) {
	name, body, err := message.Encode(j, "destination")
	if err != nil || j.Kind != plan.KindWebhookPost {
		return destination{}, nil, act.Answer{Verdict: act.Rejected, Word: "bad_parameters"}
	}
	d, ok := s.destinations[name]
	if !ok { // the next configuration may have it
		return destination{}, nil, act.Answer{Verdict: act.NotPerformed, Word: "no_destination", After: defaultWait}
	}
	return d, body, act.Answer{}
}

// Send posts a job once.
func (s *Sink) Send(ctx context.Context, j act.Job) act.Answer {
	d, body, a := s.read(j)
	if a.Verdict != act.Unsure {
		return a
	}
	ctx, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	ctx, call := wire.Begin(ctx, maxAnswer)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, bytes.NewReader(body))
	if err != nil {
		return act.Answer{Verdict: act.Rejected, Word: "bad_address"}
	}
	now := s.clock()
	var signatures []string
	for _, signer := range d.signers {
		signature, err := signer.Sign(j.Key, now, body)
		if err != nil {
			return act.Answer{Verdict: act.NotPerformed, Word: "unsigned", After: defaultWait}
		}
		signatures = append(signatures, signature)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "decant")
	r.Header.Set(standardwebhooks.HeaderWebhookID, j.Key)
	r.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	r.Header.Set(standardwebhooks.HeaderWebhookSignature, strings.Join(signatures, " "))
	answer, err := d.client.Do(r)
	switch {
	case err != nil && call.Begun():
		return act.Answer{}
	case err != nil:
		return act.Answer{Verdict: act.NotPerformed, Word: "unreachable"}
	}
	_ = answer.Body.Close()
	return judge(answer.StatusCode, answer.Header, now)
}

// refusals are the answers after which a receiver has done nothing and will
// not, with our word for each.
var refusals = map[int]string{
	http.StatusMovedPermanently:           "moved",
	http.StatusFound:                      "moved",
	http.StatusSeeOther:                   "moved",
	http.StatusTemporaryRedirect:          "moved",
	http.StatusPermanentRedirect:          "moved",
	http.StatusBadRequest:                 "malformed",
	http.StatusPaymentRequired:            "forbidden",
	http.StatusForbidden:                  "forbidden",
	http.StatusNotFound:                   "not_found",
	http.StatusMethodNotAllowed:           "not_found",
	http.StatusNotAcceptable:              "malformed",
	http.StatusGone:                       "gone", // the scheme's word for: post no more
	http.StatusRequestEntityTooLarge:      "too_long",
	http.StatusUnsupportedMediaType:       "malformed",
	http.StatusUnprocessableEntity:        "invalid",
	http.StatusUnavailableForLegalReasons: "legal",
}

// judge says what an answer is certain of. A 401 is a signature that the
// receiver does not know: a secret is being rotated, and the job waits. A 503
// is certain only where it says when to come again: then the receiver has
// chosen not to take the post. Without that it is what gateways say also of
// posts that they had passed on.
func judge(status int, h http.Header, now time.Time) act.Answer {
	wait, named := wire.RetryAfter(h, now)
	switch {
	case status >= 200 && status <= 299:
		return act.Answer{Verdict: act.Performed, Word: "posted"}
	case status == http.StatusTooManyRequests:
		if !named {
			wait = defaultWait
		}
		return act.Answer{Verdict: act.NotPerformed, Word: "rate_limited", After: wait}
	case status == http.StatusServiceUnavailable && named:
		return act.Answer{Verdict: act.NotPerformed, Word: "unavailable", After: wait}
	case status == http.StatusUnauthorized:
		return act.Answer{Verdict: act.NotPerformed, Word: "unauthorized", After: defaultWait}
	}
	if word := refusals[status]; word != "" {
		return act.Answer{Verdict: act.Rejected, Word: word}
	}
	return act.Answer{}
}

// Find answers that a job may be posted again where its destination takes each
// webhook-id once, and otherwise nothing.
func (s *Sink) Find(_ context.Context, j act.Job) act.Answer {
	d, _, a := s.read(j)
	switch {
	case a.Verdict == act.Rejected:
		return a
	case a.Verdict == act.Unsure && d.idempotent:
		return act.Answer{Verdict: act.NotPerformed, Word: "repeatable"}
	default:
		return act.Answer{} // also where the destination was taken out of the configuration since
	}
}
