package cli_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"

	"decant.dev/act/plan"
	"decant.dev/cli"
	"decant.dev/extract"
	"decant.dev/extract/openai"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
	"decant.dev/recipes/issues/intake"
)

// judged is what the model of the stories tells of an issue.
type judged struct {
	Kind  string       `json:"kind" jsonschema:"enum=bug,enum=feature"`
	Quote *shape.Quote `json:"quote,omitempty" jsonschema:"maxLength=80"`
}

func keepJudged(j judged, at plan.Target) []plan.Action {
	return []plan.Action{plan.TableRow{Table: "judged", Key: at.Ref(), Columns: []plan.Column{plan.Text("kind", j.Kind), plan.Quote("quote", j.Quote)}}}
}

// modelled is a pipeline whose extractor asks a model where the story says it
// is.
var modelled = func() cli.Pipeline {
	spec := pipeline.Spec[judged]{
		Name: "modelled", Plan: keepJudged, Policy: plan.Policy{plan.KindTableRow: plan.Always(plan.Auto)}, MaxDecide: 12, MaxCarry: 1700,
		Events: []pipeline.Event{{Name: "issues.opened", Reads: pipeline.ActorsWords}},
	}
	list, _ := pipeline.Build(spec).Enumerate()
	spec.Outcomes = list.Encode()
	recipe := pipeline.New(spec)
	return cli.Pipeline{Recipe: recipe, Intake: intake.Intake, Extractor: func(c *http.Client) extract.Extractor {
		url := os.Getenv("MODEL_URL")
		if url == "" {
			url = "http://127.0.0.1:9" // of a phase that is not told
		}
		return placed{openai.Must(recipe.Shape(), openai.Config{
			BaseURL: url, Model: "story", Dialect: openai.Compatible, KeyVariable: "MODEL_KEY", Client: c,
			Prices: extract.Prices{Input: 3_000_000, Output: 15_000_000},
		})}
	}}
}()

// placed reads from its environment where its model is, too.
type placed struct{ *openai.Extractor }

func (p placed) Environment() []string { return append(p.Extractor.Environment(), "MODEL_URL") }

// startModel starts a model that gives one answer after the other, then the
// last again, to whoever shows the key: "model KEY ANSWER...". It is at
// $MODEL_URL.
func startModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: model KEY ANSWER...")
	}
	key, answers := args[0], args[1:]
	var asked atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if r.Header.Get("Authorization") != "Bearer "+key || !strings.Contains(string(b), "trust=unverified") {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		content, _ := json.Marshal(answers[min(int(asked.Add(1)), len(answers))-1])
		fmt.Fprintf(w, `{"choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":1000,"completion_tokens":20}}`, content)
	}))
	ts.Defer(server.Close)
	ts.Setenv("MODEL_URL", server.URL)
}
