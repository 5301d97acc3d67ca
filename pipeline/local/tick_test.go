package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"decant.dev/act/plan"
	"decant.dev/events"
	"decant.dev/extract"
	"decant.dev/fence"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local/store"
)

// feedItems are what each recipe of a feed lists; its extractor says "a" of
// every item that is honest.
var feedItems = map[string]func() ([][]byte, error){
	"feed": func() ([][]byte, error) {
		return [][]byte{[]byte("one SECRETWORD"), []byte("panic"), []byte("two"), []byte("one SECRETWORD"), []byte("unreadable"), []byte("exit"), []byte("three")}, nil
	},
	"feed-empty":  func() ([][]byte, error) { return nil, nil },
	"feed-broken": func() ([][]byte, error) { return nil, errors.New("SECRETWORD") },
	"feed-panic":  func() ([][]byte, error) { panic("SECRETWORD") },
	"feed-exit":   func() ([][]byte, error) { os.Exit(0); return nil, nil },
	"feed-flood": func() ([][]byte, error) {
		big := bytes.Repeat([]byte("x"), fetch.MaxItemBytes)
		return [][]byte{append(big, 'x'), big, append(big[1:], 'a'), append(big[1:], 'b'), append(big[1:], 'c'), append(big[1:], 'd'), append(big[1:], 'e')}, nil
	},
}

func feedPipeline(name string) Pipeline {
	spec := pipeline.Spec[note]{
		Name: name, Plan: keepNote, Policy: storeAlways, MaxDecide: 12, MaxCarry: 4000,
		Events:    []pipeline.Event{{Name: pipeline.Tick}},
		Schedules: []pipeline.Schedule{{Name: "nightly", Channel: "feed:sample"}},
	}
	list, _ := pipeline.Build(spec).Enumerate()
	spec.Outcomes = list.Encode()
	return Pipeline{
		Recipe: pipeline.New(spec),
		Intake: fetch.Intake{
			Source: "feed", Profile: fence.ProfileIntake, Instruction: "Take a note.", Limits: fence.Limits{MessageMaxBytes: 1 << 14, ContextMaxBytes: 1 << 16},
			List: func(_ context.Context, asked fetch.Asked) (fetch.Listed, error) {
				if line, forged := forgedLists[name]; forged {
					fmt.Fprintln(os.Stdout, strings.Replace(line, "RUN", asked.Tick.Run, 1)) // past the child's handler
					select {}
				}
				items, err := feedItems[name]()
				return fetch.Listed{Items: items, Cursor: append(asked.Cursor, '+'), Unchanged: len(asked.Cursor)}, err
			},
			Items: func(document []byte) ([][]byte, error) {
				if string(document) == "unreadable" {
					return nil, pipeline.SourceMalformed.Error("SECRETWORD")
				}
				return bytes.Split(document, []byte("\n")), nil
			},
			Elements: func(_ pipeline.Envelope, item []byte) (fetch.Bundle, error) {
				switch string(item) {
				case "panic":
					panic("SECRETWORD")
				case "exit":
					os.Exit(0)
				case "unreadable":
					return fetch.Bundle{}, errors.New("SECRETWORD")
				}
				return fetch.Bundle{Elements: []fence.Element{{
					ID: "e1", Author: fence.Author{ID: "feed:sample", Kind: fence.KindImport}, Origin: fence.OriginFeedItem, Role: fence.RoleUser, Text: string(item[:min(len(item), 100)]),
				}}}, nil
			},
		},
		Extractor: func(*http.Client) extract.Extractor { return says{`{"kind":"a"}`} },
	}
}

func feedPipelines() (all []Pipeline) {
	for name := range feedItems {
		all = append(all, feedPipeline(name))
	}
	for name := range forgedLists {
		all = append(all, feedPipeline(name))
	}
	return all
}

