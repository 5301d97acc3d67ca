package pipeline

import "slices"

// The words that an envelope of a schedule's tick bears.
const (
	Tick          = "schedule.tick"   // the event
	TickSource    = "schedule"        // the source
	ScheduleActor = "system:schedule" // the actor, who is the system
)

// Schedule is one clock that starts batches of a recipe. When it ticks is the
// deployment's affair; what a tick may reach is the recipe's, and so enters
// its digest.
type Schedule struct {
	Name string // matches ^[a-z][a-z0-9-]{0,31}$
	// Channel is what the batch's items are about, as "feed:advisories". Empty
	// is "schedule:" and the name.
	Channel string
	// Target is where the outcomes of every item go. Its Event is Tick, and
	// may be left empty.
	Target Target
}

// complete puts in what may be left empty.
func (s Schedule) complete() Schedule {
	if s.Channel == "" {
		s.Channel = "schedule:" + s.Name
	}
	if s.Target.Event == "" {
		s.Target.Event = Tick
	}
	return s
}

// Schedules returns the recipe's schedules, with their defaults put in.
func (r *Recipe) Schedules() []Schedule { return slices.Clone(r.schedules) }

// Schedule returns the schedule of a name, and false where there is none.
func (r *Recipe) Schedule(name string) (Schedule, bool) {
	for _, s := range r.schedules {
		if s.Name == name {
			return s, true
		}
	}
	return Schedule{}, false
}

// IsScheduleName reports whether s may name a schedule.
func IsScheduleName(s string) bool { return isName(s, 32) }

// checkSchedules completes the schedules and gathers what is wrong with them.
func (r *Recipe) checkSchedules() {
	if len(r.schedules) > 0 && !r.Handles(Tick) {
		r.breach("schedule_event", "Events", "Schedules want the event %s named, with the lowest trust that a batch reads", Tick)
	}
	for i, s := range r.schedules {
		s = s.complete()
		switch {
		case !isName(s.Name, 32):
			r.breach("schedule_name", "Schedules", "%.64q: want %s", s.Name, nameForm)
		case slices.ContainsFunc(r.schedules[:i], func(o Schedule) bool { return o.Name == s.Name }):
			r.breach("schedule_name", "Schedules", "%.64q is named twice", s.Name)
		case !isPrefixed(s.Channel, channelSet, 160):
			r.breach("schedule_channel", "Schedules", "%s: want a channel of %s", s.Name, channelForm)
		case s.Target.Event != Tick:
			r.breach("schedule_target", "Schedules", "%s: want the target's event %s", s.Name, Tick)
		case s.Target.Repository != "" && !IsRepository(s.Target.Repository):
			r.breach("schedule_target", "Schedules", "%s: want the target's repository of %s", s.Name, repoForm)
		case s.Target.Number < 0 || s.Target.Number > 1<<31-1:
			r.breach("schedule_target", "Schedules", "%s: want the target's number 0 to 2147483647", s.Name)
		}
		r.schedules[i] = s
	}
}
