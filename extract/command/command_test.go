package command

import (
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/extract"
	"decant.dev/extract/shape"
)

// However a program ends, the turn ends with its answer or with an error that
// says what was wanted, and none repeats what was written.
func TestATurnEndsHoweverItsProgramDoes(t *testing.T) {
	t.Parallel()
	for role, want := range map[string]error{
		"answer": nil, "noisy": nil, "deaf": nil, "silent": nil, "long": nil,
		"longer": ErrLarge, "endless": ErrLarge, "fails": ErrStatus, "dies": ErrStatus,
	} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			// More than a pipe holds, so that who does not read is seen not to.
			a, err := made(t, as(t, role)).Extract(t.Context(), request(t, strings.Repeat("text ", 100_000), ""))
			if !errors.Is(err, want) || (err == nil) != (want == nil) {
				t.Fatalf("got %v, want %v", err, want)
			}
			if err != nil && (len(a.Candidate) > 0 || strings.Contains(err.Error(), "SECRETWORD")) {
				t.Errorf("got %d bytes beside %v", len(a.Candidate), err)
			}
			if role != "silent" && err == nil && !strings.HasPrefix(string(a.Candidate), good) {
				t.Errorf("got %.40q", a.Candidate)
			}
			if most := shapeOf(t).MaxCandidate() + 1; len(a.Candidate) > most {
				t.Errorf("kept %d bytes, want at most %d", len(a.Candidate), most)
			}
		})
	}
}

// What is longer than an answer may be is seen to be, though it is not kept.
func TestALongAnswerIsNotCutIntoAGoodOne(t *testing.T) {
	t.Parallel()
	a, err := made(t, as(t, "long")).Extract(t.Context(), request(t, "text", ""))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := shapeOf(t).Decode(a.Candidate); err == nil {
		t.Error("want it refused, got it decoded")
	}
}

func TestStatusAndNoiseAreCounted(t *testing.T) {
	t.Parallel()
	_, err := made(t, as(t, "fails")).Extract(t.Context(), request(t, "text", ""))
	if want := "command: want exit status 0, got 3, with 10 bytes on standard error"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// accepted waits for so many programs to connect.
func accepted(t *testing.T, l net.Listener, n int) []net.Conn {
	t.Helper()
	var all []net.Conn
	for range n {
		// A guard against hanging, not a measure.
		_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(time.Minute))
		conn, err := l.Accept()
		if err != nil {
			t.Fatalf("want %d processes, got %d: %v", n, len(all), err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		all = append(all, conn)
	}
	return all
}

// dead fails unless the process at the other end is gone.
func dead(t *testing.T, conn net.Conn) {
	t.Helper()
	_ = conn.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("want the process dead, got %v", err)
	}
}

// A program that hangs after its answer, or that closed its output and then
// hangs, is killed when its time is over, with all that it started; its answer
// counts for nothing.
func TestWhatHangsIsKilled(t *testing.T) {
	t.Parallel()
	needUnix(t)
	for role, processes := range map[string]int{"hangs": 1, "closes": 1, "breeds": 3} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			l := peer(t)
			x := impatient{made(t, as(t, role, peerVariable+"="+l.Addr().String())), make(chan struct{})}
			ended := make(chan error)
			go func() {
				_, err := x.Extract(t.Context(), request(t, "text", ""))
				ended <- err
			}()
			conns := accepted(t, l, processes)
			x.hangs <- struct{}{}
			if err := <-ended; !errors.Is(err, ErrTime) {
				t.Errorf("got %v, want %v", err, ErrTime)
			}
			for _, conn := range conns {
				dead(t, conn)
			}
		})
	}
}

// A process that a program leaves behind ends with it, and does not hold up
// the answer.
func TestWhatIsLeftBehindEndsWithTheProgram(t *testing.T) {
	t.Parallel()
	needUnix(t)
	l := peer(t)
	a, err := made(t, as(t, "leaves", peerVariable+"="+l.Addr().String())).Extract(t.Context(), request(t, "text", ""))
	if err != nil || string(a.Candidate) != good {
		t.Fatalf("got %q, %v", a.Candidate, err)
	}
	for _, conn := range connectedSoFar(l) {
		dead(t, conn)
	}
}

