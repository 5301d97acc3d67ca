// Package conformance says what the ports of the engines promise, as suites
// that the adapters of one machine and those of AWS both pass.
package conformance

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/act/table"
	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
)

// Blobs keeps one value for each run.
type Blobs interface {
	Put(ctx context.Context, run string, value []byte) error
	PutOnce(ctx context.Context, run string, value []byte) error
	Get(ctx context.Context, run string) ([]byte, bool, error)
}

// run makes a run's id, of which no two suites share one.
func run(suite, n int) string { return fmt.Sprintf("%016x%016x", suite, n) }

// TestBlobs holds a blob store to its promises. The store may hold values of
// other runs.
func TestBlobs(t *testing.T, b Blobs) {
	ctx := t.Context()
	get := func(t *testing.T, id, want string) {
		t.Helper()
		if v, ok, err := b.Get(ctx, id); err != nil || !ok || string(v) != want {
			t.Errorf("got %d bytes, %t, %v; want %d bytes", len(v), ok, err, len(want))
		}
	}
	t.Run("a run without a value has none", func(t *testing.T) {
		if v, ok, err := b.Get(ctx, run(1, 1)); v != nil || ok || err != nil {
			t.Errorf("got %d bytes, %t, %v", len(v), ok, err)
		}
	})
	t.Run("every byte comes back", func(t *testing.T) {
		var all [256 * 1024]byte
		for i := range all {
			all[i] = byte(i*7 + i/256)
		}
		for i, v := range []string{"", "\x00", string(all[:])} {
			if err := b.Put(ctx, run(2, i), []byte(v)); err != nil {
				t.Fatal(err)
			}
			get(t, run(2, i), v)
		}
	})
	t.Run("put replaces", func(t *testing.T) {
		for _, v := range []string{"first", "second and longer", "3"} {
			if err := b.Put(ctx, run(3, 1), []byte(v)); err != nil {
				t.Fatal(err)
			}
			get(t, run(3, 1), v)
		}
	})
	t.Run("put once keeps the first value and is no error", func(t *testing.T) {
		for _, v := range []string{"first", "second", "first"} {
			if err := b.PutOnce(ctx, run(4, 1), []byte(v)); err != nil {
				t.Fatal(err)
			}
			get(t, run(4, 1), "first")
		}
	})
	t.Run("of two at once one value stands", func(t *testing.T) {
		const n = 8
		errs := together(n, func(i int) error { return b.PutOnce(ctx, run(5, 1), fmt.Appendf(nil, "value %d", i)) })
		stored := 0
		for _, err := range errs {
			if err == nil {
				stored++
			}
		}
		v, ok, err := b.Get(ctx, run(5, 1))
		if stored == 0 || !ok || err != nil || len(v) != len("value 0") {
			t.Errorf("got %d stored, %d bytes, %t, %v", stored, len(v), ok, err)
		}
	})
	t.Run("runs are kept apart", func(t *testing.T) {
		for i := range 4 {
			if err := b.PutOnce(ctx, run(6, i), []byte{byte(i)}); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 4 {
			get(t, run(6, i), string(rune(i)))
		}
	})
}

func together(n int, f func(int) error) []error {
	errs := make([]error, n)
	done := make(chan struct{})
	begin := make(chan struct{})
	for i := range n {
		go func() {
			<-begin
			errs[i] = f(i)
			done <- struct{}{}
		}()
	}
	close(begin)
	for range n {
		<-done
	}
	return errs
}

// Row is one row of the table sink.
type Row struct {
	Key, Source, Label, Run string
	Columns                 map[string]any // string, int64 or nil; beside the four above
}

// Ledger is a ledger whose rows can be seen.
type Ledger struct {
	act.Ledger
	Rows func(ctx context.Context, table string) ([]Row, error)
}

func receipt(id string, index int) act.Receipt {
	return act.Receipt{
		Schema: act.ReceiptSchema, Run: id, Index: index, Kind: plan.KindTableRow, ParamsSHA256: "5891b5b522d5df086d0ff0b110fbd9d2",
		State: act.Done, Outcome: "stored", Label: plan.Trigger, ActingFor: "github:12",
		At: time.Date(2026, 11, 30, 12, 0, 0, 345e6, time.UTC),
	}
}

func write(name, key, id string, cells ...table.Cell) table.Write {
	return table.Write{Table: name, Key: key, Source: "github", Label: plan.Unverified, Run: id, Columns: cells}
}

// TestLedger holds a ledger to its promises. It may hold receipts of other
// runs, and no table whose name begins with "conformance_".
func TestLedger(t *testing.T, l Ledger) {
	ctx := t.Context()
	commit := func(t *testing.T, receipts []act.Receipt, writes ...table.Write) ([]act.Receipt, bool) {
		t.Helper()
		existing, stored, err := l.Commit(ctx, receipts, writes)
		if err != nil {
			t.Fatal(err)
		}
		return existing, stored
	}
	rows := func(t *testing.T, name string, want ...Row) {
		t.Helper()
		got, err := l.Rows(ctx, name)
		if err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v; want %v", name, got, err, want)
		}
	}
	t.Run("a run without receipts has none", func(t *testing.T) {
		if r, err := l.Receipts(ctx, run(1, 1)); len(r) != 0 || err != nil {
			t.Errorf("got %v, %v", r, err)
		}
	})
	t.Run("receipts come back whole and by index", func(t *testing.T) {
		id := run(2, 1)
		nobody := receipt(id, 10)
		nobody.ActingFor, nobody.Label, nobody.State = "", plan.System, act.Unknown
		want := []act.Receipt{receipt(id, 0), receipt(id, 2), nobody}
		if existing, stored := commit(t, []act.Receipt{want[2], want[0], want[1]}); !stored || len(existing) != 0 {
			t.Fatalf("got %v, stored %t", existing, stored)
		}
		if got, err := l.Receipts(ctx, id); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("got %v, %v; want %v", got, err, want)
		}
	})
	t.Run("rows come back with source, label and run", func(t *testing.T) {
		id := run(3, 1)
		commit(t, []act.Receipt{receipt(id, 0)},
			write("conformance_a", "octo-org/sample#2", id, table.Cell{Name: "kind", Value: "bug"}, table.Cell{Name: "severity", Value: int64(-3)}, table.Cell{Name: "quote", Value: nil}),
			write("conformance_a", "octo-org/sample#1", id, table.Cell{Name: "kind", Value: ""}))
		rows(t, "conformance_a",
			Row{"octo-org/sample#1", "github", "unverified", id, map[string]any{"kind": ""}},
			Row{"octo-org/sample#2", "github", "unverified", id, map[string]any{"kind": "bug", "severity": int64(-3)}})
	})
	t.Run("a run is committed once", func(t *testing.T) {
		id := run(4, 1)
		commit(t, []act.Receipt{receipt(id, 0), receipt(id, 1)}, write("conformance_b", "k", id, table.Cell{Name: "n", Value: int64(1)}))
		other := receipt(id, 0)
		other.Outcome, other.Label = "other", plan.System
		for _, again := range [][]act.Receipt{{receipt(id, 0), receipt(id, 1)}, {other}, {receipt(id, 1)}, {receipt(id, 2)}} {
			existing, stored := commit(t, again,
				write("conformance_b", "k", id, table.Cell{Name: "n", Value: int64(2)}), write("conformance_b", "l", id))
			if stored || !reflect.DeepEqual(existing, []act.Receipt{receipt(id, 0), receipt(id, 1)}) {
				t.Errorf("got %v, stored %t; want the first commit's receipts", existing, stored)
			}
		}
		rows(t, "conformance_b", Row{"k", "github", "unverified", id, map[string]any{"n": int64(1)}})
	})
	t.Run("of many at once one commit stands", func(t *testing.T) {
		const n = 8
		id := run(5, 1)
		var stored [n]bool
		errs := together(n, func(i int) error {
			_, ok, err := l.Commit(ctx, []act.Receipt{receipt(id, 0)}, []table.Write{write("conformance_c", fmt.Sprintf("key %d", i), id)})
			stored[i] = ok
			return err
		})
		winner := -1
		for i, ok := range stored {
			if ok && (errs[i] != nil || winner >= 0) {
				t.Fatalf("attempts %d and %d were both stored (%v)", winner, i, errs[i])
			}
			if ok {
				winner = i
			}
		}
		if winner < 0 {
			t.Fatalf("none was stored: %v", errs)
		}
		rows(t, "conformance_c", Row{fmt.Sprintf("key %d", winner), "github", "unverified", id, map[string]any{}})
	})
	t.Run("a later run replaces a row and its label", func(t *testing.T) {
		one, two := run(6, 1), run(6, 2)
		commit(t, []act.Receipt{receipt(one, 0)}, write("conformance_d", "k", one, table.Cell{Name: "n", Value: int64(1)}))
		later := write("conformance_d", "k", two, table.Cell{Name: "n", Value: int64(2)})
		later.Label = plan.System
		commit(t, []act.Receipt{receipt(two, 0)}, later)
		rows(t, "conformance_d", Row{"k", "github", "system", two, map[string]any{"n": int64(2)}})
	})
	t.Run("of two writes to one row the later stands", func(t *testing.T) {
		id := run(7, 1)
		commit(t, []act.Receipt{receipt(id, 0), receipt(id, 1)},
			write("conformance_e", "k", id, table.Cell{Name: "n", Value: int64(1)}), write("conformance_e", "k", id, table.Cell{Name: "n", Value: int64(2)}))
		rows(t, "conformance_e", Row{"k", "github", "unverified", id, map[string]any{"n": int64(2)}})
	})
	t.Run("a bad row stores nothing of its commit", func(t *testing.T) {
		id := run(8, 1)
		for _, bad := range []table.Write{write("Bad-Name", "k", id), write("conformance_f", "k", id, table.Cell{Name: "a b", Value: nil})} {
			if _, stored, err := l.Commit(ctx, []act.Receipt{receipt(id, 0)}, []table.Write{write("conformance_f", "good", id), bad}); err == nil || stored {
				t.Errorf("got stored %t, %v; want an error", stored, err)
			}
		}
		if r, err := l.Receipts(ctx, id); len(r) != 0 || err != nil {
			t.Errorf("got receipts %v, %v; want none", r, err)
		}
		rows(t, "conformance_f")
	})
	t.Run("a receipt is advanced from what it is, and from nothing else", func(t *testing.T) {
		id := run(9, 1)
		claimed := receipt(id, 1)
		claimed.State, claimed.Outcome = act.Claimed, ""
		sent, done := claimed, claimed
		sent.State, sent.Attempt = act.Sent, 1
		done.State, done.Attempt, done.Outcome, done.Remote, done.At = act.Done, 1, "created", "12-ab_C", claimed.At.Add(time.Second)
		commit(t, []act.Receipt{receipt(id, 0), claimed})
		other := claimed
		other.Index = 2
		for i, step := range []struct {
			from, to act.Receipt
			want     bool
		}{{sent, done, false}, {claimed, sent, true}, {claimed, sent, false}, {sent, done, true}, {sent, done, false}, {other, sent, false}} {
			if i == 5 {
				step.to.Index = 2
			}
			if ok, err := l.Advance(ctx, step.from, step.to); ok != step.want || err != nil {
				t.Errorf("step %d: got %t, %v; want %t", i, ok, err, step.want)
			}
		}
		again := done // another attempt's receipt is another
		again.Attempt = 2
		if ok, err := l.Advance(ctx, again, claimed); ok || err != nil {
			t.Errorf("advanced from attempt 2: %t, %v", ok, err)
		}
		if got, err := l.Receipts(ctx, id); err != nil || !reflect.DeepEqual(got, []act.Receipt{receipt(id, 0), done}) {
			t.Errorf("got %+v, %v; want %+v", got, err, done)
		}
	})
	t.Run("of many at once one advances", func(t *testing.T) {
		id := run(9, 2)
		claimed := receipt(id, 0)
		claimed.State = act.Claimed
		commit(t, []act.Receipt{claimed})
		var won [8]bool
		errs := together(len(won), func(i int) (err error) {
			sent := claimed
			sent.State, sent.Attempt = act.Sent, 1
			won[i], err = l.Advance(ctx, claimed, sent)
			return err
		})
		n := 0
		for i := range won {
			if errs[i] != nil {
				t.Error(errs[i])
			}
			if won[i] {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%d advanced, want 1", n)
		}
	})
	t.Run("no receipts are an error", func(t *testing.T) {
		if _, stored, err := l.Commit(ctx, nil, nil); err == nil || stored {
			t.Errorf("got stored %t, %v", stored, err)
		}
	})
}

