package execution

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
)

// answering is a client whose every call is answered so, and what it sent.
func answering(t *testing.T, status int, body string) (*Client, *[]map[string]string) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	var sent []map[string]string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		var in map[string]string
		if err := json.Unmarshal(b, &in); err != nil {
			t.Error(err)
		}
		sent = append(sent, in)
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	}))
	t.Cleanup(server.Close)
	return Open("eu-central-1", server.URL), &sent
}

func failure(name string) string { return `{"__type":"` + name + `","message":"zz9-marker"}` }

func envelope() pipeline.Envelope {
	return pipeline.NewEnvelope("issues", strings.Repeat("ab", 32), "github", []byte("body"), pipeline.Actor{ID: "github:1", Kind: pipeline.Person},
		"github:octo-org/sample", pipeline.Target{Event: "issues.opened", Repository: "octo-org/sample", Number: 1}, time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC))
}

const arn = "arn:aws:states:eu-central-1:111122223333:stateMachine:decant"

func TestARunIsStartedUnderItsIdWithTheEnvelopeAlone(t *testing.T) {
	c, sent := answering(t, 200, `{"executionArn":"arn","startDate":1}`)
	env := envelope()
	if err := c.Machine(arn).Start(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	in := (*sent)[0]
	if in["name"] != env.Run || in["stateMachineArn"] != arn || !strings.HasPrefix(in["input"], `{"envelope":{`) {
		t.Fatalf("got %v", in)
	}
	back, err := pipeline.DecodeEnvelope([]byte(strings.TrimSuffix(strings.TrimPrefix(in["input"], `{"envelope":`), "}")))
	if err != nil || back != env {
		t.Errorf("got %+v, %v", back, err)
	}
}

func TestARunThatExistsIsStarted(t *testing.T) {
	c, _ := answering(t, 400, failure("ExecutionAlreadyExists"))
	if err := c.Machine(arn).Start(t.Context(), envelope()); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestFailuresAreClassed(t *testing.T) {
	for _, tc := range []struct {
		name  string
		again bool
	}{{"ThrottlingException", true}, {"StateMachineDoesNotExist", false}, {"AccessDeniedException", false}} {
		t.Run(tc.name, func(t *testing.T) {
			c, _ := answering(t, 400, failure(tc.name))
			_, woken := c.Wake(t.Context(), "token")
			for _, err := range []error{c.Machine(arn).Start(t.Context(), envelope()), woken} {
				var again client.RetryableError
				if err == nil || errors.As(err, &again) != tc.again || strings.Contains(err.Error(), "zz9") {
					t.Errorf("got %v, want to be asked again: %t", err, tc.again)
				}
			}
		})
	}
}

func TestAnEnvelopeOutOfBoundsStartsNothing(t *testing.T) {
	c, sent := answering(t, 200, `{}`)
	env := envelope()
	env.Channel = "zz9 marker"
	if err := c.Machine(arn).Start(t.Context(), env); err == nil || strings.Contains(err.Error(), "zz9") || len(*sent) != 0 {
		t.Errorf("got %v after %d calls", err, len(*sent))
	}
}

func TestWhatWakesARunIsAConstant(t *testing.T) {
	c, sent := answering(t, 200, `{}`)
	if woken, err := c.Wake(t.Context(), "token"); !woken || err != nil {
		t.Fatalf("got %t, %v", woken, err)
	}
	if in := (*sent)[0]; in["output"] != `{"verdict":"ok"}` || in["taskToken"] != "token" || len(in) != 2 {
		t.Errorf("got %v", in)
	}
	for _, gone := range []string{"TaskDoesNotExist", "TaskTimedOut"} {
		c, _ := answering(t, 400, failure(gone))
		if woken, err := c.Wake(t.Context(), "token"); woken || err != nil {
			t.Errorf("%s: got %t, %v; want that nothing waits", gone, woken, err)
		}
	}
}
