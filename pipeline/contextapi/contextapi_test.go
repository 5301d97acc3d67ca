package contextapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"decant.dev/pipeline"
)

// world has one run, ours, with one token; its parts fail where told to.
type world struct {
	token                 Token
	active                bool
	bundles, runs, builds error
	looked                []string
	other                 string // the run of the envelope, where it is another
}

func (w *world) Bundle(_ context.Context, run string, d Digest) ([]byte, bool, error) {
	w.looked = append(w.looked, "bundle")
	if w.bundles != nil {
		return nil, false, w.bundles
	}
	return []byte("zz9 bundle"), run == ours && d == w.token.Digest(), nil
}

func (w *world) Active(_ context.Context, run string) (pipeline.Envelope, bool, error) {
	w.looked = append(w.looked, "run")
	if w.other != "" {
		run = w.other
	}
	return pipeline.Envelope{Run: run}, w.active && w.runs == nil, w.runs
}

func (w *world) Encoded(_ context.Context, env pipeline.Envelope, bundle []byte) ([]byte, error) {
	w.looked = append(w.looked, "build")
	return []byte(`{"run":"` + env.Run + `"}`), w.builds
}

func handlerOf(w *world) *Handler { return &Handler{Bundles: w, Runs: w, Builder: w} }

// The status table, for every method, path, query, body, token and state of
// the run, against what the words say: each row names the first thing wrong.
func TestStatusTable(t *testing.T) {
	t.Parallel()
	token := mint(t, ours)
	wrong, foreign := mint(t, ours), mint(t, theirs)
	type row[T any] struct {
		v    T
		code Code // what is wrong with it
	}
	paths := []row[string]{
		{Path(ours), ""}, {Path(theirs), OtherRun}, {Path(strings.ToUpper(ours)), Malformed}, {Path("1"), Malformed}, {Path("%2e%2e"), Malformed},
		{"/", NotFound}, {"", NotFound}, {"/api/v1/runs", NotFound}, {Path(""), NotFound}, {Path(ours) + "/", NotFound}, {Path(ours + "/x"), NotFound},
		{"/api/v2/runs/" + ours + "/context", NotFound}, {"//api/v1/runs/" + ours + "/context", NotFound}, {"/API/v1/runs/" + ours + "/context", NotFound},
	}
	authorizations := []row[[]string]{
		{[]string{"Bearer " + token.Reveal()}, ""}, {[]string{"bearer " + token.Reveal()}, ""},
		{[]string{"Bearer " + wrong.Reveal()}, NotFound}, {[]string{"Bearer " + foreign.Reveal()}, OtherRun},
		{nil, NoToken}, {[]string{""}, NoToken}, {[]string{"Bearer"}, NoToken}, {[]string{"Bearer "}, NoToken}, {[]string{"Bearer  " + token.Reveal()}, NoToken},
		{[]string{"Basic " + token.Reveal()}, NoToken}, {[]string{token.Reveal()}, NoToken}, {[]string{"Bearer " + token.Reveal() + ", Bearer " + token.Reveal()}, NoToken},
		{[]string{"Bearer " + token.Reveal(), "Bearer " + token.Reveal()}, NoToken}, {[]string{"Bearer\t" + token.Reveal()}, NoToken},
	}
	methods := []row[string]{{"GET", ""}, {"HEAD", NotAllowed}, {"POST", NotAllowed}, {"PUT", NotAllowed}, {"DELETE", NotAllowed}, {"OPTIONS", NotAllowed}, {"get", NotAllowed}, {"", NotAllowed}}
	queries := []row[string]{{"", ""}, {"token=" + token.Reveal(), Malformed}, {"?", Malformed}}
	rows := 0
	for _, path := range paths {
		for _, auth := range authorizations {
			for _, method := range methods {
				for _, query := range queries {
					for _, body := range []bool{false, true} {
						for _, active := range []bool{false, true} {
							w := &world{token: token, active: active}
							got := handlerOf(w).Answer(t.Context(), Request{method.v, path.v, query.v, auth.v, body})
							want := Code("")
							switch {
							case path.code == NotFound, method.code != "":
								want = firstOf(path.code == NotFound, NotFound, NotAllowed)
							case path.code == Malformed || query.code != "" || body:
								want = Malformed
							case auth.code == NoToken:
								want = NoToken
							case (path.code == OtherRun) != (auth.code == OtherRun):
								want = OtherRun
							case path.code == OtherRun, auth.code == NotFound:
								want = NotFound // a run that there is not, or another token
							case !active:
								want = Ended
							}
							check(t, got, want)
							if looks := len(w.looked) > 0; looks != slices.Contains([]Code{NotFound, Ended, ""}, want) && want != NotFound {
								t.Errorf("%s: looked at %v", want, w.looked)
							}
							if slices.Contains(w.looked, "run") && want != Ended && want != "" {
								t.Errorf("%s: the run was looked at without its token", want)
							}
							rows++
						}
					}
				}
			}
		}
	}
	t.Logf("%d requests", rows)
}

