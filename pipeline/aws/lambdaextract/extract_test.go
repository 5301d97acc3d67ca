package lambdaextract

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"decant.dev/extract"
	"decant.dev/fence"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/aws/machine"
	"decant.dev/recipes/issues"
)

const (
	run   = "0123456789abcdef0123456789abcdef"
	other = "fedcba9876543210fedcba9876543210"
	good  = `{"areas":[],"kind":"bug","missing":[],"reproducible":"yes","severity":1}`
)

// says is an extractor that says one thing, with steps of any words.
type says string

func (s says) Name() string { return "says" }
func (s says) Extract(context.Context, extract.Request) (extract.Answer, error) {
	if s == "panic" {
		panic("zz9")
	}
	return extract.Answer{Candidate: []byte(s), Steps: []extract.Step{{Field: "zz9", Rule: "zz9", Element: "zz9"}}}, nil
}

type store struct {
	objects map[string][]byte
	fail    error
}

func (s store) Get(_ context.Context, run string) ([]byte, bool, error) {
	b, ok := s.objects[run]
	return b, ok && s.fail == nil, s.fail
}

func object(t *testing.T, recipe, id string) []byte {
	t.Helper()
	p, err := fence.Render(fence.RunContext{
		Run: id, Recipe: recipe, Profile: fence.ProfileIntake, Instruction: "Read this.", Limits: fence.Limits{MessageMaxBytes: 1024, ContextMaxBytes: 4096},
	}, bytes.NewReader(bytes.Repeat([]byte{9, 1, 7}, 64)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := fence.EncodeObject(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func ask(t *testing.T, x extract.Extractor, s store, payload string) (string, pipeline.Code, error) {
	t.Helper()
	h, err := New(Config{Pipelines: []Pipeline{{issues.Recipe, x}}, Prompts: func(string) Prompts { return s }})
	if err != nil {
		t.Fatal(err)
	}
	r, err := h.Handle(t.Context(), []byte(payload))
	var fault *pipeline.Fault
	if errors.As(err, &fault) {
		return "", fault.Code, nil
	}
	b, fail := json.Marshal(r.Answer)
	if fail != nil {
		t.Fatal(fail)
	}
	return string(b), r.Code, err
}

const asked = `{"recipe":"issues","run":"` + run + `"}`

func TestTheAnswerIsStructureAndClosedTrace(t *testing.T) {
	t.Parallel()
	got, code, err := ask(t, says(good), store{objects: map[string][]byte{run: object(t, "issues", run)}}, asked)
	if err != nil || code != "" || !strings.Contains(got, `"structure":`+good) || !strings.Contains(got, `"verdict":"ok"`) || strings.Contains(got, "zz9") {
		t.Errorf("got %s, %s, %v", got, code, err)
	}
}

func TestFaultsAreCodesOfThePhase(t *testing.T) {
	t.Parallel()
	stored := store{objects: map[string][]byte{run: object(t, "issues", run)}}
	for name, tc := range map[string]struct {
		says    says
		store   store
		payload string
		code    pipeline.Code
		again   bool
	}{
		"nonsense":            {"zz9", stored, asked, pipeline.Undecodable, false},
		"no prompt":           {good, store{}, asked, pipeline.Unreadable, false},
		"another run's":       {good, store{objects: map[string][]byte{run: object(t, "issues", other)}}, asked, pipeline.Unreadable, false},
		"another recipe's":    {good, store{objects: map[string][]byte{run: object(t, "other", run)}}, asked, pipeline.Unreadable, false},
		"no prompt object":    {good, store{objects: map[string][]byte{run: []byte("zz9")}}, asked, pipeline.Unreadable, false},
		"denied":              {good, store{fail: pipeline.StoreFailed.Error("zz9")}, asked, pipeline.PhaseMisbehave, false},
		"throttled":           {good, store{fail: client.RetryableError{}}, asked, "", true},
		"recipe not built in": {good, stored, `{"recipe":"zz9","run":"` + run + `"}`, pipeline.PhaseMisbehave, false},
		"no run":              {good, stored, `{"recipe":"issues","run":"zz9"}`, pipeline.PhaseMisbehave, false},
		"more than asked for": {good, stored, `{"recipe":"issues","run":"` + run + `","zz9":1}`, pipeline.PhaseMisbehave, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, code, err := ask(t, tc.says, tc.store, tc.payload)
			if (err == client.RetryableError{}) != tc.again || code != tc.code || pipeline.FromPhase(code) != code {
				t.Errorf("got %q, %v; want %q, to be asked again: %t", code, err, tc.code, tc.again)
			}
		})
	}
}

// priced is an extractor that costs, at its worst, a microdollar a byte.
type priced struct{ extract.Extractor }

func (priced) Worst(promptBytes int) int64 { return int64(promptBytes) }

// What is reserved for a run covers every time that the machine may ask about
// it; a prompt that could cost more is not asked about.
func TestAPromptThatCouldCostMoreIsNotAskedAbout(t *testing.T) {
	t.Parallel()
	if asksAtMost != machine.MaxAsked {
		t.Errorf("asks at most %d times, and the machine %d", asksAtMost, machine.MaxAsked)
	}
	h, err := New(Config{Pipelines: []Pipeline{{issues.Recipe, priced{says(good)}}}, Prompts: func(string) Prompts { return store{} }})
	if err != nil {
		t.Fatal(err)
	}
	if h.extract.Costs["issues"] != issues.Recipe.RunCost() || h.extract.Asked != asksAtMost {
		t.Errorf("holds extract to %d, asked %d times", h.extract.Costs["issues"], h.extract.Asked)
	}
}