// connectedSoFar takes who has connected, and waits for nobody: the process
// may have died before it did.
func connectedSoFar(l net.Listener) (all []net.Conn) {
	for {
		_ = l.(*net.TCPListener).SetDeadline(time.Now().Add(10 * time.Millisecond))
		conn, err := l.Accept()
		if err != nil {
			return all
		}
		all = append(all, conn)
	}
}

// Where a process got away, with standard output still open, nobody can say
// that the answer is whole: it is none, and the turn ends all the same.
func TestAnAnswerWithoutAnEndIsNone(t *testing.T) {
	t.Parallel()
	needUnix(t)
	l := peer(t)
	_, err := made(t, as(t, "detaches", peerVariable+"="+l.Addr().String())).Extract(t.Context(), request(t, "text", ""))
	if !errors.Is(err, ErrEnd) {
		t.Errorf("got %v, want %v", err, ErrEnd)
	}
	for _, conn := range accepted(t, l, 1) {
		_ = conn.Close() // which lets it go
	}
}

func TestATimeOfItsOwnEndsATurn(t *testing.T) {
	t.Parallel()
	c := as(t, "hangs", peerVariable+"="+peer(t).Addr().String())
	c.Timeout = minTimeout
	if _, err := made(t, c).Extract(t.Context(), request(t, "text", "")); !errors.Is(err, ErrTime) {
		t.Errorf("got %v, want %v", err, ErrTime)
	}
}

// A program is given its arguments, the variables that are named, the context
// and nothing else.
func TestAProgramIsGivenWhatIsNamedAndNoMore(t *testing.T) {
	t.Setenv("COMMAND_TEST_SECRET", "leaked")
	t.Setenv("COMMAND_TEST_NAMED", "named")
	c := as(t, "echoes", "A=1=2", "COMMAND_TEST_NAMED", "COMMAND_TEST_ABSENT", "EMPTY=")
	c.Argv = append(c.Argv, "$HOME", "; true", "")
	for _, broken := range []string{"", "kind: enum"} {
		q := request(t, "text", broken)
		a, err := made(t, c).Extract(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		var got given
		if err := json.Unmarshal(a.Candidate, &got); err != nil {
			t.Fatal(err)
		}
		want := []string{roleVariable + "=echoes", atOnce, "A=1=2", "COMMAND_TEST_NAMED=named", "EMPTY="}
		if broken != "" {
			want = append(want, BrokenVariable+"="+broken)
		}
		slices.Sort(got.Env)
		slices.Sort(want)
		if !slices.Equal(got.Env, want) {
			t.Errorf("environment: got %q, want %q", got.Env, want)
		}
		if want := c.Argv[1:]; !slices.Equal(got.Args, want) {
			t.Errorf("arguments: got %q, want %q", got.Args, want)
		}
		doc, err := q.Context.Encode()
		if err != nil || got.Input != string(doc) {
			t.Errorf("input: got %d bytes, want the %d of the context, %v", len(got.Input), len(doc), err)
		}
	}
}

func TestWhatCannotBeAskedIsRefused(t *testing.T) {
	t.Parallel()
	x := made(t, as(t, "answer"))
	other, err := shape.Of[struct {
		Other bool `json:"other"`
	}]()
	if err != nil {
		t.Fatal(err)
	}
	q := request(t, "text", "")
	q.Shape = other
	if _, err := x.Extract(t.Context(), q); !errors.Is(err, ErrShape) {
		t.Errorf("another shape: got %v", err)
	}
	if _, err := x.Extract(t.Context(), extract.Request{}); !errors.Is(err, ErrShape) {
		t.Errorf("no shape: got %v", err)
	}
	q.Shape, q.Context.Run = shapeOf(t), ""
	if _, err := x.Extract(t.Context(), q); !errors.Is(err, ErrContext) {
		t.Errorf("no context: got %v", err)
	}
	missing := as(t, "answer")
	missing.Argv[0] += "-missing"
	if _, err := made(t, missing).Extract(t.Context(), request(t, "text", "")); !errors.Is(err, ErrStart) {
		t.Errorf("no program: got %v", err)
	}
}

// The extractor may be asked by several at once.
func TestTurnsAreApart(t *testing.T) {
	t.Parallel()
	x := made(t, as(t, "echoes"))
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			text := fmt.Sprintf("text number %d.", i)
			a, err := x.Extract(t.Context(), request(t, text, ""))
			if err != nil || !strings.Contains(string(a.Candidate), text) {
				t.Errorf("got %v and no %q", err, text)
			}
		})
	}
}
