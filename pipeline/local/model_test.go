package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"decant.dev/act/plan"
	"decant.dev/extract"
	"decant.dev/extract/openai"
	"decant.dev/extract/shape"
	"decant.dev/fetch"
	"decant.dev/pipeline"
)

// The variables of the test's model: where it is, which only a test has to
// tell, and its key.
const (
	modelURL = "MODEL_TEST_URL"
	modelKey = "MODEL_TEST_KEY"
)

// placed is an extractor that is told where its model is.
type placed struct{ *openai.Extractor }

func (p placed) Environment() []string { return append(p.Extractor.Environment(), modelURL) }

// hidden does not say which host it reaches.
type hidden struct{ extract.Extractor }

func (hidden) Environment() []string { return []string{modelURL, modelKey} }

// errKey is how a phase fails that can read the model's key.
var errKey = errors.New("the model's key is here")

func holdsKey() bool { return os.Getenv(modelKey) != "" || os.Getenv(modelURL) != "" }

func keyless(n note, at plan.Target) []plan.Action {
	if holdsKey() {
		panic(errKey)
	}
	return keepNote(n, at)
}

func modelPipeline(name, url string, change func(extract.Extractor) extract.Extractor) Pipeline {
	p := notePipeline(name, nil)
	p.Recipe = listed(name, keyless, storeAlways)
	elements := p.Intake.Elements
	p.Intake.Elements = func(env pipeline.Envelope, body []byte) (fetch.Bundle, error) {
		if holdsKey() {
			return fetch.Bundle{}, errKey
		}
		return elements(env, body)
	}
	p.Extractor = func(c *http.Client) extract.Extractor {
		return change(placed{openai.Must(p.Recipe.Shape(), openai.Config{
			BaseURL: url, Model: "test-model", Dialect: openai.Compatible, KeyVariable: modelKey, Schema: shape.OpenAI(),
			Times: openai.Times{Total: 10 * time.Second}, Client: c,
		})})
	}
	return p
}

func same(x extract.Extractor) extract.Extractor { return x }

func conceal(x extract.Extractor) extract.Extractor { return hidden{x} }

// modelPipelines are made with the address that the test gave the engine: a
// child finds it in its environment, if it is one that may.
func modelPipelines(url string) []Pipeline {
	if url == "" {
		url = "http://127.0.0.1:9/v1"
	}
	return []Pipeline{
		modelPipeline("model", url, same),
		modelPipeline("model-hidden", url, conceal),
		modelPipeline("model-by-name", strings.Replace(url, "127.0.0.1", "localhost", 1), same),
	}
}

// chat is a model behind a server of this machine.
type chat struct {
	mu      sync.Mutex
	answers []string // one for each question, the last again
	auth    []string
	asked   []string
}

func (c *chat) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.auth, c.asked = append(c.auth, r.Header.Get("Authorization")), append(c.asked, string(b))
	content, _ := json.Marshal(c.answers[min(len(c.asked), len(c.answers))-1])
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":100,"completion_tokens":7}}`, content)
}

// withModel opens an engine with one of the pipelines and its model.
func withModel(t *testing.T, i int, answers ...string) (*Engine, *chat) {
	t.Helper()
	needSandbox(t)
	c := &chat{answers: answers}
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	set := map[string]string{modelURL: server.URL + "/v1", modelKey: "sk-SECRETWORD"}
	e := openEngine(t, Config{Live: true, LookupEnv: func(name string) (string, bool) { v, ok := set[name]; return v, ok }}, modelPipelines(server.URL + "/v1")[i])
	return e, c
}

func deliverOne(t *testing.T, e *Engine) Result {
	t.Helper()
	results := e.Deliver(t.Context(), delivery(t, payload(7, "title", report, 2000)))
	if len(results) != 1 {
		t.Fatalf("%d results", len(results))
	}
	return results[0]
}

// A sandboxed extract child asks a model that its extractor declares, through
// the broker, with a key that no other phase can read; a first answer of
// nonsense is corrected once.
func TestExtractChildAsksItsModel(t *testing.T) {
	t.Parallel()
	e, c := withModel(t, 0, `Sure! {"kind":"b"}`, `{"kind":"b","quote":null}`)
	r := deliverOne(t, e)
	if r.Status != pipeline.Done || string(r.Structure) != `{"kind":"b"}` {
		t.Fatalf("got %s %s, %s", r.Status, r.Reason, r.Structure)
	}
	if !slices.Equal(c.auth, []string{"Bearer sk-SECRETWORD", "Bearer sk-SECRETWORD"}) {
		t.Errorf("the model was shown %d keys", len(c.auth))
	}
	if r.Trace.Extractor != "openai" || r.Trace.Usage != (extract.Usage{InputTokens: 200, OutputTokens: 14}) {
		t.Errorf("trace %+v", r.Trace)
	}
	if !strings.Contains(c.asked[0], "index out of range") || !strings.Contains(c.asked[0], "trust=unverified") || strings.Contains(c.asked[0], "refused") {
		t.Error("want the report as marked data in the first question")
	}
	if !strings.Contains(c.asked[1], "refused ((root): syntax)") || strings.Contains(c.asked[1], "Sure!") {
		t.Error("want the rule that was broken in the second question, and nothing of the answer")
	}
}

