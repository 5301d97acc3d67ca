package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/act/credential"
	"decant.dev/act/plan"
	"decant.dev/internal/conformance/sinks"
	"decant.dev/pipeline"
)

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const token = "ghs_sample"

func config(base string, client *http.Client) Config {
	return Config{
		Client: client, Base: base, Clock: func() time.Time { return noon }, Identity: []int64{sinks.Own}, Loopback: true,
		Token:  func(context.Context) (credential.Secret, error) { return credential.New(token), nil },
		Marker: []credential.Secret{credential.New(strings.Repeat("k", 32))},
	}
}

func sink(t *testing.T, c Config) *Sink {
	t.Helper()
	s, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func job(k plan.Kind, params map[string]any) act.Job {
	run := strings.Repeat("0f", 16)
	params["issue"] = "octo-org/sample#12"
	return act.Job{
		Kind: k, Key: act.IdempotencyKey(run, 0), Run: run, Params: params,
		Target: pipeline.Target{Event: "issues.opened", Repository: "octo-org/sample", Number: 12}, Place: "octo-org/sample#12",
	}
}

var jobs = map[plan.Kind]func() act.Job{
	plan.KindGitHubLabel:   func() act.Job { return job(plan.KindGitHubLabel, map[string]any{"label": "bug"}) },
	plan.KindGitHubComment: func() act.Job { return job(plan.KindGitHubComment, map[string]any{"body": "thank you"}) },
	plan.KindGitHubClose:   func() act.Job { return job(plan.KindGitHubClose, map[string]any{"reason": "completed"}) },
	plan.KindGitHubAssign:  func() act.Job { return job(plan.KindGitHubAssign, map[string]any{"login": "octo-cat"}) },
	plan.KindGitHubIssue: func() act.Job {
		return job(plan.KindGitHubIssue, map[string]any{"repository": "octo-org/sample", "title": "news", "body": "see there"})
	},
	plan.KindGitHubMilestone: func() act.Job { return job(plan.KindGitHubMilestone, map[string]any{"number": int64(3)}) },
}

// What a person has undone since is not done again: the sink cannot say whose
// it was.
func TestWhatAPersonUndidIsNotDoneAgain(t *testing.T) {
	t.Parallel()
	undo := map[plan.Kind]func(*sinks.GitHub){
		plan.KindGitHubLabel:     func(g *sinks.GitHub) { g.Issue.Labels = []sinks.Named{} },
		plan.KindGitHubClose:     func(g *sinks.GitHub) { g.Issue.State = "open" },
		plan.KindGitHubAssign:    func(g *sinks.GitHub) { g.Issue.Assignees = []sinks.User{} },
		plan.KindGitHubMilestone: func(g *sinks.GitHub) { g.Issue.Milestone = &sinks.Named{Number: 4} },
		plan.KindGitHubIssue:     func(g *sinks.GitHub) { g.Opened = g.Opened[:1] },
		plan.KindGitHubComment: func(g *sinks.GitHub) {
			g.Comments = g.Comments[:1]
			g.Events = append(g.Events, sinks.Event{Event: "comment_deleted", Actor: sinks.User{ID: 12}})
		},
	}
	for _, kind := range Kinds() {
		g := sinks.NewGitHub(t)
		s, j := sink(t, config(g.URL, g.Client())), jobs[kind]()
		if a := s.Send(t.Context(), j); a.Verdict != act.Performed {
			t.Fatalf("%s: %+v", kind, a)
		}
		g.Change(undo[kind])
		if a := s.Find(t.Context(), j); a.Verdict != act.Unsure {
			t.Errorf("%s, undone: %+v: want unsure", kind, a)
		}
	}
}

// What another hand did is no sign of ours where ours is not there; and where
// it is as the job wants it, there is nothing left to do.
func TestWhatOthersDidIsToldFromOurs(t *testing.T) {
	t.Parallel()
	others := map[plan.Kind]string{
		plan.KindGitHubLabel: "labeled", plan.KindGitHubClose: "closed", plan.KindGitHubAssign: "assigned", plan.KindGitHubMilestone: "milestoned",
	}
	for kind, event := range others {
		g := sinks.NewGitHub(t)
		s, j := sink(t, config(g.URL, g.Client())), jobs[kind]()
		mallory := sinks.User{ID: 13, Login: "octo-cat"}
		g.Change(func(g *sinks.GitHub) {
			g.Events = []sinks.Event{{Event: event, Actor: mallory, Assigner: &mallory, Assignee: &mallory, Label: &sinks.Named{Name: "bug"}}}
		})
		if a := s.Find(t.Context(), j); a.Verdict != act.NotPerformed {
			t.Errorf("%s by another, undone: %+v: want not performed", event, a)
		}
		g.Change(func(g *sinks.GitHub) {
			g.Issue.Labels, g.Issue.State, g.Issue.Assignees = []sinks.Named{{Name: "BUG"}}, "closed", []sinks.User{{ID: 13, Login: "Octo-Cat"}}
			g.Issue.Milestone = &sinks.Named{Number: 3}
		})
		if a := s.Find(t.Context(), j); a.Verdict != act.Performed {
			t.Errorf("%s by another, and stands: %+v: want performed", event, a)
		}
	}
}

// A comment is found by its marker in a comment of our own identity, wherever
// in it that stands; a stranger's copy of it is nothing.
func TestACommentIsFoundByItsMarkerUnderOurIdentity(t *testing.T) {
	t.Parallel()
	g := sinks.NewGitHub(t)
	c := config(g.URL, g.Client())
	s, j := sink(t, c), jobs[plan.KindGitHubComment]()
	mark := marker(c.Marker[0], j.Key)
	later := noon.Add(time.Minute)
	formerly, newly := c, c
	formerly.Identity = []int64{7, sinks.Own}
	newly.Marker = []credential.Secret{credential.New(strings.Repeat("n", 32)), c.Marker[0]}
	for name, tc := range map[string]struct {
		comment sinks.Comment
		sink    *Sink
		want    act.Verdict
	}{
		"ours":                       {sinks.Comment{Body: "x\n\n" + mark, User: sinks.User{ID: sinks.Own}}, s, act.Performed},
		"ours, added to":             {sinks.Comment{Body: "x\n\n" + mark + "\n\nedit: y", User: sinks.User{ID: sinks.Own}, Created: noon, Updated: later}, s, act.Performed},
		"ours, with CRLF":            {sinks.Comment{Body: "x\r\n\r\n" + mark + "\r\n", User: sinks.User{ID: sinks.Own}}, s, act.Performed},
		"ours, of another job":       {sinks.Comment{Body: "x\n\n" + marker(c.Marker[0], strings.Repeat("0", 32)), User: sinks.User{ID: sinks.Own}}, s, act.NotPerformed},
		"ours, marker taken out":     {sinks.Comment{Body: "x", User: sinks.User{ID: sinks.Own}, Created: noon, Updated: later}, s, act.Unsure},
		"ours, by hand":              {sinks.Comment{Body: "x", User: sinks.User{ID: sinks.Own}, Created: noon, Updated: noon}, s, act.NotPerformed},
		"a stranger's copy":          {sinks.Comment{Body: mark, User: sinks.User{ID: 13}}, s, act.NotPerformed},
		"a stranger of our login":    {sinks.Comment{Body: mark, User: sinks.User{ID: 13, Login: "decant[bot]"}}, s, act.NotPerformed},
		"another key's":              {sinks.Comment{Body: marker(credential.New(strings.Repeat("x", 32)), j.Key), User: sinks.User{ID: sinks.Own}}, s, act.NotPerformed},
		"of an earlier identity":     {sinks.Comment{Body: mark, User: sinks.User{ID: sinks.Own}}, sink(t, formerly), act.Performed},
		"of a key that was replaced": {sinks.Comment{Body: mark, User: sinks.User{ID: sinks.Own}}, sink(t, newly), act.Performed},
	} {
		tc.comment.ID = 5
		g.Change(func(g *sinks.GitHub) { g.Comments = append(g.Comments[:1:1], tc.comment) })
		a := tc.sink.Find(t.Context(), j)
		if a.Verdict != tc.want || (a.Verdict == act.Performed) != (a.Remote == "5") {
			t.Errorf("%s: %+v: want verdict %d", name, a, tc.want)
		}
	}
}

// Find reads every page, the newest first, and says nothing where it cannot.
func TestFindReadsAllPagesOrSaysNothing(t *testing.T) {
	t.Parallel()
	g := sinks.NewGitHub(t)
	s, j := sink(t, config(g.URL, g.Client())), jobs[plan.KindGitHubComment]()
	if a := s.Send(t.Context(), j); a.Verdict != act.Performed {
		t.Fatalf("%+v", a)
	}
	ours := g.Comments[1]
	for _, c := range []struct {
		before, after int
		there         bool
		want          act.Verdict
	}{
		{0, 0, false, act.NotPerformed}, {commentsPage - 1, 0, true, act.Performed}, {commentsPage, 0, true, act.Performed},
		{commentsPage, 0, false, act.NotPerformed}, {10, 5 * commentsPage, true, act.Performed}, {200, 90, true, act.Performed},
		{commentsPage * MaxPages, 0, false, act.NotPerformed}, {commentsPage*MaxPages + 1, 0, false, act.Unsure},
		{commentsPage * MaxPages * 2, 1, true, act.Performed}, {commentsPage + 1, commentsPage * MaxPages, true, act.Unsure},
	} {
		g.Change(func(g *sinks.GitHub) {
			g.Comments = nil
			for i := range c.before + 1 + c.after {
				switch {
				case i != c.before:
					g.Comments = append(g.Comments, sinks.Comment{ID: int64(i + 100), Body: sinks.Foreign, User: sinks.User{ID: 13}})
				case c.there:
					g.Comments = append(g.Comments, ours)
				}
			}
		})
		if a := s.Find(t.Context(), j); a.Verdict != c.want {
			t.Errorf("%+v: %+v", c, a)
		}
	}
}

// What is deleted while Find reads hides nothing from it.
func TestADeletionMeanwhileHidesNothing(t *testing.T) {
	t.Parallel()
	for deletions := 1; deletions <= 4; deletions++ {
		for at := range 4 * commentsPage {
			all := make([]string, 4*commentsPage)
			all[at] = "ours"
			read, left := 0, deletions
			list := pagesOf(t, &all, func() {
				if read++; read > 1 && left > 0 && all[0] == "" { // the oldest goes, and all that follows moves up
					all = all[1:]
					left--
				}
			})
			stopped, whole, err := pages(t.Context(), commentsPage, list, func(*string) bool { return true }, func(s *string) bool { return *s == "ours" })
			if err != nil || !stopped {
				t.Fatalf("ours at %d, %d deletions: stopped %t, whole %t, %v", at, deletions, stopped, whole, err)
			}
		}
	}
}

// A job is about the verified target and nothing else.
func TestAJobIsAboutItsTargetAlone(t *testing.T) {
	t.Parallel()
	s := sink(t, config("https://127.0.0.1:1", nil))
	for name, change := range map[string]func(*act.Job){
		"another issue":   func(j *act.Job) { j.Params["issue"] = "octo-org/sample#13" },
		"no issue":        func(j *act.Job) { delete(j.Params, "issue") },
		"no number":       func(j *act.Job) { j.Target.Number = 0; j.Params["issue"] = "octo-org/sample" },
		"a feed's item":   func(j *act.Job) { j.Target = pipeline.Target{Event: "tick"}; j.Params["issue"] = "feed:a#b" },
		"a path":          func(j *act.Job) { j.Target.Repository = "octo-org/.."; j.Params["issue"] = "octo-org/..#12" },
		"a larger number": func(j *act.Job) { j.Target.Number = 1 << 31; j.Params["issue"] = "octo-org/sample#2147483648" },
	} {
		for _, kind := range Kinds() {
			if kind == plan.KindGitHubIssue {
				continue // it is about no issue yet
			}
			j := jobs[kind]()
			change(&j)
			if a := s.Send(t.Context(), j); a.Verdict != act.Rejected || a.Word != "no_issue" {
				t.Errorf("%s, %s: %+v: want no_issue", name, kind, a)
			}
		}
	}
	for name, j := range map[string]act.Job{
		"no label": job(plan.KindGitHubLabel, map[string]any{"label": ""}), "another reason": job(plan.KindGitHubClose, map[string]any{"reason": "duplicate"}),
		"no login": job(plan.KindGitHubAssign, map[string]any{}), "no milestone": job(plan.KindGitHubMilestone, map[string]any{"number": int64(0)}),
		"a text for a number": job(plan.KindGitHubMilestone, map[string]any{"number": "3"}), "an empty comment": job(plan.KindGitHubComment, map[string]any{"body": " \n"}),
		"no title": opens(map[string]any{"title": " "}), "a title of two lines": opens(map[string]any{"title": "a\nb"}), "a long title": opens(map[string]any{"title": strings.Repeat("é", 257)}),
		"no body": opens(map[string]any{"body": ""}), "a long body": opens(map[string]any{"body": strings.Repeat("é", MaxComment-50)}),
		"no repository": opens(map[string]any{"repository": ""}), "a path": opens(map[string]any{"repository": "octo-org/.."}), "an address": opens(map[string]any{"repository": "https://example.com/a"}),
		"too long": job(plan.KindGitHubComment, map[string]any{"body": strings.Repeat("é", MaxComment-50)}),
	} {
		if a := s.Send(t.Context(), j); a.Verdict != act.Rejected {
			t.Errorf("%s: %+v: want rejected", name, a)
		}
	}
}

// opens is a job that opens an issue, with other parameters.
func opens(change map[string]any) act.Job {
	j := jobs[plan.KindGitHubIssue]()
	for name, v := range change {
		j.Params[name] = v
	}
	return j
}

// An issue is opened where the recipe says, and not where the event came from.
func TestAnIssueIsOpenedInTheRecipesRepository(t *testing.T) {
	t.Parallel()
	g := sinks.NewGitHub(t)
	s, j := sink(t, config(g.URL, g.Client())), jobs[plan.KindGitHubIssue]()
	j.Target = pipeline.Target{Event: "schedule.tick", Repository: "elsewhere/there"}
	if a := s.Send(t.Context(), j); a.Verdict != act.Performed || a.Word != "opened" || a.Remote != "14" {
		t.Fatalf("%+v", a)
	}
	if o := g.Opened[1]; o.Title != "news" || o.Body != "see there\n\n"+marker(s.Marker[0], j.Key) {
		t.Errorf("opened %+v", o)
	}
	g.Change(func(g *sinks.GitHub) {
		copied := g.Opened[1]
		copied.Number, copied.User = 15, sinks.User{ID: 13}
		g.Opened = append(g.Opened[:1:1], copied)
	})
	if a := s.Find(t.Context(), j); a.Verdict != act.Unsure {
		t.Errorf("a stranger's copy: %+v", a)
	}
}

// What is shown in a dry run is what is sent, byte for byte, and the marker.
func TestACommentIsSentByteForByte(t *testing.T) {
	t.Parallel()
	g := sinks.NewGitHub(t)
	s := sink(t, config(g.URL, g.Client()))
	for i, body := range []string{"thank you", "a <b> & \"c\"\\ \t\n\n> d\n", "日本 🙂 e\u0301 \u2028", strings.Repeat("é", MaxComment-90)} {
		j := job(plan.KindGitHubComment, map[string]any{"body": body})
		if a := s.Send(t.Context(), j); a.Verdict != act.Performed {
			t.Fatalf("comment %d: %+v", i, a)
		}
		if got, want := g.Comments[len(g.Comments)-1].Body, body+"\n\n"+marker(s.Marker[0], j.Key); got != want {
			t.Errorf("sent %q: want %q", got, want)
		}
	}
}

// No assignment that GitHub left out in silence is said to be done.
func TestAPersonWhoCannotBeAssignedIsARefusal(t *testing.T) {
	t.Parallel()
	g := sinks.NewGitHub(t)
	s := sink(t, config(g.URL, g.Client()))
	if a := s.Send(t.Context(), job(plan.KindGitHubAssign, map[string]any{"login": "stranger"})); a.Verdict != act.Rejected || a.Word != "not_assignable" {
		t.Errorf("%+v: want not_assignable", a)
	}
}

// answering is a GitHub that gives one answer to everything.
func answering(t *testing.T, status int, h http.Header, body string) *Sink {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range h {
			w.Header()[name] = values
		}
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return sink(t, config(server.URL, nil))
}

// Each status is what it is certain of, written a second time.
func TestEachStatusIsWhatItIsCertainOf(t *testing.T) {
	t.Parallel()
	rejected := map[int]bool{301: true, 302: true, 303: true, 307: true, 308: true, 400: true, 403: true, 404: true, 410: true, 422: true, 423: true, 451: true}
	again := map[int]bool{401: true, 429: true}
	for status := 200; status < 600; status++ {
		if status == 204 || status == 205 || status == 304 { // these have no body
			continue
		}
		want := act.Unsure
		if rejected[status] {
			want = act.Rejected
		} else if again[status] {
			want = act.NotPerformed
		}
		s := answering(t, status, nil, `{"message":"`+sinks.Foreign+`"}`)
		for _, kind := range Kinds() {
			a := s.Send(t.Context(), jobs[kind]())
			if a.Verdict != want || strings.Contains(fmt.Sprint(a), "zz9") {
				t.Errorf("%d to %s: %+v: want verdict %d", status, kind, a, want)
			}
			if found := s.Find(t.Context(), jobs[kind]()); found != (act.Answer{}) {
				t.Errorf("%d to a question about %s: %+v: want nothing", status, kind, found)
			}
		}
	}
}

// A success that says something else than it should says nothing.
func TestAStrangeSuccessSaysNothing(t *testing.T) {
	t.Parallel()
	for _, body := range []string{
		"", "null", "{}", "[]", "[null]", "[[]]", `""`, "0", "true", "[] zz9-foreign", `{"number":13,"state":"closed","milestone":{"number":3},"assignees":[{"login":"octo-cat"}]}`,
		`{"number":12}`, `{"number":12,"state":"open","milestone":null,"labels":null}`, `{"id":1,"body":"thank you"}`, `[{"name":"bugs"}]`, `{"number":"12"}`, "\xff",
	} {
		s := answering(t, http.StatusOK, nil, body)
		for _, kind := range Kinds() {
			if a := s.Send(t.Context(), jobs[kind]()); a != (act.Answer{}) {
				t.Errorf("%s after %s: %+v: want nothing", kind, body, a)
			}
			// An empty list of comments, and of events, is what a GitHub that has none says.
			if a := s.Find(t.Context(), jobs[kind]()); a != (act.Answer{}) && (body != "[]" || kind != plan.KindGitHubComment) {
				t.Errorf("%s found by %s: %+v: want nothing", kind, body, a)
			}
		}
	}
}

// The limits of GitHub, as it documents them: the job waits as long as it asks.
func TestRateLimitsAreHeeded(t *testing.T) {
	t.Parallel()
	reset := strconv.FormatInt(noon.Add(25*time.Minute).Unix(), 10)
	for name, c := range map[string]struct {
		status int
		header http.Header
		body   string
		want   act.Answer
	}{
		"primary":            {403, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {reset}}, `{"message":"API rate limit exceeded"}`, act.Answer{Verdict: act.NotPerformed, Word: "rate_limited", After: 25 * time.Minute}},
		"primary, 429":       {429, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {reset}}, `{}`, act.Answer{Verdict: act.NotPerformed, Word: "rate_limited", After: 25 * time.Minute}},
		"primary, no reset":  {403, http.Header{"X-Ratelimit-Remaining": {"0"}}, `{}`, act.Answer{Verdict: act.NotPerformed, Word: "rate_limited", After: time.Minute}},
		"primary, long past": {403, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"1"}}, `{}`, act.Answer{Verdict: act.NotPerformed, Word: "rate_limited"}},
		"primary, for ever":  {403, http.Header{"X-Ratelimit-Remaining": {"0"}, "X-Ratelimit-Reset": {"99999999999"}}, `{}`, act.Answer{Verdict: act.NotPerformed, Word: "rate_limited", After: 24 * time.Hour}},
		"secondary, waits":   {403, http.Header{"Retry-After": {"90"}}, `{}`, act.Answer{Verdict: act.NotPerformed, Word: "rate_limited", After: 90 * time.Second}},
		"secondary, 429":     {429, http.Header{"Retry-After": {"90"}}, `no JSON`, act.Answer{Verdict: act.NotPerformed, Word: "rate_limited", After: 90 * time.Second}},
		"secondary, by page": {403, nil, `{"documentation_url":"https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits"}`, act.Answer{Verdict: act.NotPerformed, Word: "rate_limited", After: time.Minute}},
		"secondary, by word": {403, nil, `{"message":"You have exceeded a secondary rate limit. Please wait."}`, act.Answer{Verdict: act.NotPerformed, Word: "rate_limited", After: time.Minute}},
		"abuse":              {403, nil, `{"message":"You have triggered an abuse detection mechanism."}`, act.Answer{Verdict: act.NotPerformed, Word: "rate_limited", After: time.Minute}},
		"abuse, by page":     {403, nil, `{"documentation_url":"https://developer.github.com/v3/#abuse-rate-limits"}`, act.Answer{Verdict: act.NotPerformed, Word: "rate_limited", After: time.Minute}},
		"a refusal":          {403, http.Header{"X-Ratelimit-Remaining": {"4999"}, "X-Ratelimit-Reset": {reset}}, `{"message":"Resource not accessible by integration"}`, act.Answer{Verdict: act.Rejected, Word: "forbidden"}},
		"a broken gateway":   {503, http.Header{"Retry-After": {"90"}}, `{}`, act.Answer{}},
	} {
		if a := answering(t, c.status, c.header, c.body).Send(t.Context(), jobs[plan.KindGitHubLabel]()); a != c.want {
			t.Errorf("%s: %+v: want %+v", name, a, c.want)
		}
	}
}

