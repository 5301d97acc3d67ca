package command

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/fence"
)

// The test binary is also the program: TestMain asks first whether it was
// started as one.

// roleVariable names what the program does; peerVariable is the address of the
// test, which hears of it there.
const (
	roleVariable = "PROGRAM_ROLE"
	peerVariable = "PROGRAM_PEER"
)

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		roles[role]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// report is a small shape.
type report struct {
	Kind string      `json:"kind" jsonschema:"enum=bug,enum=feature"`
	Note *shape.Text `json:"note,omitempty" jsonschema:"maxLength=80"`
}

const good = `{"kind":"bug"}`

func shapeOf(tb testing.TB) *shape.Shape {
	tb.Helper()
	s, err := shape.Of[report]()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func runContext(text string) fence.RunContext {
	return fence.RunContext{
		Run: strings.Repeat("0", 32), Recipe: "report", Profile: fence.ProfileIntake, Instruction: "Read the report.",
		Limits: fence.Limits{MessageMaxBytes: 1 << 10, ContextMaxBytes: 1 << 12},
		Elements: []fence.Element{{
			ID: "e1", Author: fence.Author{ID: "u7", Kind: fence.KindPerson}, Origin: fence.OriginMessage, Role: fence.RoleUser,
			Trust: fence.TrustUnverified, Text: text,
		}},
	}
}

// request is one question about a text.
func request(tb testing.TB, text, broken string) extract.Request {
	tb.Helper()
	p, err := fence.Render(runContext(text), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return extract.Request{Prompt: p, Context: p.Context(), Shape: shapeOf(tb), Broken: broken}
}

// atOnce has a program that the race detector watches end when it ends.
const atOnce = "GORACE=atexit_sleep_ms=0"

// as is a configuration whose program is this binary in a role.
func as(tb testing.TB, role string, environment ...string) Config {
	tb.Helper()
	self, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	return Config{Argv: []string{self}, Timeout: time.Minute, Environment: append([]string{roleVariable + "=" + role, atOnce}, environment...)}
}

func made(tb testing.TB, c Config) *Extractor {
	tb.Helper()
	x, err := New(shapeOf(tb), c)
	if err != nil {
		tb.Fatal(err)
	}
	return x
}

// peer is a listener that programs of a test connect to.
func peer(tb testing.TB) net.Listener {
	tb.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = l.Close() })
	return l
}

// dial connects a program to its test.
func dial() net.Conn {
	conn, err := net.Dial("tcp", os.Getenv(peerVariable))
	if err != nil {
		panic(err)
	}
	return conn
}

// forever hangs, though the runtime would end a process in which nothing can
// happen any more.
func forever() { <-time.After(24 * time.Hour) }

// roles are what the program may be. They fill in below, since some start
// others.
var roles map[string]func()

func init() {
	roles = map[string]func(){
		"answer":   func() { fmt.Print(good) },
		"silent":   func() {},
		"fails":    func() { fmt.Print(good); fmt.Fprint(os.Stderr, "SECRETWORD"); os.Exit(3) },
		"noisy":    func() { _, _ = io.CopyN(os.Stderr, zeros{}, 8<<20); fmt.Print(good) },
		"long":     func() { fmt.Print(good, strings.Repeat(" ", MaxOutputBytes-len(good))) },
		"longer":   func() { fmt.Print(good, strings.Repeat(" ", MaxOutputBytes-len(good)+1)) },
		"endless":  func() { _, _ = io.Copy(os.Stdout, zeros{}) },
		"hangs":    func() { fmt.Print(good); _ = dial(); forever() },
		"closes":   func() { fmt.Print(good); _ = os.Stdout.Close(); _ = os.Stderr.Close(); _ = dial(); forever() },
		"deaf":     func() { _ = os.Stdin.Close(); fmt.Print(good) },
		"dies":     func() { fmt.Print(good); kill() },
		"echoes":   func() { echo() },
		"suite":    suite,
		"fetches":  fetches,
		"tells":    tells,
		"leaves":   func() { leave(false); fmt.Print(good) },
		"detaches": func() { leave(true); fmt.Print(good) },
		"breeds":   func() { leave(false); leave(false); _ = dial(); forever() },
		"stays":    func() { _, _ = io.Copy(io.Discard, dial()) }, // until the test lets go
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// kill ends the program by a signal, where there are signals.
func kill() {
	p, err := os.FindProcess(os.Getpid())
	if err == nil {
		_ = p.Kill()
	}
	forever()
}

// echo answers what the program was given, in a note that says nothing that a
// shape bounds.
func echo() {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	dir, _ := os.Getwd()
	_ = json.NewEncoder(os.Stdout).Encode(given{Args: os.Args[1:], Env: os.Environ(), Dir: dir, Input: string(input)})
}

// given is what a program was given.
type given struct {
	Args, Env []string
	Dir       string
	Input     string
}

// leave starts a process that keeps standard output, and ends it not.
func leave(detached bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = []string{roleVariable + "=stays", atOnce, peerVariable + "=" + os.Getenv(peerVariable)}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if detached {
		detach(cmd)
	}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
}

func needUnix(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("SKIP-UNIX: this system has no process groups")
	}
}
