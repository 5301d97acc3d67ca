package attack

import (
	"fmt"
	"strconv"
	"time"

	"decant.dev/events"
	"decant.dev/fetch"
	"decant.dev/internal/hostile"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local"
)

// actor is who opens an issue.
type actor struct {
	number int
	label  string // the highest label that a run of theirs may have
	acts   string // the person that receipts name, or empty
}

// The two actors: one whom nobody knows, and one who holds trigger.
var (
	stranger = actor{7001, "unverified", "github:7001"}
	trusted  = actor{7002, "trigger", "github:7002"}
)

const (
	repository = "octo-org/attacked"
	channel    = "github:" + repository
)

var grantsFile = fmt.Appendf(nil, `{"schema":"grants.v1","grants":[{"person":"github:%d","channel":%q}]}`, trusted.number, channel)

// event is the event of a recipe that an attack makes, or empty. made says
// that it is a real one, as the source sends it.
func event(p local.Pipeline) (name string, made bool) {
	for _, e := range []string{"issues.opened", "issue_comment.created"} {
		if p.Intake.Source == events.GitHub && p.Recipe.Handles(e) {
			return e, true
		}
	}
	for _, e := range p.Recipe.Events() {
		return e.Name, false
	}
	return "", false
}

// forged is the envelope of an item that no source sent: of a tick's item where
// the recipe's event is one, and of a hook's delivery where its source is that.
func (it item) forged(number int, p local.Pipeline, now time.Time) (func(digest string) pipeline.Envelope, []byte) {
	body := hostile.Body{Item: number, Order: string(it.title), Text: it.body}.Encode()
	name := p.Recipe.Name()
	if hook := p.Hook; hook.Name != "" {
		return func(digest string) pipeline.Envelope {
			return pipeline.NewEnvelope(name, digest, hook.Name, body, pipeline.Actor{ID: hook.Sender(), Kind: pipeline.System}, hook.Sender(),
				pipeline.Target{Event: it.event}, now)
		}, body
	}
	if it.event != pipeline.Tick {
		return func(digest string) pipeline.Envelope {
			return pipeline.NewEnvelope(name, digest, p.Intake.Source, body, pipeline.Actor{ID: it.actor.acts, Kind: pipeline.Person}, channel,
				pipeline.Target{Event: it.event, Repository: repository, Number: int64(number)}, now)
		}, body
	}
	return func(digest string) pipeline.Envelope {
		at := pipeline.Schedule{Channel: channel, Target: pipeline.Target{Event: pipeline.Tick}}
		for _, s := range p.Recipe.Schedules() {
			at = s
			break
		}
		tick := fmt.Appendf(nil, "tick of item %d", number)
		return pipeline.NewEnvelope(name, digest, pipeline.TickSource, tick, pipeline.Actor{ID: pipeline.ScheduleActor, Kind: pipeline.System},
			at.Channel, at.Target, now).OfItem(body)
	}, body
}

// item is one delivery to be made.
type item struct {
	class string
	kind  string // of near miss, where it is one
	event string
	actor actor
	title []byte // any bytes
	body  []byte // any bytes
}

// delivery is GitHub's payload of the item, as the issue of that number.
func (it item) delivery(number int) (events.Delivery, error) {
	user := fmt.Sprintf(`{"id":%d,"login":"actor","type":"User"}`, it.actor.number)
	b := fmt.Appendf(nil, `{"action":"opened","issue":{"number":%d,"user":%s,"labels":[],"title":`, number, user)
	comment := it.event == "issue_comment.created"
	if comment {
		b = fmt.Appendf(nil, `{"action":"created","issue":{"number":%d,"user":%s,"labels":[],"title":`, number, user)
	}
	b = appendRaw(b, it.title)
	b = append(b, `,"body":`...)
	b = appendRaw(b, it.body)
	b = append(b, '}')
	if comment {
		b = fmt.Appendf(b, `,"comment":{"user":%s,"body":%s}`, user, strconv.Quote(fetch.TriageCommand))
	}
	b = fmt.Appendf(b, `,"repository":{"full_name":%q},"sender":%s}`, repository, user)
	return events.GitHubDelivery(it.event, b)
}

// appendRaw appends a JSON string of bytes as they are: what is not UTF-8
// stays so, and is the ingress's to refuse.
func appendRaw(b, s []byte) []byte {
	b = append(b, '"')
	for _, c := range s {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < ' ':
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return append(b, '"')
}