// A token is asked for each time and shown to GitHub alone. Without one
// nothing is sent, and nothing is known.
func TestATokenIsAskedForEachTime(t *testing.T) {
	t.Parallel()
	g := sinks.NewGitHub(t)
	c := config(g.URL, g.Client())
	var says struct {
		token string
		err   error
	}
	c.Token = func(context.Context) (credential.Secret, error) { return credential.New(says.token), says.err }
	s, j := sink(t, c), jobs[plan.KindGitHubLabel]()
	for _, turn := range []struct {
		token string
		err   error
		want  act.Verdict
		word  string
	}{
		{"", nil, act.NotPerformed, "no_token"}, {token, errors.New("SECRET"), act.NotPerformed, "no_token"}, {"old", nil, act.NotPerformed, "unauthorized"},
		{"bad\nheader", nil, act.NotPerformed, "unreachable"}, {token, nil, act.Performed, "labelled"},
	} {
		says.token, says.err = turn.token, turn.err
		if a := s.Send(t.Context(), j); a.Verdict != turn.want || a.Word != turn.word {
			t.Errorf("%+v: want %s", a, turn.word)
		}
		if a := s.Find(t.Context(), j); (a.Verdict == act.Performed) != (turn.want == act.Performed) || a.Verdict == act.NotPerformed {
			t.Errorf("asked with the same: %+v", a)
		}
	}
}

