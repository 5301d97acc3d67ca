package github

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"decant.dev/act"
	"decant.dev/act/plan"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var forms = regexp.MustCompile(`^([a-z][a-z0-9_]{0,31})?$`)

// Whatever GitHub answers, the sink says a closed word and an id, waits a day
// at most, and asks nobody else. What is asked never says that a job was
// performed under a status that is no success.
func FuzzAnswers(f *testing.F) {
	for _, seed := range []struct {
		status              int
		body, header, value string
	}{
		{200, `[{"name":"bug"}]`, "Link", `<https://api.github.com/x?page=2>; rel="last"`},
		{201, `{"id":7,"body":"x"}`, "Link", `<x?page=99999999999999999999>; rel="last"`},
		{200, `{"number":12,"state":"closed","labels":[{"name":"bug"}],"assignees":[null],"milestone":{"number":3}}`, "", ""},
		{200, `[{"id":1,"event":"closed","actor":null}]`, "Link", `<?page=-1>; rel="last"`},
		{403, `{"message":7}`, "Retry-After", "-1"},
		{429, ``, "X-Ratelimit-Reset", "9223372036854775807"},
		{307, ``, "Location", "https://elsewhere.example/"},
		{202, `{}`, "X-Github-Otp", "required"},
	} {
		f.Add(seed.status, seed.body, seed.header, seed.value)
	}
	f.Fuzz(func(t *testing.T, status int, body, header, value string) {
		asked := 0
		client := &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			if asked++; asked > 2*MaxPages+9 || r.URL.Host != "api.github.com" || !strings.HasPrefix(r.URL.Path+"/12", "/repos/octo-org/sample/issues/12") {
				t.Errorf("request %d to %s", asked, r.URL)
			}
			h := http.Header{}
			h[http.CanonicalHeaderKey(header)] = []string{value}
			return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
		})}
		s, err := New(config("", client))
		if err != nil {
			t.Fatal(err)
		}
		for _, kind := range Kinds() {
			for did, ask := range map[string]func() act.Answer{
				"sent": func() act.Answer { return s.Send(t.Context(), jobs[kind]()) }, "asked": func() act.Answer { return s.Find(t.Context(), jobs[kind]()) },
			} {
				asked = 0
				a := ask()
				if !forms.MatchString(a.Word) || len(a.Remote) > 20 || strings.Trim(a.Remote, "0123456789") != "" || a.After < 0 || a.After > 24*time.Hour {
					t.Errorf("%s, %s: %+v", kind, did, a)
				}
				if status/100 != 2 && (a.Verdict == act.Performed || did == "asked" && a != (act.Answer{})) {
					t.Errorf("%s, %s, status %d: %+v", kind, did, status, a)
				}
				if (kind == plan.KindGitHubComment || kind == plan.KindGitHubIssue) && a.Verdict == act.Performed && !strings.Contains(body, markerHead) {
					t.Errorf("%s, %s by %q: %+v", kind, did, body, a)
				}
			}
		}
		if said := fmt.Sprint(s); said != "github sink" {
			t.Error(said)
		}
	})
}
