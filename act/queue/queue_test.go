package queue

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act"
	"decant.dev/act/message"
	"decant.dev/act/plan"
)

const child = "DECANT_TEST_QUEUE"

// TestMain writes jobs to a queue where it is started as a child.
func TestMain(m *testing.M) {
	if dir := os.Getenv(child); dir != "" {
		s, err := Open(dir)
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		for i := range 50 {
			if a := s.Send(context.Background(), job(i)); a.Verdict != act.Performed {
				fmt.Printf("%+v\n", a)
				os.Exit(1)
			}
			fmt.Println("performed", i)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func job(i int) act.Job {
	run := fmt.Sprintf("%032x", i)
	return act.Job{
		Kind: plan.KindQueueSend, Key: act.IdempotencyKey(run, 0), Run: run, Source: "github", Label: plan.Unverified, Place: "octo-org/sample#12",
		Params: map[string]any{"queue": "triage", "n": int64(i), "quote": "line\n" + string(message.Begins(strings.Repeat("0", 32)))},
	}
}

func open(t *testing.T) (*Sink, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "queues")
	s, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, filepath.Join(dir, "triage.jsonl")
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func lineOf(t *testing.T, j act.Job) []byte {
	t.Helper()
	_, line, err := message.Encode(j, "queue")
	if err != nil {
		t.Fatal(err)
	}
	return append(line, '\n')
}

func verdict(t *testing.T, what string, a act.Answer, want act.Verdict) {
	t.Helper()
	if a.Verdict != want {
		t.Errorf("%s: %+v: want verdict %d", what, a, want)
	}
}

// A line is cut off at every byte, as a crash may leave it: it was not
// performed, and the job can be sent again. Every line stays whole.
func TestALineThatACrashCutOffIsNoLine(t *testing.T) {
	t.Parallel()
	first, second := job(1), job(2)
	whole, torn := lineOf(t, first), lineOf(t, second)
	for n := range torn {
		s, file := open(t)
		if err := os.WriteFile(file, append(bytes.Clone(whole), torn[:n]...), 0o600); err != nil {
			t.Fatal(err)
		}
		verdict(t, "the whole line", s.Find(t.Context(), first), act.Performed)
		verdict(t, "the torn line", s.Find(t.Context(), second), act.NotPerformed)
		verdict(t, "sent again", s.Send(t.Context(), second), act.Performed)
		if got, want := read(t, file), append(bytes.Clone(whole), torn...); !bytes.Equal(got, want) {
			t.Fatalf("cut after %d bytes: %q: want %q", n, got, want)
		}
	}
}

// A key is found wherever its line stands in a large file, and nowhere else.
func TestAKeyIsFoundInAnyLineOfALargeFile(t *testing.T) {
	t.Parallel()
	s, file := open(t)
	var all []byte
	for i := range 80 {
		j := job(i)
		j.Params["quote"] = strings.Repeat("é", 1+i*997%60_000)
		all = append(all, lineOf(t, j)...)
	}
	if len(all) < 2<<20 {
		t.Fatalf("%d bytes: want more than the reader's buffer", len(all))
	}
	if err := os.WriteFile(file, append(bytes.Clone(all), `{"schema":"mess`...), 0o600); err != nil {
		t.Fatal(err)
	}
	for i := range 80 {
		verdict(t, "a line", s.Find(t.Context(), job(i)), act.Performed)
	}
	verdict(t, "none", s.Find(t.Context(), job(80)), act.NotPerformed)
	verdict(t, "sent", s.Send(t.Context(), job(80)), act.Performed)
	if got := read(t, file); !bytes.Equal(got, append(all, lineOf(t, job(80))...)) {
		t.Error("the file is not what was there, and one line more")
	}
}

// Goroutines and processes write the same jobs at once: each line is whole,
// and there once.
func TestManyWritersWriteEachLineOnce(t *testing.T) {
	t.Parallel()
	s, file := open(t)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 2 {
		all.Go(func() {
			c := exec.Command(exe)
			c.Env = append(os.Environ(), child+"="+filepath.Dir(file))
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("child: %v: %s", err, out)
			}
		})
		all.Go(func() {
			for i := range 50 {
				verdict(t, "sent", s.Send(context.Background(), job(i)), act.Performed)
			}
		})
	}
	all.Wait()
	lines := bytes.Split(bytes.TrimSuffix(read(t, file), []byte("\n")), []byte("\n"))
	seen := map[string]bool{}
	for _, line := range lines {
		if !jsontext.Value(line).IsValid() || seen[string(line)] {
			t.Errorf("a line that is torn or there twice: %q", line)
		}
		seen[string(line)] = true
	}
	if len(seen) != 50 {
		t.Errorf("%d lines: want 50", len(seen))
	}
}

// A process is killed after each of its answers: what it said to be performed
// is there, and whoever comes after writes the rest, each line once.
func TestAProcessThatIsKilledLosesAndDoublesNothing(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for after := range 8 {
		s, file := open(t)
		c := exec.Command(exe)
		c.Env = append(os.Environ(), child+"="+filepath.Dir(file))
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		said := 0
		for lines := bufio.NewScanner(out); said <= after && lines.Scan(); said++ {
			if want := fmt.Sprint("performed ", said); lines.Text() != want {
				t.Errorf("child: %s: want %s", lines.Text(), want)
			}
		}
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait() // killed
		var want []byte
		for i := range 50 {
			if a := s.Find(t.Context(), job(i)); a.Verdict != act.Performed && (i < said || a.Verdict != act.NotPerformed) {
				t.Errorf("killed after %d, job %d: %+v", said, i, a)
			}
			verdict(t, "then", s.Send(t.Context(), job(i)), act.Performed)
			want = append(want, lineOf(t, job(i))...)
		}
		if !bytes.Equal(read(t, file), want) {
			t.Errorf("killed after %d: want each line once", said)
		}
	}
}

// A file that was put away in the directory is still read, and its jobs are
// not written again by who asked first.
func TestAFileThatWasPutAwayIsStillRead(t *testing.T) {
	t.Parallel()
	s, file := open(t)
	verdict(t, "sent", s.Send(t.Context(), job(1)), act.Performed)
	if err := os.Rename(file, strings.TrimSuffix(file, "jsonl")+"2026-03.jsonl"); err != nil {
		t.Fatal(err)
	}
	verdict(t, "put away", s.Find(t.Context(), job(1)), act.Performed)
	verdict(t, "another", s.Find(t.Context(), job(2)), act.NotPerformed)
	verdict(t, "sent after", s.Send(t.Context(), job(2)), act.Performed)
	other := job(1)
	other.Params["queue"] = "tri" // whose name begins alike
	verdict(t, "another queue", s.Find(t.Context(), other), act.NotPerformed)
}

// A file that is put away just before it is taken is not written to any more.
func TestAFileThatIsPutAwayMeanwhileIsNotWrittenTo(t *testing.T) {
	t.Parallel()
	s, file := open(t)
	away := strings.TrimSuffix(file, "jsonl") + "old.jsonl"
	n := 0
	s.lock = func(ctx context.Context, f *os.File) error {
		if n++; n == 1 {
			if err := os.Rename(file, away); err != nil {
				t.Error(err)
			}
		}
		return lock(ctx, f)
	}
	verdict(t, "sent", s.Send(t.Context(), job(1)), act.Performed)
	if got := read(t, away); len(got) > 0 || !bytes.Equal(read(t, file), lineOf(t, job(1))) {
		t.Errorf("put away with %q", got)
	}
}

// What the disk refuses is told apart: nothing is there, or nobody can say.
func TestADiskThatRefuses(t *testing.T) {
	t.Parallel()
	broken := errors.New("zz9-disk")
	for name, c := range map[string]struct {
		write func(*os.File, []byte) (int, error)
		flush func(n int) error
		want  act.Verdict
		found act.Verdict
	}{
		"no byte":          {func(*os.File, []byte) (int, error) { return 0, broken }, nil, act.NotPerformed, act.NotPerformed},
		"half a line":      {func(f *os.File, b []byte) (int, error) { n, _ := f.Write(b[:len(b)/2]); return n, broken }, nil, act.NotPerformed, act.NotPerformed},
		"half, in silence": {func(f *os.File, b []byte) (int, error) { return f.Write(b[:len(b)/2]) }, nil, act.NotPerformed, act.NotPerformed},
		"all but the end":  {func(f *os.File, b []byte) (int, error) { n, _ := f.Write(b[:len(b)-1]); return n, broken }, nil, act.NotPerformed, act.NotPerformed},
		"all and an error": {func(f *os.File, b []byte) (int, error) { n, _ := f.Write(b); return n, broken }, nil, act.NotPerformed, act.NotPerformed},
		"never on disk":    {nil, func(int) error { return broken }, act.Unsure, act.Unsure},
		"no entry on disk": {nil, func(n int) error {
			if n == 2 {
				return broken
			}
			return nil
		}, act.Unsure, act.Performed},
	} {
		s, file := open(t)
		n := 0
		if c.write != nil {
			s.write = c.write
		}
		s.flush = func(f *os.File) error {
			if n++; c.flush != nil {
				return c.flush(n)
			}
			return f.Sync()
		}
		verdict(t, name, s.Send(t.Context(), job(1)), c.want)
		verdict(t, name+", asked", s.Find(t.Context(), job(1)), c.found)
		if n = 0; name == "never on disk" {
			verdict(t, name+", sent again", s.Send(t.Context(), job(1)), act.Unsure)
		}
		s.write, s.flush = (*os.File).Write, (*os.File).Sync
		verdict(t, name+", again", s.Send(t.Context(), job(1)), act.Performed)
		if got := read(t, file); !bytes.Equal(got, lineOf(t, job(1))) {
			t.Errorf("%s: %q: want one line", name, got)
		}
	}
}

func TestAFullFileLetsItsJobsWait(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	s.max = int64(len(lineOf(t, job(1)))) + 1
	verdict(t, "within", s.Send(t.Context(), job(1)), act.Performed)
	if a := s.Send(t.Context(), job(2)); a.Verdict != act.NotPerformed || a.Word != "full" || a.After <= 0 {
		t.Errorf("beyond: %+v: want full", a)
	}
	verdict(t, "the first again", s.Send(t.Context(), job(1)), act.Performed)
}

// A call ends at its limit while another has the file, and says what is
// certain.
func TestACallEndsWhileAnotherHasTheFile(t *testing.T) {
	t.Parallel()
	s, _ := open(t)
	held, err := s.take(t.Context(), "triage.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s.limit = 20 * time.Millisecond
	verdict(t, "sent", s.Send(t.Context(), job(1)), act.NotPerformed)
	verdict(t, "asked", s.Find(t.Context(), job(1)), act.Unsure)
	s.limit = DefaultLimit
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	verdict(t, "then", s.Send(t.Context(), job(1)), act.Performed)
}

// A file that is none of ours, and a link that leads out of the directory, are
// left alone.
func TestWhatIsNotOursIsLeftAlone(t *testing.T) {
	t.Parallel()
	s, file := open(t)
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("zz9"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, file); err != nil {
		t.Fatal(err)
	}
	verdict(t, "through a link", s.Send(t.Context(), job(1)), act.NotPerformed)
	verdict(t, "asked through a link", s.Find(t.Context(), job(1)), act.Unsure)
	if got := read(t, outside); string(got) != "zz9" {
		t.Errorf("outside: %q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	endless := bytes.Repeat([]byte("zz9"), 1<<19)
	if err := os.WriteFile(file, endless, 0o600); err != nil {
		t.Fatal(err)
	}
	verdict(t, "a file without lines", s.Send(t.Context(), job(1)), act.NotPerformed)
	verdict(t, "asked of it", s.Find(t.Context(), job(1)), act.Unsure)
	if !bytes.Equal(read(t, file), endless) {
		t.Error("a file that is none of ours was changed")
	}
}

// BenchmarkSend is a message with its fsync, in a file that holds others.
func BenchmarkSend(b *testing.B) {
	s, err := Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	for i := 0; b.Loop(); i++ {
		if a := s.Send(b.Context(), job(i)); a.Verdict != act.Performed {
			b.Fatalf("%+v", a)
		}
	}
}
