package sandbox

import (
	"os/exec"
	"syscall"
)

// bindToParent gives cmd its own process group, has the kernel kill it with the parent, and has ctx kill the group.
func bindToParent(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

// self names the running binary by a link the kernel keeps, which stays right when the file was replaced or removed.
func self() (string, error) { return "/proc/self/exe", nil }
