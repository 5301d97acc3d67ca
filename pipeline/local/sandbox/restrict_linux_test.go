package sandbox_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	_ "modernc.org/sqlite"

	"decant.dev/pipeline/local/sandbox"
)

// enumerate makes every system call by number that the filter does not list, and answers those that were not refused.
// No call accepts the arguments; a call that has none would have to be refused all the same.
func enumerate(_ sandbox.Profile, input []byte) (any, error) {
	var listed map[int]bool
	if err := json.Unmarshal(input, &listed); err != nil {
		return nil, err
	}
	passed := []string{}
	for number := range 1024 {
		// The kernel's own trampolines for probes on amd64, uretprobe and uprobe: from anywhere else they are SIGILL,
		// which seccomp is not asked about.
		probe := runtime.GOARCH == "amd64" && (number == 335 || number == 336)
		if listed[number] || probe {
			continue
		}
		const bad = ^uintptr(0)
		_, _, errno := unix.RawSyscall6(uintptr(number), bad, bad, bad, bad, bad, bad)
		if errno != unix.EPERM {
			passed = append(passed, fmt.Sprintf("%d: %v", number, errno))
		}
	}
	return passed, nil
}

func TestEveryUnlistedCallIsRefused(t *testing.T) {
	t.Parallel()
	need(t)
	for name, profile := range map[string]sandbox.Profile{
		"no directories":     {},
		"directory to write": {ReadWrite: []string{t.TempDir()}},
	} {
		var passed []string
		run(t, "enumerate", profile, sandbox.Listed(profile), &passed)
		if len(passed) != 0 {
			t.Errorf("%s: want every unlisted call refused, got %v", name, passed)
		}
	}
}

// use is what useFiles found out, by name of the operation.
type use map[string]string

func useFiles(p sandbox.Profile, _ []byte) (any, error) {
	done := use{}
	note := func(name string, err error) {
		switch {
		case err == nil:
			done[name] = "done"
		case errors.Is(err, fs.ErrPermission):
			done[name] = "refused"
		default:
			done[name] = err.Error()
		}
	}
	dir := append(p.ReadOnly, p.ReadWrite...)[0]
	path := func(name string) string { return filepath.Join(dir, name) }
	_, err := os.ReadFile(path("given"))
	note("read", err)
	_, err = os.ReadDir(dir)
	note("list", err)
	note("write", os.WriteFile(path("new"), []byte("1"), 0o600))
	note("overwrite", os.WriteFile(path("given"), []byte("2"), 0o600))
	note("rename", os.Rename(path("given"), path("moved")))
	note("folder", os.Mkdir(path("folder"), 0o700))
	note("remove", os.Remove(path("moved")))
	note("symlink", os.Symlink("/etc/passwd", path("soft")))
	note("fifo", unix.Mkfifo(path("fifo"), 0o600))
	note("mode", os.Chmod(dir, 0o777))
	_, err = os.ReadFile(path("link"))
	note("follow a link out", err)
	return done, nil
}

func TestAProfileGivesItsDirectoriesAndNoMore(t *testing.T) {
	t.Parallel()
	need(t)
	const done, refused = "done", "refused"
	for _, test := range []struct {
		name    string
		profile func(dir string) sandbox.Profile
		want    use
	}{
		{"to read", func(dir string) sandbox.Profile { return sandbox.Profile{ReadOnly: []string{dir}} }, use{
			"read": done, "list": done, "write": refused, "overwrite": refused, "rename": refused, "folder": refused,
			"remove": refused, "symlink": refused, "fifo": refused, "mode": refused, "follow a link out": refused}},
		{"to write", func(dir string) sandbox.Profile { return sandbox.Profile{ReadWrite: []string{dir}} }, use{
			"read": done, "list": done, "write": done, "overwrite": done, "rename": done, "folder": done,
			"remove": done, "symlink": refused, "fifo": refused, "mode": refused, "follow a link out": refused}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "given"), []byte("0"), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			var got use
			run(t, "files", test.profile(dir), nil, &got)
			for name, want := range test.want {
				if got[name] != want {
					t.Errorf("%s: want %s, got %q", name, want, got[name])
				}
			}
		})
	}
}

func useDatabase(p sandbox.Profile, _ []byte) (any, error) {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(p.ReadWrite[0], "state.db")+
		"?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_txlock=immediate")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	if _, err := db.Exec("CREATE TABLE rows (value BLOB)"); err != nil {
		return nil, err
	}
	value := make([]byte, 32)
	if _, err := rand.Read(value); err != nil {
		return nil, err
	}
	for range 100 {
		if _, err := db.Exec("INSERT INTO rows VALUES (?)", value); err != nil {
			return nil, err
		}
	}
	var mode string
	var count int
	if err := db.QueryRow("PRAGMA journal_mode").Scan(&mode); err != nil {
		return nil, err
	}
	// Large enough to need a temporary file or memory for sorting.
	if err := db.QueryRow("SELECT count(*) FROM (SELECT DISTINCT a.rowid, b.rowid FROM rows a, rows b ORDER BY 2, 1)").Scan(&count); err != nil {
		return nil, err
	}
	return fmt.Sprint(mode, " ", count), nil
}

