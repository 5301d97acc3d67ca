package clock

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"decant.dev/events"
	"decant.dev/pipeline"
)

func entry(tb testing.TB, expression, zone string) Entry {
	tb.Helper()
	e, err := NewEntry("feeds", "nightly", expression, zone)
	if err != nil {
		tb.Fatal(err)
	}
	return e
}

// changes are days on which the clock is changed, of three zones; that of Lord
// Howe goes by half an hour.
var changes = map[string][]time.Time{
	"Europe/Berlin":       {time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC), time.Date(2026, 10, 25, 0, 0, 0, 0, time.UTC)},
	"America/New_York":    {time.Date(2026, 3, 8, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)},
	"Australia/Lord_Howe": {time.Date(2026, 10, 4, 0, 0, 0, 0, time.UTC), time.Date(2026, 4, 5, 0, 0, 0, 0, time.UTC)},
}

// oracle is every instant of a span by looking at each of its minutes: those
// whose wall clock a cron of minutes and hours names, but for a time of the wall
// that was seen before.
func oracle(zone *time.Location, minutes, hours map[int]bool, from, until time.Time) []time.Time {
	var all []time.Time
	seen := map[string]bool{}
	for at := from.Add(-4 * time.Hour); !at.After(until); at = at.Add(time.Minute) {
		local := at.In(zone)
		wall := local.Format("2006-01-02 15:04")
		if !minutes[local.Minute()] || !hours[local.Hour()] || seen[wall] {
			continue
		}
		seen[wall] = true
		if at.After(from) {
			all = append(all, at)
		}
	}
	return all
}

func TestEachInstantOfADayOfChangeOccursOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe"}).Draw(t, "zone")
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		day := rapid.SampledFrom(changes[name]).Draw(t, "day")
		from := day.Add(time.Duration(rapid.IntRange(-30*60, 0).Draw(t, "before")) * time.Minute)
		until := from.Add(60 * time.Hour)
		minutes, hours := map[int]bool{}, map[int]bool{}
		var m, h []string
		for range rapid.IntRange(1, 4).Draw(t, "many") {
			x, y := rapid.IntRange(0, 59).Draw(t, "minute"), rapid.IntRange(0, 4).Draw(t, "hour")
			minutes[x], hours[y] = true, true
			m, h = append(m, fmt.Sprint(x)), append(h, fmt.Sprint(y))
		}
		e, err := NewEntry("feeds", "nightly", strings.Join(m, ",")+" "+strings.Join(h, ",")+" * * *", name)
		if err != nil {
			t.Fatal(err)
		}
		var got []time.Time
		for at := e.Next(from); !at.After(until); at = e.Next(at) {
			got = append(got, at.UTC())
		}
		if want := oracle(zone, minutes, hours, from, until); !slices.EqualFunc(got, want, time.Time.Equal) {
			t.Fatalf("got %v\nwant %v", got, want)
		}
		if len(got) > 0 {
			if at, ok := e.latest(from, until); !ok || !at.Equal(got[len(got)-1]) {
				t.Fatalf("the latest is %v, want %v", at, got[len(got)-1])
			}
		}
	})
}

func TestTheHourThatIsSkippedAndTheOneThatComesTwice(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cron, zone, after, want string }{
		{"30 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", "2026-03-30T00:30:00Z"}, // 02:30 does not occur on the 29th
		{"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T00:30:00Z"}, // the first 02:30
		{"30 2 * * *", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"}, // and not the second
		{"*/15 * * * *", "Europe/Berlin", "2026-10-25T00:45:00Z", "2026-10-25T02:00:00Z"},
		{"0 0 29 2 *", "UTC", "2026-03-01T00:00:00Z", "2028-02-29T00:00:00Z"},
		{"0 6 * * MON-FRI", "America/New_York", "2026-11-27T12:00:00Z", "2026-11-30T11:00:00Z"},
	} {
		after, _ := time.Parse(time.RFC3339, c.after)
		if got := entry(t, c.cron, c.zone).Next(after).UTC().Format(time.RFC3339); got != c.want {
			t.Errorf("%s in %s after %s: got %s, want %s", c.cron, c.zone, c.after, got, c.want)
		}
	}
}

func TestWhatIsNoScheduleIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ cron, zone string }{
		{"", ""}, {"* * * *", ""}, {"* * * * * *", ""}, {"@daily", ""}, {"@every 1s", ""}, {"TZ=UTC * * * * *", ""}, {"60 * * * *", ""}, {"* 24 * * *", ""},
		{"* * 0 * *", ""}, {"* * * 13 *", ""}, {"* * * * 8", ""}, {"0 0 30 2 *", ""}, {"*/0 * * * *", ""}, {"5-1 * * * *", ""}, {"* * * * *", "Mars/Base"}, {"* * * * *", "Local"},
	} {
		if _, err := NewEntry("a", "b", c.cron, c.zone); err == nil {
			t.Errorf("%q in %q is taken", c.cron, c.zone)
		}
	}
}

// world is a clock that goes on as it is slept, what is kept, and what ran.
type world struct {
	now   time.Time
	end   time.Time
	kept  time.Time
	ran   []string
	said  []string
	takes time.Duration // of one tick
	dies  int           // the tick, from 1, at which the process is killed, before its instant is kept
}

var errEnd = errors.New("the end")

func (w *world) runner() Runner {
	return Runner{
		Last: func(context.Context, Entry) (time.Time, bool, error) { return w.kept, !w.kept.IsZero(), nil },
		Keep: func(_ context.Context, _ Entry, at time.Time) error {
			if w.dies > 0 && len(w.ran) >= w.dies {
				return errEnd
			}
			w.kept = at
			return nil
		},
		Tick: func(_ context.Context, t events.Tick) {
			w.ran = append(w.ran, t.Instant.Format("15:04"))
			w.now = w.now.Add(w.takes)
		},
		Say: func(_ Entry, what string) { w.said = append(w.said, what) },
		Now: func() time.Time { return w.now },
		Sleep: func(_ context.Context, until time.Time) error {
			if until.After(w.end) {
				w.now = w.end
				return errEnd
			}
			if until.After(w.now) {
				w.now = until
			}
			return nil
		},
	}
}

func at(clock string) time.Time {
	t, err := time.Parse("15:04", clock)
	if err != nil {
		panic(err)
	}
	return time.Date(2026, 12, 1, t.Hour(), t.Minute(), 0, 0, time.UTC)
}

func TestMissedInstantsGoByTheirPolicy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		kept, now, end string
		missed         Missed
		takes          time.Duration
		ran            string
		said           int
	}{
		"a first start":             {"", "09:59", "12:30", Once, 0, "10:00 11:00 12:00", 0},
		"nothing was missed":        {"09:00", "09:30", "11:30", Once, 0, "10:00 11:00", 0},
		"skip":                      {"06:00", "09:30", "11:30", Skip, 0, "10:00 11:00", 1},
		"once":                      {"06:00", "09:30", "11:30", Once, 0, "09:00 10:00 11:00", 1},
		"just in time":              {"08:00", "09:00", "09:30", Skip, 0, "09:00", 0},
		"a tick that takes long":    {"09:00", "09:30", "14:30", Skip, 150 * time.Minute, "10:00 13:00", 2},
		"and catches up":            {"09:00", "09:30", "14:30", Once, 150 * time.Minute, "10:00 12:00 15:00", 2},
		"a clock that was set back": {"12:00", "09:30", "13:30", Once, 0, "13:00", 0},
	} {
		w := &world{now: at(c.now), end: at(c.end), takes: c.takes}
		if c.kept != "" {
			w.kept = at(c.kept)
		}
		e := entry(t, "0 * * * *", "UTC")
		e.Missed = c.missed
		w.runner().Run(t.Context(), []Entry{e})
		said := 0
		for _, s := range w.said {
			if strings.HasPrefix(s, "skipped") {
				said++
			}
		}
		if got := strings.Join(w.ran, " "); got != c.ran || said != c.said {
			t.Errorf("%s: ran %s and said %q, want %s and %d words", name, got, w.said, c.ran, c.said)
		}
	}
}

