package events

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/internal/pointer"
	"decant.dev/pipeline"
)

// HooksPath is above the paths of webhooks: a hook's is this and its name.
const HooksPath = "/webhooks/"

// Hook is a source that posts JSON objects: who proves that it sent them, and
// which event each is. It is configuration and holds no secret.
//
// The bytes of a delivery alone say which run it is, so one that is sent
// again, in whatever headers, is the same run: the journal of runs is the
// store of what was seen, and it outlives every window. A signature says who
// sent a delivery and not who wrote it: its text is as foreign as any.
type Hook struct {
	Name   string // the source's name: ^[a-z][a-z0-9-]{0,31}$, and no source of decant's own
	Scheme Scheme
	Event  HookEvent
}

// HookEvent says which event a delivery is: always Name, or what stands at
// Pointer.
type HookEvent struct {
	Name    string            // as "order.created"; empty where Pointer is set
	Pointer jsontext.Pointer  // of a string in the body (RFC 6901), as "/type"
	Names   map[string]string // the event of each string that is handled; any other is ignored and counted
}

// Scheme is how a hook's deliveries are proved: [StandardWebhooks], [HMAC] or
// [None].
type Scheme interface {
	// String says in a few words what is proved.
	String() string

	// headers lists what must be there once, in lower case.
	headers() []string
	check() error
	// usable reports whether a configured secret has the scheme's form.
	usable(Secret) bool
	verify(h HTTP, s Secrets, now time.Time) (Matched, error)
}

// Bounds of a hook.
const (
	maxHookNames     = 256 // strings that an event is chosen by
	maxHookName      = 128 // bytes of one
	maxHeaderBytes   = 8 << 10
	maxSignatures    = 16 // of one delivery
	minTolerance     = time.Second
	maxTolerance     = time.Hour
	defaultTolerance = 5 * time.Minute
)

// sources are the names that envelopes of other origins bear.
var sources = []string{GitHub, pipeline.TickSource, pipeline.GivenSource, "mail", "feed"}

// IsHookName reports whether s may name a hook.
func IsHookName(s string) bool { return pipeline.IsRecipeName(s) && !slices.Contains(sources, s) }

// Check reports what is wrong with a hook, and nothing of its values but
// names.
func (k Hook) Check() error {
	switch {
	case !IsHookName(k.Name):
		return fmt.Errorf("hook %.64q: want a name of ^[a-z][a-z0-9-]{0,31}$ that is none of %s", k.Name, strings.Join(sources, ", "))
	case k.Scheme == nil:
		return fmt.Errorf("hook %s: want a Scheme", k.Name)
	}
	if err := k.Scheme.check(); err != nil {
		return fmt.Errorf("hook %s: %w", k.Name, err)
	}
	if err := k.Event.check(); err != nil {
		return fmt.Errorf("hook %s: event: %w", k.Name, err)
	}
	return nil
}

func (e HookEvent) check() error {
	switch {
	case (e.Name == "") == (e.Pointer == ""):
		return errors.New("want a Name or a Pointer")
	case e.Name != "" && (!pipeline.IsEventName(e.Name) || len(e.Names) > 0):
		return errors.New(`want a Name as "order.created", and no Names beside it`)
	case e.Name != "":
		return nil
	case !e.Pointer.IsValid():
		return errors.New("want a Pointer of RFC 6901")
	case len(e.Names) == 0 || len(e.Names) > maxHookNames:
		return fmt.Errorf("want 1 to %d Names, got %d", maxHookNames, len(e.Names))
	}
	for value, name := range e.Names {
		if len(value) > maxHookName || !pipeline.IsEventName(name) {
			return fmt.Errorf(`want Names of at most %d bytes for events as "order.created"`, maxHookName)
		}
	}
	return nil
}

