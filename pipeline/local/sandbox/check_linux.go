package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Check asks the kernel what it gives, without restricting the caller.
func Check() Report {
	var r Report
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	switch errno {
	case 0:
		r.Landlock = int(version)
	case unix.ENOSYS:
		r.Reasons = append(r.Reasons, "Landlock: not in this kernel, want Linux 5.13 or later")
	case unix.EOPNOTSUPP:
		r.Reasons = append(r.Reasons, "Landlock: built in but switched off at boot, want lsm=landlock,... on the kernel's command line")
	default:
		r.Reasons = append(r.Reasons, fmt.Sprintf("Landlock: refused, perhaps by a container's own filter (%s)", unix.ErrnoName(errno)))
	}

	// A filter with no program is refused with EFAULT only after its flags were accepted.
	const flags = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH
	action := uint32(unix.SECCOMP_RET_ERRNO)
	_, _, actionErr := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	_, _, flagsErr := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, 0)
	switch {
	case actionErr != 0:
		r.Reasons = append(r.Reasons, fmt.Sprintf("seccomp: want filters that answer with an error (%s)", unix.ErrnoName(actionErr)))
	case flagsErr != unix.EFAULT:
		r.Reasons = append(r.Reasons, "seccomp: want a filter on all threads at once, Linux 5.7 or later")
	case !filterKnown():
		r.Reasons = append(r.Reasons, "seccomp: want amd64 or arm64")
	default:
		r.Seccomp = true
	}
	return r
}
