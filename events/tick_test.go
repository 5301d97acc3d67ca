package events

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"decant.dev/pipeline"
)

var midnight = time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)

const nightly = `{"instant":"2026-12-01T00:00:00Z","recipe":"feeds","schedule":"nightly"}`

func TestTickHasOneSpelling(t *testing.T) {
	t.Parallel()
	for _, spelt := range []string{nightly, ` { "schedule":"nightly", "recipe":"feeds" , "instant":"2026-12-01T00:00:00Z"}` + "\n"} {
		got, err := ParseTick([]byte(spelt))
		if err != nil || got != (Tick{"feeds", "nightly", midnight}) || string(got.Bytes()) != nightly {
			t.Errorf("%s: got %+v, %v", spelt, got, err)
		}
	}
	zoned := Tick{"feeds", "nightly", midnight.In(time.FixedZone("", 7200))}
	if string(zoned.Bytes()) != nightly {
		t.Errorf("in another zone: got %s", zoned.Bytes())
	}
}

func TestTickIsReadStrictly(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{
		"", "null", "[]", `"x"`, "{}", nightly + "{}", strings.TrimSuffix(nightly, "}"),
		strings.Replace(nightly, `"recipe"`, `"Recipe"`, 1), strings.Replace(nightly, `{`, `{"more":"zz9",`, 1), strings.Replace(nightly, `{`, `{"recipe":"feeds",`, 1),
		strings.Replace(nightly, `"feeds"`, `null`, 1), strings.Replace(nightly, `"feeds"`, `"zz9 x"`, 1), strings.Replace(nightly, `"nightly"`, `"<zz9>"`, 1),
		strings.Replace(nightly, "00Z", "00.5Z", 1), strings.Replace(nightly, "00Z", "00+00:00", 1), strings.Replace(nightly, "2026", "0001", 1),
		strings.Replace(nightly, "2026-12-01T00:00:00Z", "<aws.scheduler.scheduled-time>", 1), strings.Replace(nightly, "12-01", "02-30", 1),
		strings.Repeat(" ", maxTickBytes) + nightly,
	} {
		_, err := ParseTick([]byte(bad))
		var fault *pipeline.Fault
		if !errors.As(err, &fault) || fault.Code != pipeline.MalformedEvent || strings.Contains(err.Error(), "zz9") {
			t.Errorf("%s: got %v, want malformed_event without a word of it", bad, err)
		}
	}
}

func FuzzParseTick(f *testing.F) {
	f.Add([]byte(nightly))
	f.Add([]byte(`{"tick":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		tick, err := ParseTick(b)
		if err != nil {
			return
		}
		again, err := ParseTick(tick.Bytes())
		if err != nil || !bytes.Equal(again.Bytes(), tick.Bytes()) {
			t.Errorf("%+v: its own bytes are %+v, %v", tick, again, err)
		}
	})
}

func feeds(reads pipeline.Reads) *pipeline.Recipe {
	return pipeline.Build(pipeline.Spec[struct{}]{
		Name: "feeds", Events: []pipeline.Event{{Name: pipeline.Tick, Reads: reads}},
		Schedules: []pipeline.Schedule{{Name: "nightly", Channel: "feed:x", Target: pipeline.Target{Repository: "o/r"}}},
	})
}

func TestEnvelopeOfATickIsConfiguration(t *testing.T) {
	t.Parallel()
	r := feeds(pipeline.OthersWords)
	e, err := Tick{"feeds", "nightly", midnight}.Envelope(r, r.Digest(), midnight.Add(time.Second))
	if err != nil || e.Check() != nil {
		t.Fatalf("got %v, %v", err, e.Check())
	}
	want := pipeline.NewEnvelope("feeds", r.Digest(), "schedule", []byte(nightly), pipeline.Actor{ID: "system:schedule", Kind: pipeline.System},
		"feed:x", pipeline.Target{Event: "schedule.tick", Repository: "o/r"}, midnight.Add(time.Second))
	if e != want {
		t.Errorf("got %+v, want %+v", e, want)
	}
	later, err := Tick{"feeds", "nightly", midnight.Add(time.Second)}.Envelope(r, r.Digest(), midnight)
	if err != nil || later.Run == e.Run {
		t.Errorf("another instant: got run %s, %v, want another run", later.Run, err)
	}
}

func TestTickOfNoScheduleHasNoEnvelope(t *testing.T) {
	t.Parallel()
	r := feeds(pipeline.OthersWords)
	for want, tick := range map[pipeline.Code]Tick{
		pipeline.UnknownRecipe:  {"other", "nightly", midnight},
		pipeline.UnhandledEvent: {"feeds", "hourly", midnight},
		pipeline.MalformedEvent: {"feeds", "nightly", time.Time{}},
	} {
		_, err := tick.Envelope(r, r.Digest(), midnight)
		var fault *pipeline.Fault
		if !errors.As(err, &fault) || fault.Code != want {
			t.Errorf("%+v: got %v, want %s", tick, err, want)
		}
	}
}
