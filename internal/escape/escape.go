// Package escape is what code that has taken over a phase would try first. Each Attempt is made from inside a restricted
// child, where it must be refused: by the tests of the sandbox, and by decant attack. The tests make it from inside the
// same child unrestricted too, where it must succeed or the test proves nothing.
//
// An Attempt does no harm where it succeeds: signals are number 0 or one that is ignored, calls that could change the
// machine are given arguments that the kernel refuses for another reason after it has looked at the caller's rights.
package escape

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
)

// Env is what the parent tells the child about its own surroundings. All of it exists for as long as the child runs.
type Env struct {
	ParentPID     int     // the process that holds the secrets
	SecretAddress uintptr // where in the parent's memory a secret of 16 bytes stands
	SecretFile    string  // a readable file in a directory the child was not given
	SecretInode   uint64  // its inode number
	OutsideDir    string  // a writable directory the child was not given; holds "victim" and "remove", two files
	InheritedFD   int     // a descriptor of SecretFile that leaked into the child

	TCP      string // address of a TCP server, "127.0.0.1:port"
	UDP      string // address of a UDP server
	Unix     string // path of a stream socket that is listened on, in OutsideDir
	Abstract string // name of an abstract stream socket that is listened on, without the leading "@"

	BrokerFD   int    // the child's end of the broker's pair, or 0 if it has none
	Undeclared string // "host:port" that the broker was not given
	Special    string // "host:port" that it was given, and that resolves to a special address
}

// Surround makes everything an attempt aims at, files in dir, an empty directory that no child is given: files, servers, a
// leaked descriptor and a secret in memory. They are there until close is called.
func Surround(dir string) (env Env, close func() error, err error) { return surround(dir) }

// T is the part of testing.TB that Surroundings needs.
type T interface {
	Helper()
	TempDir() string
	Cleanup(func())
	Fatal(args ...any)
}

// Surroundings is Surround for the length of a test.
func Surroundings(t T) Env {
	t.Helper()
	env, closeAll, err := Surround(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = closeAll() })
	return env
}

// Need is what an Attempt needs, beside the absence of a sandbox, in order to succeed.
type Need uint8

const (
	needInvalid   Need = iota
	NeedNothing        // succeeds for any user on any Linux
	NeedPrivilege      // wants root, a kernel built with the feature, and no filter by a container
	NeedNoBroker       // the broker refuses it, whether the child is restricted or not
)

// Attempt is one try to get out. Try answers nil if it got out, and otherwise why not.
type Attempt struct {
	Name string
	Need Need
	Try  func(Env) error
}

// Result is how an Attempt ended. Errno is the number in its error, 0 if there is none.
type Result struct {
	Name  string
	Need  Need
	Out   bool
	Errno int
	Error string
}

// ErrMute is the error of an attempt that was not refused and yet had no effect.
var ErrMute = errors.New("no effect")

// Run makes attempts, each on a thread of its own that ends with it, and writes one Result a line to w.
func Run(attempts []Attempt, env Env, w io.Writer) error {
	out := json.NewEncoder(w)
	for _, attempt := range attempts {
		result := Result{Name: attempt.Name, Need: attempt.Need}
		done := make(chan error)
		go func() {
			// Not unlocked: what an attempt does to its thread (a trace, a namespace) must not reach the next one.
			runtime.LockOSThread()
			done <- guarded(attempt, env)
		}()
		err := <-done
		result.Out = err == nil
		if err != nil {
			result.Error = err.Error()
			result.Errno = errnoOf(err)
		}
		if err := out.Encode(result); err != nil {
			return err
		}
	}
	return nil
}

// guarded turns a panic of an attempt into its error.
func guarded(attempt Attempt, env Env) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return attempt.Try(env)
}

// Read decodes what Run wrote.
func Read(r io.Reader) ([]Result, error) {
	var results []Result
	for decoder := json.NewDecoder(r); ; {
		var result Result
		switch err := decoder.Decode(&result); {
		case errors.Is(err, io.EOF):
			return results, nil
		case err != nil:
			return results, fmt.Errorf("results of a child: %w", err)
		}
		results = append(results, result)
	}
}
