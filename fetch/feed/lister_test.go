package feed

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"decant.dev/fetch"
	"decant.dev/fetch/web"
	"decant.dev/pipeline"
)

// site is a source over HTTP: bodies by path, with a tag that is a digest of
// the body, and what was asked for.
type site struct {
	*httptest.Server
	mu     sync.Mutex
	bodies map[string]string
	asked  []string
}

func newSite(t *testing.T, bodies map[string]string) *site {
	s := &site{bodies: bodies}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		body, ok := s.bodies[r.URL.RequestURI()]
		tag := fmt.Sprintf(`"%x"`, len(body))
		s.asked = append(s.asked, r.URL.Path+" "+r.Header.Get("If-None-Match"))
		switch {
		case !ok:
			http.NotFound(w, r)
		case r.Header.Get("If-None-Match") == tag:
			w.Header().Set("ETag", tag)
			w.WriteHeader(http.StatusNotModified)
		default:
			w.Header().Set("ETag", tag)
			_, _ = w.Write([]byte(body))
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *site) host() string { u, _ := url.Parse(s.URL); return u.Host }

// tick lists once over HTTP, and says what was asked for.
func (s *site) tick(t *testing.T, list fetch.Lister, cursor []byte) (fetch.Listed, []string) {
	t.Helper()
	s.asked = nil
	l, err := list(t.Context(), fetch.Asked{Cursor: cursor, Client: s.Client()})
	if err != nil {
		t.Fatal(err)
	}
	return l, s.asked
}

func TestASourceIsAskedWithWhatItGave(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"/feed": "id,content\n1,a\n2,b"})
	list := Lister(Config{URL: s.URL + "/feed", Hosts: []string{s.host()}, Format: CSV})
	first, asked := s.tick(t, list, nil)
	if said(first) != "a/1 b/2 unchanged 0 gone 0" || !slices.Equal(asked, []string{"/feed "}) {
		t.Errorf("first: got %q by %q", said(first), asked)
	}
	again, asked := s.tick(t, list, first.Cursor)
	if said(again) != " unchanged 2 gone 0" || !slices.Equal(asked, []string{`/feed "12"`}) {
		t.Errorf("again: got %q by %q", said(again), asked)
	}
	s.bodies["/feed"] = "id,content\n1,a\n2,b\n3,c"
	later, _ := s.tick(t, list, again.Cursor)
	if said(later) != "c/3 unchanged 2 gone 0" {
		t.Errorf("later: got %q", said(later))
	}
	if anew, asked := s.tick(t, list, []byte("of another version")); len(anew.Items) != 3 || !slices.Equal(asked, []string{"/feed "}) {
		t.Errorf("a cursor of another form: got %q by %q, want all anew", said(anew), asked)
	}
	moved := Lister(Config{URL: s.URL + "/gone", Hosts: []string{s.host()}, Format: CSV})
	if _, err := moved(t.Context(), fetch.Asked{Client: s.Client()}); codeOf(err) != pipeline.SourceRefused {
		t.Errorf("nothing there: got %v, want %s", err, pipeline.SourceRefused)
	}
	undeclared := Lister(Config{URL: s.URL + "/feed", Hosts: []string{"example.com:443"}, Format: CSV})
	if _, err := undeclared(t.Context(), fetch.Asked{Client: s.Client()}); codeOf(err) != pipeline.SourceRefused {
		t.Errorf("a host that is not declared: got %v, want %s", err, pipeline.SourceRefused)
	}
}