func firstOf(first bool, a, b Code) Code {
	if first {
		return a
	}
	return b
}

func check(t *testing.T, got Response, want Code) {
	t.Helper()
	status := 200
	if want != "" {
		status = want.Status()
	}
	if got.Status != status || got.Code != want {
		t.Errorf("got %d %s, want %d %s", got.Status, got.Code, status, want)
	}
	if got.Header["Cache-Control"] != "no-store" || got.Header["X-Content-Type-Options"] != "nosniff" || got.Header["Content-Type"] != "application/json" || got.Header["Etag"] != "" {
		t.Errorf("%d: got headers %v", got.Status, got.Header)
	}
	if (got.Header["Www-Authenticate"] == "Bearer") != (status == 401) || (got.Header["Allow"] == "GET") != (status == 405) {
		t.Errorf("%d: got headers %v", got.Status, got.Header)
	}
	if want != "" && string(got.Body) != `{"code":"`+string(want)+`"}` {
		t.Errorf("got %s", got.Body)
	}
}

// Whatever is wrong, an answer about a run that there is not and one about a
// run whose token is another are the same in every byte, and found the same
// way.
func TestNothingTellsWhichRunsExist(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*world){
		"active": func(*world) {}, "over": func(w *world) { w.active = false }, "bundles down": func(w *world) { w.bundles = errors.New("zz9") },
		"runs down": func(w *world) { w.runs = errors.New("zz9") }, "builder down": func(w *world) { w.builds = errors.New("zz9") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got [2]Response
			var looked [2][]string
			for i, run := range []string{ours, theirs} {
				w := &world{token: mint(t, ours), active: true}
				spoil(w)
				got[i] = handlerOf(w).Answer(t.Context(), Request{Method: "GET", Path: Path(run), Authorization: []string{"Bearer " + mint(t, run).Reveal()}})
				looked[i] = w.looked
			}
			if got[0].Status != got[1].Status || string(got[0].Body) != string(got[1].Body) || !maps.Equal(got[0].Header, got[1].Header) ||
				got[0].Code != got[1].Code || got[0].Run != "" || got[1].Run != "" || !slices.Equal(looked[0], looked[1]) {
				t.Errorf("a run that exists: %+v after %v; one that does not: %+v after %v", got[0], looked[0], got[1], looked[1])
			}
		})
	}
}

