package local

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"decant.dev/events"
	"decant.dev/pipeline/local/sandbox"
	"decant.dev/recipes/issues"
	"decant.dev/recipes/issues/intake"
)

func issuesPipeline() Pipeline {
	return Pipeline{Recipe: issues.Recipe, Intake: intake.Intake, Extractor: intake.Extractor}
}

// account is a user object with the keys that GitHub's have.
func account(id int, login, kind string) string {
	base := "https://api.example.com/users/" + login
	return fmt.Sprintf(`{"login":%q,"id":%d,"node_id":"MDQ6VXNlcg==","avatar_url":"https://avatars.example.com/u/%d?v=4","gravatar_id":"","url":%q,`+
		`"html_url":"https://example.com/%s","followers_url":"%s/followers","following_url":"%s/following{/other_user}","gists_url":"%s/gists{/gist_id}",`+
		`"starred_url":"%s/starred{/owner}{/repo}","subscriptions_url":"%s/subscriptions","organizations_url":"%s/orgs","repos_url":"%s/repos",`+
		`"events_url":"%s/events{/privacy}","received_events_url":"%s/received_events","type":%q,"site_admin":false}`,
		login, id, id, base, login, base, base, base, base, base, base, base, base, base, kind)
}

// payload is GitHub's delivery of one opened issue, of size bytes if that is
// more than it needs.
func payload(number int, title, body string, size int) []byte {
	reporter := account(7000+number, "reporter", "User")
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"action":"opened","issue":{"id":%d,"number":%d,"title":%s,"user":%s,"labels":[],"state":"open","locked":false,"assignee":%s,"comments":0,"body":%s},`,
		90000+number, number, strconv.Quote(title), reporter, account(12, "maintainer", "User"), strconv.Quote(body))
	fmt.Fprintf(&b, `"repository":{"id":1,"name":"sample","full_name":"octo-org/sample","private":false,"owner":%s`, account(1, "octo-org", "Organization"))
	for i := 0; i < 70 && b.Len() < size-len(reporter)-200; i++ {
		fmt.Fprintf(&b, `,"link_%d_url":"https://api.example.com/repos/octo-org/sample/link_%d{/number}"`, i, i)
	}
	fmt.Fprintf(&b, `},"sender":%s,"organization":{"login":"octo-org","description":"%s"}}`, reporter, strings.Repeat("x", max(0, size-b.Len()-len(reporter)-80)))
	return b.Bytes()
}

func eventOf(body []byte) (events.Delivery, error) { return events.GitHubDelivery("issues", body) }

func delivery(tb testing.TB, body []byte) events.Delivery {
	tb.Helper()
	d, err := eventOf(body)
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

const report = `The exporter stops with an error since version 2.4.1.

Steps to reproduce:
1. Open any project
2. Choose File > Export

I expected a file, and got this instead:

` + "```" + `
panic: runtime error: index out of range [3] with length 3
` + "```" + `
It happens every time.`

func openEngine(tb testing.TB, c Config, pipelines ...Pipeline) *Engine {
	tb.Helper()
	if c.Dir == "" {
		c.Dir = tb.TempDir()
	}
	if len(pipelines) == 0 {
		pipelines = []Pipeline{issuesPipeline()}
	}
	e, err := Open(c, pipelines...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

// phases are all children of an engine, by what they are for.
func (e *Engine) phases() map[string]*phase {
	return map[string]*phase{
		"fetch for unverified": e.fetches[true], "fetch for the rest": e.fetches[false],
		"extract for unverified": e.extracts[true], "extract for the rest": e.extracts[false], "act": e.act.phase,
		"context for unverified": e.contexts[true], "context for the rest": e.contexts[false],
	}
}

func needSandbox(t *testing.T) {
	t.Helper()
	if report := sandbox.Check(); !report.Full() {
		t.Skipf("SKIP-SANDBOX: %s", report)
	}
}

// testPipelines are all that a child of this test binary may be asked for.
func testPipelines() []Pipeline {
	return slices.Concat([]Pipeline{issuesPipeline(), notePipeline("honest-too", says{`{"kind":"b"}`})}, hostilePipelines(), cheatingPipelines(), adapterPipelines(), forgedPipelines(), feedPipelines(), programPipelines(), []Pipeline{costlyPipeline(), nonsensePipeline(), ordersPipeline()}, modelPipelines(os.Getenv(modelURL)))
}

// entries are other things that this test binary may have been started for;
// each reports whether it was.
var entries []func() bool

func TestMain(m *testing.M) {
	for _, entry := range entries {
		if entry() {
			return
		}
	}
	if Child(testPipelines()...) {
		return
	}
	os.Exit(m.Run())
}
