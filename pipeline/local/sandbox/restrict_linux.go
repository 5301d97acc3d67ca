package sandbox

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

const (
	readable = ll.AccessFSReadFile | ll.AccessFSReadDir

	// Without the rights to execute, to make links, devices and sockets, and to move between folders.
	writable = readable | ll.AccessFSWriteFile | ll.AccessFSTruncate | ll.AccessFSMakeReg | ll.AccessFSMakeDir |
		ll.AccessFSRemoveFile | ll.AccessFSRemoveDir
)

// openFiles is the limit on open descriptors of a child: room for a fetch that reads many hosts at once.
const openFiles = 256

// Restrict takes from this process, on all of its threads and for good, everything that p does not name. A child calls
// it before it reads a byte of its input.
//
// What must be loaded from files before: root certificates (broker.Dialer does), data and models. Command sets the time
// zone to UTC, which needs no file. Descriptors that the child opened itself must be closed before, copies of its own
// apart.
//
// On an error the process may be restricted in part and must end: there is no way back. The restrictions are tried
// before Restrict returns, so a kernel that accepts and ignores them is an error too.
func Restrict(p Profile) (Applied, error) {
	if err := p.validate(); err != nil {
		return Applied{}, err
	}
	report := Check()
	if !report.Full() {
		return Applied{}, fmt.Errorf("%w, got %s", ErrUnavailable, report)
	}
	// no_new_privs and the filter must be asked for by one and the same thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	closed, err := closeInherited(p.Files)
	if err != nil {
		return Applied{}, err
	}
	if err := limit(p); err != nil {
		return Applied{}, err
	}
	held, err := dropCapabilities()
	if err != nil {
		return Applied{}, err
	}
	if err := confine(p); err != nil {
		return Applied{}, err
	}
	if err := loadFilter(p); err != nil {
		return Applied{}, err
	}
	if err := try(); err != nil {
		return Applied{}, err
	}
	return Applied{Landlock: report.Landlock, Closed: closed, Capabilities: held}, nil
}

// limit sets what the process itself may use: no core dump, few descriptors, no file growth without a directory to write.
func limit(p Profile) error {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0, unix.RLIMIT_NOFILE: openFiles}
	if len(p.ReadWrite) == 0 {
		limits[unix.RLIMIT_FSIZE] = 0
	}
	for resource, most := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(resource, &now); err != nil {
			return fmt.Errorf("read resource limit: %w", err)
		}
		most = min(most, now.Max)
		if err := unix.Setrlimit(resource, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("set resource limit: %w", err)
		}
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("refuse memory dumps: %w", err)
	}
	return nil
}

// confine puts the process under Landlock, and no_new_privs with it. Best effort is bounded below by Report.Full.
func confine(p Profile) error {
	rules := make([]landlock.Rule, 0, 2)
	if len(p.ReadOnly) > 0 {
		rules = append(rules, landlock.PathAccess(readable, p.ReadOnly...))
	}
	if len(p.ReadWrite) > 0 {
		rules = append(rules, landlock.PathAccess(writable, p.ReadWrite...))
	}
	if len(p.Programs) > 0 {
		opened, err := programRules(p.Programs)
		if err != nil {
			return err
		}
		rules = append(rules, opened...)
	}
	if err := landlock.V11.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

// try makes the two attempts that must fail, and asks the kernel for the state of this thread.
func try() error {
	if fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0); err == nil {
		_ = unix.Close(fd)
		return errors.New("landlock is not in force: want the root refused, got it opened")
	}
	if fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0); err == nil {
		_ = unix.Close(fd)
		return errors.New("seccomp is not in force: want a socket refused, got one")
	}
	mode, err := unix.PrctlRetInt(unix.PR_GET_SECCOMP, 0, 0, 0, 0)
	if err != nil || mode != unix.SECCOMP_MODE_FILTER {
		return fmt.Errorf("seccomp is not in force: want mode %d, got %d", unix.SECCOMP_MODE_FILTER, mode)
	}
	if privs, err := unix.PrctlRetInt(unix.PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0); err != nil || privs != 1 {
		return errors.New("no_new_privs is not in force")
	}
	return nil
}
