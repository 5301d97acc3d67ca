package sandbox

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
	"kernel.org/pub/linux/libs/security/libcap/psx"
)

// lastCapability bounds the walk over the bounding set; the kernel numbers capabilities below 64 (capability.h).
const lastCapability = 63

// dropCapabilities empties the effective, permitted, inheritable, ambient and, where the process may, bounding sets of
// all threads, and says whether there was anything to drop. The sets belong to threads, hence psx.
func dropCapabilities() (bool, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var now [2]unix.CapUserData
	if err := unix.Capget(&header, &now[0]); err != nil {
		return false, fmt.Errorf("read capabilities: %w", err)
	}
	var held uint32
	for _, set := range now {
		held |= set.Permitted | set.Effective | set.Inheritable
	}

	if now[0].Effective&(1<<unix.CAP_SETPCAP) != 0 {
		for capability := uintptr(0); capability <= lastCapability; capability++ {
			present, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, capability, 0, 0, 0)
			if err != nil {
				break // the first number this kernel does not know
			}
			if present == 0 {
				continue
			}
			if _, _, errno := psx.Syscall3(unix.SYS_PRCTL, unix.PR_CAPBSET_DROP, capability, 0); errno != 0 {
				return false, fmt.Errorf("drop capability %d from the bounding set: %w", capability, errno)
			}
		}
	}
	// Linux 4.3 and later, which Landlock implies.
	if _, _, errno := psx.Syscall6(unix.SYS_PRCTL, unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0, 0); errno != 0 {
		return false, fmt.Errorf("clear ambient capabilities: %w", errno)
	}
	var none [2]unix.CapUserData
	_, _, errno := psx.Syscall3(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&none[0])), 0)
	if errno != 0 {
		return false, fmt.Errorf("drop capabilities: %w", errno)
	}
	return held != 0, nil
}
