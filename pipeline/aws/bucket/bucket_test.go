package bucket

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"decant.dev/events"
	"decant.dev/fence"
	"decant.dev/pipeline"
	"decant.dev/pipeline/aws/client"
)

const run = "0123456789abcdef0123456789abcdef"

func TestTheBoundsAreThoseOfTheContents(t *testing.T) {
	t.Parallel()
	if MaxRawBytes != events.MaxBodyBytes {
		t.Errorf("a body: got %d, want %d", MaxRawBytes, events.MaxBodyBytes)
	}
	if MaxPromptBytes != fence.MaxContextBytes+4096 {
		t.Errorf("a prompt object: got %d, want %d", MaxPromptBytes, fence.MaxContextBytes+4096)
	}
}

// answering is a bucket whose every request is answered so, and what was
// asked of it.
func answering(t *testing.T, status int, body string) (*Bucket, *[]*http.Request) {
	t.Helper()
	t.Setenv("AWS_ACCESS_KEY_ID", "a")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "b")
	var asked []*http.Request
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r)
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}))
	t.Cleanup(server.Close)
	return Open("eu-central-1", server.URL, "bucket", "111122223333"), &asked
}

func failure(code string) string {
	return `<?xml version="1.0"?><Error><Code>` + code + `</Code><Message>zz9-marker</Message></Error>`
}

func TestEveryRequestNamesTheOwnerAndItsSum(t *testing.T) {
	b, asked := answering(t, 200, "")
	if err := b.Raw("issues").PutOnce(t.Context(), run, []byte("body")); err != nil {
		t.Fatal(err)
	}
	if err := b.Prompts("issues").Put(t.Context(), run, []byte("prompt")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.Raw("issues").Get(t.Context(), run); err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct{ method, path, unless string }{
		{"PUT", "/bucket/raw/issues/" + run, "*"}, {"PUT", "/bucket/prompt/issues/" + run, ""}, {"GET", "/bucket/raw/issues/" + run, ""},
	} {
		r := (*asked)[i]
		if r.Method != want.method || r.URL.Path != want.path || r.Header.Get("If-None-Match") != want.unless {
			t.Errorf("got %s %s, if-none-match %q; want %v", r.Method, r.URL.Path, r.Header.Get("If-None-Match"), want)
		}
		if r.Header.Get("X-Amz-Expected-Bucket-Owner") != "111122223333" {
			t.Errorf("%s: the owner is not asked for", r.URL.Path)
		}
		if r.Method == "PUT" && r.Header.Get("X-Amz-Checksum-Sha256") == "" {
			t.Errorf("%s: no checksum", r.URL.Path)
		}
		if r.Method == "GET" && r.Header.Get("X-Amz-Checksum-Mode") != "ENABLED" {
			t.Errorf("%s: the checksum is not asked for", r.URL.Path)
		}
	}
}

func TestAnswersOfTheServiceAreClassed(t *testing.T) {
	for _, tc := range []struct {
		name, code string
		status     int
		once       bool // PutOnce is success
		again      bool
	}{
		{"exists", "PreconditionFailed", 412, true, false},
		{"another write is under way", "ConditionalRequestConflict", 409, false, true},
		{"denied", "AccessDenied", 403, false, false},
		{"no bucket", "NoSuchBucket", 404, false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b, _ := answering(t, tc.status, failure(tc.code))
			err := b.Raw("issues").PutOnce(t.Context(), run, nil)
			var again client.RetryableError
			if (err == nil) != tc.once || errors.As(err, &again) != tc.again {
				t.Errorf("put once: got %v", err)
			}
			if err := b.Raw("issues").Put(t.Context(), run, nil); err == nil || strings.Contains(err.Error(), "zz9") {
				t.Errorf("put: got %v, want an error without the message", err)
			}
			if v, found, err := b.Raw("issues").Get(t.Context(), run); v != nil || found || err == nil {
				t.Errorf("get: got %d bytes, %t, %v", len(v), found, err)
			}
		})
	}
	b, _ := answering(t, 404, failure("NoSuchKey"))
	if v, found, err := b.Raw("issues").Get(t.Context(), run); v != nil || found || err != nil {
		t.Errorf("no such key: got %d bytes, %t, %v; want none", len(v), found, err)
	}
}

func TestKeysHoldIdsOnly(t *testing.T) {
	b, asked := answering(t, 200, "")
	for _, bad := range [][2]string{{"issues", "../secret"}, {"issues", ""}, {"issues", strings.ToUpper(run)}, {"../x", run}, {"", run}, {"issues", run + "0"}} {
		blobs := b.Raw(bad[0])
		_, _, err := blobs.Get(t.Context(), bad[1])
		for _, err := range []error{err, blobs.Put(t.Context(), bad[1], nil), blobs.PutOnce(t.Context(), bad[1], nil)} {
			var fault *pipeline.Fault
			if !errors.As(err, &fault) {
				t.Errorf("%q: got %v, want a refusal", bad, err)
			}
		}
	}
	if len(*asked) != 0 {
		t.Errorf("%d requests were sent", len(*asked))
	}
}

func TestValuesOverTheirLimitAreRefused(t *testing.T) {
	long := strings.Repeat("x", MaxRawBytes+1)
	b, asked := answering(t, 200, long)
	if err := b.Raw("issues").Put(t.Context(), run, []byte(long)); err == nil || len(*asked) != 0 {
		t.Errorf("put: got %v after %d requests", err, len(*asked))
	}
	if v, found, err := b.Raw("issues").Get(t.Context(), run); v != nil || found || err == nil {
		t.Errorf("get: got %d bytes, %t, %v", len(v), found, err)
	}
}