// forgedLists are the replies of fetch children that are taken over.
var forgedLists = map[string]string{
	"twice":          `{"n":1,"run":"RUN","answer":{"items":["b25l","b25l","dHdv"],"left":-7}}`,
	"list-other-run": `{"n":1,"run":"00000000000000000000000000000000","answer":{"items":["b25l"]}}`,
	"no-list":        `{"n":1,"run":"RUN","answer":{"object":{},"lowest":"system"}}`,
	"a-word":         `{"n":1,"run":"RUN","answer":{"items":["b25l"],"SECRETWORD":1}}`,
	"a-code":         `{"n":1,"run":"RUN","answer":{"items":["b25l"],"code":"SECRETWORD"}}`,
	"act-s-code":     `{"n":1,"run":"RUN","answer":{"items":["b25l"],"code":"approval_needed"}}`,
	"not-base64":     `{"n":1,"run":"RUN","answer":{"items":["<>"]}}`,
	"list-no-answer": `{"n":1,"run":"RUN"}`,
	"two-of-lines":   `{"n":1,"run":"RUN","answer":{"items":[]}}` + "\n" + `{"n":2}`,
}

// A fetch child that is taken over lists within the bounds of a batch, or
// nothing at all.
func TestAForgedListIsBoundedOrNone(t *testing.T) {
	t.Parallel()
	for name := range forgedLists {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := openEngine(t, Config{Live: true}, feedPipeline(name))
			e.fetches[true].timeout = 5 * time.Second // a child that hangs costs its items as much
			b := e.Tick(context.Background(), nightly(name))
			want, items := pipeline.PhaseMisbehave, 0
			if name == "twice" {
				want, items = pipeline.OK, 2
			}
			if b.Reason != want || len(b.Items) != items || b.Left != 0 || len(ledgerRows(t, e, "notes")) != items {
				t.Errorf("got %s %s with %d items, %d left out", b.Status, b.Reason, len(b.Items), b.Left)
			}
			entry, _, err := e.Journal().Get(context.Background(), b.Run, store.LiveMode)
			if err != nil || strings.Contains(fmt.Sprintf("%+v", entry), "SECRETWORD") {
				t.Errorf("journal: %+v, %v", entry, err)
			}
		})
	}
}

func nightly(recipe string) events.Tick {
	return events.Tick{Recipe: recipe, Schedule: "nightly", Instant: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)}
}

// Each item is a run of its own: one that is bad ends alone, one that is
// listed twice is one, and every other is carried to its end.
func TestOneBadItemOfABatchIsQuarantinedAlone(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Config{Live: true}, feedPipeline("feed"))
	b := e.Tick(context.Background(), nightly("feed"))
	if b.Status != pipeline.Done || b.Reason != pipeline.OK || b.Label != plan.Unverified || len(b.Items) != 6 || b.Left != 0 {
		t.Fatalf("got %s %s under %s with %d items, %d left out", b.Status, b.Reason, b.Label, len(b.Items), b.Left)
	}
	var codes []string
	for _, r := range b.Items {
		codes = append(codes, string(r.Status)+" "+string(r.Reason))
		if r.Label != plan.Unverified || r.Run == b.Run {
			t.Errorf("got run %s under %s", r.Run, r.Label)
		}
	}
	if want := []string{"done ", "quarantined phase_panic", "done ", "quarantined unreadable", "quarantined phase_died", "done "}; !slices.Equal(codes, want) {
		t.Errorf("got %q, want %q", codes, want)
	}
	rows := ledgerRows(t, e, "notes")
	keys := map[string]bool{}
	for _, r := range rows {
		keys[r.Key] = strings.HasPrefix(r.Key, "feed:sample#")
	}
	if len(rows) != 3 || len(keys) != 3 {
		t.Errorf("got rows %v, want one for each honest item", rows)
	}
	for _, r := range append([]Result{b.Result}, b.Items...) {
		entry, ok, err := e.Journal().Get(context.Background(), r.Run, store.LiveMode)
		if err != nil || !ok || entry.State != store.Ended || strings.Contains(fmt.Sprintf("%+v %s %s", entry, entry.Envelope, entry.Actions), "SECRETWORD") {
			t.Errorf("journal of %s: %+v, %t, %v", r.Run, entry, ok, err)
		}
	}
	t.Run("the same tick again", func(t *testing.T) {
		again := e.Tick(context.Background(), nightly("feed"))
		if !again.Recorded || again.Status != pipeline.Done || again.Run != b.Run || len(ledgerRows(t, e, "notes")) != 3 {
			t.Errorf("got %+v", again)
		}
	})
	t.Run("another tick of the same items", func(t *testing.T) {
		later := nightly("feed")
		later.Instant = later.Instant.Add(time.Hour)
		again := e.Tick(context.Background(), later)
		if again.Unchanged != 1 { // what the lister left at the first
			t.Errorf("the lister was asked with a cursor of %d bytes, want its own", again.Unchanged)
		}
		if again.Run == b.Run || len(again.Items) != 6 || again.Items[0].Run == b.Items[0].Run || len(ledgerRows(t, e, "notes")) != 3 {
			t.Errorf("got %+v with %d rows, want runs of their own and the same places", again.Result, len(ledgerRows(t, e, "notes")))
		}
	})
}

