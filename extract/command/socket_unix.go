//go:build unix

package command

import (
	"os"
	"syscall"
)

// handsDown says that a program can be given descriptors.
const handsDown = true

// blocking undoes what Go does to sockets: another runtime expects that a read
// waits.
func blocking(f *os.File) error {
	raw, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var set error
	if err := raw.Control(func(fd uintptr) { set = syscall.SetNonblock(int(fd), false) }); err != nil {
		return err
	}
	return set
}
