package sandbox

import (
	"errors"
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// bindToParent gives cmd its own process group, has the kernel kill it with the parent, and has ctx kill the group.
func bindToParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// self names the running binary by a link the kernel keeps, which stays right when the file was replaced or removed.
func self() (string, error) { return "/proc/self/exe", nil }

// Wait is cmd.Wait for a cmd of Command, and ends whatever else is in the child's process group when the child has ended:
// no program that it started outlives it. Under a profile with programs none can leave the group.
func Wait(cmd *exec.Cmd) error {
	pid := cmd.Process.Pid
	for { // not reaped yet, so that the number stays the group's
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	_ = unix.Kill(-pid, unix.SIGKILL)
	return cmd.Wait()
}

// keepToItself has the first files descriptors from 3 on closed in every program that this process starts.
func keepToItself(files int) error {
	for fd := 3; fd < 3+files; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return fmt.Errorf("descriptor %d: want it inherited: %w", fd, err)
		}
	}
	return nil
}
