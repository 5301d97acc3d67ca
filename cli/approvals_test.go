package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/events"
	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/local"
	"decant.dev/recipes/issues"
	"decant.dev/recipes/issues/intake"
)

const spam = `{"action":"opened","issue":{"number":9,"title":"CHEAP WATCHES buy now","body":"Buy cheap watches now!!! Best casino bonus, click here https://watches.example.com <b>SECRETWORD</b>","user":{"id":7,"login":"eve","type":"User"},"labels":[]},"repository":{"full_name":"octo-org/sample"},"sender":{"id":7,"login":"eve","type":"User"}}`

// A run that waits is told to the configured address, signed, with a link for
// each who may answer; the link shows what would be done and takes one answer,
// after which the run is carried on.
func TestAWaitingRunIsToldAndAnsweredByItsLink(t *testing.T) {
	t.Parallel()
	var posts []*http.Request
	var bodies []string
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		posts, bodies = append(posts, r), append(bodies, string(b))
		if len(posts) == 1 {
			w.WriteHeader(http.StatusBadGateway) // told again
		}
	}))
	defer receiver.Close()
	dir := t.TempDir()
	env := map[string]string{
		"DECANT_DIR": dir, "DECANT_APPROVAL_URL": "https://decant.example.com/", "DECANT_APPROVAL_NOTIFY": receiver.URL + "/told",
		"DECANT_APPROVAL_SECRET": "whsec_" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("k"), 24)),
	}
	var stderr bytes.Buffer
	app := &App{
		Pipelines: []Pipeline{{Recipe: issues.Recipe, Intake: intake.Intake, Extractor: intake.Extractor}},
		Stdout:    io.Discard, Stderr: &stderr, Getenv: func(k string) string { return env[k] }, Clock: time.Now,
	}
	if err := os.MkdirAll(filepath.Join(dir, "grants"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := local.NewGrants(local.GrantsPath(dir)).Add(t.Context(), pipeline.Grant{Person: "github:44", Channel: "approve:issues"}); err != nil {
		t.Fatal(err)
	}
	config, err := app.engineConfig(true, false, "")
	if err != nil {
		t.Fatal(err)
	}
	engine, err := local.Open(config, app.Pipelines...)
	if err != nil {
		t.Fatal(err)
	}
	defer engine.Close()
	l, err := app.openLinks(engine)
	if err != nil {
		t.Fatal(err)
	}
	d, err := events.GitHubDelivery("issues", []byte(spam))
	if err != nil {
		t.Fatal(err)
	}
	r := engine.Deliver(context.Background(), d)[0]
	if r.Status != pipeline.Waiting {
		t.Fatalf("%s %s, want a run that waits", r.Status, r.Reason)
	}
	if err := l.tell(t.Context(), r.Run); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("got %v", err)
	}
	for range 2 {
		if err := l.tell(t.Context(), r.Run); err != nil {
			t.Fatal(err)
		}
	}
	if len(posts) != 2 || !strings.HasPrefix(posts[1].Header.Get("webhook-signature"), "v1,") || strings.Contains(bodies[1], "SECRETWORD") {
		t.Fatalf("%d posts, %q", len(posts), bodies)
	}
	var told waits
	if err := json.Unmarshal([]byte(bodies[1]), &told); err != nil || len(told.Asked) != 1 || told.Asked[0].Person != "github:44" {
		t.Fatalf("%s: %v", bodies[1], err)
	}
	link, err := url.Parse(told.Asked[0].Link)
	if err != nil || link.Host != "decant.example.com" {
		t.Fatalf("%s: %v", told.Asked[0].Link, err)
	}
	ask := func(method, form string) (int, string) {
		q := httptest.NewRequest(method, link.RequestURI(), strings.NewReader(form))
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		w := httptest.NewRecorder()
		l.handler().ServeHTTP(w, q)
		return w.Code, w.Body.String()
	}
	code, page := ask("GET", "")
	if code != 200 || !strings.Contains(page, "github.close") || !strings.Contains(page, `class="stranger"`) || strings.Contains(page, "<b>SECRETWORD") {
		t.Errorf("%d %s", code, page)
	}
	if code, page := ask("POST", "answer=approve"); code != 200 || !strings.Contains(page, "Approved") {
		t.Errorf("%d %s", code, page)
	}
	for _, method := range []string{"GET", "POST"} {
		if code, page := ask(method, "answer=deny"); code != 410 || !strings.Contains(page, "has its answer") {
			t.Errorf("%s again: %d %s", method, code, page)
		}
	}
	results, err := engine.Answered(t.Context())
	if err != nil || len(results) != 1 || results[0].Status != pipeline.Done {
		t.Errorf("carried on: %+v, %v", results, err)
	}
	again, err := app.openLinks(engine) // links outlive a restart
	if err != nil || again.key.Path(linkAt(link)) != l.key.Path(linkAt(link)) {
		t.Errorf("another key after a restart: %v", err)
	}
}

func linkAt(u *url.URL) approval.Link {
	return approval.Link{Run: strings.TrimPrefix(u.Path, approval.LinkPath), Binding: u.Query().Get("binding"), Person: u.Query().Get("person")}
}

func TestAnAddressToBeToldIsOurs(t *testing.T) {
	t.Parallel()
	for address, ok := range map[string]bool{
		"https://example.com/x": true, "http://127.0.0.1:9/x": true, "http://[::1]/": true, "http://example.com/": false, "http://localhost/": false,
		"https://user@example.com/": false, "ftp://example.com/": false, "example.com": false, "https:///x": false, "https://example.com/#a": false, "http://127.0.0.1.example.com/": false,
	} {
		if err := ownAddress(address); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}