// Events lists the events that the hook's deliveries can be, sorted.
func (k Hook) Events() []string {
	if k.Event.Name != "" {
		return []string{k.Event.Name}
	}
	var all []string
	for _, name := range k.Event.Names {
		all = append(all, name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Path is the path that the hook's deliveries are posted to.
func (k Hook) Path() string { return HooksPath + k.Name }

// Headers lists the headers without which a delivery is not signed: each must
// be there once. It lets a server refuse a request before it reads its body.
func (k Hook) Headers() []string { return k.Scheme.headers() }

// Unsigned reports whether anyone who can reach the hook may send.
func (k Hook) Unsigned() bool { _, none := k.Scheme.(None); return none }

// CheckSecrets reports what is wrong with the secrets that were configured for
// the hook: one that has another form than the scheme's, or none at all.
func (k Hook) CheckSecrets(s Secrets) error {
	for _, one := range []Secret{s.Current, s.Previous} {
		switch {
		case !one.Configured():
		case k.Unsigned():
			return pipeline.NoSecret.Error("hook %s: want no secret, since nothing is signed", k.Name)
		case !k.Scheme.usable(one):
			return pipeline.NoSecret.Error("hook %s: want a secret of the form that %s has", k.Name, k.Scheme)
		}
	}
	if !s.Any() && !k.Unsigned() {
		return pipeline.NoSecret.Error("want a webhook secret for %s, got none", k.Name)
	}
	return nil
}

// proves reports whether a secret can prove anything: one of another form than
// the scheme's proves no more than none.
func (k Hook) proves(s Secret) bool { return s.Configured() && k.Scheme.usable(s) }

// ReceiveHook verifies a delivery of a hook and then reads it. Nothing of the
// body is read before its signature is proved, and the window is looked at
// after that. now is when the request came.
//
// Without a secret of the scheme's form it is [pipeline.NoSecret]; without a
// signature of the bytes as received [pipeline.BadSignature]; with one of
// another time [pipeline.OutsideWindow]. A body that is not exactly one strict
// JSON object within the bounds is [pipeline.MalformedBody], one without a
// string at the event's pointer [pipeline.BodyMisfit], and one whose string is
// not listed [pipeline.UnhandledEvent].
func ReceiveHook(h HTTP, k Hook, s Secrets, now time.Time) (Delivery, Matched, error) {
	if err := k.Check(); err != nil {
		return Delivery{}, MatchedNone, pipeline.NoSecret.Error("%v", err)
	}
	if !k.Unsigned() && !k.proves(s.Current) && !k.proves(s.Previous) {
		return Delivery{}, MatchedNone, pipeline.NoSecret.Error("want a webhook secret for %s of the form that its scheme has, got none", k.Name)
	}
	matched, err := k.Scheme.verify(h, s, now)
	if err != nil {
		return Delivery{}, MatchedNone, err
	}
	d, err := k.read(h.Body)
	return d, matched, err
}

// read makes a delivery of a body.
func (k Hook) read(body []byte) (Delivery, error) {
	if len(body) > MaxBodyBytes {
		return Delivery{}, bodyTooLarge()
	}
	if err := readObject(body, func(d *jsontext.Decoder, _ []byte) error { return d.SkipValue() }); err != nil {
		return Delivery{}, pipeline.MalformedBody.Error("body of %d bytes: %v", len(body), err)
	}
	event, err := k.Event.of(body)
	if err != nil {
		return Delivery{}, err
	}
	id := k.Sender()
	return Delivery{
		Source: k.Name, Event: event, Body: body,
		Actor: pipeline.Actor{ID: id, Kind: pipeline.System}, Channel: id, Target: pipeline.Target{Event: event},
	}, nil
}

// Class returns the event that a hook's delivery is, and "other" where it is
// none that the hook lists: a word that may be counted by.
func (d Delivery) Class() string {
	if d.Event == "" {
		return "other"
	}
	return d.Event
}

// Sender is the hook as an actor and as a channel. Act gives it no trust: it
// stands for whoever wrote what it passes on.
func (k Hook) Sender() string { return "hook:" + k.Name }

// of returns the event of a body, which is strict JSON.
func (e HookEvent) of(body []byte) (string, error) {
	if e.Name != "" {
		return e.Name, nil
	}
	value, ok := pointer.Find(body, e.Pointer)
	if !ok || value.Kind() != '"' {
		return "", pipeline.BodyMisfit.Error("want a string at the event's pointer, got none")
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return "", pipeline.BodyMisfit.Error("want a string at the event's pointer, got none")
	}
	name, ok := e.Names[string(text)]
	if !ok {
		return "", pipeline.UnhandledEvent.Error("want an event that the hook lists, got another")
	}
	return name, nil
}

// None proves nothing: whoever can reach the hook starts its runs. It is for a
// network where that is meant, and says so wherever the hook is shown.
type None struct {
	// Unsigned must be the sentence [AnyoneMaySend], so that it cannot be the
	// scheme by oversight.
	Unsigned string
}

// AnyoneMaySend is what a recipe's author signs instead of the senders.
const AnyoneMaySend = "anyone who can reach this may send"

func (n None) String() string { return "NOT SIGNED: " + AnyoneMaySend }

func (n None) check() error {
	if n.Unsigned != AnyoneMaySend {
		return fmt.Errorf("scheme None: want Unsigned to be %q", AnyoneMaySend)
	}
	return nil
}

func (None) headers() []string { return nil }

func (None) usable(Secret) bool { return false }

func (None) verify(HTTP, Secrets, time.Time) (Matched, error) { return MatchedUnsigned, nil }
