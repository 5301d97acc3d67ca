package sandbox_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"decant.dev/internal/escape"
	"decant.dev/pipeline/local/sandbox"
)

// programVariable in an environment makes this test binary the program that a child starts: it does the role of that
// name, under what its child was restricted to.
const programVariable = "SANDBOX_TEST_PROGRAM"

// task is what a child of role "program" is asked: to start this binary in a role, and give it an input.
type task struct {
	Role  string
	Input json.RawMessage
}

// program starts the program, as an extractor would, and answers what it answered.
func program(_ sandbox.Profile, input []byte) (any, error) {
	var t task
	if err := json.Unmarshal(input, &t); err != nil {
		return nil, err
	}
	path, err := os.Readlink("/proc/self/exe") // by link: /proc cannot be opened
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path)
	cmd.Env = []string{programVariable + "=" + t.Role, "TZ=UTC"}
	var stderr bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(t.Input), &stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("program: %w: %s", err, stderr.Bytes())
	}
	return json.RawMessage(out), nil
}

// withPrograms is a profile that can run this binary and what the system has.
func withPrograms(t testing.TB) sandbox.Profile {
	t.Helper()
	self, err := os.Readlink("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	profile := sandbox.Profile{Programs: []string{self}}
	for _, dir := range []string{"/usr", "/bin", "/lib", "/lib64"} {
		if _, err := os.Stat(dir); err == nil {
			profile.Programs = append(profile.Programs, dir)
		}
	}
	return profile
}

// runProgram has a child start this binary in a role.
func runProgram(t testing.TB, act string, profile sandbox.Profile, input, output any, env ...string) {
	t.Helper()
	encoded, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	run(t, "program", profile, task{act, encoded}, output, env...)
}

// granted are the attempts that succeed where a child may run programs, and what bounds each: what it makes is below it
// and under the same restrictions.
var granted = map[string]string{
	"start a program":        "what Programs name",
	"become a program":       "what Programs name",
	"make a process":         "in the same group",
	"make a pair of sockets": "of streams, with both ends its own",
	"call pidfd_send_signal": "by a descriptor that only a process's maker gets",
}

func programResults(t *testing.T, profile sandbox.Profile, extra ...string) []escape.Result {
	t.Helper()
	var lines string
	runProgram(t, "attempts", profile, escape.Surroundings(t), &lines, extra...)
	list, err := escape.Read(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(escape.All()) {
		t.Fatalf("want %d results, got %d", len(escape.All()), len(list))
	}
	return list
}

// From inside a program, and from inside the child that may start one, each attempt is refused but those that a program
// is made of.
func TestNoAttemptGetsOutOfAProgram(t *testing.T) {
	t.Parallel()
	need(t)
	profile := withPrograms(t)
	for name, list := range map[string][]escape.Result{
		"program": programResults(t, profile),
		"child":   results(t, profile, escape.Surroundings(t)),
	} {
		for _, result := range list {
			if _, ok := granted[result.Name]; ok != result.Out {
				t.Errorf("%s: %s: want out %v, got %v (%s)", name, result.Name, ok, result.Out, result.Error)
			}
		}
	}
}

func TestEveryAttemptSucceedsFromAProgramWithoutTheSandbox(t *testing.T) {
	t.Parallel()
	privileged := bare(t)
	for _, result := range programResults(t, sandbox.Profile{}, free) {
		switch {
		case result.Out, result.Need == escape.NeedNoBroker:
		case result.Need == escape.NeedNothing:
			t.Errorf("%s: want it to succeed unrestricted, got %s", result.Name, result.Error)
		case privileged && result.Errno != int(unix.ENOSYS):
			t.Errorf("%s: want it to succeed for an unrestricted root, got %s", result.Name, result.Error)
		default:
			t.Logf("not shown here: %s: %s", result.Name, result.Error)
		}
	}
}

func TestEveryUnlistedCallIsRefusedToAProgram(t *testing.T) {
	t.Parallel()
	need(t)
	profile := withPrograms(t)
	var passed []string
	runProgram(t, "enumerate", profile, sandbox.Listed(profile), &passed)
	if len(passed) != 0 {
		t.Errorf("want every call refused that is not listed, got %v", passed)
	}
}

// A descendant that detached itself from everything it can detach itself from is dead when Wait returns.
func TestNothingOutlivesAChild(t *testing.T) {
	t.Parallel()
	need(t)
	for _, ended := range []string{"well", "killed"} {
		t.Run(ended, func(t *testing.T) {
			t.Parallel()
			output, theirs, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer output.Close()
			input, hold, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer hold.Close()
			cmd := sandbox.Command(t.Context(), "daemon", withPrograms(t), nil, nil)
			cmd.Stdin, cmd.Stdout = input, theirs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			_, _ = input.Close(), theirs.Close()
			// A guard against hanging, not a measure.
			if err := output.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(output, make([]byte, 1)); err != nil {
				t.Fatalf("want a descendant at work, got %v: %v", err, sandbox.StderrOf(cmd))
			}
			if ended == "killed" {
				_ = cmd.Process.Kill()
			}
			_ = hold.Close()
			_ = sandbox.Wait(cmd)
			// The pipe ends when its last writer, the descendant, has died.
			if rest, err := io.ReadAll(output); err != nil {
				t.Errorf("want no descendant left, got %d bytes and %v", len(rest), err)
			}
		})
	}
}

// daemon restricts this child, starts a program that starts another and ends, and ends itself when its input does.
func daemon(profile sandbox.Profile) {
	if _, err := sandbox.Restrict(profile); err != nil {
		os.Exit(3)
	}
	if err := again("leave"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(4)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// again runs this binary as a program in a role that leaves no answer, with this one's output, and waits for its end.
func again(act string) error {
	cmd, err := self(act)
	if err != nil {
		return err
	}
	return cmd.Run()
}

func self(act string) (*exec.Cmd, error) {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(path)
	cmd.Env, cmd.Stdout, cmd.Stderr = []string{programVariable + "=" + act}, os.Stdout, os.Stderr
	return cmd, nil
}

// bound restricts this child, and stays as long as a program that it bound to itself.
func bound(profile sandbox.Profile) {
	if _, err := sandbox.Restrict(profile); err != nil {
		os.Exit(3)
	}
	cmd, err := self("stay")
	if err == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
		err = cmd.Run()
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(4)
}

// leave starts a process, tries to have it leave the group, and ends before it.
func leave() {
	cmd, err := self("stay")
	if err == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if cmd.Start() == nil {
			os.Exit(5) // it has left the group
		}
		if cmd, err = self("stay"); err == nil {
			err = cmd.Start()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(6)
	}
	os.Exit(0)
}

// stay says that it is there, and stays for ever.
func stay() {
	_, _ = unix.Setsid()
	_ = unix.Setpgid(0, 0)
	_ = unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0)
	fmt.Print("s")
	<-time.After(24 * time.Hour)
}

// A parent that is killed cannot end a group. The child dies by the kernel's hand, and so does what the child bound to
// itself, which cannot loose itself.
func TestABoundProgramDiesWithItsChildsParent(t *testing.T) {
	t.Parallel()
	need(t)
	diesWithParent(t, "elder", withPrograms(t))
}

// What a foreign runtime needs works. The programs are the system's own.
func TestForeignRuntimesWork(t *testing.T) {
	t.Parallel()
	need(t)
	for name, c := range map[string]struct {
		argv []string
		want string
	}{
		"shell with a pipeline": {[]string{"/bin/sh", "-c", "printf 'a b' | tr ' ' '-'; echo x >/dev/null"}, "a-b"},
		"python": {[]string{"/usr/bin/python3", "-c", `
import asyncio, json, subprocess, sys, threading, os, tempfile
out = []
thread = threading.Thread(target=lambda: out.append(1)); thread.start(); thread.join()
async def main():
    await asyncio.sleep(0); out.append(2)
asyncio.run(main())
out.append(subprocess.run([sys.executable, "-c", "print(3)"], capture_output=True, check=True, stdin=subprocess.DEVNULL).stdout.decode().strip())
for attempt in (lambda: open("/etc/passwd"), lambda: os.kill(os.getppid(), 0) if os.getppid() == 0 else os.kill(1, 0), lambda: __import__("socket").socket()):
    try:
        attempt(); out.append("got out")
    except PermissionError:
        out.append("refused")
print(json.dumps(out), end="")`}, `[1, 2, "3", "refused", "refused", "refused"]`},
		"node": {[]string{"/usr/bin/node", "-e", `
const {execFileSync} = require("child_process");
setTimeout(() => { const n = execFileSync("/bin/echo", ["7"]).toString().trim(); process.stdout.write("node " + n); }, 1);`}, "node 7"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat(c.argv[0]); err != nil {
				t.Skipf("SKIP-RUNTIME: %s is not at hand", c.argv[0])
			}
			var got string
			run(t, "runtime", withPrograms(t), c.argv, &got)
			if got != c.want {
				t.Errorf("want %q, got %q", c.want, got)
			}
		})
	}
}

// runtime runs a program of the system's and answers its output.
func runtimeProgram(_ sandbox.Profile, input []byte) (any, error) {
	var argv []string
	if err := json.Unmarshal(input, &argv); err != nil {
		return nil, err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	var stderr bytes.Buffer
	cmd.Env, cmd.Stdin, cmd.Stderr = []string{"PATH=/usr/bin:/bin"}, bytes.NewReader(nil), &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	return string(out), nil
}

func TestAProfileRefusesProgramsThatWouldOpenMore(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, profile := range map[string]sandbox.Profile{
		"the root":              {Programs: []string{"/"}},
		"relative":              {Programs: []string{"bin"}},
		"unclean":               {Programs: []string{"/usr/../etc"}},
		"other processes":       {Programs: []string{"/proc"}},
		"one process":           {Programs: []string{"/proc/1"}},
		"devices":               {Programs: []string{"/dev"}},
		"the kernel":            {Programs: []string{"/sys/fs"}},
		"what is written":       {Programs: []string{dir}, ReadWrite: []string{dir}},
		"in what is written":    {Programs: []string{filepath.Join(dir, "a")}, ReadWrite: []string{dir}},
		"around what is read":   {Programs: []string{filepath.Dir(dir)}, ReadOnly: []string{dir}},
		"more than there may":   {Programs: strings.Split(strings.Repeat("/a ", 16)+"/b", " ")},
		"a name that is cut":    {Programs: []string{"/usr\x00/x"}},
		"one good and one bad":  {Programs: []string{"/usr", "/proc/self"}},
		"empty where one is to": {Programs: []string{""}},
	} {
		if sandbox.Command(t.Context(), "nothing", profile, nil, nil).Start() == nil {
			t.Errorf("%s: want it refused, got it started", name)
		}
	}
}