// Nothing of a list that cannot be had becomes a run, and the tick says why.
func TestATicksEndSaysWhyNothingRan(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Config{}, feedPipelines()...)
	for recipe, want := range map[string]pipeline.Code{
		"feed-empty": pipeline.OK, "feed-broken": pipeline.Unreadable, "feed-panic": pipeline.PhasePanic, "feed-exit": pipeline.PhaseDied, "none": pipeline.UnknownRecipe,
	} {
		b := e.Tick(context.Background(), nightly(recipe))
		status := want.Status()
		if want == pipeline.OK {
			status = pipeline.Staged
		}
		if b.Reason != want || b.Status != status || len(b.Items) != 0 {
			t.Errorf("%s: got %s %s, %d items; want %s %s", recipe, b.Status, b.Reason, len(b.Items), status, want)
		}
	}
	hourly := nightly("feed")
	hourly.Schedule = "hourly"
	if b := e.Tick(context.Background(), hourly); b.Reason != pipeline.UnhandledEvent || b.Run != "" {
		t.Errorf("a schedule that the recipe has not: got %s %s", b.Status, b.Reason)
	}
}

func TestABatchIsBounded(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Config{}, feedPipeline("feed-flood"))
	b := e.Tick(context.Background(), nightly("feed-flood"))
	if b.Reason != pipeline.OK || len(b.Items) != fetch.MaxListBytes/fetch.MaxItemBytes || b.Left != 2 {
		t.Errorf("got %s with %d items, %d left out", b.Reason, len(b.Items), b.Left)
	}
	for _, r := range b.Items {
		if r.Status != pipeline.Staged {
			t.Errorf("got %s %s", r.Status, r.Reason)
		}
	}
}

// A batch that is stopped between two of its items goes on at the next start:
// the tick is listed again, and no item is performed twice.
func TestAStoppedBatchGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	e := openEngine(t, Config{Dir: dir, Live: true}, feedPipeline("feed"))
	e.step = func(point string) {
		if point == "after act" {
			stop()
		}
	}
	b := e.Tick(ctx, nightly("feed"))
	if b.Reason != pipeline.Stopped {
		t.Fatalf("got %s %s, want stopped", b.Status, b.Reason)
	}
	if n, err := e.cursors.Count(context.Background()); n != 0 || err != nil {
		t.Errorf("%d cursors, %v: want none before the items are durable", n, err)
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	e = openEngine(t, Config{Dir: dir, Live: true}, feedPipeline("feed"))
	if _, err := e.Resume(context.Background()); err != nil {
		t.Fatal(err)
	}
	if rows := ledgerRows(t, e, "notes"); len(rows) != 3 {
		t.Errorf("got %d rows, want one for each honest item", len(rows))
	}
	if left, err := e.journal.Unfinished(context.Background()); err != nil || len(left) != 0 {
		t.Errorf("%d runs are left, %v", len(left), err)
	}
	if b := e.Tick(context.Background(), nightly("feed")); !b.Recorded || b.Status != pipeline.Done {
		t.Errorf("the tick: %s %s, recorded: %t", b.Status, b.Reason, b.Recorded)
	}
}

