package sandbox_test

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"decant.dev/internal/escape"
	"decant.dev/pipeline/local/sandbox"
)

func results(t *testing.T, profile sandbox.Profile, env escape.Env, extra ...string) []escape.Result {
	t.Helper()
	var lines string
	run(t, "attempts", profile, env, &lines, extra...)
	list, err := escape.Read(strings.NewReader(lines))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != len(escape.All()) {
		t.Fatalf("want %d results, got %d", len(escape.All()), len(list))
	}
	return list
}

func TestEveryAttemptIsRefusedInEveryProfile(t *testing.T) {
	t.Parallel()
	need(t)
	for name, profile := range map[string]func(*testing.T) sandbox.Profile{
		"no directories":     func(*testing.T) sandbox.Profile { return sandbox.Profile{} },
		"directory to read":  func(t *testing.T) sandbox.Profile { return sandbox.Profile{ReadOnly: []string{t.TempDir()}} },
		"directory to write": func(t *testing.T) sandbox.Profile { return sandbox.Profile{ReadWrite: []string{t.TempDir()}} },
		"both": func(t *testing.T) sandbox.Profile {
			return sandbox.Profile{ReadOnly: []string{t.TempDir()}, ReadWrite: []string{t.TempDir()}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, result := range results(t, profile(t), escape.Surroundings(t)) {
				if result.Out {
					t.Errorf("%s: got out", result.Name)
				}
				if result.Need == escape.NeedNoBroker {
					continue // the broker's tests have one
				}
				switch errno := syscall.Errno(result.Errno); errno {
				case unix.EPERM, unix.EACCES, unix.ENOSYS: // ENOSYS of clone3, x32 and a kernel without i386
				case unix.EBADF: // a descriptor that is closed
				case unix.EXDEV: // Landlock's answer to a move between folders
				default:
					t.Errorf("%s: want it refused, got %v: %s", result.Name, errno, result.Error)
				}
			}
		})
	}
}

// Without the sandbox each attempt gets out; what this machine cannot show is listed in the log.
func TestEveryAttemptSucceedsWithoutTheSandbox(t *testing.T) {
	t.Parallel()
	privileged := bare(t)
	for _, result := range results(t, sandbox.Profile{}, escape.Surroundings(t), free) {
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

// bare says whether this process is root with nearly all capabilities and under no filter, as on a plain machine.
func bare(t *testing.T) bool {
	t.Helper()
	status := parseStatus(t, "/proc/self/status")
	return os.Getuid() == 0 && status["Seccomp"] == "0" && strings.HasSuffix(status["CapEff"], "ffffff")
}

func parseStatus(t *testing.T, path string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]string{}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.TrimSpace(value)
	}
	return fields
}
