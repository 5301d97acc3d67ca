package pipeline

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func tickEnvelope() Envelope {
	return NewEnvelope("feeds", strings.Repeat("ab", 32), TickSource, []byte(`{"instant":"2026-12-01T00:00:00Z"}`),
		Actor{ScheduleActor, System}, "schedule:nightly", Target{Event: Tick}, noon)
}

// An envelope without an item is what it was before there were items: the
// same id and the same bytes.
func TestEnvelopeWithoutItemIsUnchanged(t *testing.T) {
	t.Parallel()
	e := sampleEnvelope()
	if want := "f83e4fa8449939ff4748a423e79bcbde"; e.Run != want {
		t.Errorf("got run %s, want %s", e.Run, want)
	}
	if b, err := e.Encode(); err != nil || strings.Contains(string(b), "item") {
		t.Errorf("got %s, %v: want no item", b, err)
	}
	if e.Content() != e.BodySHA256 {
		t.Errorf("got content %s, want the body's digest", e.Content())
	}
}

func TestItemOfATickKeepsAllButItsRun(t *testing.T) {
	t.Parallel()
	tick := tickEnvelope()
	item := tick.OfItem([]byte("one"))
	if err := item.Check(); err != nil {
		t.Fatal(err)
	}
	if item.Run == tick.Run || item.Content() != item.Item {
		t.Errorf("got %+v", item)
	}
	b, err := item.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodeEnvelope(b); err != nil || !reflect.DeepEqual(back, item) {
		t.Errorf("got %+v, %v", back, err)
	}
	item.Run, item.Item = tick.Run, ""
	if !reflect.DeepEqual(item, tick) {
		t.Errorf("got %+v, want all else the tick's", item)
	}
}

// What lists items cannot give one the run of another item, of another tick
// or of a delivery, whichever digest it claims.
func TestItemCannotTakeAnothersRun(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one, two := rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "one"), rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "two")
		tick := tickEnvelope()
		a, b := tick.OfItem(one), tick.OfItem(two)
		if (a.Run == b.Run) != (string(one) == string(two)) {
			t.Fatalf("runs %s and %s of items %q and %q", a.Run, b.Run, one, two)
		}
		forged := a
		forged.Run = b.Run
		if a.Run != b.Run && forged.Check() == nil {
			t.Fatal("an item with another's run is in order")
		}
		forged = a
		forged.Run = tick.Run
		if forged.Check() == nil {
			t.Fatal("an item with the tick's run is in order")
		}
		forged = tick
		forged.Run = a.Run
		if forged.Check() == nil {
			t.Fatal("a tick with an item's run is in order")
		}
	})
}

func TestSchedulesAreHeldToTheirForms(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		schedules []Schedule
		events    []Event
		rule      string
	}{
		"no event":       {[]Schedule{{Name: "nightly"}}, nil, "schedule_event"},
		"bad name":       {[]Schedule{{Name: "Nightly SECRET"}}, []Event{{Name: Tick}}, "schedule_name"},
		"twice":          {[]Schedule{{Name: "a"}, {Name: "a"}}, []Event{{Name: Tick}}, "schedule_name"},
		"bad channel":    {[]Schedule{{Name: "a", Channel: "no colon"}}, []Event{{Name: Tick}}, "schedule_channel"},
		"another event":  {[]Schedule{{Name: "a", Target: Target{Event: "issues.opened"}}}, []Event{{Name: Tick}}, "schedule_target"},
		"bad repository": {[]Schedule{{Name: "a", Target: Target{Repository: "a/b/c"}}}, []Event{{Name: Tick}}, "schedule_target"},
		"bad number":     {[]Schedule{{Name: "a", Target: Target{Number: -1}}}, []Event{{Name: Tick}}, "schedule_target"},
	} {
		r := Build(Spec[struct{}]{Name: "feeds", Events: tc.events, Schedules: tc.schedules})
		found := false
		for _, v := range r.Violations() {
			found = found || v.Rule == tc.rule
		}
		if !found {
			t.Errorf("%s: got %v, want %s", name, r.Violations(), tc.rule)
		}
	}
}

