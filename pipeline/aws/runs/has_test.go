package runs

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
)

const run = "0123456789abcdef0123456789abcdef"

func answering(t *testing.T, status int, body string) (*Runs, *[]string) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		sent = append(sent, string(b))
		w.Header().Set("Content-Type", "application/x-amz-json-1.0")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return Open("eu-central-1", server.URL, "Runs"), &sent
}

func TestARecordIsLookedForAndNotRead(t *testing.T) {
	for body, want := range map[string]bool{`{"Item":{"pk":{"S":"` + run + `"}}}`: true, `{}`: false} {
		table, sent := answering(t, 200, body)
		if got, err := table.Has(t.Context(), run); err != nil || got != want {
			t.Errorf("%s: got %t, %v", body, got, err)
		}
		if in := (*sent)[0]; !strings.Contains(in, `"ProjectionExpression":"pk"`) || !strings.Contains(in, `"ConsistentRead":true`) {
			t.Errorf("asked %s", in)
		}
	}
}

func TestNoAnswerIsNoRecord(t *testing.T) {
	for name, again := range map[string]bool{"ThrottlingException": true, "AccessDeniedException": false} {
		table, _ := answering(t, 400, `{"__type":"`+name+`","message":"zz9"}`)
		got, err := table.Has(t.Context(), run)
		var retry client.RetryableError
		if got || err == nil || errors.As(err, &retry) != again || strings.Contains(err.Error(), "zz9") {
			t.Errorf("%s: got %t, %v", name, got, err)
		}
	}
}

func TestOnlyARunsIdIsAskedFor(t *testing.T) {
	table, sent := answering(t, 200, `{}`)
	for _, bad := range []string{"", "zz9", run + "0", strings.ToUpper(run)} {
		var fault *pipeline.Fault
		if _, err := table.Has(t.Context(), bad); !errors.As(err, &fault) || len(*sent) != 0 {
			t.Errorf("%q: got %v", bad, err)
		}
	}
}
