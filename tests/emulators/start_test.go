package emulators

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// maxBinaryBytes is what a function's binary may take. A larger one has most
// often begun to link what it does not use: a method that is looked up by a
// name that is no constant makes the linker keep every method of every type.
const maxBinaryBytes = 14_000_000

// TestStart prints, for each function beside one that does nothing, the size
// of its binary and the time from its start to its first question for work.
// Only the size is held to a bound.
func TestStart(t *testing.T) {
	c := open(t)
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"hello"}
	for name := range functions {
		names = append(names, name)
	}
	slices.Sort(names[1:])
	fmt.Printf("%-10s %10s %22s %12s\n", "function", "bytes", "first /next, median", "fastest")
	for _, name := range names {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		var times []time.Duration
		for range 11 {
			times = append(times, firstNext(t, path, environment(name, name, c.url)))
		}
		slices.Sort(times)
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		fmt.Printf("%-10s %10d %19.1f ms %9.1f ms\n", name, info.Size(), ms(times[len(times)/2]), ms(times[0]))
		if info.Size() > maxBinaryBytes {
			t.Errorf("%s: binary of %d bytes: want at most %d", name, info.Size(), maxBinaryBytes)
		}
	}
}

// firstNext starts a function on a runtime API that has no work and measures
// until it asks for some.
func firstNext(t *testing.T, path string, env []string) time.Duration {
	t.Helper()
	asked, release := make(chan time.Time, 1), make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/runtime/invocation/next") {
			asked <- time.Now()
			<-release
		}
	}))
	defer api.Close()
	defer close(release)
	p := exec.Command(path)
	p.Env = append(env, "AWS_LAMBDA_RUNTIME_API="+strings.TrimPrefix(api.URL, "http://"))
	p.SysProcAttr = endWithParent()
	begun := time.Now()
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- p.Wait() }()
	defer func() { _ = p.Process.Kill(); <-ended }()
	select {
	case at := <-asked:
		return at.Sub(begun)
	case err := <-ended:
		ended <- err
		t.Fatalf("%s ended before it asked for work: %v", filepath.Base(path), err)
		return 0
	}
}

// Each binary answers one invocation under the runtime interface emulator:
// with a code, since what it is asked is no question of its kind.
func TestEachBinaryUnderTheRuntimeInterfaceEmulator(t *testing.T) {
	c := open(t)
	dir, err := binaries()
	if err != nil {
		t.Fatal(err)
	}
	emulator := filepath.Join(t.TempDir(), "rie")
	if err := build(".", emulator, "github.com/aws/aws-lambda-runtime-interface-emulator/cmd/aws-lambda-rie"); err != nil {
		t.Fatal(err)
	}
	for name := range functions {
		t.Run(name, func(t *testing.T) {
			address, runtime := freeAddress(t), freeAddress(t)
			var log lines
			p := exec.Command(emulator, "--runtime-interface-emulator-address", address, "--runtime-api-address", runtime, filepath.Join(dir, name))
			p.Env, p.Stdout, p.Stderr, p.SysProcAttr = environment(name, name, c.url), &log, &log, endWithParent()
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() { _ = p.Process.Kill(); _ = p.Wait() }()
			answer := post(t, "http://"+address+"/2015-03-31/functions/function/invocations", `{"`+marker+`":1}`)
			want := "phase_misbehave"
			var got string
			got, _ = answer["verdict"].(string)
			if over := map[string]string{"ingress": `{"code":"bad_signature"}`, "context": `{"code":"malformed"}`}[name]; over != "" { // HTTP
				want = over
				got, _ = answer["body"].(string)
			}
			if got != want {
				t.Errorf("got %v, want %s; the emulator wrote:\n%s", answer, want, log.String())
			}
			if strings.Contains(log.String(), marker) {
				t.Error("the payload is in the log")
			}
		})
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// post asks until the server answers.
func post(t *testing.T, url, body string) (answer map[string]any) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, bytes.NewReader([]byte(body)))
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			select {
			case <-tick.C:
				continue
			case <-t.Context().Done():
				t.Fatal(err)
			}
		}
		defer a.Body.Close()
		b, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &answer); err != nil {
			t.Fatalf("answer of %d bytes is no JSON object: %.300q", len(b), b)
		}
		return answer
	}
}