// Authorizer is an authorizer, and how its grants are changed behind its back.
type Authorizer struct {
	pipeline.Authorizer
	Grant, Revoke func(person, channel string) error
}

// TestAuthorizer holds an authorizer to its promises. It may hold grants for
// other channels than "github:conformance/…".
func TestAuthorizer(t *testing.T, g Authorizer) {
	const person, channel = "github:12", "github:conformance/one"
	holds := func(t *testing.T, person, channel string, want bool) {
		t.Helper()
		if got, err := g.HoldsTrigger(t.Context(), person, channel); got != want || err != nil {
			t.Errorf("got %t, %v; want %t", got, err, want)
		}
	}
	holds(t, person, channel, false)
	if err := g.Grant(person, channel); err != nil {
		t.Fatal(err)
	}
	holds(t, person, channel, true)
	t.Run("a grant is for one person on one channel", func(t *testing.T) {
		for _, other := range [][2]string{
			{"github:1", channel}, {"github:123", channel}, {person, "github:conformance/one2"}, {person, "github:conformance/on"},
			{channel, person}, {person, ""}, {"", channel}, {"", ""}, {"GITHUB:12", channel},
		} {
			holds(t, other[0], other[1], false)
		}
	})
	t.Run("a grant that is taken away is gone at the next question", func(t *testing.T) {
		if err := g.Revoke(person, channel); err != nil {
			t.Fatal(err)
		}
		holds(t, person, channel, false)
	})
	t.Run("an answer that cannot be had is no grant", func(t *testing.T) {
		if err := g.Grant(person, channel); err != nil {
			t.Fatal(err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if got, err := g.HoldsTrigger(over, person, channel); got && err != nil {
			t.Errorf("got true beside %v", err)
		}
	})
}

// question is one that a run of a suite waits for.
func question(id string, wanted int) approval.Question {
	return approval.Question{
		Run: id, Binding: strings.Repeat("ab", 32), Recipe: "conformance", Channel: "github:conformance/one", Requester: "github:12", Wanted: wanted,
	}
}

// TestApprovals holds a store of approvals to its promises. It may hold the
// records of other runs.
func TestApprovals(t *testing.T, s approval.Store) {
	ctx := t.Context()
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	fresh := func(id string) approval.Record {
		return approval.Record{Question: question(id, 2), State: approval.Waiting, Asked: at, Expires: at.Add(approval.MaxAge)}
	}
	put := func(t *testing.T, r approval.Record, want bool) {
		t.Helper()
		if ok, err := s.Put(ctx, r); ok != want || err != nil {
			t.Errorf("put version %d: got %t, %v; want %t", r.Version, ok, err, want)
		}
	}
	get := func(t *testing.T, want approval.Record) {
		t.Helper()
		if r, ok, err := s.Get(ctx, want.Run); !ok || err != nil || !reflect.DeepEqual(r, want) {
			t.Errorf("got %+v, %t, %v; want %+v", r, ok, err, want)
		}
	}
	t.Run("a run that was not asked about has no record", func(t *testing.T) {
		if _, ok, err := s.Get(ctx, run(20, 1)); ok || err != nil {
			t.Errorf("got %t, %v", ok, err)
		}
	})
	t.Run("a record comes back whole and counts its writes", func(t *testing.T) {
		r := fresh(run(21, 1))
		r.Answers = []approval.Given{}
		put(t, r, true)
		r.Version = 1
		get(t, r)
		r.Answers, r.Token = []approval.Given{{Person: "github:12", Answer: approval.Approve, At: at}}, "token/+="
		put(t, r, true)
		r.Version = 2
		get(t, r)
	})
	t.Run("a write that another overtook changes nothing", func(t *testing.T) {
		r := fresh(run(22, 1))
		put(t, r, true)
		put(t, r, false) // there is one
		r.Version = 1
		r.Token = "second"
		put(t, r, true)
		r.Token = "late"
		put(t, r, false)
		r.Version = 3
		put(t, r, false)
		if got, _, err := s.Get(ctx, r.Run); err != nil || got.Token != "second" || got.Version != 2 {
			t.Errorf("got %+v, %v", got, err)
		}
		missing := fresh(run(22, 2))
		missing.Version = 1
		put(t, missing, false)
	})
	t.Run("of many at once one write stands", func(t *testing.T) {
		r := fresh(run(23, 1))
		var stored [8]bool
		errs := together(len(stored), func(i int) (err error) {
			mine := r
			mine.Token = fmt.Sprintf("token %d", i)
			stored[i], err = s.Put(ctx, mine)
			return err
		})
		got, _, err := s.Get(ctx, r.Run)
		n := 0
		for i, ok := range stored {
			if ok {
				n++
				if errs[i] != nil || got.Token != fmt.Sprintf("token %d", i) {
					t.Errorf("write %d stands by its answer (%v), and the store has %q", i, errs[i], got.Token)
				}
			}
		}
		if n != 1 || err != nil {
			t.Errorf("%d writes stand, %v", n, err)
		}
	})
	t.Run("a record that does not fit its answers is not stored", func(t *testing.T) {
		r := fresh(run(24, 1))
		r.State = approval.Approved
		if ok, err := s.Put(ctx, r); ok || err == nil {
			t.Errorf("got %t, %v", ok, err)
		}
	})
}