func TestAConfigurationIsChecked(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Config){
		"no token": func(c *Config) { c.Token = nil }, "no clock": func(c *Config) { c.Clock = nil }, "no identity": func(c *Config) { c.Identity = nil },
		"identity 0": func(c *Config) { c.Identity = []int64{0} }, "no key": func(c *Config) { c.Marker = nil },
		"a short key": func(c *Config) { c.Marker = append(c.Marker, credential.New("hunter2")) }, "http": func(c *Config) { c.Base = "http://api.github.com" },
		"user": func(c *Config) { c.Base = "https://hunter2@api.github.com" }, "no address": func(c *Config) { c.Base = "github" },
		"too long": func(c *Config) { c.Limit = act.MaxSinkTime + 1 }, "negative": func(c *Config) { c.Limit = -1 },
	} {
		c := config("", nil)
		change(&c)
		if s, err := New(c); err == nil || s != nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v: want a refusal", name, err)
		}
	}
	s := sink(t, config("", nil))
	if s.Limit() != DefaultLimit || s.client.BaseURL.String() != "https://api.github.com/" {
		t.Errorf("limit %s at %s", s.Limit(), s.client.BaseURL)
	}
	for _, said := range []string{fmt.Sprintf("%v %+v %#v", s, s, s), fmt.Sprintf("%+v %#v", s.Config, s.Config)} {
		if strings.Contains(said, "kkk") {
			t.Errorf("printed as %s", said)
		}
	}
}
