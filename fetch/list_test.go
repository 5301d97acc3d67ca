package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"decant.dev/pipeline"
)

func ticked(recipe string) pipeline.Envelope {
	return pipeline.NewEnvelope(recipe, strings.Repeat("0", 64), pipeline.TickSource, []byte("{}"),
		pipeline.Actor{ID: pipeline.ScheduleActor, Kind: pipeline.System}, "schedule:nightly", pipeline.Target{Event: pipeline.Tick}, time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC))
}

func listing(items [][]byte, err error) *Handler {
	i := noteIntake()
	i.List = func(_ context.Context, a Asked) (Listed, error) {
		return Listed{Items: items, Unchanged: 2, Gone: 3, Cursor: a.Cursor}, err
	}
	return handlerOf(i, holders{})
}

func TestListAnswersItemsOrACode(t *testing.T) {
	t.Parallel()
	one := [][]byte{[]byte("a"), []byte("b"), []byte("a")}
	mute := handlerOf(noteIntake(), holders{})
	for name, c := range map[string]struct {
		h    *Handler
		tick pipeline.Envelope
		want pipeline.Code
	}{
		"a recipe that is not here": {listing(one, nil), ticked("others"), pipeline.UnknownRecipe},
		"an intake without a list":  {mute, ticked("notes"), pipeline.Unreadable},
		"an item of a tick":         {listing(one, nil), ticked("notes").OfItem([]byte("a")), pipeline.PhaseMisbehave},
		"a delivery":                {listing(one, nil), noted("github:11", pipeline.Person).Envelope, pipeline.PhaseMisbehave},
		"an error":                  {listing(one, errors.New(noteText)), ticked("notes"), pipeline.Unreadable},
		"a code":                    {listing(one, fmt.Errorf("w: %w", pipeline.NoCommand.Error("%s", noteText))), ticked("notes"), pipeline.NoCommand},
		"a code that is not listed": {listing(one, pipeline.Code(noteText).Error("")), ticked("notes"), pipeline.Unreadable},
	} {
		if l := c.h.List(context.Background(), Asked{Tick: c.tick, Client: http.DefaultClient}); l.Code != c.want || l.Items != nil {
			t.Errorf("%s: got %d items and %q, want %q", name, len(l.Items), l.Code, c.want)
		}
	}
	if l := listing(one, nil).List(context.Background(), Asked{Tick: ticked("notes"), Cursor: make([]byte, MaxCursorBytes+1)}); l.Code != pipeline.SourceTooLarge || l.Items != nil {
		t.Errorf("got %q, want no cursor that large", l.Code)
	}
	if l := listing(one, nil).List(context.Background(), Asked{Tick: ticked("notes"), Cursor: []byte("here")}); l.Code != pipeline.OK || len(l.Items) != 2 || l.Left != 0 || l.Unchanged != 2 || l.Gone != 3 || string(l.Cursor) != "here" {
		t.Errorf("got %+v, want each item once, and what was left", l)
	}
}

func TestOversizedAndSurplusItemsAreLeftOutAlone(t *testing.T) {
	t.Parallel()
	large := bytes.Repeat([]byte("x"), MaxItemBytes+1)
	if l := Bounded([][]byte{large, []byte("a"), large, []byte("b")}); len(l.Items) != 2 || l.Left != 2 {
		t.Errorf("got %d items, %d left out; want those within the bounds", len(l.Items), l.Left)
	}
	var many [][]byte
	for i := range MaxItems + 7 {
		many = append(many, fmt.Append(nil, i))
	}
	if l := Bounded(many); len(l.Items) != MaxItems || l.Left != 7 || string(l.Items[0]) != "0" {
		t.Errorf("got %d items, %d left out", len(l.Items), l.Left)
	}
	var big [][]byte
	for i := range 7 {
		big = append(big, bytes.Repeat([]byte{byte(i)}, MaxItemBytes))
	}
	if l := Bounded(big); len(l.Items) != MaxListBytes/MaxItemBytes || l.Left != 2 {
		t.Errorf("got %d items, %d left out", len(l.Items), l.Left)
	}
	if l := Bounded(nil); l.Items == nil || l.Left != 0 {
		t.Errorf("got %+v, want an empty list", l)
	}
}

func TestBoundedKeepsOrderAndLosesNoCount(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		items := rapid.SliceOf(rapid.SliceOfN(rapid.Byte(), 0, 2)).Draw(t, "items")
		l := Bounded(items)
		distinct, at := map[string]bool{}, 0
		for _, item := range items {
			distinct[string(item)] = true
			if at < len(l.Items) && bytes.Equal(l.Items[at], item) {
				at++
			}
		}
		if at != len(l.Items) || len(l.Items)+l.Left != len(distinct) {
			t.Fatalf("%d items with %d distinct: kept %d in order of %d, left %d", len(items), len(distinct), at, len(l.Items), l.Left)
		}
	})
}

// The content of an item's run is the item. The tick's bytes, and another
// item's, are refused under its envelope, and the item under the tick's.
func TestItemsContentIsTheItem(t *testing.T) {
	t.Parallel()
	tick, h := ticked("notes"), handlerOf(noteIntake(), holders{})
	item := tick.OfItem([]byte("a"))
	for name, c := range map[string]struct {
		in   Input
		want pipeline.Code
	}{
		"the item":          {Input{Envelope: item, Body: []byte("a")}, pipeline.OK},
		"the tick's bytes":  {Input{Envelope: item, Body: []byte("{}")}, pipeline.Unreadable},
		"another item":      {Input{Envelope: item, Body: []byte("b")}, pipeline.Unreadable},
		"an item as a tick": {Input{Envelope: tick, Body: []byte("a")}, pipeline.Unreadable},
	} {
		if out := h.Fetch(context.Background(), c.in); out.Code != c.want {
			t.Errorf("%s: got %q, want %q", name, out.Code, c.want)
		}
	}
}

// A document is one item where an intake does not say otherwise.
func TestADocumentsItemsOrACode(t *testing.T) {
	t.Parallel()
	whole, halves := noteIntake(), noteIntake()
	halves.Items = func(d []byte) ([][]byte, error) {
		if len(d) < 2 {
			return nil, errors.New(noteText)
		}
		return [][]byte{d[:len(d)/2], d[len(d)/2:]}, nil
	}
	for name, c := range map[string]struct {
		h        *Handler
		recipe   string
		document string
		items    int
		code     pipeline.Code
	}{
		"one":            {handlerOf(whole, holders{}), "notes", "ab", 1, pipeline.OK},
		"two":            {handlerOf(halves, holders{}), "notes", "ab", 2, pipeline.OK},
		"an error":       {handlerOf(halves, holders{}), "notes", "a", 0, pipeline.Unreadable},
		"another recipe": {handlerOf(whole, holders{}), "others", "ab", 0, pipeline.UnknownRecipe},
	} {
		if l := c.h.Items(c.recipe, []byte(c.document)); l.Code != c.code || len(l.Items) != c.items {
			t.Errorf("%s: got %d items and %q, want %d and %q", name, len(l.Items), l.Code, c.items, c.code)
		}
	}
}
