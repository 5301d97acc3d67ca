package sandbox_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"decant.dev/internal/escape"
	"decant.dev/pipeline/local/sandbox"
)

// The test binary is also the child: TestMain asks first what it was started for.

// free in a child's environment leaves it unrestricted, to see what an attempt does without the sandbox.
const free = "SANDBOX_TEST_FREE=1"

// role is what a child of these tests does once it is restricted; its input is whole on stdin.
type role func(p sandbox.Profile, input []byte) (any, error)

var roles = map[string]role{
	"attempts":    attempts,
	"enumerate":   enumerate,
	"files":       useFiles,
	"database":    useDatabase,
	"threads":     useThreads,
	"surrounding": surrounding,
	"program":     program,
	"runtime":     runtimeProgram,
	"nothing":     func(sandbox.Profile, []byte) (any, error) { return nil, nil },
}

func TestMain(m *testing.M) {
	switch act := os.Getenv(programVariable); act {
	case "":
	case "leave":
		leave()
	case "stay":
		stay()
	default:
		child(roles[act], sandbox.Profile{}, true)
	}
	phase, profile, err := sandbox.Inherited()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	case phase == "":
		os.Exit(m.Run())
	case phase == "grandparent":
		grandparent("surrounding", sandbox.Profile{})
	case phase == "elder":
		grandparent("bound", profile)
	case phase == "bound":
		bound(profile)
	case phase == "daemon":
		daemon(profile)
	case phase == "careless":
		careless(profile)
	default:
		child(roles[phase], profile, os.Getenv("SANDBOX_TEST_FREE") != "")
	}
}

func child(act role, profile sandbox.Profile, unrestricted bool) {
	if !unrestricted {
		if _, err := sandbox.Restrict(profile); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
	}
	input, err := io.ReadAll(os.Stdin)
	if err == nil {
		var answer any
		if answer, err = act(profile, input); err == nil {
			err = json.NewEncoder(os.Stdout).Encode(answer)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
	os.Exit(0)
}

func attempts(_ sandbox.Profile, input []byte) (any, error) {
	var env escape.Env
	if err := json.Unmarshal(input, &env); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err := escape.Run(escape.All(), env, &out)
	return out.String(), err
}

// run starts a child in a role, gives it input as JSON and decodes its answer into output.
func run(t testing.TB, act string, profile sandbox.Profile, input, output any, env ...string) {
	t.Helper()
	if roles[act] == nil {
		t.Fatalf("no role %q", act)
	}
	encoded, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	cmd := sandbox.Command(t.Context(), act, profile, nil, env)
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(encoded), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("child %s: %v\n%s", act, err, stderr.Bytes())
	}
	if err := json.Unmarshal(stdout.Bytes(), output); err != nil {
		t.Fatalf("answer of child %s: %v: %q", act, err, stdout.Bytes())
	}
}

// need skips a test, loudly, where the kernel has no sandbox to test.
func need(t testing.TB) {
	t.Helper()
	if report := sandbox.Check(); !report.Full() {
		t.Skipf("SKIP-SANDBOX: %s", strings.Join(report.Reasons, "; "))
	}
}

// grandparent starts a child that restricts itself, says so and stays, and waits for an input that the test never ends.
func grandparent(phase string, profile sandbox.Profile) {
	cmd := sandbox.Command(context.Background(), phase, profile, nil, []string{waiting})
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		os.Exit(6)
	}
	_, _ = io.Copy(io.Discard, os.NewFile(3, "input"))
}

// careless opens a file before it restricts itself.
func careless(profile sandbox.Profile) {
	file, err := os.Open("/proc/self/exe")
	if err != nil {
		os.Exit(5)
	}
	_, err = sandbox.Restrict(profile)
	_ = file.Close()
	if err == nil {
		os.Exit(0)
	}
	fmt.Println(err)
	os.Exit(7)
}

// exitCode is the code with which cmd ended.
func exitCode(t *testing.T, err error) int {
	t.Helper()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("want the child to fail, got %v", err)
	}
	return exit.ExitCode()
}
