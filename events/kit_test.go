package events

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"decant.dev/internal/inputs"
	"decant.dev/pipeline"
)

// macOf is a second way to the MAC that Secret computes.
func macOf(key string, body []byte) [sha256.Size]byte {
	h := hmac.New(sha256.New, []byte(key))
	h.Write(body)
	return [sha256.Size]byte(h.Sum(nil))
}

func signature(key string, body []byte) string {
	sum := macOf(key, body)
	return "sha256=" + hex.EncodeToString(sum[:])
}

// code returns the code of a fault; an error without one fails the test.
func code(t testing.TB, err error) pipeline.Code {
	t.Helper()
	if err == nil {
		return pipeline.OK
	}
	var f *pipeline.Fault
	if !errors.As(err, &f) || !f.Code.Known() || f.Code == pipeline.OK {
		t.Fatalf("want a fault with a code of the list, got %T: %v", err, err)
	}
	return f.Code
}

// want fails unless err has the code and repeats none of the forbidden text.
func want(t testing.TB, err error, c pipeline.Code, forbidden ...string) {
	t.Helper()
	if got := code(t, err); got != c {
		t.Errorf("got %q (%v), want %q", got, err, c)
	}
	for _, f := range forbidden {
		if err != nil && strings.Contains(err.Error(), f) {
			t.Errorf("the error repeats foreign text: %v", err)
		}
	}
}

// allocated returns the bytes that f allocates, freed or not.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// payloads lists the real payloads, with the event that each file's name tells.
func payloads(t testing.TB) map[string]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(inputs.Path(t, "data", "github"), "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("want payloads, got %d (%v)", len(files), err)
	}
	events := make(map[string]string, len(files))
	for _, f := range files {
		events[f], _, _ = strings.Cut(filepath.Base(f), ".")
	}
	return events
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
