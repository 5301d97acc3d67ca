package sandbox_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"decant.dev/pipeline/local/sandbox"
)

func TestAChildHasNothingOfTheParentsEnvironment(t *testing.T) {
	t.Setenv("DECANT_TEST_SECRET", "leaked")
	var got struct {
		Env []string
		Dir string
	}
	run(t, "surrounding", sandbox.Profile{}, nil, &got, free, "GOGC=50")
	slices.Sort(got.Env)
	want := []string{"DECANT_PHASE=surrounding", "DECANT_PROFILE={}", "GOGC=50", "GORACE=atexit_sleep_ms=0", "GOTRACEBACK=none", free, "TZ=UTC"}
	slices.Sort(want)
	if !slices.Equal(got.Env, want) {
		t.Errorf("want the environment %q, got %q", want, got.Env)
	}
	if got.Dir != "/" {
		t.Errorf("want the root as working directory, got %q", got.Dir)
	}
}

func TestCommandRefusesWhatItCannotHandDown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	many := slices.Repeat([]*os.File{os.Stdin}, 9)
	for name, cmd := range map[string]interface{ Start() error }{
		"empty phase":         sandbox.Command(t.Context(), "", sandbox.Profile{}, nil, nil),
		"phase in upper case": sandbox.Command(t.Context(), "Act", sandbox.Profile{}, nil, nil),
		"long phase":          sandbox.Command(t.Context(), strings.Repeat("a", 17), sandbox.Profile{}, nil, nil),
		"relative directory":  sandbox.Command(t.Context(), "nothing", sandbox.Profile{ReadOnly: []string{"state"}}, nil, nil),
		"unclean directory":   sandbox.Command(t.Context(), "nothing", sandbox.Profile{ReadWrite: []string{dir + "/.."}}, nil, nil),
		"the root":            sandbox.Command(t.Context(), "nothing", sandbox.Profile{ReadOnly: []string{"/"}}, nil, nil),
		"both lists": sandbox.Command(t.Context(), "nothing",
			sandbox.Profile{ReadOnly: []string{dir}, ReadWrite: []string{dir}}, nil, nil),
		"many directories": sandbox.Command(t.Context(), "nothing", sandbox.Profile{ReadOnly: slices.Repeat([]string{dir}, 17)}, nil, nil),
		"many files":       sandbox.Command(t.Context(), "nothing", sandbox.Profile{}, many, nil),
		"no value":         sandbox.Command(t.Context(), "nothing", sandbox.Profile{}, nil, []string{"NAME"}),
		"no name":          sandbox.Command(t.Context(), "nothing", sandbox.Profile{}, nil, []string{"=value"}),
		"another phase":    sandbox.Command(t.Context(), "nothing", sandbox.Profile{}, nil, []string{"DECANT_PHASE=act"}),
		"another profile":  sandbox.Command(t.Context(), "nothing", sandbox.Profile{}, nil, []string{"DECANT_PROFILE={}"}),
	} {
		if cmd.Start() == nil {
			t.Errorf("%s: want it refused, got it started", name)
		}
	}
}

func TestRestrictFailsWhereADirectoryIsMissing(t *testing.T) {
	t.Parallel()
	need(t)
	cmd := sandbox.Command(t.Context(), "nothing", sandbox.Profile{ReadOnly: []string{t.TempDir() + "/missing"}}, nil, nil)
	if code := exitCode(t, cmd.Run()); code != 3 {
		t.Errorf("want Restrict to fail with code 3, got %d", code)
	}
}

func TestARestrictedChildDiesWithItsParent(t *testing.T) {
	t.Parallel()
	need(t)
	diesWithParent(t, "grandparent", sandbox.Profile{})
}

// diesWithParent kills a child of this test that has started a process, and waits for that process's end.
func diesWithParent(t *testing.T, phase string, profile sandbox.Profile) {
	t.Helper()
	input, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	output, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	cmd := sandbox.Command(t.Context(), phase, profile, []*os.File{input}, nil)
	cmd.Stdout = theirs
	err = cmd.Start()
	_, _ = theirs.Close(), input.Close()
	if err != nil {
		t.Fatal(err)
	}
	// A guard against hanging, not a measure.
	if err := output.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(output, make([]byte, 1)); err != nil {
		t.Fatalf("want the child restricted, got %v: %v", err, sandbox.StderrOf(cmd))
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	// The pipe ends when its last writer has died.
	if _, err := output.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("want the child dead and its output at an end, got %v", err)
	}
}

func TestAChildDiesWithItsContext(t *testing.T) {
	t.Parallel()
	input, hold, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer hold.Close()
	defer input.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cmd := sandbox.Command(ctx, "nothing", sandbox.Profile{}, nil, []string{free})
	cmd.Stdin = input
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	cancel()
	if err := cmd.Wait(); err == nil {
		t.Error("want the child killed, got it ended well")
	}
}

func TestWhatAChildSaysOnStandardErrorIsNeverRepeated(t *testing.T) {
	t.Parallel()
	cmd := sandbox.Command(t.Context(), "secretphase", sandbox.Profile{}, nil, []string{free})
	var stdout bytes.Buffer
	cmd.Stdout = &stdout
	// The role does not exist, so the child panics.
	if code := exitCode(t, cmd.Run()); code != 2 {
		t.Fatalf("want the code of a panic, got %d", code)
	}
	diagnostics := sandbox.StderrOf(cmd)
	if diagnostics.Kind() != sandbox.KindPanic || diagnostics.Bytes() == 0 {
		t.Errorf("want a panic, got %v", diagnostics)
	}
	cmd.Stderr = &stdout
	if sandbox.StderrOf(cmd) != nil {
		t.Error("want no diagnostics where standard error was replaced")
	}
}
