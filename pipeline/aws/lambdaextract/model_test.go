package lambdaextract

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"decant.dev/extract/bedrock"
	"decant.dev/pipeline"
	"decant.dev/recipes/issues"
)

// The phase asks a model of Bedrock with the role's credentials, and answers
// with the structure and what it used.
func TestModelOfBedrockIsAsked(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "zz9")
	var signed, shown string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		signed, shown = r.Header.Get("Authorization"), string(b)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"output":{"message":{"role":"assistant","content":[{"text":%q}]}},"stopReason":"end_turn","usage":{"inputTokens":7,"outputTokens":3,"totalTokens":10},"metrics":{"latencyMs":1}}`,
			`{"areas":[],"kind":"bug","missing":[],"quote":null,"reproducible":"yes","severity":1,"version":null}`)
	}))
	defer server.Close()
	x := bedrock.Must(issues.Recipe.Shape(), bedrock.Config{Region: "eu-central-1", Model: "some-model", Held: bedrock.ByFormat, Endpoint: server.URL})
	got, code, err := ask(t, x, store{objects: map[string][]byte{run: object(t, "issues", run)}}, asked)
	if err != nil || code != pipeline.OK || !strings.Contains(got, `"structure":`+good) || !strings.Contains(got, `"extractor":"bedrock","usage":{"input_tokens":7,"output_tokens":3}`) {
		t.Errorf("got %s, %s, %v", got, code, err)
	}
	if !strings.Contains(signed, "Credential=AKIDEXAMPLE/") || !strings.Contains(shown, "Read this.") {
		t.Errorf("the model was asked %q with %q", shown, signed)
	}
}
