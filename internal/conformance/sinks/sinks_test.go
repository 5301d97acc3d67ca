package sinks

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"decant.dev/act"
	"decant.dev/act/credential"
	"decant.dev/act/github"
	"decant.dev/act/message"
	"decant.dev/act/plan"
	"decant.dev/act/queue"
	"decant.dev/act/webhook"
	sqs "decant.dev/pipeline/aws/queue"
)

func clock() time.Time { return noon }

// kinds are the actions on the one issue, how often GitHub saw each, and
// whether doing it again does nothing.
var kinds = map[plan.Kind]struct {
	action func(plan.Target) plan.Action
	count  func(*GitHub) int
	once   bool
}{
	plan.KindGitHubLabel: {
		func(at plan.Target) plan.Action { return plan.GitHubLabel{Issue: at.Ref(), Label: "bug"} },
		func(g *GitHub) int { return g.Happened("labeled") }, true,
	},
	plan.KindGitHubComment: {
		func(at plan.Target) plan.Action {
			return plan.GitHubComment{Issue: at.Ref(), Body: plan.Say("thank you for ", at.Ref())}
		},
		(*GitHub).Marked, false,
	},
	plan.KindGitHubClose: {
		func(at plan.Target) plan.Action { return plan.GitHubClose{Issue: at.Ref(), Reason: "not_planned"} },
		func(g *GitHub) int { return g.Happened("closed") }, true,
	},
	plan.KindGitHubAssign: {
		func(at plan.Target) plan.Action { return plan.GitHubAssign{Issue: at.Ref(), Login: "octo-cat"} },
		func(g *GitHub) int { return g.Happened("assigned") }, true,
	},
	plan.KindGitHubIssue: {
		func(at plan.Target) plan.Action {
			return plan.GitHubIssue{Repository: "octo-org/sample", Title: plan.Say("news of ", at.Ref()), Body: plan.Say("see ", at.Ref())}
		},
		(*GitHub).Issues, false,
	},
	plan.KindGitHubMilestone: {
		func(at plan.Target) plan.Action { return plan.GitHubMilestone{Issue: at.Ref(), Number: 3} },
		func(g *GitHub) int { return g.Happened("milestoned") }, true,
	},
}

func githubSink(t *testing.T, g *GitHub, limit time.Duration) *github.Sink {
	t.Helper()
	s, err := github.New(github.Config{
		Client: g.Client(), Base: g.URL, Limit: limit, Clock: clock, Identity: []int64{Own},
		Token:  func(context.Context) (credential.Secret, error) { return credential.New("ghs_sample"), nil },
		Marker: []credential.Secret{credential.New(strings.Repeat("k", 32))},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGitHub(t *testing.T) {
	t.Parallel()
	for _, kind := range github.Kinds() {
		k, ok := kinds[kind]
		if !ok {
			t.Errorf("%s: want it in this suite", kind)
			continue
		}
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			Run(t, func(t *testing.T, limit time.Duration) Kit {
				g := NewGitHub(t)
				asking := Sees
				if kind == plan.KindGitHubIssue {
					asking = Finds
				}
				return Kit{
					Sink: githubSink(t, g, limit), Action: k.action, Script: g.Script, Lost: g.Close, Asking: asking, Once: k.once,
					Count: func(string) int { return k.count(g) }, After: 7 * time.Second,
				}
			})
		})
	}
}

func TestWebhook(t *testing.T) {
	t.Parallel()
	secret := "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("s"), 32))
	for name, c := range map[string]struct {
		idempotent bool
		asking     Asking
	}{"plain": {false, Cannot}, "idempotent": {true, Repeats}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			Run(t, func(t *testing.T, limit time.Duration) Kit {
				verifier, err := standardwebhooks.NewWebhook(secret)
				if err != nil {
					t.Fatal(err)
				}
				p := NewReceiver(t, c.idempotent, func(h http.Header, body []byte) error { return verifier.VerifyIgnoringTimestamp(body, h) })
				s, err := webhook.New(webhook.Config{Client: p.Client(), Limit: limit, Clock: clock, Destinations: map[string]webhook.Destination{
					"desk": {URL: p.URL + "/in", Secrets: []credential.Secret{credential.New(secret)}, Idempotent: c.idempotent},
				}})
				if err != nil {
					t.Fatal(err)
				}
				return Kit{
					Sink: s, Script: p.Script, Count: p.Count, Lost: p.Close, Asking: c.asking, Once: c.idempotent, After: 7 * time.Second,
					Action: func(at plan.Target) plan.Action {
						return plan.WebhookPost{Destination: "desk", Columns: []plan.Column{plan.Text("kind", "bug"), plan.Int("n", 3)}}
					},
					// The status says it: of the body nothing is read.
					Certain: map[Manner]act.Verdict{Garbles: act.Performed, Empties: act.Performed, Floods: act.Performed},
				}
			})
		})
	}
}

func sent(plan.Target) plan.Action {
	return plan.QueueSend{Queue: "triage", Columns: []plan.Column{plan.Text("kind", "bug"), plan.Bool("new", true)}}
}

func TestQueueOfFiles(t *testing.T) {
	t.Parallel()
	Run(t, func(t *testing.T, _ time.Duration) Kit {
		dir := t.TempDir()
		s, err := queue.Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return Kit{Sink: s, Action: sent, Asking: Sees, Once: true, Manners: []Manner{Takes}, Count: func(key string) int { return lines(t, dir, key) }}
	})
}

func lines(t *testing.T, dir, key string) int {
	f, err := os.Open(filepath.Join(dir, "triage.jsonl"))
	if os.IsNotExist(err) {
		return 0
	}
	if err != nil {
		t.Error(err)
		return 0
	}
	defer f.Close()
	n := 0
	for s := bufio.NewScanner(f); s.Scan(); {
		if bytes.HasPrefix(s.Bytes(), message.Begins(key)) {
			n++
		}
	}
	return n
}

func TestSQS(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	t.Setenv("AWS_SESSION_TOKEN", "c")
	again := map[Manner]act.Verdict{} // what a FIFO queue is asked once more about
	for _, m := range Manners() {
		if m.certain() == act.Unsure && (!m.silent() || m == Floods) { // a flood ends at the answer's bound
			again[m] = act.Performed
		}
	}
	for name, c := range map[string]struct {
		queue   string
		readers bool
		asking  Asking
		certain map[Manner]act.Verdict
	}{
		"standard":   {"triage", false, Cannot, nil},
		"idempotent": {"triage", true, Repeats, nil},
		"fifo":       {"triage.fifo", false, Cannot, again},
	} {
		t.Run(name, func(t *testing.T) {
			Run(t, func(t *testing.T, limit time.Duration) Kit {
				p := NewSQS(t, c.readers)
				s, err := sqs.New(sqs.Config{Region: "eu-central-1", Endpoint: p.URL, Limit: limit, Queues: map[string]sqs.Queue{
					"triage": {URL: p.URL + "/123456789012/" + c.queue, Idempotent: c.readers},
				}})
				if err != nil {
					t.Fatal(err)
				}
				return Kit{
					Sink: s, Action: sent, Script: p.Script, Count: p.Count, Lost: p.Close, Asking: c.asking,
					Once: c.readers || c.certain != nil, Certain: c.certain,
				}
			})
		})
	}
}
