package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/smithy-go"

	"decant.dev/pipeline"
)

func apiError(code string) error {
	return fmt.Errorf("operation: %w", &smithy.GenericAPIError{Code: code, Message: "zz9-marker"})
}

// What a service said of a failure is one of three: ask again, a code with
// the service's own word, or nothing at all.
func TestFaultTellsNoMessage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		err   error
		again bool
	}{
		{apiError("ThrottlingException"), true},
		{apiError("ProvisionedThroughputExceededException"), true},
		{apiError("RequestTimeout"), true},
		{&net.OpError{Op: "dial", Err: errors.New("zz9-marker")}, true},
		{context.DeadlineExceeded, true},
		{fmt.Errorf("wrapped: %w", RetryableError{}), true},
		{context.Canceled, false},
		{errAnswerTooLarge, false},
		{apiError("AccessDenied"), false},
		{apiError("zz9-marker with spaces"), false},
		{apiError(strings.Repeat("zz9", 100)), false},
		{errors.New("zz9-marker"), false},
	} {
		got := Fault("s3 get", tc.err)
		var again RetryableError
		var fault *pipeline.Fault
		if errors.As(got, &again) != tc.again || errors.As(got, &fault) == tc.again {
			t.Errorf("%T: got %v, want to be asked again: %t", tc.err, got, tc.again)
		}
		if strings.Contains(got.Error(), "zz9") {
			t.Errorf("%T: got the message in %q", tc.err, got)
		}
		if fault != nil && fault.Code != pipeline.StoreFailed {
			t.Errorf("got %s, want %s", fault.Code, pipeline.StoreFailed)
		}
	}
	if Fault("s3 get", nil) != nil {
		t.Error("no failure became one")
	}
}

func TestAnswersEndAtTheirLimit(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Repeat("x", int(r.ContentLength)))
	}))
	defer server.Close()
	c := Config("eu-central-1", "", 100)
	for _, tc := range []struct {
		size int
		ok   bool
	}{{0, true}, {99, true}, {100, true}, {101, false}, {100_000, false}} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, strings.NewReader(strings.Repeat("y", tc.size)))
		if err != nil {
			t.Fatal(err)
		}
		a, err := c.HTTPClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(a.Body)
		if (err == nil) != tc.ok || len(b) > 100 || tc.ok && len(b) != tc.size || !tc.ok && !errors.Is(err, errAnswerTooLarge) {
			t.Errorf("%d bytes: got %d, %v; want whole: %t", tc.size, len(b), err, tc.ok)
		}
		if err := a.Body.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestARedirectIsNotFollowed(t *testing.T) {
	t.Parallel()
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		http.Redirect(w, r, "/elsewhere", http.StatusFound)
	}))
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := newHTTP().Do(r)
	if err != nil || a.StatusCode != http.StatusFound || asked != 1 {
		t.Errorf("got %v after %d requests, want the redirect itself", err, asked)
	}
	_ = a.Body.Close()
}

func TestWithoutCredentialsThereIsAnError(t *testing.T) {
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"} {
		t.Setenv(name, "")
	}
	if _, err := Config("eu-central-1", "", 1).Credentials.Retrieve(t.Context()); err == nil {
		t.Error("got credentials of nothing")
	}
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	t.Setenv("AWS_SESSION_TOKEN", "c")
	if c, err := Config("eu-central-1", "", 1).Credentials.Retrieve(t.Context()); err != nil || c.SessionToken != "c" {
		t.Errorf("got %v", err)
	}
}
