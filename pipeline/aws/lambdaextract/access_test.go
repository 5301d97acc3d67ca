package lambdaextract

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"

	"decant.dev/extract"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
	"decant.dev/pipeline/contextapi"
	"decant.dev/recipes/issues"
)

// recording is an extractor that notes what access it was given.
type recording struct {
	wants bool
	got   *extract.Access
}

func (recording) Name() string         { return "recording" }
func (r recording) WantsContext() bool { return r.wants }
func (r recording) Extract(_ context.Context, q extract.Request) (extract.Answer, error) {
	*r.got = q.Access
	return extract.Answer{Candidate: []byte(good)}, nil
}

const contextURL = "https://a1b2c3.execute-api.eu-central-1.amazonaws.com"

// An adapter is given its own run's token and nothing else is; what is no
// token of the run ends the phase.
func TestOnlyAnAdapterIsGivenItsRunsToken(t *testing.T) {
	t.Parallel()
	token, err := contextapi.Mint(run, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	another, err := contextapi.Mint(other, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	access := extract.Access{URL: contextURL + "/api/v1/runs/" + run + "/context", Token: token.Reveal()}
	for name, tc := range map[string]struct {
		wants  bool
		url    string
		tokens store
		want   extract.Access
		code   pipeline.Code
		again  bool
	}{
		"an adapter":          {true, contextURL, store{objects: map[string][]byte{run: []byte(token.Reveal())}}, access, "", false},
		"no adapter":          {false, contextURL, store{fail: errors.New("not to be asked")}, extract.Access{}, "", false},
		"no context API":      {true, "", store{fail: errors.New("not to be asked")}, extract.Access{}, "", false},
		"no token":            {true, contextURL, store{}, extract.Access{}, pipeline.Unreadable, false},
		"another run's token": {true, contextURL, store{objects: map[string][]byte{run: []byte(another.Reveal())}}, extract.Access{}, pipeline.Unreadable, false},
		"no token at all":     {true, contextURL, store{objects: map[string][]byte{run: []byte("zz9")}}, extract.Access{}, pipeline.Unreadable, false},
		"denied":              {true, contextURL, store{fail: pipeline.StoreFailed.Error("zz9")}, extract.Access{}, pipeline.PhaseMisbehave, false},
		"throttled":           {true, contextURL, store{fail: client.RetryableError{}}, extract.Access{}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got extract.Access
			h, err := New(Config{
				Pipelines: []Pipeline{{issues.Recipe, recording{tc.wants, &got}}}, ContextURL: tc.url, Tokens: func(string) Prompts { return tc.tokens },
				Prompts: func(string) Prompts { return store{objects: map[string][]byte{run: object(t, "issues", run)}} },
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := h.Handle(t.Context(), []byte(asked))
			code := r.Code
			var fault *pipeline.Fault
			if errors.As(err, &fault) {
				code = fault.Code
			}
			if got != tc.want || code != tc.code || errors.Is(err, client.RetryableError{}) != tc.again {
				t.Errorf("got %+v, %s, %v", got, code, err)
			}
		})
	}
	if s := fmt.Sprintf("%v %+v %#v %s", access, access, access, access); len(s) == 0 || strings.Contains(s, token.Reveal()) {
		t.Errorf("access prints its token: %s", s)
	}
	if _, err := New(Config{Pipelines: []Pipeline{{issues.Recipe, says(good)}}, Prompts: func(string) Prompts { return store{} }, ContextURL: contextURL}); err == nil {
		t.Error("a context API without tokens was taken")
	}
}
