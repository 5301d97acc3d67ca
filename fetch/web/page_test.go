package web

import (
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"decant.dev/pipeline"
)

// gather reads a list to its end.
func gather(t *testing.T, c *Client, p Paging) (bodies []string, code pipeline.Code) {
	t.Helper()
	for page, err := range c.Pages(t.Context(), "https://example.com/list?q=a%26b", Validators{}, p) {
		if err != nil {
			return bodies, codeOf(err)
		}
		bodies = append(bodies, string(page.Body))
	}
	return bodies, pipeline.OK
}

func TestListsAreReadPageByPage(t *testing.T) {
	t.Parallel()
	cursors := Paging{Parameter: "after", Cursor: "/page/next"}
	numbers := Paging{Parameter: "page", First: 1, Items: "/items"}
	for name, c := range map[string]struct {
		paging Paging
		answer func(q url.Values) (link, body string)
		want   []string
		code   pipeline.Code
	}{
		"one document": {Paging{}, func(url.Values) (string, string) { return `</list?p=2>; rel="next"`, "a" }, []string{"a"}, ""},
		"links": {Paging{Link: true}, func(q url.Values) (string, string) {
			if q.Get("p") == "" {
				return `</x>; rel="prev", </list?p=2,3>; title="a,b;rel=x"; rel="last next"`, "a"
			}
			return "", "b" + q.Get("p")
		}, []string{"a", "b2,3"}, ""},
		"a link to itself": {Paging{Link: true}, func(url.Values) (string, string) { return `</list>; rel=next`, "a" }, []string{"a"}, pipeline.SourceMalformed},
		"a link elsewhere": {Paging{Link: true}, func(url.Values) (string, string) { return `<https://elsewhere.example/>; rel=next`, "a" }, nil, pipeline.SourceRefused},
		"links without end": {Paging{Link: true, Most: 3}, func(q url.Values) (string, string) {
			return `</list?p=` + q.Get("p") + `x>; rel=next`, "a" + q.Get("p")
		}, []string{"a", "ax", "axx"}, pipeline.SourceTooLarge},
		"cursors": {cursors, func(q url.Values) (string, string) {
			switch q.Get("after") {
			case "":
				return "", `{"q":"` + q.Get("q") + `","page":{"next":"k&1"}}`
			case "k&1":
				return "", `{"page":{"next":7}}`
			default:
				return "", `{"page":{"next":null},"last":` + q.Get("after") + `}`
			}
		}, []string{`{"q":"a&b","page":{"next":"k&1"}}`, `{"page":{"next":7}}`, `{"page":{"next":null},"last":7}`}, ""},
		"a cursor that stands still": {cursors, func(url.Values) (string, string) { return "", `{"page":{"next":"a"}}` }, []string{`{"page":{"next":"a"}}`}, pipeline.SourceMalformed},
		"a cursor that is none":      {cursors, func(url.Values) (string, string) { return "", `{"page":{"next":{}}}` }, nil, pipeline.SourceMalformed},
		"a long cursor": {cursors, func(url.Values) (string, string) {
			return "", `{"page":{"next":"` + strings.Repeat("a", maxCursor+1) + `"}}`
		}, nil, pipeline.SourceMalformed},
		"no JSON": {cursors, func(url.Values) (string, string) { return "", `a` }, nil, pipeline.SourceMalformed},
		"numbers": {numbers, func(q url.Values) (string, string) {
			if q.Get("page") < "3" {
				return "", `{"items":[` + q.Get("page") + `]}`
			}
			return "", `{"items":[]}`
		}, []string{`{"items":[1]}`, `{"items":[2]}`, `{"items":[]}`}, ""},
		"a page that moves while paging": {numbers, func(q url.Values) (string, string) {
			return "", `{"items":[1]}`
		}, []string{`{"items":[1]}`}, pipeline.SourceMalformed},
	} {
		s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
			link, body := c.answer(r.URL.Query())
			if link != "" {
				w.Header().Set("Link", link)
			}
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		})
		got, code := gather(t, s.client(t, Limits{}), c.paging)
		if !slices.Equal(got, c.want) || code != c.code {
			t.Errorf("%s: got %q and %q, want %q and %q", name, got, code, c.want, c.code)
		}
	}
}

// The first page alone is asked for with validators, and nothing more where it
// has not changed.
func TestAnUnchangedListIsOneRequest(t *testing.T) {
	t.Parallel()
	s := newSite(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		t.Error("asked without the validator")
	})
	pages := 0
	for page, err := range s.client(t, Limits{}).Pages(t.Context(), "https://example.com/", Validators{ETag: `"a"`}, Paging{Link: true}) {
		if pages++; err != nil || page.Fresh {
			t.Errorf("got %+v, %v", page, err)
		}
	}
	if pages != 1 || len(s.requests()) != 1 {
		t.Errorf("got %d pages of %d requests", pages, len(s.requests()))
	}
}

func TestLinksAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	base, _ := url.Parse("https://example.com/a/b")
	for header, want := range map[string]string{
		`<c>; rel=next`: "https://example.com/a/c", `<c>;rel="next"`: "https://example.com/a/c", ` <c> ; REL = "Next"`: "https://example.com/a/c",
		`<c>; rel="prev"; rel="next"`: "", `<c>; title="x\", <d>; rel=next"; rel=next`: "https://example.com/a/c", `<c>; rel=nextish`: "",
		`<a,b>; rel=next`: "https://example.com/a/a,b", `<a>; rel=prev, <b>; rel=next`: "https://example.com/a/b", `<a>, <b>; rel=next`: "https://example.com/a/b",
		`c; rel=next`: "", `<c; rel=next`: "", ``: "", `<>; rel=next`: "https://example.com/a/b", `<c>; anchor; rel=next`: "https://example.com/a/c",
		`<c>; rel="next`: "https://example.com/a/c", `<` + strings.Repeat("a", maxURL+1) + `>; rel=next`: "", "<:\x7f>; rel=next": "",
	} {
		got := ""
		if u := next(base, []string{header}); u != nil {
			got = u.String()
		}
		if got != want {
			t.Errorf("%.60q: got %q, want %q", header, got, want)
		}
	}
}

func FuzzNext(f *testing.F) {
	f.Add(`<c>; title="x\", <d>; rel=next"; rel=next`)
	f.Add(`<a>, <b>;;;=";`)
	f.Fuzz(func(t *testing.T, header string) {
		base, _ := url.Parse("https://example.com/a/b")
		if u := next(base, []string{header, header}); u != nil && !strings.Contains(strings.ToLower(header), "next") {
			t.Errorf("%q leads to a next page", header)
		}
	})
}

func FuzzToUTF8(f *testing.F) {
	f.Add([]byte("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>\xe9</a>"), "text/xml", "")
	f.Add([]byte("\xff\xfeh\x00"), "text/plain", "utf-16")
	f.Fuzz(func(t *testing.T, body []byte, kind, label string) {
		out, replaced, err := toUTF8(body, kind, label)
		if err != nil && codeOf(err) != pipeline.SourceMalformed || replaced < 0 {
			t.Errorf("%d replaced, %v", replaced, err)
		}
		if err == nil && strings.HasPrefix(kind, "text/") && strings.ToValidUTF8(string(out), "") != string(out) {
			t.Errorf("%q of %q is not UTF-8: %q", body, kind, fmt.Sprintf("%.60q", out))
		}
	})
}