func TestSQLiteWorksInADirectoryToWrite(t *testing.T) {
	t.Parallel()
	need(t)
	var got string
	run(t, "database", sandbox.Profile{ReadWrite: []string{t.TempDir()}}, nil, &got)
	if got != "wal 10000" {
		t.Errorf(`want "wal 10000", got %q`, got)
	}
}

// useThreads makes more threads than there are, collects garbage, signals itself, and uses time, randomness and timers.
func useThreads(sandbox.Profile, []byte) (any, error) {
	const threads = 32
	var all sync.WaitGroup
	start := make(chan struct{})
	for range threads {
		all.Go(func() {
			runtime.LockOSThread()
			<-start
			runtime.GC()
		})
	}
	close(start)
	all.Wait()
	heard := make(chan os.Signal, 1)
	signal.Notify(heard, unix.SIGUSR1)
	if err := unix.Kill(os.Getpid(), unix.SIGUSR1); err != nil {
		return nil, err
	}
	<-heard
	<-time.After(time.Millisecond)
	return fmt.Sprint(len(rand.Text()) > 0, time.Local), nil
}

func TestTheRuntimeWorksUnderTheSandbox(t *testing.T) {
	t.Parallel()
	need(t)
	var got string
	run(t, "threads", sandbox.Profile{}, nil, &got)
	if want := "true UTC"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestEveryThreadIsUnderTheFilterAndHoldsNoCapability(t *testing.T) {
	t.Parallel()
	need(t)
	cmd := sandbox.Command(t.Context(), "surrounding", sandbox.Profile{}, nil, nil)
	input, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Env = append(cmd.Env, waiting)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make([]byte, 1)
	if _, err := input.Write([]byte("\n")); err != nil {
		t.Fatal(err)
	}
	if err := input.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := output.Read(ready); err != nil {
		t.Fatalf("want the child ready, got %v: %v", err, sandbox.StderrOf(cmd))
	}
	threads := fmt.Sprintf("/proc/%d/task", cmd.Process.Pid)
	tasks, err := os.ReadDir(threads)
	if err != nil || len(tasks) < 8 {
		t.Fatalf("want at least 8 threads, got %d: %v", len(tasks), err)
	}
	const none = "0000000000000000"
	for _, task := range tasks {
		status := parseStatus(t, filepath.Join(threads, task.Name(), "status"))
		want := map[string]string{"Seccomp": "2", "NoNewPrivs": "1", "CapEff": none, "CapPrm": none, "CapInh": none, "CapAmb": none}
		if os.Getuid() == 0 {
			want["CapBnd"] = none
		}
		for name, value := range want {
			if status[name] != value {
				t.Errorf("thread %s: want %s %s, got %s", task.Name(), name, value, status[name])
			}
		}
	}
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Max core file size 0 0 ", "Max file size 0 0 ", "Max open files 256 256 "} {
		if !strings.Contains(strings.Join(strings.Fields(string(limits)), " "), want) {
			t.Errorf("want %q among the limits, got\n%s", want, limits)
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
}

// waiting has the child of role "surrounding" start threads, say so and stay.
const waiting = "SANDBOX_TEST_WAITING=1"

func surrounding(sandbox.Profile, []byte) (any, error) {
	if os.Getenv("SANDBOX_TEST_WAITING") != "" {
		var running sync.WaitGroup
		running.Add(8)
		for range 8 {
			go func() {
				runtime.LockOSThread()
				running.Done()
				select {}
			}()
		}
		running.Wait()
		fmt.Print("r")
		<-time.After(time.Hour) // until it is killed; with no timer the runtime would see a deadlock
	}
	dir, err := os.Getwd()
	if err != nil {
		dir = "refused"
	}
	return map[string]any{"env": os.Environ(), "dir": dir}, nil
}

func TestRestrictRefusesADescriptorTheProcessOpened(t *testing.T) {
	t.Parallel()
	need(t)
	cmd := sandbox.Command(context.Background(), "careless", sandbox.Profile{}, nil, nil)
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	if code := exitCode(t, cmd.Run()); code != 7 {
		t.Fatalf("want code 7, got %d: %v", code, sandbox.StderrOf(cmd))
	}
	if !strings.Contains(stdout.String(), "want none but the runtime's") {
		t.Errorf("want the descriptor refused, got %q", stdout.String())
	}
}

func BenchmarkStartRestrictExit(b *testing.B) {
	need(b)
	for b.Loop() {
		var none any
		run(b, "nothing", sandbox.Profile{}, nil, &none)
	}
}

func BenchmarkStartExitUnrestricted(b *testing.B) {
	for b.Loop() {
		var none any
		run(b, "nothing", sandbox.Profile{}, nil, &none, free)
	}
}
