package sandbox

import (
	"fmt"
	"runtime"
	"slices"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/sys/unix"
)

// The lists name what is allowed; every other call is answered with EPERM (programs_linux.go has the filter of a profile
// with programs). A list of refusals would need an entry for
// each call the kernel gains, and the library sends calls of another architecture to the default answer, which therefore
// has to be the refusal. Names that an architecture lacks (arm64 has no open, stat or poll) are left out there.

// always are the calls that Go's runtime, the race detector's C library and work on given descriptors need.
var always = []string{
	// memory
	"brk", "madvise", "membarrier", "mincore", "mmap", "mprotect", "mremap", "msync", "munmap",
	// threads, and the end
	"arch_prctl", "exit", "exit_group", "futex", "getpid", "getppid", "gettid", "restart_syscall", "rseq",
	"sched_getaffinity", "sched_yield", "set_robust_list", "set_tid_address",
	// signals to itself are among the conditions
	"rt_sigaction", "rt_sigpending", "rt_sigprocmask", "rt_sigreturn", "rt_sigtimedwait", "sigaltstack",
	// time, randomness, and who it is
	"capget", "clock_getres", "clock_gettime", "clock_nanosleep", "getegid", "geteuid", "getgid", "getgroups",
	"getrandom", "getrlimit", "getrusage", "gettimeofday", "getuid", "nanosleep", "sysinfo", "time", "times", "uname",
	// descriptors it has
	"close", "close_range", "copy_file_range", "dup", "dup2", "dup3", "epoll_create1", "epoll_ctl", "epoll_pwait",
	"epoll_pwait2", "epoll_wait", "eventfd2", "fadvise64", "fallocate", "fdatasync", "flock", "fstat", "fstatfs", "fsync",
	"ftruncate", "getdents64", "lseek", "pipe2", "poll", "ppoll", "pread64", "preadv", "preadv2", "pselect6", "pwrite64",
	"pwritev", "pwritev2", "read", "readv", "sendfile", "splice", "write", "writev",
	// sockets it was given; none can be made, connected, bound or configured
	"getpeername", "getsockname", "getsockopt", "recvfrom", "recvmsg", "sendmsg", "sendto", "shutdown",
}

// paths are allowed to a profile with directories; Landlock decides on the path.
var paths = []string{
	"access", "faccessat", "faccessat2", "getcwd", "lstat", "newfstatat", "open", "openat", "readlink", "readlinkat", "stat",
	"statx",
}

// writes are allowed to a profile with directories to write. Mode, owner, times and extended attributes are not among
// them: Landlock does not bind those, so they would reach every file of the same user.
var writes = []string{"link", "linkat", "mkdir", "mkdirat", "rename", "renameat", "renameat2", "rmdir", "unlink", "unlinkat"}

// newKinds are the flags of clone that make something other than a thread of this process.
const newKinds = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | unix.CLONE_NEWUSER |
	unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_PIDFD | unix.CLONE_PTRACE

// descriptorCommands are the commands of fcntl allowed: none that sends a signal to an owner, leases or notifies.
var descriptorCommands = []uint64{
	unix.F_DUPFD, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL, unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW,
	unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW, unix.F_DUPFD_CLOEXEC, unix.F_GETPIPE_SZ,
}

// processControls are the options of prctl allowed: to name memory and threads, and to ask.
var processControls = []uint64{
	unix.PR_SET_VMA, unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_GET_DUMPABLE, unix.PR_GET_SECCOMP, unix.PR_GET_NO_NEW_PRIVS,
	unix.PR_CAPBSET_READ,
}

// filterKnown says whether the lists are written for this architecture.
func filterKnown() bool { return runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" }

// equal allows name where its argument is one of values.
func equal(name string, argument uint32, values ...uint64) []seccomp.NameWithConditions {
	allowed := make([]seccomp.NameWithConditions, 0, len(values))
	for _, value := range values {
		allowed = append(allowed, seccomp.NameWithConditions{Name: name, Conditions: seccomp.ArgumentConditions{
			{Argument: argument, Operation: seccomp.Equal, Value: value},
		}})
	}
	return allowed
}

// policy is the filter for p in a process of number pid, on the architecture whose call numbers are known.
func policy(p Profile, pid int, known map[string]int) seccomp.Policy {
	if len(p.Programs) > 0 {
		return programPolicy(pid, known)
	}
	names := slices.Clone(always)
	if p.directories() {
		names = append(names, paths...)
	}
	if len(p.ReadWrite) > 0 {
		names = append(names, writes...)
	}
	names = slices.DeleteFunc(names, func(name string) bool { _, ok := known[name]; return !ok })

	conditions := []seccomp.NameWithConditions{{Name: "clone", Conditions: seccomp.ArgumentConditions{
		{Argument: 0, Operation: seccomp.BitsSet, Value: unix.CLONE_THREAD},
		{Argument: 0, Operation: seccomp.BitsNotSet, Value: newKinds},
	}}}
	for _, name := range []string{"kill", "tgkill"} {
		conditions = append(conditions, equal(name, 0, uint64(pid))...)
	}
	conditions = append(conditions, equal("fcntl", 1, descriptorCommands...)...)
	conditions = append(conditions, equal("prctl", 0, processControls...)...)
	conditions = append(conditions, equal("prlimit64", 0, 0)...) // of this process only

	return seccomp.Policy{
		DefaultAction: seccomp.ActionErrno, // EPERM
		Syscalls: []seccomp.SyscallGroup{
			{Action: seccomp.ActionAllow, Names: names},
			{Action: seccomp.ActionAllow, NamesWithCondtions: conditions},
			withoutClone3,
		},
	}
}

// withoutClone3: its flags are in memory, out of a filter's sight. A C library that hears ENOSYS falls back to clone.
var withoutClone3 = seccomp.SyscallGroup{Action: seccomp.ActionErrno | seccomp.Action(unix.ENOSYS), Names: []string{"clone3"}}

// loadFilter puts the filter for p on all threads. With TSYNC_ESRCH a thread that cannot be reached is an error; without
// it the kernel answers with that thread's number, which the library would take for success.
func loadFilter(p Profile) error {
	info, err := arch.GetInfo("")
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	err = seccomp.LoadFilter(seccomp.Filter{
		NoNewPrivs: true,
		Flag:       unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH,
		Policy:     policy(p, unix.Getpid(), info.SyscallNames),
	})
	if err != nil {
		return fmt.Errorf("seccomp: %w", err)
	}
	return nil
}
