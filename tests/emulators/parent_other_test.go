//go:build !linux

package emulators

import "syscall"

func endWithParent() *syscall.SysProcAttr { return nil }
