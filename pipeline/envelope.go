package pipeline

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
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
	Actor        Actor     `json:"actor"`
	Channel      string    `json:"channel"` // what grants are about, as "github:owner/name"
	Target       Target    `json:"target"`
	Received     time.Time `json:"received"`
}

var (
	hexDigest  = regexp.MustCompile(`^[0-9a-f]{64}$`)
	runPattern = regexp.MustCompile(`^[0-9a-f]{32}$`)
	namePat    = regexp.MustCompile(`^[a-z][a-z0-9-]{0,31}$`)
	actorPat   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,15}:[A-Za-z0-9._@+-]{1,64}$`)
	channelPat = regexp.MustCompile(`^[a-z][a-z0-9-]{0,15}:[A-Za-z0-9._@+/-]{1,160}$`)
	eventPat   = regexp.MustCompile(`^[a-z][a-z_]{0,31}(\.[a-z_]{1,31})?$`)
	repoPat    = regexp.MustCompile(`^[A-Za-z0-9_-]{1,39}/[A-Za-z0-9._-]{1,100}$`) // an owner's "_" is a managed user's suffix
)

// RunID derives a run's id from the recipe's name, the source and the digest
// of the verified bytes, so that a repeated delivery is the same run. Nothing
// that a signature does not cover enters it.
func RunID(recipe, source string, body [sha256.Size]byte) string {
	h := sha256.New()
	h.Write([]byte("decant run id v1\n"))
	for _, s := range []string{recipe, source, string(body[:])} {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(s)))
		h.Write(n[:])
		h.Write([]byte(s))
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// IsRunID reports whether s has the form of a run id: 32 lower-case hex digits.
func IsRunID(s string) bool { return runPattern.MatchString(s) }

// IsRecipeName reports whether s may name a recipe.
func IsRecipeName(s string) bool { return namePat.MatchString(s) }

// IsRepository reports whether s has the form of a target's repository,
// owner/name.
func IsRepository(s string) bool { return repoPat.MatchString(s) }

// Check reports the first field of the envelope that is out of its bounds.
// It never repeats the field's value.
func (e Envelope) Check() error {
	switch {
	case e.Schema != EnvelopeSchema:
		return fmt.Errorf("envelope: schema: want %q", EnvelopeSchema)
	case !runPattern.MatchString(e.Run):
		return fmt.Errorf("envelope: run: want %s", runPattern)
	case !namePat.MatchString(e.Recipe):
		return fmt.Errorf("envelope: recipe: want %s", namePat)
	case !hexDigest.MatchString(e.RecipeDigest):
		return fmt.Errorf("envelope: recipe_digest: want %s", hexDigest)
	case !namePat.MatchString(e.Source):
		return fmt.Errorf("envelope: source: want %s", namePat)
	case !hexDigest.MatchString(e.BodySHA256):
		return fmt.Errorf("envelope: body_sha256: want %s", hexDigest)
	case !actorPat.MatchString(e.Actor.ID):
		return fmt.Errorf("envelope: actor.id: want %s", actorPat)
	case !channelPat.MatchString(e.Channel):
		return fmt.Errorf("envelope: channel: want %s", channelPat)
	case !eventPat.MatchString(e.Target.Event):
		return fmt.Errorf("envelope: target.event: want %s", eventPat)
	case e.Target.Repository != "" && !repoPat.MatchString(e.Target.Repository):
		return fmt.Errorf("envelope: target.repository: want %s", repoPat)
	case e.Target.Number < 0 || e.Target.Number > 1<<31-1:
		return fmt.Errorf("envelope: target.number: want 0 to 2147483647")
	case e.Received.IsZero():
		return fmt.Errorf("envelope: received: want a time")
	}
	switch e.Actor.Kind {
	case Person, Agent, App, Import, System:
	default:
		return fmt.Errorf("envelope: actor.kind: want person, agent, app, import or system")
	}
	body, _ := hex.DecodeString(e.BodySHA256)
	if RunID(e.Recipe, e.Source, [sha256.Size]byte(body)) != e.Run {
		return fmt.Errorf("envelope: run: want the digest of recipe, source and body_sha256")
	}
	return nil
}

// Encode writes the envelope as JSON after checking it.
func (e Envelope) Encode() ([]byte, error) {
	if err := e.Check(); err != nil {
		return nil, err
	}
	return json.Marshal(e)
}

// DecodeEnvelope reads an envelope strictly: unknown, duplicate or
// differently-cased keys, bad UTF-8, trailing bytes and out-of-bounds fields
// are errors, none of which repeats a value.
func DecodeEnvelope(b []byte) (Envelope, error) {
	var e Envelope
	if len(b) > MaxEnvelopeBytes {
		return e, fmt.Errorf("envelope of %d bytes: want at most %d", len(b), MaxEnvelopeBytes)
	}
	if err := json.Unmarshal(b, &e, json.RejectUnknownMembers(true)); err != nil {
		return Envelope{}, fmt.Errorf("envelope of %d bytes is malformed: want %s", len(b), EnvelopeSchema)
	}
	return e, e.Check()
}

// NewEnvelope makes the envelope of one verified body for one recipe.
func NewEnvelope(recipe, recipeDigest, source string, body []byte, actor Actor, channel string, target Target, received time.Time) Envelope {
	sum := sha256.Sum256(body)
	return Envelope{
		Schema: EnvelopeSchema, Run: RunID(recipe, source, sum), Recipe: recipe, RecipeDigest: recipeDigest,
		Source: source, BodySHA256: hex.EncodeToString(sum[:]), Actor: actor, Channel: channel, Target: target,
		Received: received.UTC().Truncate(time.Millisecond),
	}
}