func TestScheduleIsCompleteAndEntersTheDigest(t *testing.T) {
	t.Parallel()
	build := func(s ...Schedule) *Recipe {
		return Build(Spec[struct{}]{Name: "feeds", Events: []Event{{Name: Tick}}, Schedules: s})
	}
	r := build(Schedule{Name: "nightly"})
	want := Schedule{"nightly", "schedule:nightly", Target{Event: Tick}}
	if s, ok := r.Schedule("nightly"); !ok || s != want || len(r.Schedules()) != 1 {
		t.Errorf("got %+v, %t, want %+v", s, ok, want)
	}
	if _, ok := r.Schedule("hourly"); ok {
		t.Error("a schedule that is not declared is found")
	}
	seen := map[string]bool{}
	for _, s := range [][]Schedule{
		nil, {{Name: "nightly"}}, {{Name: "hourly"}}, {{Name: "nightly", Channel: "feed:x"}},
		{{Name: "nightly", Target: Target{Repository: "o/r"}}}, {{Name: "nightly", Target: Target{Repository: "o/r", Number: 1}}}, {{Name: "nightly"}, {Name: "hourly"}},
	} {
		d := build(s...).Digest()
		if seen[d] {
			t.Errorf("%v has the digest of another", s)
		}
		seen[d] = true
	}
}

func TestEachItemHasAPlaceOfItsOwn(t *testing.T) {
	t.Parallel()
	tick := tickEnvelope()
	one, two := tick.OfItem([]byte("one")), tick.OfItem([]byte("two"))
	later := NewEnvelope("feeds", tick.RecipeDigest, TickSource, []byte("{}"), tick.Actor, tick.Channel, tick.Target, noon).OfItem([]byte("one"))
	if one.Place() == two.Place() || one.Place() != later.Place() || one.Run == later.Run || one.Place() != "schedule:nightly#"+one.Item[:32] {
		t.Errorf("got %s, %s and %s", one.Place(), two.Place(), later.Place())
	}
	if e := sampleEnvelope(); e.Place() != "octo-org/sample#12" || e.OfItem([]byte("one")).Place() != "octo-org/sample#12" {
		t.Errorf("got %s", e.Place())
	}
}

// What a person gives has the place of the same item of a schedule, is nobody's
// word, and is one run however often it is given.
func TestAGivenItemHasTheScheduledItemsPlace(t *testing.T) {
	t.Parallel()
	s := noteSpec()
	s.Events, s.Schedules = []Event{{Name: Tick}}, []Schedule{{Name: "nightly", Channel: "feed:sample"}}
	r := Build(s)
	digest := strings.Repeat("ab", 32)
	given, err := r.Given(digest, []byte("one"), noon)
	if err != nil || given.Check() != nil {
		t.Fatalf("got %v, %v", err, given.Check())
	}
	ticked := NewEnvelope(r.Name(), digest, TickSource, []byte("{}"), Actor{ScheduleActor, System}, "feed:sample", Target{Event: Tick}, noon).OfItem([]byte("one"))
	if given.Place() != ticked.Place() || given.Run == ticked.Run || given.Actor.ID != GivenActor || given.Feed() != ticked.Feed() {
		t.Errorf("got %+v beside %+v", given, ticked)
	}
	if again, _ := r.Given(digest, []byte("one"), noon.AddDate(1, 0, 0)); again.Run != given.Run {
		t.Errorf("got runs %s and %s of the same bytes", given.Run, again.Run)
	}
	s.Events, s.Schedules = []Event{{Name: "mail.received"}}, nil
	if e, err := Build(s).Given(digest, nil, noon); err != nil || e.Check() != nil || e.Target.Event != "mail.received" || e.Channel != GivenChannel {
		t.Errorf("without schedules: %+v, %v, %v", e, err, e.Check())
	}
	s.Events = nil
	if _, err := Build(s).Given(digest, nil, noon); err == nil {
		t.Error("a recipe without events takes an item")
	}
}
