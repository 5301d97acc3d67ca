package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// EnvelopeSchema is the schema field of an envelope.
const EnvelopeSchema = "envelope.v1"

// MaxEnvelopeBytes is the largest encoded envelope.
const MaxEnvelopeBytes = 4 << 10

// ActorKind says what kind of author an actor is.
type ActorKind string

// The kinds of actor.
const (
	Person ActorKind = "person"
	Agent  ActorKind = "agent"
	App    ActorKind = "app"
	Import ActorKind = "import"
	System ActorKind = "system"
)

// Actor is who caused an event, as its source verified it.
type Actor struct {
	ID   string    `json:"id"` // source-prefixed and never a display name, as "github:583231"
	Kind ActorKind `json:"kind"`
}

// Target is the place that an event named: a small shape of its source.
type Target struct {
	Event      string `json:"event"`                // the source's name of the event, as "issues.opened"
	Repository string `json:"repository,omitempty"` // owner/name
	Number     int64  `json:"number,omitempty"`     // issue or pull request, 1 to 2^31-1
}

// String renders the target as a sink's key: "owner/name#12".
func (t Target) String() string {
	if t.Number > 0 {
		return t.Repository + "#" + strconv.FormatInt(t.Number, 10)
	}
	return t.Repository
}

// Envelope is what the ingress verified about an event. It is bounded, holds
// no text that a stranger wrote, and is carried around the phases by whoever
// orchestrates them.
type Envelope struct {
	Schema       string    `json:"schema"`
	Run          string    `json:"run"`
	Recipe       string    `json:"recipe"`
	RecipeDigest string    `json:"recipe_digest"`
	Source       string    `json:"source"`
	BodySHA256   string    `json:"body_sha256"`
	Item         string    `json:"item,omitempty"` // SHA-256 of the item of a batch; empty where the body is the item
	Actor        Actor     `json:"actor"`
	Channel      string    `json:"channel"` // what grants are about, as "github:owner/name"
	Target       Target    `json:"target"`
	Received     time.Time `json:"received"`
}

// The forms of an envelope's fields, as regular expressions say them. They are
// matched by hand: an envelope is checked in every phase.
const (
	hexForm     = "^[0-9a-f]{64}$"
	runForm     = "^[0-9a-f]{32}$"
	nameForm    = "^[a-z][a-z0-9-]{0,31}$"
	actorForm   = "^[a-z][a-z0-9-]{0,15}:[A-Za-z0-9._@+-]{1,64}$"
	channelForm = "^[a-z][a-z0-9-]{0,15}:[A-Za-z0-9._@+/-]{1,160}$"
	eventForm   = "^[a-z][a-z_]{0,31}(\\.[a-z_]{1,31})?$"
	repoForm    = "^[A-Za-z0-9_-]{1,39}/[A-Za-z0-9._-]{1,100}$" // an owner's "_" is a managed user's suffix
)

