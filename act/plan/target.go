package plan

// Target is what a run may write to, as a plan sees it: which of the
// recipe's events started the run, and a handle of the place. The place
// itself comes from the verified envelope and is resolved by the sink.
type Target struct {
	event string
	asked *bool
}

// NewTarget makes a target for one of the recipe's events. Where asked is
// not nil it is set once a plan looks at the event, so that an audit knows
// whether other events can give other outcomes.
func NewTarget(event string, asked *bool) Target { return Target{event: event, asked: asked} }

// Event returns the name of the event that started the run, one of those
// that the recipe lists. A plan may branch on it.
func (t Target) Event() string {
	if t.asked != nil {
		*t.asked = true
	}
	return t.event
}

// Ref returns the handle of the target: the issue, feed item or mail that the
// event named.
func (t Target) Ref() Ref { return Ref{target: true} }
