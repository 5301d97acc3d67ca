package conformance

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"decant.dev/fence"
)

// modes are adapters that are programs: this test binary, told by its environment which one to be.
var modes = map[string]func() int{
	"right": func() int {
		doc, _ := io.ReadAll(os.Stdin)
		out, err := adapter(func(fence.RunContext, fence.Prompt, *turn) {}).Answer(context.Background(), doc)
		if err != nil {
			return 1
		}
		_, _ = os.Stdout.Write(out)
		return 0
	},
	"nothing":  func() int { return 0 },
	"prose":    func() int { fmt.Println("Sure, here is your answer."); return 0 },
	"fails":    func() int { fmt.Fprint(os.Stderr, "no key \x1b[31m"); return 7 },
	"too much": func() int { flood(); return 0 },
	"hangs":    func() int { hang(); return 0 },
	"listening forever": func() int {
		_, _ = io.Copy(io.Discard, os.Stdin)
		hang()
		return 0
	},
}

// flood writes until its reader has enough.
func flood() {
	for {
		if _, err := os.Stdout.WriteString(strings.Repeat("x", 1<<16)); err != nil {
			return
		}
	}
}

// hang waits for bytes that never come.
func hang() {
	r, w, err := os.Pipe()
	if err == nil {
		_, _ = r.Read(make([]byte, 1))
		_ = w.Close()
	}
}

const modeVariable = "DECANT_TEST_ADAPTER"

func TestMain(m *testing.M) {
	if mode, ok := modes[os.Getenv(modeVariable)]; ok {
		os.Exit(mode())
	}
	os.Exit(m.Run())
}

func program(t *testing.T, mode string, timeout time.Duration) Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return Command{Args: []string{"env", modeVariable + "=" + mode, "GORACE=atexit_sleep_ms=0", self}, Timeout: timeout}
}

func TestAProgramThatDoesNotAnswerIsReportedAsThat(t *testing.T) {
	t.Parallel()
	const enough, short = time.Minute, 100 * time.Millisecond
	for _, tc := range []struct {
		mode    string
		timeout time.Duration
		detail  string
	}{
		{"nothing", enough, "want one turn.v1"},
		{"prose", enough, "want one turn.v1"},
		{"fails", enough, "want exit code 0, got 7"},
		{"too much", enough, "want an answer of at most 4194304 bytes"},
		{"hangs", short, "want an answer within 100ms"},
		{"listening forever", short, "want an answer within 100ms"},
	} {
		t.Run(tc.mode, func(t *testing.T) {
			t.Parallel()
			r := brokenBy(t, program(t, tc.mode, tc.timeout), Options{})
			wantBroken(t, r, Answers)
			if r.Contexts != 0 || r.Complete || len(r.Findings) != maxUnanswered || !strings.HasPrefix(r.Findings[0].Detail, tc.detail) {
				t.Errorf("%d contexts, %d findings, the first: %v", r.Contexts, len(r.Findings), r.Findings[0])
			}
		})
	}
}

func TestTheRightProgramBreaksNoRule(t *testing.T) {
	t.Parallel()
	wantBroken(t, brokenBy(t, program(t, "right", time.Minute), Options{Seed: 3}))
}

func TestAComplaintIsHandedOverAndNotRepeated(t *testing.T) {
	t.Parallel()
	c := program(t, "fails", time.Minute)
	var said string
	c.Complaint = func(stderr []byte) { said = string(stderr) }
	_, err := c.Answer(t.Context(), nil)
	var answer *AnswerError
	if !errors.As(err, &answer) || strings.Contains(err.Error(), "key") || said != "no key \x1b[31m" {
		t.Errorf("got %v and %q", err, said)
	}
	for _, args := range [][]string{nil, {"/nonexistent/adapter"}} {
		if _, err := (Command{Args: args, Timeout: time.Minute}).Answer(t.Context(), nil); !errors.As(err, &answer) || strings.Contains(err.Error(), "nonexistent") {
			t.Errorf("got %v", err)
		}
	}
}

func TestACheckEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Check(ctx, program(t, "right", time.Minute), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("want the context's error, got %v", err)
	}
	failing := Func(func(context.Context, []byte) ([]byte, error) { return nil, errors.New("secret") })
	r := brokenBy(t, failing, Options{})
	wantBroken(t, r, Answers)
	if strings.Contains(fmt.Sprint(r.Findings), "secret") {
		t.Error("want an error of the adapter's not repeated")
	}
}
