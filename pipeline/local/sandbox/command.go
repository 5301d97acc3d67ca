package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

const (
	phaseVariable   = "DECANT_PHASE"
	profileVariable = "DECANT_PROFILE"
)

// endDelay is how long a child's pipes are waited for after it was told to end.
const endDelay = 2 * time.Second

var phaseName = regexp.MustCompile(`^[a-z]{1,16}$`)

// Command prepares a child that runs this binary as phase, under profile. It is not started: the caller sets Stdin and
// Stdout, or takes their pipes, and calls Start. Stdout must not be a regular file: a child without a directory to write
// cannot make one grow. A refused argument is the error of Start.
//
// The child's environment is extraEnv ("NAME=value"), the phase, the profile, TZ=UTC, GOTRACEBACK=none and
// GORACE=atexit_sleep_ms=0 (read by the race detector alone); nothing of the parent's. Its descriptors are the standard
// ones and files, which become 3, 4, … in order; what else leaks into it, Restrict closes. Its working directory is the
// root, which it cannot read.
//
// Standard error goes through a pipe into a Diagnostics, found by StderrOf, which never gives the words back: a panic
// may quote foreign text. Should the caller set Stderr, that duty is the caller's.
//
// The child dies with ctx, its whole process group with it. Wait for it by Wait, which ends what it left of its group. On
// Linux it is also killed when the thread that called Start
// ends, thus with the parent at the latest; so do not call Start from a goroutine that ends while locked to its thread.
func Command(ctx context.Context, phase string, profile Profile, files []*os.File, extraEnv []string) *exec.Cmd {
	path, err := self()
	cmd := exec.CommandContext(ctx, path)
	profile.Files = len(files)
	encoded, encodeErr := json.Marshal(profile)
	if err = errors.Join(err, encodeErr, profile.validate(), checkPhase(phase), checkEnv(extraEnv)); err != nil {
		cmd.Err = err
		return cmd
	}
	cmd.Env = append(slices.Clone(extraEnv),
		phaseVariable+"="+phase,
		profileVariable+"="+string(encoded),
		"TZ=UTC",
		"GOTRACEBACK=none",
		"GORACE=atexit_sleep_ms=0",
	)
	cmd.Dir = root
	cmd.ExtraFiles = files
	cmd.Stderr = new(Diagnostics)
	cmd.WaitDelay = endDelay
	bindToParent(cmd)
	return cmd
}

// root is the directory a child works in.
const root = string(os.PathSeparator)

func checkPhase(phase string) error {
	if !phaseName.MatchString(phase) {
		return fmt.Errorf("phase: want 1 to 16 letters a to z, got %.64q", phase)
	}
	return nil
}

func checkEnv(env []string) error {
	for _, entry := range env {
		name, _, ok := strings.Cut(entry, "=")
		switch {
		case !ok || name == "" || strings.ContainsRune(entry, 0):
			return errors.New(`environment: want "NAME=value"`)
		case name == phaseVariable || name == profileVariable:
			return fmt.Errorf("environment: want %s set by Command alone", name)
		}
	}
	return nil
}

// Inherited answers what this process was started for: the phase and the Profile that Command was given, or an empty
// phase if it is no child of Command. main and TestMain ask it first of all. The child's own descriptors are, from then
// on, closed in any program that it starts.
func Inherited() (phase string, profile Profile, err error) {
	phase, ok := os.LookupEnv(phaseVariable)
	if !ok {
		return "", Profile{}, nil
	}
	if err := checkPhase(phase); err != nil {
		return "", Profile{}, err
	}
	decoder := json.NewDecoder(strings.NewReader(os.Getenv(profileVariable)))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&profile); err != nil {
		return "", Profile{}, fmt.Errorf("%s: want the profile of a child: malformed", profileVariable)
	}
	if err := profile.validate(); err != nil {
		return "", Profile{}, err
	}
	return phase, profile, keepToItself(profile.Files)
}
