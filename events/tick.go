package events

import (
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/pipeline"
)

// maxTickBytes bounds a tick: two names of 32 bytes, an instant, and room for
// white space.
const maxTickBytes = 512

// Tick is one instant at which a schedule of a recipe fired. Whoever runs the
// clock is trusted for it; the bytes of a tick are these three facts and no
// more, so that one that comes again is the same run.
type Tick struct {
	Recipe   string
	Schedule string
	Instant  time.Time // in whole seconds
}

// ParseTick reads a tick strictly: an object with exactly the members
// recipe, schedule and instant, the last as RFC 3339 with Z and whole
// seconds, which is how EventBridge Scheduler writes
// <aws.scheduler.scheduled-time>. Everything else is
// [pipeline.MalformedEvent].
//
// Format: https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-schedule-context-attributes.html
func ParseTick(b []byte) (Tick, error) {
	if len(b) > maxTickBytes {
		return Tick{}, pipeline.MalformedEvent.Error("tick of %d bytes: want at most %d", len(b), maxTickBytes)
	}
	var t Tick
	var misfit error
	err := readObject(b, func(d *jsontext.Decoder, name []byte) error {
		key := string(name) // before the value is read
		value, ok, err := readString(d, 64)
		if err != nil {
			return err
		}
		switch {
		case !ok:
			misfit = fmt.Errorf("want each member a string of at most 64 bytes")
		case key == "recipe":
			t.Recipe = string(value)
		case key == "schedule":
			t.Schedule = string(value)
		case key == "instant":
			if t.Instant, err = time.Parse(instantForm, string(value)); err != nil {
				misfit = fmt.Errorf("instant: want RFC 3339 with Z and whole seconds")
			}
		default:
			misfit = fmt.Errorf("want the members recipe, schedule and instant, got another")
		}
		return nil
	})
	if err == nil {
		err = misfit
	}
	if err == nil {
		err = t.check() // a member that is missing is out of its form
	}
	if err != nil {
		return Tick{}, pipeline.MalformedEvent.Error("tick of %d bytes: %v", len(b), err)
	}
	return t, nil
}

// instantForm is RFC 3339 in UTC and whole seconds.
const instantForm = "2006-01-02T15:04:05Z"

func (t Tick) check() error {
	switch year := t.Instant.UTC().Year(); {
	case !pipeline.IsRecipeName(t.Recipe):
		return fmt.Errorf("recipe: want a recipe's name")
	case !pipeline.IsScheduleName(t.Schedule):
		return fmt.Errorf("schedule: want a schedule's name")
	case t.Instant.Nanosecond() != 0, year < 2000, year > 9999:
		return fmt.Errorf("instant: want whole seconds of the years 2000 to 9999")
	}
	return nil
}

// Bytes returns the tick's verified bytes: its canonical JSON (RFC 8785).
// Names and instant hold nothing that JSON escapes.
func (t Tick) Bytes() []byte {
	return []byte(`{"instant":"` + t.Instant.UTC().Format(instantForm) + `","recipe":"` + t.Recipe + `","schedule":"` + t.Schedule + `"}`)
}

// Envelope makes the tick's envelope, of the recipe and with the recipe
// digest that the engine gives its envelopes. The actor is the system; the
// label of what the batch's items say is that of whose words the recipe reads
// at a tick. A tick of another recipe is [pipeline.UnknownRecipe], one of a
// schedule that the recipe does not have [pipeline.UnhandledEvent].
func (t Tick) Envelope(r *pipeline.Recipe, digest string, received time.Time) (pipeline.Envelope, error) {
	if err := t.check(); err != nil {
		return pipeline.Envelope{}, pipeline.MalformedEvent.Error("tick: %v", err)
	}
	if r == nil || r.Name() != t.Recipe {
		return pipeline.Envelope{}, pipeline.UnknownRecipe.Error("want a tick of the recipe")
	}
	s, ok := r.Schedule(t.Schedule)
	if !ok {
		return pipeline.Envelope{}, pipeline.UnhandledEvent.Error("want a schedule that the recipe has")
	}
	return pipeline.NewEnvelope(t.Recipe, digest, pipeline.TickSource, t.Bytes(),
		pipeline.Actor{ID: pipeline.ScheduleActor, Kind: pipeline.System}, s.Channel, s.Target, received), nil
}
