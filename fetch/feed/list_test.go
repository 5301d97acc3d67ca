package feed

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"decant.dev/fetch"
	"decant.dev/pipeline"
)

// given are pages as a source gives them.
func given(pages ...page) iter.Seq2[page, error] {
	return func(yield func(page, error) bool) {
		for _, p := range pages {
			if !yield(p, nil) {
				return
			}
		}
	}
}

// table is a page of CSV with rows "id,content".
func table(rows ...string) page {
	return page{fresh: true, body: []byte("id,content\n" + strings.Join(rows, "\n"))}
}

func (p page) tagged(tag string) page { p.validators.ETag = tag; return p }

// tick lists pages after what was listed before.
func tick(t testing.TB, before []byte, pages ...page) fetch.Listed {
	t.Helper()
	l, err := listing{source: "s", document: document{format: CSV, id: "/id"}, before: decoded(t, before)}.read(given(pages...))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func decoded(t testing.TB, b []byte) cursor {
	t.Helper()
	c, err := decodeCursor(b)
	if err != nil && len(b) > 0 {
		t.Fatal(err)
	}
	return c
}

func said(l fetch.Listed) string {
	var items []string
	for _, i := range l.Items {
		items = append(items, strings.NewReplacer(`{"content":"`, "", `","id":"`, "/", `"}`, "").Replace(string(i)))
	}
	return fmt.Sprintf("%s unchanged %d gone %d", strings.Join(items, " "), l.Unchanged, l.Gone)
}

func TestWhatIsNewEditedUnchangedAndGone(t *testing.T) {
	t.Parallel()
	first := tick(t, nil, table("1,a", "2,b", "3,c"))
	for _, c := range []struct {
		name  string
		pages []page
		want  string
	}{
		{"the same", []page{table("1,a", "2,b", "3,c")}, " unchanged 3 gone 0"},
		{"in another order", []page{table("3,c", "1,a", "2,b")}, " unchanged 3 gone 0"},
		{"nothing new, says the source", []page{{}}, " unchanged 3 gone 0"},
		{"one new", []page{table("4,d", "1,a", "2,b", "3,c")}, "d/4 unchanged 3 gone 0"},
		{"one edited", []page{table("1,a", "2,B", "3,c")}, "B/2 unchanged 2 gone 0"},
		{"one gone", []page{table("1,a", "3,c")}, " unchanged 2 gone 1"},
		{"all gone", []page{table()}, " unchanged 0 gone 3"},
		{"one id with two contents", []page{table("1,a", "1,A", "2,b", "3,c")}, "A/1 unchanged 3 gone 0"},
		{"one twice", []page{table("4,d", "4,d", "1,a", "2,b", "3,c")}, "d/4 unchanged 3 gone 0"},
		{"on two pages, of which one moved", []page{table("4,d", "1,a"), table("1,a", "2,b"), table("3,c")}, "d/4 unchanged 3 gone 0"},
		{"without an id", []page{table(",x", ",y", "1,a", "2,b", "3,c")}, `x/ y/ unchanged 3 gone 0`},
	} {
		l := tick(t, first.Cursor, c.pages...)
		if said(l) != c.want {
			t.Errorf("%s: got %q, want %q", c.name, said(l), c.want)
		}
		if again := tick(t, l.Cursor, c.pages...); len(again.Items) != 0 || again.Gone != 0 {
			t.Errorf("%s, once more: got %q, want nothing new", c.name, said(again))
		}
	}
	if said(first) != "a/1 b/2 c/3 unchanged 0 gone 0" {
		t.Errorf("the first tick: got %q", said(first))
	}
}

// The validators of each answer are kept, of one that says that nothing has
// changed too: feedbin#726. Items are told apart by content alone, so that an
// answer with the validators of the last one is read all the same:
// commafeed#1746.
func TestValidatorsAreKeptAndNotBelieved(t *testing.T) {
	t.Parallel()
	first := tick(t, nil, table("1,a").tagged("x"))
	unchanged := tick(t, first.Cursor, page{}.tagged("y"))
	if got := decoded(t, unchanged.Cursor).validators.ETag; got != "y" || unchanged.Unchanged != 1 {
		t.Errorf("got %q and %q, want the new tag", got, said(unchanged))
	}
	equal := tick(t, first.Cursor, table("1,a", "2,b").tagged("x"))
	if said(equal) != "b/2 unchanged 1 gone 0" {
		t.Errorf("an equal tag: got %q, want the new item", said(equal))
	}
	same := tick(t, first.Cursor, table("1,a").tagged("z"))
	if got := decoded(t, same.Cursor).validators.ETag; got != "z" || said(same) != " unchanged 1 gone 0" {
		t.Errorf("the same body with a new tag: got %q and %q", got, said(same))
	}
}

// One id of two sources is two items, so that neither overwrites the other:
// osv.dev#2433.
func TestIDsAreKeptApartBySource(t *testing.T) {
	t.Parallel()
	a, b := see("https://a.example", entry{"1", []byte("x")}), see("https://b.example", entry{"1", []byte("x")})
	if a.key == b.key || a.content != b.content {
		t.Error("want two keys of one id, and one digest of one content")
	}
	if see("ab", entry{"c", nil}).key == see("a", entry{"bc", nil}).key {
		t.Error("want source and id kept apart")
	}
}

// What a batch does not take is not remembered, and the source is asked
// without validators until all of it is listed.
func TestWhatABatchDoesNotTakeComesNext(t *testing.T) {
	t.Parallel()
	var rows []string
	for i := range 2*fetch.MaxItems + 5 {
		rows = append(rows, fmt.Sprintf("%d,x", i))
	}
	var cursor []byte
	var all []string
	for want := range slices.Values([]int{fetch.MaxItems, fetch.MaxItems, 5, 0}) {
		if tag := decoded(t, cursor).validators.ETag; tag != "" && want > 0 {
			t.Errorf("got the tag %q, want none while %d are left", tag, want)
		}
		l := tick(t, cursor, table(rows...).tagged("x"))
		if len(l.Items) != want {
			t.Fatalf("got %d items, want %d", len(l.Items), want)
		}
		for _, i := range l.Items {
			all = append(all, string(i))
		}
		cursor = l.Cursor
	}
	slices.Sort(all)
	if len(slices.Compact(all)) != len(rows) || decoded(t, cursor).validators.ETag != "x" {
		t.Errorf("got %d of %d items", len(all), len(rows))
	}
	large := strings.Repeat("x", fetch.MaxItemBytes/2)
	rows = nil
	for i := range 12 {
		rows = append(rows, fmt.Sprintf("%d,%s", i, large))
	}
	if a := tick(t, nil, table(rows...)); len(a.Items) != 9 || len(tick(t, a.Cursor, table(rows...)).Items) != 3 {
		t.Errorf("got %d of 12 large items, want the bytes of a batch and then the rest", len(a.Items))
	}
	over := tick(t, nil, table("1,"+large+large, "2,b").tagged("x"))
	if len(over.Items) != 2 || fetch.Bounded(over.Items).Left != 1 || decoded(t, over.Cursor).validators.ETag != "x" || len(tick(t, over.Cursor, table("1,"+large+large, "2,b")).Items) != 0 {
		t.Error("want an item that no batch takes passed on once, to be counted, and not to hold up the source")
	}
}

func TestRecordsOfAnIndex(t *testing.T) {
	t.Parallel()
	index := table("1,a", "2,b", "3,c", "4,d").tagged("x")
	record := func(answers map[string]error) func(entry) ([]byte, error) {
		return func(e entry) ([]byte, error) { return []byte(`{"whole":"` + e.id + `"}`), answers[e.id] }
	}
	read := func(before []byte, answers map[string]error) (fetch.Listed, error) {
		return listing{source: "s", document: document{format: CSV, id: "/id"}, before: decoded(t, before), record: record(answers)}.read(given(index))
	}
	l, err := read(nil, map[string]error{"2": pipeline.SourceRefused.Error("404")})
	if err != nil || len(l.Items) != 4 || string(l.Items[0]) != `{"whole":"1"}` || string(l.Items[1]) != `[{"content":"b","id":"2"}]` {
		t.Errorf("got %q, %v; want the one without a record in its place", l.Items, err)
	}
	if again, err := read(l.Cursor, map[string]error{"1": pipeline.SourceBusy.Error("")}); err != nil || said(again) != " unchanged 4 gone 0" {
		t.Errorf("got %q, %v; want no record asked for twice", said(again), err)
	}
	l, err = read(nil, map[string]error{"3": pipeline.SourceBusy.Error("429")})
	if err != nil || len(l.Items) != 2 || decoded(t, l.Cursor).validators.ETag != "" {
		t.Errorf("got %d items, %v; want those before the source was busy, and no validators", len(l.Items), err)
	}
	if rest, err := read(l.Cursor, nil); err != nil || len(rest.Items) != 2 || rest.Unchanged != 2 {
		t.Errorf("got %q, %v; want the rest", said(rest), err)
	}
	if _, err = read(nil, map[string]error{"1": pipeline.SourceBusy.Error("429")}); codeOf(err) != pipeline.SourceBusy {
		t.Errorf("got %v, want the code where nothing could be had", err)
	}
}

func TestErrorsOfASourceEndATick(t *testing.T) {
	t.Parallel()
	l := listing{source: "s", document: document{format: CSV, id: "/id"}}
	broken := func(yield func(page, error) bool) {
		_ = yield(table("1,a"), nil) && yield(page{}, pipeline.SourceUnreachable.Error("reset"))
	}
	for name, pages := range map[string]iter.Seq2[page, error]{
		string(pipeline.SourceUnreachable): broken,
		string(pipeline.SourceMalformed):   given(table("1,a"), page{fresh: true}),
	} {
		if got, err := l.read(pages); string(codeOf(err)) != name || got.Items != nil || got.Cursor != nil {
			t.Errorf("got %q, %v; want %s and nothing listed", said(got), err, name)
		}
	}
	var many []string
	for i := range MaxEntries + 1 {
		many = append(many, fmt.Sprintf("%d,x", i))
	}
	l.before.entries = tickAll(t, many[:MaxEntries])
	if _, err := l.read(given(table(many...))); codeOf(err) != pipeline.SourceTooLarge {
		t.Errorf("got %v, want a source of %d items refused", err, len(many))
	}
	full, err := cursor{entries: l.before.entries}.encode()
	if err != nil || len(full) > fetch.MaxCursorBytes {
		t.Errorf("got a cursor of %d bytes, %v; want at most %d", len(full), err, fetch.MaxCursorBytes)
	}
}

// tickAll is the entries of rows, as if all had been listed.
func tickAll(t testing.TB, rows []string) []seen {
	t.Helper()
	entries, err := document{format: CSV, id: "/id"}.entries(table(rows...).body)
	if err != nil {
		t.Fatal(err)
	}
	var all []seen
	for _, e := range entries {
		all = append(all, see("s", e))
	}
	slices.SortFunc(all, compare)
	return all
}

// Whatever a source shows from tick to tick, each content that it shows in full
// is listed once until it changes or goes, and counts add up.
func TestEachContentIsListedOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		var cursor []byte
		remembered := map[string]bool{}
		for range rapid.IntRange(1, 6).Draw(r, "ticks") {
			var rows []string
			now := map[string]bool{}
			for range rapid.IntRange(0, 8).Draw(r, "rows") {
				row := fmt.Sprintf("%d,%s", rapid.IntRange(1, 5).Draw(r, "id"), rapid.SampledFrom([]string{"a", "b"}).Draw(r, "content"))
				rows = append(rows, row)
				now[row] = true
			}
			if rapid.IntRange(0, 4).Draw(r, "lost") == 0 {
				cursor, remembered = nil, map[string]bool{} // what was listed was not made durable
			}
			l := tick(t, cursor, table(rows...))
			fresh, unchanged, gone := 0, 0, 0
			for row := range now {
				if remembered[row] {
					unchanged++
				} else {
					fresh++
				}
			}
			for row := range remembered {
				id := row[:2]
				if !slices.ContainsFunc(slices.Collect(maps.Keys(now)), func(n string) bool { return n[:2] == id }) {
					gone++
				}
			}
			if len(l.Items) != fresh || l.Unchanged != unchanged || l.Gone != gone {
				r.Fatalf("%q after %v: got %q, want %d new, %d unchanged, %d gone", rows, remembered, said(l), fresh, unchanged, gone)
			}
			cursor, remembered = l.Cursor, now
		}
	})
}

