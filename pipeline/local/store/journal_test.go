package store

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"decant.dev/pipeline"
)

func TestRunGoesFromReceivedToEnded(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir(), ticking())
	env := envelope(1)
	encoded, err := env.Encode()
	ok(t, err)
	at := func(seconds int) time.Time { return time.Date(2026, 9, 2, 9, 0, seconds, 0, time.UTC) }
	want := Entry{Run: env.Run, Mode: LiveMode, Recipe: "notes", State: Received, Envelope: encoded, Created: at(1), Updated: at(1)}
	look := func(step string) {
		t.Helper()
		got, found, err := j.Get(background, env.Run, LiveMode)
		if err != nil || !found || fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s: got %+v, %v, %v\nwant %+v", step, got, found, err, want)
		}
	}
	ok(t, j.Begin(background, LiveMode, env))
	look("received")
	ok(t, j.Extracted(background, env.Run, LiveMode, "unverified", []byte(`{"kind":"a"}`), []byte(`{}`)))
	want.State, want.Label, want.Structure, want.Trace, want.Updated = Extracted, "unverified", []byte(`{"kind":"a"}`), []byte(`{}`), at(2)
	look("extracted")
	ok(t, j.Ended(background, env.Run, LiveMode, End{Status: pipeline.Refused, Code: pipeline.PolicyNever, Label: "system", Actions: []byte(`[]`)}))
	want.State, want.Status, want.Code, want.Label, want.Actions, want.Updated = Ended, pipeline.Refused, pipeline.PolicyNever, "system", []byte(`[]`), at(3)
	look("ended")

	// A second attempt clears what the first left, but for when it was begun.
	ok(t, j.Begin(background, LiveMode, env))
	want = Entry{Run: env.Run, Mode: LiveMode, Recipe: "notes", State: Received, Envelope: encoded, Created: at(1), Updated: at(4)}
	look("begun again")
}

func TestModesOfOneRunAreApart(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir(), ticking())
	env := envelope(1)
	ok(t, j.Begin(background, StagedMode, env))
	if _, found, err := j.Get(background, env.Run, LiveMode); found || err != nil {
		t.Errorf("a staged run is found as a live one: %v", err)
	}
	if err := j.Extracted(background, env.Run, LiveMode, "unverified", []byte(`{}`), nil); err == nil {
		t.Error("a live run that was never begun is extracted")
	}
	ok(t, j.Begin(background, LiveMode, env))
	ok(t, j.Ended(background, env.Run, LiveMode, End{Status: pipeline.Done, Code: pipeline.OK, Label: "system", Actions: nil}))
	staged, _, err := j.Get(background, env.Run, StagedMode)
	if err != nil || staged.State != Received || staged.Status != "" {
		t.Errorf("ending the live run changed the staged one: %+v, %v", staged, err)
	}
	both, err := j.Find(background, env.Run)
	if err != nil || len(both) != 2 || both[0].Mode != LiveMode {
		t.Errorf("want both modes, live first, got %d entries, %v", len(both), err)
	}
}

func TestRunThatWasNeverBegunCannotEnd(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir(), ticking())
	if err := j.Ended(background, runOf(1), LiveMode, End{Status: pipeline.Done, Code: pipeline.OK, Label: "", Actions: nil}); err == nil {
		t.Error("want an error")
	}
	if err := j.Begin(background, LiveMode, pipeline.Envelope{}); err == nil {
		t.Error("an invalid envelope is begun")
	}
	if all, err := j.List(background, "", 10); err != nil || len(all) > 0 {
		t.Errorf("%d entries, %v", len(all), err)
	}
}

func TestFindKnowsARunByItsBeginning(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir(), ticking())
	var runs []string
	for n := range 40 {
		ok(t, j.Begin(background, StagedMode, envelope(n)))
		runs = append(runs, envelope(n).Run)
	}
	slices.Sort(runs)
	for _, prefix := range []string{"", runs[0][:1], runs[7][:4], runs[9], runs[3] + "0", "%", "_", "'", strings.Repeat("f", 32)} {
		var want []string
		for _, r := range runs {
			if strings.HasPrefix(r, prefix) && len(want) < 16 {
				want = append(want, r)
			}
		}
		if got := ids(j.Find(background, prefix)); !slices.Equal(got, want) {
			t.Errorf("%q: got %v, want %v", prefix, got, want)
		}
	}
}

