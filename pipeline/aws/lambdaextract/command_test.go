package lambdaextract

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/extract/command"
	"decant.dev/fence"
	"decant.dev/pipeline"
	"decant.dev/pipeline/contextapi"
	"decant.dev/recipes/issues"
)

// programVariable in the environment makes this test binary a recipe's
// program.
const programVariable = "PROGRAM_MODE"

func TestMain(m *testing.M) {
	switch os.Getenv(programVariable) {
	case "stdin":
		input, err := io.ReadAll(os.Stdin)
		if err == nil {
			_, err = fence.DecodeRunContext(input)
		}
		if err != nil {
			os.Exit(1)
		}
		fmt.Print(good)
	case "fetch": // the address and the token, and no socket
		_, given := os.LookupEnv(command.DescriptorVariable)
		if given || !strings.HasPrefix(os.Getenv(command.URLVariable), contextURL) || !strings.HasPrefix(os.Getenv(command.TokenVariable), run+".") {
			os.Exit(1)
		}
		fmt.Print(good)
	default:
		os.Exit(m.Run())
	}
}

// The extract function takes a program for an extractor as it takes any other,
// in either mode.
func TestAProgramIsAnExtractorHereToo(t *testing.T) {
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	token, err := contextapi.Mint(run, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []command.Mode{command.Stdin, command.Fetch} {
		x := command.Must(issues.Recipe.Shape(), command.Config{
			Argv: []string{self}, Mode: mode, Timeout: time.Minute, Environment: []string{programVariable + "=" + mode.String()},
		})
		h, err := New(Config{
			Pipelines: []Pipeline{{issues.Recipe, x}}, ContextURL: contextURL,
			Tokens:  func(string) Prompts { return store{objects: map[string][]byte{run: []byte(token.Reveal())}} },
			Prompts: func(string) Prompts { return store{objects: map[string][]byte{run: object(t, "issues", run)}} },
		})
		if err != nil {
			t.Fatal(err)
		}
		r, err := h.Handle(t.Context(), []byte(asked))
		if err != nil || r.Code != pipeline.OK {
			t.Fatalf("%s: got %s, %v", mode, r.Code, err)
		}
		b, err := json.Marshal(r.Answer)
		if err != nil || !strings.Contains(string(b), `"extractor":"command"`) {
			t.Errorf("%s: got %s, %v", mode, b, err)
		}
	}
}
