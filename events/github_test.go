package events

import (
	"net/http"
	"strings"
	"testing"

	"decant.dev/pipeline"
)

func request(t testing.TB, body string, headers ...string) HTTP {
	t.Helper()
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Add(headers[i], headers[i+1])
	}
	r, err := NewHTTP(h, []byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestVerifyGitHubCoversTheBytesAsReceived(t *testing.T) { // octokit/webhooks.js#1155
	t.Parallel()
	s := Secrets{Current: NewSecret("key")}
	for _, body := range []string{`{"a":"\u003c♥",  "b":1}`, `{"a":"<♥","b":1}`, "", "not JSON", "\xff\xfe", "{}\n"} {
		got, err := VerifyGitHub(request(t, body, "X-Hub-Signature-256", signature("key", []byte(body))), s)
		if want(t, err, pipeline.OK); got != MatchedCurrent {
			t.Errorf("got %v", got)
		}
		_, err = VerifyGitHub(request(t, body+" ", "X-Hub-Signature-256", signature("key", []byte(body))), s)
		want(t, err, pipeline.BadSignature)
	}
}

// GitHub publishes this vector on the page that VerifyGitHub names.
func TestVerifyGitHubAgreesWithGitHubsVector(t *testing.T) {
	t.Parallel()
	h := request(t, "Hello, World!", "X-Hub-Signature-256", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
	_, err := VerifyGitHub(h, Secrets{Current: NewSecret("It's a Secret to Everybody")})
	want(t, err, pipeline.OK)
}

func TestVerifyGitHubRefusesEveryOtherHeader(t *testing.T) {
	t.Parallel()
	const name, body = "X-Hub-Signature-256", "{}"
	good := signature("key", []byte(body))
	digits := strings.TrimPrefix(good, "sha256=")
	for what, headers := range map[string][]string{
		"none":           {},
		"sha1 only":      {"X-Hub-Signature", "sha1=" + digits[:40]},
		"two":            {name, good, name, good},
		"two in one":     {name, good + "," + good},
		"empty":          {name, ""},
		"no prefix":      {name, digits},
		"other prefix":   {name, "sha512=" + digits},
		"upper prefix":   {name, "SHA256=" + digits},
		"short":          {name, good[:len(good)-2]},
		"long":           {name, good + "00"},
		"odd":            {name, good[:len(good)-1]},
		"not hex":        {name, "sha256=" + strings.Repeat("zz", 32)},
		"trailing space": {name, good + " "},
		"other key":      {name, signature("other", []byte(body))},
		"empty key":      {name, signature("", []byte(body))},
		"other body":     {name, signature("key", []byte("[]"))},
		"bit flipped":    {name, good[:len(good)-1] + string(good[len(good)-1]^1)},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			got, err := VerifyGitHub(request(t, body, headers...), Secrets{Current: NewSecret("key"), Previous: NewSecret("old")})
			want(t, err, pipeline.BadSignature, digits[:8], "zzzz")
			if got != MatchedNone {
				t.Errorf("got %v", got)
			}
		})
	}
}

func TestNoSecretIsRefusedWhateverIsSigned(t *testing.T) { // n8n#29480
	t.Parallel()
	for _, key := range []string{"", "no secret is configured"} {
		_, err := VerifyGitHub(request(t, "{}", "X-Hub-Signature-256", signature(key, []byte("{}"))), Secrets{})
		want(t, err, pipeline.NoSecret)
		_, err = VerifyGitHub(request(t, "{}", "X-Hub-Signature-256", signature(key, []byte("{}"))), Secrets{Previous: NewSecret("key")})
		want(t, err, pipeline.BadSignature)
	}
	_, err := VerifyGitHub(request(t, "{}"), Secrets{})
	want(t, err, pipeline.NoSecret)
}

func TestReceiveGitHubReadsNothingUnproved(t *testing.T) {
	t.Parallel()
	s := Secrets{Current: NewSecret("key")}
	const name = "X-Hub-Signature-256"
	_, _, err := ReceiveGitHub(request(t, "not JSON", name, signature("other", nil), "X-GitHub-Event", "issues"), s)
	want(t, err, pipeline.BadSignature)
	_, _, err = ReceiveGitHub(request(t, "not JSON", name, signature("key", []byte("not JSON")), "X-GitHub-Event", "issues"), s)
	want(t, err, pipeline.MalformedBody)
	_, _, err = ReceiveGitHub(request(t, "{}", name, signature("key", []byte("{}"))), s)
	want(t, err, pipeline.MalformedEvent)
	_, _, err = ReceiveGitHub(request(t, "{}", name, signature("key", []byte("{}")), "X-GitHub-Event", "issues", "X-GitHub-Event", "ping"), s)
	want(t, err, pipeline.MalformedEvent)
	_, matched, err := ReceiveGitHub(request(t, "{}", name, signature("key", []byte("{}")), "X-GitHub-Event", "zebra"), s)
	if want(t, err, pipeline.UnhandledEvent, "zebra"); matched != MatchedCurrent {
		t.Errorf("got %v, want current: an ignored event counts in a rotation too", matched)
	}
}

// Whatever a sender writes into the header, what is counted is one of a closed
// list.
func TestGitHubClassIsOfAClosedList(t *testing.T) {
	t.Parallel()
	for value, class := range map[string]string{
		"star": "star", "star.created": "star", "issues": "issues", "ping": "ping", "workflow_run": "workflow_run",
		"": "other", "STAR": "other", "star ": "other", "zz9": "other", "../star": "other", "\u202estar": "other",
	} {
		if got := GitHubClass(requestOf("{}", "x-github-event", value)); got != class {
			t.Errorf("%q: got %q, want %q", value, got, class)
		}
	}
	for file, event := range payloads(t) {
		if got := GitHubClass(requestOf("{}", "x-github-event", event)); got != event {
			t.Errorf("%s: got %q", file, got)
		}
	}
	if got := GitHubClass(requestOf("{}")) + GitHubClass(requestOf("{}", "x-github-event", "star", "x-github-event", "star")); got != "otherother" {
		t.Errorf("got %q", got)
	}
}
