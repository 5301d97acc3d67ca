// Package clock says when schedules tick on one machine, and fires them: each
// instant once, whatever the zone does and however often the process starts.
//
// Daylight saving is as EventBridge Scheduler has it: an instant that falls
// into the hour that is skipped does not occur, and one in the hour that comes
// twice occurs the first time
// (docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html).
package clock

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/go-json-experiment/json"
	"github.com/robfig/cron/v3"

	"decant.dev/events"
	"decant.dev/pipeline"
)

// Missed says what becomes of instants at which nothing ran, since the process
// was down or an earlier tick still ran.
type Missed string

// The policies.
const (
	Skip Missed = "skip" // nothing
	Once Missed = "once" // the last of them is run
)

// Schema is the schema field of a file of schedules.
const Schema = "schedules.v1"

// Bounds of a file.
const (
	MaxEntries = 100
	MaxJitter  = time.Hour
	maxBytes   = 64 << 10
)

// Entry says when one schedule of a recipe ticks.
type Entry struct {
	Recipe, Schedule string
	Missed           Missed
	Jitter           time.Duration // a tick is up to so much later than its instant, by a digest of both

	cron cron.Schedule
	zone *time.Location
}

// cronForm is the five fields of a cron expression: minute, hour, day of month,
// month and day of week.
var cronForm = regexp.MustCompile(`^[0-9*,/-]{1,60} [0-9*,/-]{1,60} [0-9*?,/-]{1,60} [0-9A-Za-z*,/-]{1,60} [0-9A-Za-z*?,/-]{1,60}$`)

var fields = cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow)

// NewEntry makes an entry of a cron expression of five fields and an IANA zone;
// empty is UTC.
func NewEntry(recipe, schedule, expression, zone string) (Entry, error) {
	e := Entry{Recipe: recipe, Schedule: schedule, Missed: Skip}
	if zone == "" {
		zone = "UTC"
	}
	var err error
	if e.zone, err = time.LoadLocation(zone); err != nil || zone == "Local" {
		return Entry{}, fmt.Errorf(`timezone %.64q: want a zone of the IANA database, as "Europe/Berlin"`, zone)
	}
	if cronForm.MatchString(expression) {
		e.cron, err = fields.Parse(expression)
	}
	if e.cron == nil || err != nil {
		return Entry{}, fmt.Errorf(`cron %.64q: want minute, hour, day of month, month and day of week, as "0 6 * * 1-5"`, expression)
	}
	if e.cron.Next(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)).IsZero() {
		return Entry{}, fmt.Errorf("cron %.64q: want an instant that occurs", expression)
	}
	return e, nil
}

// Next returns the first instant after a time; the zero time where there is
// none within five years.
func (e Entry) Next(after time.Time) time.Time {
	// The clock on the wall goes back by three hours at most (zones' history has
	// no more since 1990), so what is later on it than that is looked at.
	wall := naive(after.In(e.zone)).Add(-3 * time.Hour)
	for {
		if wall = e.cron.Next(wall); wall.IsZero() {
			return time.Time{}
		}
		if at, ok := e.first(wall); ok && at.After(after) {
			return at
		}
	}
}

// naive is what the clock on the wall shows, as if it were UTC.
func naive(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// first is the first instant at which the clock on the wall shows a time, and
// false where it never does.
func (e Entry) first(wall time.Time) (time.Time, bool) {
	var found time.Time
	for _, around := range []time.Duration{-36 * time.Hour, 36 * time.Hour} {
		_, offset := wall.Add(around).In(e.zone).Zone()
		at := wall.Add(-time.Duration(offset) * time.Second)
		if naive(at.In(e.zone)).Equal(wall) && (found.IsZero() || at.Before(found)) {
			found = at
		}
	}
	return found, !found.IsZero()
}

// latest is the last instant after one time and until another, and false where
// there is none.
func (e Entry) latest(after, until time.Time) (time.Time, bool) {
	var at time.Time
	for _, window := range []time.Duration{time.Hour, 48 * time.Hour, 40 * 24 * time.Hour, until.Sub(after)} {
		from := until.Add(-window)
		if from.Before(after) {
			from = after
		}
		for next := e.Next(from); !next.IsZero() && !next.After(until); next = e.Next(at) {
			at = next
		}
		if !at.IsZero() || from.Equal(after) {
			break
		}
	}
	return at, !at.IsZero()
}

// jitter is how much later than its instant a tick is.
func (e Entry) jitter(instant time.Time) time.Duration {
	if e.Jitter <= 0 {
		return 0
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "decant jitter v1\n%s\n%s\n%d\n", e.Recipe, e.Schedule, instant.Unix()))
	return time.Duration(binary.BigEndian.Uint64(sum[:8]) % uint64(e.Jitter))
}