// The variables are in the environment of extract children and of no other,
// and a phase that was given them would be found out.
func TestOnlyExtractIsGivenTheKey(t *testing.T) {
	t.Parallel()
	e, _ := withModel(t, 0, `{"kind":"a"}`)
	for name, p := range e.phases() {
		for _, variable := range []string{modelURL, modelKey} {
			has := slices.ContainsFunc(p.env, func(entry string) bool { return strings.HasPrefix(entry, variable+"=") })
			if has != strings.HasPrefix(name, "extract") {
				t.Errorf("%s has %s: %t", name, variable, has)
			}
		}
	}
	for name, want := range map[string]pipeline.Code{"act": pipeline.PlanFailed, "fetch for unverified": pipeline.Unreadable} {
		e, _ := withModel(t, 0, `{"kind":"a"}`)
		p := e.phases()[name]
		p.env = append(slices.Clone(p.env), modelKey+"=x")
		if r := deliverOne(t, e); r.Reason != want {
			t.Errorf("%s with the key: got %s %s, want %s", name, r.Status, r.Reason, want)
		}
	}
}

// A model that the extractor does not declare is not reached, nor is one of
// this machine by a name, which may come to mean another.
func TestModelThatIsNotDeclaredIsNotReached(t *testing.T) {
	t.Parallel()
	for _, i := range []int{1, 2} {
		e, c := withModel(t, i, `{"kind":"a"}`)
		if r := deliverOne(t, e); r.Reason != pipeline.NoAnswer || len(c.asked) > 0 {
			t.Errorf("%s: got %s %s after %d questions", r.Recipe, r.Status, r.Reason, len(c.asked))
		}
	}
}

// What is not public opens for the declared address and port of a model here,
// in extract children alone.
func TestOnlyTheModelsAddressIsNear(t *testing.T) {
	t.Parallel()
	p := issuesPipeline()
	p.Hosts = []string{"127.0.0.1:11434", "[::1]:8080", "localhost:1", "10.0.0.5:443", "169.254.169.254:80", "model.example.com:443", "127.0.0.1:11434"}
	p.Intake.Hosts = []string{"127.0.0.1:80"}
	e := openEngine(t, Config{}, p)
	for name, phase := range e.phases() {
		want := []string{"127.0.0.1:11434", "[::1]:8080"}
		if !strings.HasPrefix(name, "extract") {
			want = nil
		}
		if !slices.Equal(phase.near, want) {
			t.Errorf("%s: %v are near, want %v", name, phase.near, want)
		}
	}
	if got := e.extracts[true].hosts; len(got) != 6 {
		t.Errorf("want each host once, got %v", got)
	}
	allow := allowing(e.extracts[true].near)
	for address, want := range map[string]bool{
		"127.0.0.1:11434": true, "[::1]:8080": true, "8.8.8.8:443": true,
		"127.0.0.1:11435": false, "127.0.0.2:11434": false, "[::1]:11434": false, "10.0.0.5:443": false, "169.254.169.254:80": false,
	} {
		if (allow(addrPort(t, address)) == nil) != want {
			t.Errorf("%s: want allowed %t", address, want)
		}
	}
}

// needs declares what it is given.
type needs struct {
	says
	hosts, environment []string
}

func (n needs) Hosts() []string       { return n.hosts }
func (n needs) Environment() []string { return n.environment }

func TestWhatAnExtractorDeclaresIsChecked(t *testing.T) {
	t.Parallel()
	open := func(n needs) error {
		e, err := Open(Config{Dir: t.TempDir()}, notePipeline("needs", n))
		if err == nil {
			err = e.Close()
		}
		return err
	}
	if err := open(needs{hosts: []string{"model.example.com:443"}, environment: []string{"MODEL_KEY", "AWS_SESSION_TOKEN"}}); err != nil {
		t.Error(err)
	}
	for _, host := range []string{"model.example.com", "https://model.example.com", "*:443", ""} {
		if open(needs{hosts: []string{host}}) == nil {
			t.Errorf("host %q was taken", host)
		}
	}
	for _, name := range []string{"", "key", "A B", "A=B", "DECANT_UNSANDBOXED", "DECANT_PHASE", "DECANT_BROKER", "GODEBUG", "GOTRACEBACK", "LD_PRELOAD", "PATH", "TZ", "A\x00"} {
		if open(needs{environment: []string{name}}) == nil {
			t.Errorf("variable %q was taken", name)
		}
	}
}
