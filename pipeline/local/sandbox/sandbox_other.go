//go:build !linux

package sandbox

import (
	"os"
	"os/exec"
)

// Check says that this system cannot restrict a process.
func Check() Report {
	return Report{Reasons: []string{"the sandbox is made of Landlock and seccomp: want Linux"}}
}

// Restrict fails with ErrUnavailable.
func Restrict(Profile) (Applied, error) { return Applied{}, ErrUnavailable }

// bindToParent leaves cmd as it is: a child here ends when its standard input does.
func bindToParent(*exec.Cmd) {}

// Wait is cmd.Wait: a program that the child started is not ended with it here.
func Wait(cmd *exec.Cmd) error { return cmd.Wait() }

// keepToItself does nothing: descriptors are passed on Linux alone.
func keepToItself(int) error { return nil }

// self is the path of the running binary.
func self() (string, error) { return os.Executable() }