// A part that fails is a code, and none of what it said is told.
func TestFaultsOfThePartsAreCodes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		spoil func(*world)
		want  Code
	}{
		"bundles":       {func(w *world) { w.bundles = errors.New("zz9") }, Unavailable},
		"runs":          {func(w *world) { w.runs = errors.New("zz9") }, Unavailable},
		"builder":       {func(w *world) { w.builds = errors.New("zz9") }, Unavailable},
		"bad bundle":    {func(w *world) { w.builds = pipeline.Unreadable.Error("zz9") }, Broken},
		"phase died":    {func(w *world) { w.builds = pipeline.PhaseDied.Error("zz9") }, Unavailable},
		"another's run": {func(w *world) { w.other = theirs }, Broken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := &world{token: mint(t, ours), active: true}
			tc.spoil(w)
			got := handlerOf(w).Answer(t.Context(), Request{Method: "GET", Path: Path(ours), Authorization: []string{"Bearer " + w.token.Reveal()}})
			check(t, got, tc.want)
			if strings.Contains(fmt.Sprint(got), "zz9") {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestAContextOverTheLimitIsNotGiven(t *testing.T) {
	t.Parallel()
	w := &world{token: mint(t, ours), active: true}
	size := len(`{"run":"` + ours + `"}`)
	for limit, want := range map[int]Code{0: "", size: "", size - 1: Broken} {
		h := handlerOf(w)
		h.Limit = limit
		check(t, h.Answer(t.Context(), Request{Method: "GET", Path: Path(ours), Authorization: []string{"Bearer " + w.token.Reveal()}}), want)
	}
	for _, h := range []*Handler{{}, {Bundles: w, Runs: w}, {Bundles: w, Builder: w}, {Runs: w, Builder: w}, {Bundles: w, Runs: w, Builder: w, Limit: -1}} {
		if h.Check() == nil {
			t.Error("a handler without a part was taken")
		}
	}
	if err := handlerOf(w).Check(); err != nil {
		t.Error(err)
	}
}

func TestCodesHaveOneStatusEach(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for _, c := range Codes() {
		if seen[c.Status()] || http.StatusText(c.Status()) == "" {
			t.Errorf("%s: got status %d", c, c.Status())
		}
		seen[c.Status()] = true
	}
	if Code("zz9").Status() != 500 {
		t.Error("a code that is none has a status of its own")
	}
}

// Over HTTP the same comes out, and what a client may send in a request's
// line and headers is seen.
func TestOverHTTP(t *testing.T) {
	t.Parallel()
	w := &world{token: mint(t, ours), active: true}
	server := httptest.NewServer(handlerOf(w))
	defer server.Close()
	for _, tc := range []struct {
		method, target, auth, body string
		want                       Code
	}{
		{"GET", Path(ours), "Bearer " + w.token.Reveal(), "", ""},
		{"GET", Path(ours), "", "", NoToken},
		{"GET", Path(ours) + "?", "Bearer " + w.token.Reveal(), "", Malformed},
		{"GET", Path(ours) + "?a=b", "Bearer " + w.token.Reveal(), "", Malformed},
		{"GET", Path(ours), "Bearer " + w.token.Reveal(), "x", Malformed},
		{"GET", "/api/v1/runs/" + ours + "%2Fcontext", "Bearer " + w.token.Reveal(), "", NotFound},
		{"GET", "/api/v1/runs/x/../" + ours + "/context", "Bearer " + w.token.Reveal(), "", NotFound},
		{"HEAD", Path(ours), "Bearer " + w.token.Reveal(), "", NotAllowed},
		{"POST", Path(ours), "Bearer " + w.token.Reveal(), "x", NotAllowed},
	} {
		r, err := http.NewRequestWithContext(t.Context(), tc.method, server.URL+tc.target, strings.NewReader(tc.body))
		if err != nil {
			t.Fatal(err)
		}
		if tc.auth != "" {
			r.Header.Set("Authorization", tc.auth)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(a.Body)
		if err != nil || a.Body.Close() != nil {
			t.Fatal(err)
		}
		want := Response{Status: 200, Body: []byte(`{"run":"` + ours + `"}`)}
		if tc.want != "" {
			want = Refuse(tc.want)
		}
		if tc.method == "HEAD" {
			want.Body = nil
		}
		if a.StatusCode != want.Status || string(body) != string(want.Body) || a.Header.Get("Cache-Control") != "no-store" || a.Header.Get("Etag") != "" || a.Header.Get("Last-Modified") != "" {
			t.Errorf("%s %s: got %d %s %v, want %d %s", tc.method, tc.target, a.StatusCode, body, a.Header, want.Status, want.Body)
		}
	}
}

// Nothing but the run's own token opens anything, whatever the request.
func FuzzAnswer(f *testing.F) {
	token := mint(f, ours)
	f.Add("GET", Path(ours), "", "Bearer "+mint(f, ours).Reveal(), "", false, true)
	f.Add("GET", Path(theirs), "", "Bearer "+mint(f, theirs).Reveal(), "x", false, false)
	f.Add("HEAD", "/", "a=b", "Basic x", "", true, true)
	f.Fuzz(func(t *testing.T, method, path, query, first, second string, body, active bool) {
		w := &world{token: token, active: active}
		r := Request{method, path, query, []string{first}, body}
		if second != "" {
			r.Authorization = append(r.Authorization, second)
		}
		got := handlerOf(w).Answer(t.Context(), r)
		if got.Status == 200 || got.Code == Ended || got.Run != "" || slices.Contains(w.looked, "run") || strings.Contains(string(got.Body), "zz9") {
			t.Errorf("opened: %+v", got)
		}
		if _, known := statusOf[got.Code]; !known || got.Status != got.Code.Status() || string(got.Body) != `{"code":"`+string(got.Code)+`"}` {
			t.Errorf("got %+v", got)
		}
	})
}