// Sets of characters, named as in the forms.
const (
	lowers  = "abcdefghijklmnopqrstuvwxyz"
	digits  = "0123456789"
	letters = lowers + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

var (
	hexSet     = newSet("abcdef" + digits)
	lowerSet   = newSet(lowers)
	nameSet    = newSet(lowers + digits + "-")
	wordSet    = newSet(lowers + "_")
	actorSet   = newSet(letters + digits + "._@+-")
	channelSet = newSet(letters + digits + "._@+/-")
	ownerSet   = newSet(letters + digits + "_-")
	repoSet    = newSet(letters + digits + "._-")
)

// set is a set of ASCII characters.
type set [128]bool

func newSet(chars string) *set {
	var s set
	for i := range len(chars) {
		s[chars[i]] = true
	}
	return &s
}

// all reports whether text has low to high characters, all of them of s.
func (s *set) all(text string, low, high int) bool {
	if len(text) < low || len(text) > high {
		return false
	}
	for i := range len(text) {
		if c := text[i]; c >= 128 || !s[c] {
			return false
		}
	}
	return true
}

// IsDigest reports whether s has the form of a SHA-256 digest: 64 lower-case
// hex digits.
func IsDigest(s string) bool { return hexSet.all(s, 64, 64) }

func isName(s string, most int) bool { return nameSet.all(s, 1, most) && lowerSet.all(s[:1], 1, 1) }

func isPrefixed(s string, rest *set, most int) bool {
	prefix, word, ok := strings.Cut(s, ":")
	return ok && isName(prefix, 16) && rest.all(word, 1, most)
}

func isEvent(s string) bool {
	kind, action, dotted := strings.Cut(s, ".")
	return wordSet.all(kind, 1, 32) && kind[0] != '_' && (!dotted || wordSet.all(action, 1, 31))
}

// RunID derives a run's id from the recipe's name, the source and the digest
// of the verified bytes, so that a repeated delivery is the same run. Nothing
// that a signature does not cover enters it.
func RunID(recipe, source string, body [sha256.Size]byte) string {
	return runID("decant run id v1\n", recipe, source, string(body[:]))
}

// ItemRunID derives the id of the run of one item of a batch: that of RunID,
// and the digest of the item's bytes. An item that is listed twice is one run.
func ItemRunID(recipe, source string, body, item [sha256.Size]byte) string {
	return runID("decant item run id v1\n", recipe, source, string(body[:]), string(item[:]))
}

func runID(domain string, parts ...string) string {
	h := sha256.New()
	h.Write([]byte(domain))
	for _, s := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// IsRunID reports whether s has the form of a run id: 32 lower-case hex digits.
func IsRunID(s string) bool { return hexSet.all(s, 32, 32) }

// IsRecipeName reports whether s may name a recipe.
func IsRecipeName(s string) bool { return isName(s, 32) }

// IsEventName reports whether s may name an event, as "issues.opened".
func IsEventName(s string) bool { return isEvent(s) }

// IsActorID reports whether s has the form of an actor's id: its source, a
// colon, and the id that the source gives, as "github:583231".
func IsActorID(s string) bool { return isPrefixed(s, actorSet, 64) }

// IsChannel reports whether s has the form of what grants are about, as
// "github:owner/name".
func IsChannel(s string) bool { return isPrefixed(s, channelSet, 160) }

// IsRepository reports whether s has the form of a target's repository,
// owner/name, and its name is no step in a path.
func IsRepository(s string) bool {
	owner, name, ok := strings.Cut(s, "/")
	return ok && ownerSet.all(owner, 1, 39) && repoSet.all(name, 1, 100) && name != "." && name != ".."
}

// Check reports the first field of the envelope that is out of its bounds.
// It never repeats the field's value.
func (e Envelope) Check() error {
	switch {
	case e.Schema != EnvelopeSchema:
		return errors.New("envelope: schema: want " + EnvelopeSchema)
	case !IsRunID(e.Run):
		return errors.New("envelope: run: want " + runForm)
	case !IsRecipeName(e.Recipe):
		return errors.New("envelope: recipe: want " + nameForm)
	case !IsDigest(e.RecipeDigest):
		return errors.New("envelope: recipe_digest: want " + hexForm)
	case !isName(e.Source, 32):
		return errors.New("envelope: source: want " + nameForm)
	case !IsDigest(e.BodySHA256):
		return errors.New("envelope: body_sha256: want " + hexForm)
	case e.Item != "" && !IsDigest(e.Item):
		return errors.New("envelope: item: want nothing or " + hexForm)
	case !IsActorID(e.Actor.ID):
		return errors.New("envelope: actor.id: want " + actorForm)
	case !IsChannel(e.Channel):
		return errors.New("envelope: channel: want " + channelForm)
	case !isEvent(e.Target.Event):
		return errors.New("envelope: target.event: want " + eventForm)
	case e.Target.Repository != "" && !IsRepository(e.Target.Repository):
		return errors.New("envelope: target.repository: want " + repoForm)
	case e.Target.Number < 0 || e.Target.Number > 1<<31-1:
		return errors.New("envelope: target.number: want 0 to 2147483647")
	case e.Received.IsZero():
		return errors.New("envelope: received: want a time")
	}
	switch e.Actor.Kind {
	case Person, Agent, App, Import, System:
	default:
		return errors.New("envelope: actor.kind: want person, agent, app, import or system")
	}
	if e.runID() != e.Run {
		return errors.New("envelope: run: want the digest of recipe, source, body_sha256 and item")
	}
	return nil
}

// runID derives the id that the envelope's run must have. The digests have
// their form.
func (e Envelope) runID() string {
	body, _ := hex.DecodeString(e.BodySHA256)
	if e.Item == "" {
		return RunID(e.Recipe, e.Source, [sha256.Size]byte(body))
	}
	item, _ := hex.DecodeString(e.Item)
	return ItemRunID(e.Recipe, e.Source, [sha256.Size]byte(body), [sha256.Size]byte(item))
}

// Content returns the digest, in hex, that the run's content must have: the
// item's where the envelope is of an item, otherwise the body's.
func (e Envelope) Content() string {
	if e.Item != "" {
		return e.Item
	}
	return e.BodySHA256
}

// Place is what a sink knows the run's target by: the target as it renders
// itself, or, where that names no repository, the channel with the first half
// of the content's digest. So each item of a feed and each delivery of a hook
// has a place of its own, and the same item of a later tick has the same.
func (e Envelope) Place() string {
	if e.Target.Repository != "" {
		return e.Target.String()
	}
	return e.Channel + "#" + e.Content()[:32]
}

// Feed returns the id of what a batch's items are about, of the form of a run
// id: the same for each tick of the recipe's schedules on the channel.
func (e Envelope) Feed() string { return runID("decant feed id v1\n", e.Recipe, e.Channel) }

// OfItem returns the envelope of one item of the batch that e started: all of
// e, and the item's digest and run. The target stays e's, which is
// configuration; an item says nothing of where it is written.
func (e Envelope) OfItem(item []byte) Envelope {
	e.Item = hexDigest(sha256.Sum256(item))
	e.Run = e.runID()
	return e
}

// Encode writes the envelope as JSON after checking it.
func (e Envelope) Encode() ([]byte, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	return json.Marshal(e)
}

// noNull refuses null for any field: the decoder would read it as absence.
var noNull = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, _ any) error {
	if d.PeekKind() == 'n' {
		return errors.New("null: want a value")
	}
	return errors.ErrUnsupported
}))

