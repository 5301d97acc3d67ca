//go:build unix

package command

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// waits says whether a read of a descriptor waits for what is not there yet.
func waits(fd int) bool {
	flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0)
	return err == nil && flags&unix.O_NONBLOCK == 0
}