func ids(entries []Entry, err error) (runs []string) {
	if err != nil {
		return []string{err.Error()}
	}
	for _, e := range entries {
		runs = append(runs, e.Run)
	}
	return runs
}

func TestListIsNewestFirstByStatusAndLimit(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir(), ticking())
	statuses := pipeline.Statuses()
	var begun []string
	by := map[pipeline.Status][]string{}
	for n := range 3 * len(statuses) {
		env, status := envelope(n), statuses[n%len(statuses)]
		ok(t, j.Begin(background, StagedMode, env))
		ok(t, j.Ended(background, env.Run, StagedMode, End{Status: status, Code: pipeline.OK, Label: "", Actions: nil}))
		begun = append([]string{env.Run}, begun...)
		by[status] = append([]string{env.Run}, by[status]...)
	}
	if got := ids(j.List(background, "", 1000)); !slices.Equal(got, begun) {
		t.Errorf("all: got %v, want %v", got, begun)
	}
	for _, s := range statuses {
		if got := ids(j.List(background, s, 2)); !slices.Equal(got, by[s][:2]) {
			t.Errorf("two that are %s: got %v, want %v", s, got, by[s][:2])
		}
	}
}

func TestOnlyLiveRunsAreUnfinishedOldestFirst(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	j, err := OpenJournal(dir, ticking())
	ok(t, err)
	ok(t, j.Begin(background, StagedMode, envelope(1)))
	for _, n := range []int{2, 3, 4} {
		ok(t, j.Begin(background, LiveMode, envelope(n)))
	}
	ok(t, j.Extracted(background, envelope(3).Run, LiveMode, "unverified", []byte(`{}`), nil))
	ok(t, j.Ended(background, envelope(2).Run, LiveMode, End{Status: pipeline.Done, Code: pipeline.OK, Label: "", Actions: nil}))
	want := []string{envelope(3).Run, envelope(4).Run}
	if got := ids(j.Unfinished(background)); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	ok(t, j.Close())
	if got := ids(openJournal(t, dir, ticking()).Unfinished(background)); !slices.Equal(got, want) {
		t.Errorf("after a new start: got %v, want %v", got, want)
	}
}

// Of every code, only what may pass is tried again, and ever more rarely.
func TestMissedRunsAreTriedEverMoreRarely(t *testing.T) {
	t.Parallel()
	start := time.Date(2026, 9, 2, 9, 0, 0, 0, time.UTC)
	now := start
	j := openJournal(t, t.TempDir(), func() time.Time { return now })
	want := 0
	for i, c := range pipeline.Codes() {
		env := envelope(i)
		ok(t, j.Begin(background, LiveMode, env))
		ok(t, j.Ended(background, env.Run, LiveMode, End{Status: c.Status(), Code: c}))
		if c.MayPass() {
			want++
		}
	}
	if got, err := j.Missed(background, "notes", LiveMode, start, 100); err != nil || len(got) != want {
		t.Errorf("got %d runs, %v; want %d", len(got), err, want)
	}
	for _, other := range []struct {
		recipe string
		mode   Mode
		since  time.Time
	}{{"others", LiveMode, start}, {"notes", StagedMode, start}, {"notes", LiveMode, start.Add(time.Second)}} {
		if got, err := j.Missed(background, other.recipe, other.mode, other.since, 100); err != nil || len(got) != 0 {
			t.Errorf("%+v: got %d runs, %v", other, len(got), err)
		}
	}
	tries := 0
	for hour := 1; hour <= 7*24; hour++ {
		now = start.Add(time.Duration(hour) * time.Hour)
		entries, err := j.Missed(background, "notes", LiveMode, start, 1)
		ok(t, err)
		if len(entries) == 0 {
			continue
		}
		tries++
		for i, c := range pipeline.Codes() {
			env := envelope(i)
			ok(t, j.Begin(background, LiveMode, env))
			ok(t, j.Ended(background, env.Run, LiveMode, End{Status: c.Status(), Code: c}))
		}
	}
	if tries < 5 || tries > 12 {
		t.Errorf("tried %d times in a week of hours, want a number of doublings", tries)
	}
}
