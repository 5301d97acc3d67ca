package emulators

import "syscall"

// endWithParent makes a child end when the test process does.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
