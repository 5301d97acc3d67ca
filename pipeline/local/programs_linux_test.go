package local

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"decant.dev/extract/command"
	"decant.dev/pipeline"
)

// probe tries what a program must not be able to do, and answers the first
// thing that it could.
func probe() error {
	for _, path := range strings.Split(os.Getenv(programPaths), ":") {
		if canOpen(path, os.O_RDONLY) || canOpen(path, os.O_WRONLY) {
			return fmt.Errorf("opened %s", path)
		}
	}
	for _, s := range strings.Split(os.Getenv(programPIDs), ":") {
		pid, err := strconv.Atoi(s)
		if err != nil {
			return err
		}
		if unix.Kill(pid, 0) == nil || unix.PtraceAttach(pid) == nil {
			return fmt.Errorf("reached %d", pid)
		}
		if fd, err := unix.PidfdOpen(pid, 0); err == nil {
			return fmt.Errorf("a descriptor of %d: %d", pid, fd)
		}
		for _, name := range []string{"environ", "mem", "maps", "fd/0", "cwd/."} {
			if canOpen(fmt.Sprintf("/proc/%d/%s", pid, name), os.O_RDONLY) {
				return fmt.Errorf("opened %s of %d", name, pid)
			}
		}
	}
	if _, err := unix.Setsid(); err == nil {
		return fmt.Errorf("left the group")
	}
	for fd := 3; fd < 256; fd++ {
		var stat unix.Stat_t
		if unix.Fstat(fd, &stat) != nil {
			continue
		}
		switch stat.Mode & unix.S_IFMT {
		case unix.S_IFSOCK, unix.S_IFREG, unix.S_IFIFO, unix.S_IFDIR:
			return fmt.Errorf("holds descriptor %d", fd)
		}
	}
	return nil
}

// probing has a program of an engine probe the engine's own files and process.
func probing(t *testing.T, e *Engine) Result {
	t.Helper()
	deliverReport(t, e) // so that there is something to find
	paths := []string{"/etc/passwd", "/proc/1/environ", "/proc/self/environ", "/proc/self/maps"}
	found := 0
	if err := filepath.WalkDir(e.dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			found++
			paths = append(paths, path)
		}
		return err
	}); err != nil || found < 4 {
		t.Fatalf("want the engine's files, found %d: %v", found, err)
	}
	e.tell(programPaths+"="+strings.Join(paths, ":"), fmt.Sprintf("%s=%d:1", programPIDs, os.Getpid()))
	return deliverReport(t, e)
}

// A program reads nothing of the engine's, of another run's or of another
// process's, and reaches none. The same program unrestricted does, so the test
// can fail.
func TestAProgramReachesNothing(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	for name, tc := range map[string]struct {
		restricts func() bool
		want      string
	}{"sandboxed": {nil, `{"kind":"a"}`}, "unsandboxed": {func() bool { return false }, `{"kind":"b"}`}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := openEngine(t, Config{restricts: tc.restricts}, programPipeline("probes", command.Stdin))
			if r := probing(t, e); string(r.Structure) != tc.want {
				t.Errorf("got %s %s %s, want %s", r.Status, r.Reason, r.Structure, tc.want)
			}
		})
	}
}

// marked lists the processes in whose environment a word stands.
func marked(t *testing.T, word string) (pids []string) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range all {
		if env, err := os.ReadFile(path); err == nil && bytes.Contains(env, []byte(word)) {
			pids = append(pids, strings.Split(path, "/")[2])
		}
	}
	return pids
}

// What a program started and left is gone when its run is over, whether the
// program ended or had to be killed.
func TestNothingOfAProgramOutlivesItsRun(t *testing.T) {
	t.Parallel()
	needSandbox(t)
	for role, want := range map[string]pipeline.Code{"leaves": pipeline.OK, "hangs": pipeline.NoAnswer} {
		t.Run(role, func(t *testing.T) {
			t.Parallel()
			e := openEngine(t, Config{}, programPipeline(role, command.Stdin))
			word := "mark-" + rand.Text()
			e.tell(programMark + "=" + word)
			r := deliverReport(t, e)
			if r.Reason != want || want == pipeline.OK && string(r.Structure) != `{"kind":"a"}` {
				t.Fatalf("%s %s %s: want the program to leave a process", r.Status, r.Reason, r.Structure)
			}
			if left := marked(t, word); len(left) > 0 {
				t.Errorf("want nothing left, got processes %v", slices.Sorted(slices.Values(left)))
			}
		})
	}
}

// BenchmarkProgramRun is what a run costs whose extractor is a program that
// does nothing.
func BenchmarkProgramRun(b *testing.B) {
	e := openEngine(b, Config{}, programPipeline("reads", command.Stdin))
	d := delivery(b, payload(30, "title", report, 2000))
	for b.Loop() {
		if r := e.Deliver(b.Context(), d)[0]; r.Status != pipeline.Staged {
			b.Fatalf("%s %s", r.Status, r.Reason)
		}
	}
}