// DecodeEnvelope reads an envelope strictly: unknown, duplicate or
// differently-cased keys, nulls, bad UTF-8, trailing bytes and out-of-bounds
// fields are errors, none of which repeats a value.
func DecodeEnvelope(b []byte) (Envelope, error) {
	var e Envelope
	if len(b) > MaxEnvelopeBytes {
		return e, fmt.Errorf("envelope of %d bytes: want at most %d", len(b), MaxEnvelopeBytes)
	}
	if err := json.Unmarshal(b, &e, json.RejectUnknownMembers(true), noNull); err != nil {
		return Envelope{}, fmt.Errorf("envelope of %d bytes is malformed: want %s", len(b), EnvelopeSchema)
	}
	return e, e.Check()
}

func hexDigest(sum [sha256.Size]byte) string { return hex.EncodeToString(sum[:]) }

// NewEnvelope makes the envelope of one verified body for one recipe.
func NewEnvelope(recipe, recipeDigest, source string, body []byte, actor Actor, channel string, target Target, received time.Time) Envelope {
	sum := sha256.Sum256(body)
	return Envelope{
		Schema: EnvelopeSchema, Run: RunID(recipe, source, sum), Recipe: recipe, RecipeDigest: recipeDigest,
		Source: source, BodySHA256: hexDigest(sum), Actor: actor, Channel: channel, Target: target,
		Received: received.UTC().Truncate(time.Millisecond),
	}
}