// Read reads a file of schedules strictly: schedules.v1, in which each schedule
// of a recipe stands once and exists. Its errors name the place and what was
// wanted.
func Read(b []byte, recipe func(string) (*pipeline.Recipe, bool)) ([]Entry, error) {
	var file struct {
		Schema    string `json:"schema"`
		Schedules []struct {
			Recipe   string `json:"recipe"`
			Schedule string `json:"schedule"`
			Cron     string `json:"cron"`
			Timezone string `json:"timezone"`
			Missed   Missed `json:"missed"`
			Jitter   string `json:"jitter"`
		} `json:"schedules"`
	}
	switch {
	case len(b) > maxBytes:
		return nil, fmt.Errorf("file of %d bytes: want at most %d", len(b), maxBytes)
	case json.Unmarshal(b, &file, json.RejectUnknownMembers(true)) != nil:
		return nil, errors.New("want an object of schema and schedules, each with recipe, schedule, cron, timezone, missed and jitter")
	case file.Schema != Schema:
		return nil, fmt.Errorf("schema %.32q: want %s", file.Schema, Schema)
	case len(file.Schedules) > MaxEntries:
		return nil, fmt.Errorf("%d schedules: want at most %d", len(file.Schedules), MaxEntries)
	}
	var entries []Entry
	var faults []error
	seen := map[[2]string]bool{}
	for i, s := range file.Schedules {
		fault := func(err error) { faults = append(faults, fmt.Errorf("schedules[%d]: %w", i, err)) }
		r, ok := recipe(s.Recipe)
		if !ok {
			fault(fmt.Errorf("recipe %.32q: want one that is built in", s.Recipe))
			continue
		}
		if _, ok := r.Schedule(s.Schedule); !ok {
			fault(fmt.Errorf("schedule %.32q: want one of the recipe %s", s.Schedule, s.Recipe))
			continue
		}
		if key := [2]string{s.Recipe, s.Schedule}; seen[key] {
			fault(fmt.Errorf("schedule %s of %s stands there twice", s.Schedule, s.Recipe))
		} else {
			seen[key] = true
		}
		e, err := NewEntry(s.Recipe, s.Schedule, s.Cron, s.Timezone)
		if err != nil {
			fault(err)
			continue
		}
		switch s.Missed {
		case "":
		case Skip, Once:
			e.Missed = s.Missed
		default:
			fault(fmt.Errorf("missed %.16q: want skip or once", string(s.Missed)))
		}
		if s.Jitter != "" {
			if e.Jitter, err = time.ParseDuration(s.Jitter); err != nil || e.Jitter < 0 || e.Jitter > MaxJitter {
				fault(fmt.Errorf("jitter %.16q: want a duration of at most 1h, as 30s", s.Jitter))
			}
		}
		entries = append(entries, e)
	}
	return entries, errors.Join(faults...)
}

// Runner fires entries. Its functions are called by one goroutine for each
// entry, so that no two ticks of one schedule run at once.
type Runner struct {
	Last  func(ctx context.Context, e Entry) (at time.Time, ok bool, err error) // the instant that was kept last
	Keep  func(ctx context.Context, e Entry, at time.Time) error                // makes it durable
	Tick  func(ctx context.Context, t events.Tick)                              // runs a tick, to its end
	Say   func(e Entry, what string)
	Now   func() time.Time
	Sleep func(ctx context.Context, until time.Time) error // its error ends the entry
}

// lateness is how late a tick may begin and still not count as missed.
const lateness = time.Minute

// Run fires the entries until ctx ends. An instant is kept after its tick has
// run: a process that is killed in between finds the tick's run in the journal,
// under the same id.
func (r Runner) Run(ctx context.Context, entries []Entry) {
	var all sync.WaitGroup
	for _, e := range entries {
		all.Go(func() {
			if err := r.run(ctx, e); err != nil && ctx.Err() == nil {
				r.Say(e, "ticks no more: "+err.Error())
			}
		})
	}
	all.Wait()
}

func (r Runner) run(ctx context.Context, e Entry) error {
	last, known, err := r.Last(ctx, e)
	if err != nil {
		return err
	}
	if !known {
		last = r.Now().Truncate(time.Second) // what was before a schedule's first start was not missed
		if err := r.Keep(ctx, e, last); err != nil {
			return err
		}
	}
	for {
		next := e.Next(last)
		if next.IsZero() {
			return errors.New("there is no instant any more")
		}
		if err := r.Sleep(ctx, next.Add(e.jitter(next))); err != nil {
			return err
		}
		now := r.Now()
		at, ok := e.latest(last, now)
		if !ok { // the clock was set back
			continue
		}
		run := now.Sub(at.Add(e.jitter(at))) <= lateness || e.Missed == Once
		if from := next; at.After(from) || !run {
			r.Say(e, skipped(from, at, run))
		}
		if run {
			r.Tick(ctx, events.Tick{Recipe: e.Recipe, Schedule: e.Schedule, Instant: at.UTC()})
			if ctx.Err() != nil {
				return ctx.Err() // not kept: the next start looks at it again
			}
		}
		if err := r.Keep(ctx, e, at); err != nil {
			return err
		}
		last = at
	}
}

func skipped(from, at time.Time, run bool) string {
	word := []string{"skipped the instants from", from.UTC().Format(time.RFC3339)}
	if run {
		word = append(word, "before")
	} else {
		word = append(word, "to")
	}
	return strings.Join(append(word, at.UTC().Format(time.RFC3339)), " ")
}

// Sleep waits until a time of the system's clock, which is looked at twice a
// minute: it may be set, and a machine may have slept.
func Sleep(ctx context.Context, until time.Time) error {
	for {
		left := time.Until(until.Round(0))
		if left <= 0 {
			return ctx.Err()
		}
		select {
		case <-time.After(min(left, 30*time.Second)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