func TestACursorOfAnotherFormIsNone(t *testing.T) {
	t.Parallel()
	good := tick(t, nil, table("1,a", "2,b").tagged("x")).Cursor
	if c, err := decodeCursor(good); err != nil || len(c.entries) != 2 || c.validators.ETag != "x" {
		t.Fatalf("got %d entries, %v", len(c.entries), err)
	}
	n := len(good)
	swapped := slices.Concat(good[:n-2*entryBytes], good[n-entryBytes:], good[n-2*entryBytes:n-entryBytes])
	for name, bad := range map[string][]byte{
		"nothing":          nil,
		"another version":  bytes.Replace(good, []byte("decfeed1"), []byte("decfeed2"), 1),
		"cut":              good[:n-1],
		"longer":           append(slices.Clone(good), 0),
		"a head alone":     good[:9],
		"twice":            slices.Concat(good, good[n-entryBytes:]),
		"out of order":     swapped,
		"another member":   bytes.Replace(good, []byte(`{"etag":"x"}`), []byte(`{"eTag":"x"}`), 1),
		"another spelling": bytes.Replace(good, []byte(`{"etag":"x"}`), []byte(`{"etag": ""}`), 1),
	} {
		if c, err := decodeCursor(bad); err == nil || len(c.entries) > 0 {
			t.Errorf("%s: got %d entries, want it refused", name, len(c.entries))
		}
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(tick(f, nil, table("1,a", "2,b").tagged("x")).Cursor)
	f.Add([]byte(magic + "\x00\x02{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := decodeCursor(b)
		if err != nil {
			return
		}
		if again, err := c.encode(); err != nil || !bytes.Equal(again, b) {
			t.Errorf("%q is written %q, %v", b, again, err)
		}
		if !slices.IsSortedFunc(c.entries, compare) {
			t.Error("entries are not ascending")
		}
	})
}

// rowsOf is a table of n rows of about 100 bytes.
func rowsOf(n int) []string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf("https://example.com/items/%08d,%s", i, strings.Repeat("text ", 12))
	}
	return rows
}

// BenchmarkList lists feeds of 1,000 items, and one of 100,000, of which all
// are new or all are as they were. A batch takes 1,000.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{1000, MaxEntries} {
		p := table(rowsOf(n)...)
		known := cursor{entries: tickAll(b, rowsOf(n))}
		kept, err := known.encode()
		if err != nil {
			b.Fatal(err)
		}
		for _, c := range []struct {
			name   string
			before []byte
			page   page
		}{{"new", nil, p}, {"unchanged", kept, p}, {"304", kept, page{}}} {
			b.Run(fmt.Sprintf("%s/%d", c.name, n), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					tick(b, c.before, c.page)
				}
				b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds(), "items/s")
			})
		}
	}
}