// Killed after a tick ran and before that is kept, the process runs the same
// instant again, which is the same run; no instant is passed over.
func TestAKilledProcessLosesAndDoublesNoInstant(t *testing.T) {
	t.Parallel()
	for dies := 1; dies <= 3; dies++ {
		w := &world{now: at("09:30"), end: at("13:30"), dies: dies}
		e := entry(t, "0 * * * *", "UTC")
		e.Missed = Once
		w.runner().Run(t.Context(), []Entry{e})
		w.dies = 0
		w.runner().Run(t.Context(), []Entry{e})
		if got := slices.Compact(slices.Clone(w.ran)); !slices.Equal(got, []string{"10:00", "11:00", "12:00", "13:00"}) || len(w.ran) != 5 {
			t.Errorf("killed at tick %d: ran %v", dies, w.ran)
		}
	}
}

func TestJitterIsOfTheInstantAndBounded(t *testing.T) {
	t.Parallel()
	e := entry(t, "* * * * *", "UTC")
	e.Jitter = 30 * time.Second
	seen := map[time.Duration]bool{}
	for i := range 200 {
		j := e.jitter(at("10:00").Add(time.Duration(i) * time.Minute))
		if j < 0 || j >= e.Jitter || j != e.jitter(at("10:00").Add(time.Duration(i)*time.Minute)) {
			t.Fatalf("got %s", j)
		}
		seen[j] = true
	}
	if len(seen) < 150 {
		t.Errorf("only %d of 200 differ", len(seen))
	}
}

func TestAFileNamesWhatIsWrong(t *testing.T) {
	t.Parallel()
	r := pipeline.Build(pipeline.Spec[struct{}]{Name: "feeds", Schedules: []pipeline.Schedule{{Name: "nightly"}}})
	find := func(name string) (*pipeline.Recipe, bool) { return r, name == "feeds" }
	one := func(s string) string { return `{"schema":"schedules.v1","schedules":[` + s + `]}` }
	good := `{"recipe":"feeds","schedule":"nightly","cron":"0 6 * * *","timezone":"Europe/Berlin","missed":"once","jitter":"30s"}`
	if e, err := Read([]byte(one(good)), find); err != nil || len(e) != 1 || e[0].Missed != Once || e[0].Jitter != 30*time.Second {
		t.Errorf("got %+v, %v", e, err)
	}
	for text, want := range map[string]string{
		"[]": "want an object", `{"schema":"schedules.v2","schedules":[]}`: "want schedules.v1", one(good + "," + good): "stands there twice",
		one(`{"recipe":"x"}`): "schedules[0]: recipe", one(`{"recipe":"feeds","schedule":"x"}`): "schedules[0]: schedule",
		one(strings.Replace(good, "0 6", "0 66", 1)): "cron", one(strings.Replace(good, "Berlin", "X", 1)): "timezone", one(strings.Replace(good, "once", "twice", 1)): "skip or once",
		one(strings.Replace(good, "30s", "2h", 1)): "jitter", one(strings.Replace(good, "30s", "-1s", 1)): "jitter", one(strings.Replace(good, "missed", "Missed", 1)): "want an object",
		strings.Repeat(" ", maxBytes+1): "want at most", one(strings.TrimSuffix(strings.Repeat(good+",", MaxEntries+1), ",")): "want at most 100",
	} {
		if _, err := Read([]byte(text), find); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.80s: got %v, want %q named", text, err, want)
		}
	}
}

func TestSleepEndsWithItsContext(t *testing.T) {
	t.Parallel()
	if err := Sleep(t.Context(), time.Now().Add(-time.Second)); err != nil {
		t.Errorf("what has passed: %v", err)
	}
	if err := Sleep(t.Context(), time.Now().Add(10*time.Millisecond)); err != nil {
		t.Errorf("what comes: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if err := Sleep(ctx, time.Now().Add(time.Hour)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