func TestARecipeWithSchedulesWantsAList(t *testing.T) {
	t.Parallel()
	p := feedPipeline("feed")
	p.Intake.List = nil
	if _, err := Open(Config{Dir: t.TempDir()}, p); err == nil || !strings.Contains(err.Error(), "want an Intake with a List") {
		t.Errorf("got %v", err)
	}
}

// A document that a person gave is as foreign as any other: which items it has
// is for a child to say, each is a run of the unverified, and a bad one ends
// alone.
func TestItemsOfAGivenDocumentAreRunsOfTheirOwn(t *testing.T) {
	t.Parallel()
	e := openEngine(t, Config{Live: true}, feedPipeline("feed"))
	b := e.Given(context.Background(), "feed", []byte("one\nexit\ntwo\none"))
	if b.Reason != pipeline.OK || len(b.Items) != 3 || b.Left != 0 {
		t.Fatalf("got %s with %d items, %d left out", b.Reason, len(b.Items), b.Left)
	}
	for i, want := range []pipeline.Code{pipeline.OK, pipeline.PhaseDied, pipeline.OK} {
		if r := b.Items[i]; r.Reason != want || r.Label != plan.Unverified {
			t.Errorf("item %d: got %s under %s, want %s", i, r.Reason, r.Label, want)
		}
	}
	again := e.Given(context.Background(), "feed", []byte("two"))
	if len(again.Items) != 1 || again.Items[0].Run != b.Items[2].Run || !again.Items[0].Recorded {
		t.Errorf("got %+v, want the run of the same bytes", again.Items)
	}
	if rows := ledgerRows(t, e, "notes"); len(rows) != 2 || !strings.HasPrefix(rows[0].Key, "feed:sample#") {
		t.Errorf("got rows %v, want the place of the schedule's items", rows)
	}
	for document, want := range map[string]pipeline.Code{"unreadable": pipeline.SourceMalformed, strings.Repeat("x", fetch.MaxItemBytes+1): pipeline.BodyTooLarge} {
		if b := e.Given(context.Background(), "feed", []byte(document)); b.Reason != want || len(b.Items) != 0 || b.Run != "" {
			t.Errorf("%.10s: got %s with %d items, want %s", document, b.Reason, len(b.Items), want)
		}
	}
	if b := e.Given(context.Background(), "none", nil); b.Reason != pipeline.UnknownRecipe {
		t.Errorf("got %s", b.Reason)
	}
}

// An item that was missed is tried again at the next tick although the source
// lists it no more; one that is bad in itself is not.
func TestAMissedItemIsTriedAgainWhateverTheFeedSays(t *testing.T) { // ISDuBA#975
	t.Parallel()
	var passed atomic.Int64
	clock := func() time.Time { return time.Now().Add(time.Duration(passed.Load())) }
	e := openEngine(t, Config{Live: true, Clock: clock}, feedPipeline("feed"))
	unready := e.extracts[true].name
	e.extracts[true].name = "no such phase"
	if b := e.Tick(context.Background(), nightly("feed")); len(b.Items) != 6 || b.Items[0].Reason != pipeline.PhaseUnready || len(b.Again) != 0 {
		t.Fatalf("got %+v, want items that were missed", b.Items)
	}
	e.extracts[true].name = unready
	passed.Store(int64(time.Hour))
	feed := e.pipelines["feed"]
	later := nightly("feed")
	later.Instant = later.Instant.Add(time.Hour)
	var b Batch
	env, err := later.Envelope(feed.Recipe, e.digests["feed"], time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if code := e.missed(context.Background(), env, &b); code != pipeline.OK {
		t.Fatal(code)
	}
	done := 0
	for _, r := range b.Again {
		if r.Status == pipeline.Done {
			done++
		}
	}
	if done != 3 || len(ledgerRows(t, e, "notes")) != 3 {
		t.Errorf("got %d of %d items done, want each honest one", done, len(b.Again))
	}
	other := env
	other.Channel = "feed:other"
	b = Batch{}
	if code := e.missed(context.Background(), other, &b); code != pipeline.OK || len(b.Again) != 0 {
		t.Errorf("got %s, %d items of another feed", code, len(b.Again))
	}
}
