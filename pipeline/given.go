package pipeline

import (
	"crypto/sha256"
	"errors"
	"time"
)

// The words that the envelope of an item bears that a person gave as a file.
const (
	GivenSource  = "item"        // the source
	GivenActor   = "system:item" // the actor: nobody, so the label is unverified
	GivenChannel = "item:given"  // the channel of a recipe without schedules
)

// Given makes the envelope of an item that was not fetched: the file's bytes
// alone say what it is, so that the same file is the same run. Channel and
// target are those of the recipe's first schedule, so that an item that was
// given has the place of the same item of a batch; a recipe without schedules
// takes it as the first of its events. A recipe without events takes none.
func (r *Recipe) Given(digest string, item []byte, received time.Time) (Envelope, error) {
	channel, target := GivenChannel, Target{}
	switch {
	case len(r.schedules) > 0:
		channel, target = r.schedules[0].Channel, r.schedules[0].Target
	case len(r.events) > 0:
		target.Event = r.events[0].Name
	default:
		return Envelope{}, errors.New("want a recipe with schedules or events")
	}
	e := Envelope{
		Schema: EnvelopeSchema, Recipe: r.name, RecipeDigest: digest, Source: GivenSource, Actor: Actor{ID: GivenActor, Kind: System},
		Channel: channel, Target: target, Received: received.UTC().Truncate(time.Millisecond), BodySHA256: givenDigest,
	}
	return e.OfItem(item), nil
}

// givenDigest stands for the body that items come from: there is none.
var givenDigest = hexDigest(sha256.Sum256(nil))
