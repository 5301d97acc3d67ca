package sandbox

import (
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// closeInherited closes every descriptor from 3 on that came through the start of this program, but the first keep. It
// answers how many it closed.
//
// A descriptor that was inherited has no close-on-exec flag, or it would be closed already; all that Go opens has it. So
// the flag tells them apart. The runtime's poller and its file of CPU limits stay open, and so does a copy of a kept
// descriptor (net.FileConn makes one). Any other that this process opened itself would outlive the restriction: it is
// an error.
func closeInherited(keep int) (int, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0, fmt.Errorf("list descriptors: want /proc mounted: %w", err)
	}
	closed := 0
	for _, entry := range entries {
		fd, err := strconv.Atoi(entry.Name())
		if err != nil {
			return closed, fmt.Errorf("list descriptors: want numbers: %w", err)
		}
		if fd < 3+keep {
			continue
		}
		flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0)
		switch {
		case err == unix.EBADF: // the descriptor that listed them
		case err != nil:
			return closed, fmt.Errorf("read descriptor flags: %w", err)
		case flags&unix.FD_CLOEXEC == 0:
			if err := unix.Close(fd); err != nil {
				return closed, fmt.Errorf("close inherited descriptor: %w", err)
			}
			closed++
		case !runtimeOwns(fd) && !copied(fd, 3+keep):
			return closed, fmt.Errorf("descriptor %d: want none but the runtime's before Restrict, got one this process opened", fd)
		}
	}
	return closed, nil
}

// runtimeOwns says whether fd is one that Go's runtime keeps for itself: its poller, the event that wakes it, or the CPU
// limit of its control group.
func runtimeOwns(fd int) bool {
	switch target, _ := os.Readlink("/proc/self/fd/" + strconv.Itoa(fd)); target {
	case "anon_inode:[eventpoll]", "anon_inode:[eventfd]":
		return true
	}
	var fs unix.Statfs_t
	if err := unix.Fstatfs(fd, &fs); err != nil {
		return false
	}
	return int64(fs.Type) == unix.CGROUP_SUPER_MAGIC || int64(fs.Type) == unix.CGROUP2_SUPER_MAGIC
}

// copied says whether fd refers to what one of the descriptors below kept refers to: the same pipe, socket or file.
func copied(fd, kept int) bool {
	var stat, other unix.Stat_t
	if unix.Fstat(fd, &stat) != nil {
		return false
	}
	for original := range kept {
		if unix.Fstat(original, &other) == nil && other.Dev == stat.Dev && other.Ino == stat.Ino {
			return true
		}
	}
	return false
}
