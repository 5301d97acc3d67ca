//go:build unix && !linux

package command

import (
	"os/exec"
	"syscall"
)

// bind gives cmd a process group of its own, which its context then kills.
func bind(cmd *exec.Cmd, grouped bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: grouped}
	if grouped {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	}
}

// refused says that a group can always be made.
func refused(error) bool { return false }

// wait waits for the program's end, then ends what it left of its group.
func wait(cmd *exec.Cmd, grouped bool) error {
	err := cmd.Wait()
	if grouped {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return err
}
