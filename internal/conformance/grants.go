package conformance

import (
	"fmt"
	"slices"
	"testing"

	"decant.dev/pipeline"
)

// Grants are grants that are asked about and changed.
type Grants interface {
	pipeline.Authorizer
	pipeline.Grants
}

// TestGrants holds grants to their promises. They may hold others for
// channels than "conformance:…".
func TestGrants(t *testing.T, g Grants) {
	ctx := t.Context()
	changed := func(t *testing.T, f func() (bool, error), want bool) {
		t.Helper()
		if got, err := f(); got != want || err != nil {
			t.Errorf("got changed %t, %v; want %t", got, err, want)
		}
	}
	add := func(t *testing.T, one pipeline.Grant, want bool) {
		t.Helper()
		changed(t, func() (bool, error) { return g.Add(ctx, one) }, want)
	}
	remove := func(t *testing.T, one pipeline.Grant, want bool) {
		t.Helper()
		changed(t, func() (bool, error) { return g.Remove(ctx, one) }, want)
	}
	holds := func(t *testing.T, one pipeline.Grant, want bool) {
		t.Helper()
		if got, err := g.HoldsTrigger(ctx, one.Person, one.Channel); got != want || err != nil {
			t.Errorf("got %t, %v; want %t", got, err, want)
		}
	}
	listed := func(t *testing.T, channel string) []pipeline.Grant {
		t.Helper()
		all, err := g.List(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(all, pipeline.SortGrants(slices.Clone(all))) {
			t.Errorf("the list is not in order, or holds a grant twice: %v", all)
		}
		return slices.DeleteFunc(all, func(one pipeline.Grant) bool { return one.Channel != channel })
	}
	one := pipeline.Grant{Person: "conformance:1", Channel: "conformance:a"}
	t.Run("a change counts from the next question on, and says whether it was one", func(t *testing.T) {
		holds(t, one, false)
		add(t, one, true)
		holds(t, one, true)
		add(t, one, false)
		holds(t, one, true)
		remove(t, one, true)
		holds(t, one, false)
		remove(t, one, false)
		holds(t, one, false)
		add(t, one, true)
		holds(t, one, true)
	})
	t.Run("a grant is for one person on one channel", func(t *testing.T) {
		near := []pipeline.Grant{
			{Person: "conformance:11", Channel: one.Channel}, {Person: one.Person, Channel: "conformance:ab"}, {Person: "conformance:a", Channel: "conformance:1"},
		}
		for _, other := range near {
			holds(t, other, false)
			remove(t, other, false)
		}
		holds(t, one, true)
	})
	t.Run("a list is sorted and has all", func(t *testing.T) {
		const channel = "conformance:b"
		var want []pipeline.Grant
		for i := range 12 {
			want = append(want, pipeline.Grant{Person: fmt.Sprintf("conformance:p%02d", i), Channel: channel})
		}
		for i := range want {
			add(t, want[(i*5)%len(want)], true)
		}
		if got := listed(t, channel); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
		if got := listed(t, one.Channel); !slices.Equal(got, []pipeline.Grant{one}) {
			t.Errorf("got %v, want %v", got, one)
		}
	})
	t.Run("what no envelope could have is refused and not repeated", func(t *testing.T) {
		for _, bad := range []pipeline.Grant{
			{}, {Person: one.Person}, {Channel: one.Channel}, {Person: "1", Channel: one.Channel}, {Person: one.Person, Channel: "a"},
			{Person: "conformance:1\x00", Channel: one.Channel}, {Person: "conformance:é", Channel: one.Channel}, {Person: one.Person, Channel: "conformance:" + string(make([]byte, 200))},
		} {
			if got, err := g.Add(ctx, bad); got || err == nil {
				t.Errorf("%q was added", bad)
			}
			if got, err := g.Remove(ctx, bad); got || err == nil {
				t.Errorf("%q was removed", bad)
			}
		}
	})
	t.Run("of many changes at once none is lost", func(t *testing.T) {
		const n, channel = 8, "conformance:c"
		for i, err := range together(n, func(i int) error {
			_, err := g.Add(ctx, pipeline.Grant{Person: fmt.Sprintf("conformance:%d", i), Channel: channel})
			return err
		}) {
			if err != nil {
				t.Errorf("change %d: %v", i, err)
			}
		}
		if got := listed(t, channel); len(got) != n {
			t.Errorf("got %d grants, want %d", len(got), n)
		}
	})
	t.Run("of the same change at once one is a change", func(t *testing.T) {
		const n = 8
		same := pipeline.Grant{Person: "conformance:1", Channel: "conformance:d"}
		var was [n]bool
		for i, err := range together(n, func(i int) (err error) { was[i], err = g.Add(ctx, same); return err }) {
			if err != nil {
				t.Errorf("change %d: %v", i, err)
			}
		}
		changes := 0
		for _, w := range was {
			if w {
				changes++
			}
		}
		if changes != 1 {
			t.Errorf("got %d changes, want 1", changes)
		}
	})
}
