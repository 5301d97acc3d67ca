package command

import (
	"errors"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// bind has the kernel kill cmd when this process ends, and gives it a process
// group of its own, which its context then kills.
func bind(cmd *exec.Cmd, grouped bool) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: grouped, Pdeathsig: syscall.SIGKILL}
	if grouped {
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	}
}

// refused says whether an error of Start may be that of making a group.
func refused(err error) bool { return errors.Is(err, syscall.EPERM) }

// wait waits for the program's end, then ends its group, then takes what is
// left in its pipes. It is reaped last, so that the number stays the group's.
func wait(cmd *exec.Cmd, grouped bool) error {
	if grouped {
		for {
			err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
			if !errors.Is(err, unix.EINTR) {
				break
			}
		}
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
	}
	return cmd.Wait()
}
