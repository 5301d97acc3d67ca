package attack

import (
	"fmt"
	"strconv"

	"decant.dev/events"
	"decant.dev/fetch"
	"decant.dev/pipeline"
)

// actor is who opens an issue.
type actor struct {
	id    int
	label string // the highest label that a run of theirs may have
}

// The two actors: one whom nobody knows, and one who holds trigger.
var (
	stranger = actor{7001, "unverified"}
	trusted  = actor{7002, "trigger"}
)

const (
	repository = "octo-org/attacked"
	channel    = "github:" + repository
)

var grantsFile = fmt.Appendf(nil, `{"schema":"grants.v1","grants":[{"person":"github:%d","channel":%q}]}`, trusted.id, channel)

// event is the event of a recipe that an attack makes, or empty.
func event(r *pipeline.Recipe) string {
	for _, e := range []string{"issues.opened", "issue_comment.created"} {
		if r.Handles(e) {
			return e
		}
	}
	return ""
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
	user := fmt.Sprintf(`{"id":%d,"login":"actor","type":"User"}`, it.actor.id)
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