// Of an index, the records of what is new or was edited are asked for, and no
// other.
func TestAnIndexIsFollowedOnceAnEntry(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{
		"/index":        `[{"id":"GO-1","modified":"1"},{"id":"../secret","modified":"1"},{"id":"GO-2","modified":"1"}]`,
		"/ID/GO-1.json": `{"summary":"one","id":"GO-1"}`, "/ID/GO-2.json": `{"id":"GO-2"}`, "/secret.json": `{"id":"secret"}`,
	})
	list := Lister(Config{URL: s.URL + "/index", Record: s.URL + "/ID/{id}.json", Hosts: []string{s.host()}, Format: JSON})
	first, asked := s.tick(t, list, nil)
	var items []string
	for _, i := range first.Items {
		items = append(items, string(i))
	}
	if want := []string{`{"id":"GO-1","summary":"one"}`, `[{"id":"../secret","modified":"1"}]`, `{"id":"GO-2"}`}; !slices.Equal(items, want) || !slices.Equal(asked, []string{"/index ", "/ID/GO-1.json ", "/ID/GO-2.json "}) {
		t.Errorf("first: got %q by %q", items, asked)
	}
	s.bodies["/index"] = `[{"id":"GO-1","modified":"20"},{"id":"../secret","modified":"1"},{"id":"GO-2","modified":"1"}]`
	s.bodies["/ID/GO-1.json"] = `{"id":"GO-1","summary":"edited"}`
	edited, asked := s.tick(t, list, first.Cursor)
	if len(edited.Items) != 1 || string(edited.Items[0]) != s.bodies["/ID/GO-1.json"] || len(asked) != 2 || edited.Unchanged != 2 {
		t.Errorf("edited: got %q by %q", edited.Items, asked)
	}
}

// The samples are what the page about them says.
func TestTheSampleFeed(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("../../events/feed-atom.xml")
	if err != nil {
		t.Fatal(err)
	}
	items, err := Items(Syndication, raw)
	if err != nil || len(items) != 2 {
		t.Fatalf("got %d items, %v; want 2", len(items), err)
	}
	b, err := ItemElements(pipeline.Envelope{}, items[0])
	if err != nil || !slices.Contains(fields(b), FieldHidden+"=45") || strings.Contains(strings.Join(fields(b), " "), "Ignore") {
		t.Errorf("got %q, %v; want the hidden text left out and counted", fields(b), err)
	}
}

// heap is the bytes of objects that were not freed.
func heap() uint64 {
	s := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// TestMemoryAtTheBound reads a source of 100,000 items of about 100 bytes, all
// new and then all known. The figures are for reading.
func TestMemoryAtTheBound(t *testing.T) {
	body := table(rowsOf(MaxEntries)...)
	kept, err := cursor{entries: tickAll(t, rowsOf(MaxEntries))}.encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, before := range map[string][]byte{"new": nil, "known": kept} {
		runtime.GC()
		base := heap()
		var peak atomic.Uint64
		done, ended := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(ended)
			look := time.NewTicker(time.Millisecond)
			defer look.Stop()
			for {
				select {
				case <-done:
					return
				case <-look.C:
					peak.Store(max(peak.Load(), heap()))
				}
			}
		}()
		l := tick(t, before, body)
		close(done)
		<-ended
		grown := int64(peak.Load()) - int64(base)
		t.Logf("%s: a document of %.1f MB, heap grown by %.1f MB at most, a cursor of %.1f MB, %d listed", name, float64(len(body.body))/1e6, float64(grown)/1e6, float64(len(l.Cursor))/1e6, len(l.Items))
		if grown > 40*int64(len(body.body)) {
			t.Errorf("%s: heap grown by %d bytes", name, grown)
		}
	}
}

// A list in pages is one list: what moved to the next page meanwhile is one
// item, and what changes on a later page is seen.
func TestPagesAreOneList(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{
		"/list": `{"next":"b","items":[{"id":1},{"id":2}]}`, "/list?at=b": `{"next":"c","items":[{"id":2},{"id":3}]}`, "/list?at=c": `{"items":[{"id":4,"t":"x"}]}`,
	})
	list := Lister(Config{
		URL: s.URL + "/list", Hosts: []string{s.host()}, Format: JSON, Pointer: "/items", Paging: web.Paging{Parameter: "at", Cursor: "/next"},
		Limits: web.Limits{Gap: 1},
	})
	first, asked := s.tick(t, list, nil)
	if len(first.Items) != 4 || len(asked) != 3 {
		t.Errorf("first: got %q by %q", first.Items, asked)
	}
	s.bodies["/list?at=c"] = `{"items":[{"id":4,"t":"y"}]}`
	later, asked := s.tick(t, list, first.Cursor)
	if len(later.Items) != 1 || later.Unchanged != 3 || len(asked) != 3 {
		t.Errorf("later: got %q, %d unchanged by %q", later.Items, later.Unchanged, asked)
	}
}
