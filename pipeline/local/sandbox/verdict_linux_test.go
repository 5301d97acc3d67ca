package sandbox

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

// verdict runs the filter as the kernel would, in a machine of its own, on one call of a process with number 77.
func verdict(t *testing.T, p Profile, auditArch, number uint32, args ...uint64) uint32 {
	t.Helper()
	info, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	policy := policy(p, 77, info.SyscallNames)
	program, err := policy.Assemble()
	if err != nil {
		t.Fatal(err)
	}
	machine, err := bpf.NewVM(program)
	if err != nil {
		t.Fatal(err)
	}
	// struct seccomp_data of a little-endian kernel, each word turned as this machine reads it: number, architecture,
	// instruction pointer, six arguments.
	data := make([]byte, 64)
	binary.BigEndian.PutUint32(data, number)
	binary.BigEndian.PutUint32(data[4:], auditArch)
	for i, arg := range args {
		binary.BigEndian.PutUint32(data[16+8*i:], uint32(arg))
		binary.BigEndian.PutUint32(data[20+8*i:], uint32(arg>>32))
	}
	answer, err := machine.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(answer)
}

func TestTheFilterDecidesByArchitectureNumberAndArgument(t *testing.T) {
	t.Parallel()
	if !filterKnown() {
		t.Skip("SKIP-SANDBOX: want amd64 or arm64")
	}
	info, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	const (
		allow   = uint32(seccomp.ActionAllow)
		refuse  = uint32(seccomp.ActionErrno) | uint32(unix.EPERM)
		absent  = uint32(seccomp.ActionErrno) | uint32(unix.ENOSYS)
		thread  = unix.CLONE_VM | unix.CLONE_FS | unix.CLONE_FILES | unix.CLONE_SIGHAND | unix.CLONE_SYSVSEM | unix.CLONE_THREAD
		pthread = thread | unix.CLONE_SETTLS | unix.CLONE_PARENT_SETTID | unix.CLONE_CHILD_CLEARTID
	)
	none, reads, both := Profile{}, Profile{ReadOnly: []string{"/a"}}, Profile{ReadWrite: []string{"/a"}}
	runs := Profile{Programs: []string{"/a"}}
	for _, test := range []struct {
		profile Profile
		call    string
		args    []uint64
		want    uint32
	}{
		{none, "clone", []uint64{thread}, allow},
		{none, "clone", []uint64{pthread}, allow},
		{none, "clone", []uint64{uint64(unix.SIGCHLD)}, refuse},
		{none, "clone", []uint64{unix.CLONE_VM | unix.CLONE_VFORK | uint64(unix.SIGCHLD)}, refuse},
		{none, "clone", []uint64{thread | unix.CLONE_NEWNS}, refuse},
		{none, "clone", []uint64{thread | unix.CLONE_NEWCGROUP}, refuse},
		{none, "clone", []uint64{thread | unix.CLONE_NEWUTS}, refuse},
		{none, "clone", []uint64{thread | unix.CLONE_NEWIPC}, refuse},
		{none, "clone", []uint64{thread | unix.CLONE_NEWUSER}, refuse},
		{none, "clone", []uint64{thread | unix.CLONE_NEWPID}, refuse},
		{none, "clone", []uint64{thread | unix.CLONE_NEWNET}, refuse},
		{none, "clone", []uint64{thread | unix.CLONE_PIDFD}, refuse},
		{none, "clone3", []uint64{0, 88}, absent},
		{none, "kill", []uint64{77, 9}, allow},
		{none, "kill", []uint64{78, 0}, refuse},
		{none, "kill", []uint64{0, 9}, refuse},
		{none, "kill", []uint64{1<<64 - 1, 9}, refuse},
		{none, "kill", []uint64{1<<32 | 77, 9}, refuse},
		{none, "tgkill", []uint64{77, 80, 23}, allow},
		{none, "tgkill", []uint64{1, 1, 0}, refuse},
		{none, "tkill", []uint64{77, 0}, refuse},
		{none, "fcntl", []uint64{3, unix.F_SETFL}, allow},
		{none, "fcntl", []uint64{3, unix.F_SETOWN, 1}, refuse},
		{none, "fcntl", []uint64{3, 15}, refuse}, // F_SETOWN_EX
		{none, "fcntl", []uint64{3, 10}, refuse}, // F_SETSIG
		{none, "prctl", []uint64{unix.PR_SET_VMA}, allow},
		{none, "prctl", []uint64{unix.PR_SET_DUMPABLE, 1}, refuse},
		{none, "prctl", []uint64{unix.PR_SET_PDEATHSIG}, refuse},
		{none, "prctl", []uint64{unix.PR_SET_MM}, refuse},
		{none, "prlimit64", []uint64{0, unix.RLIMIT_NOFILE}, allow},
		{none, "prlimit64", []uint64{1, unix.RLIMIT_NOFILE}, refuse},
		{none, "read", nil, allow},
		{none, "getrandom", nil, allow},
		{none, "recvmsg", nil, allow},
		{none, "socket", []uint64{unix.AF_UNIX}, refuse},
		{none, "openat", nil, refuse},
		{none, "newfstatat", nil, refuse},
		{reads, "openat", nil, allow},
		{reads, "unlinkat", nil, refuse},
		{both, "openat", nil, allow},
		{both, "unlinkat", nil, allow},
		{both, "symlinkat", nil, refuse},
		{both, "fchmodat", nil, refuse},
		{both, "truncate", nil, refuse},

		{runs, "execve", nil, allow},
		{runs, "execveat", nil, refuse},
		{runs, "memfd_create", nil, refuse},
		{runs, "openat", nil, allow},
		{runs, "writev", nil, allow},
		{runs, "fchmodat", nil, refuse},
		{runs, "ptrace", nil, refuse},
		{runs, "unshare", nil, refuse},
		{runs, "setsid", nil, refuse},
		{runs, "setpgid", []uint64{0, 0}, refuse},
		{runs, "clone", []uint64{uint64(unix.SIGCHLD)}, allow},
		{runs, "clone", []uint64{pthread}, allow},
		{runs, "clone", []uint64{unix.CLONE_VM | unix.CLONE_VFORK | unix.CLONE_PIDFD | uint64(unix.SIGCHLD)}, allow},
		{runs, "clone", []uint64{unix.CLONE_NEWUSER | uint64(unix.SIGCHLD)}, refuse},
		{runs, "clone", []uint64{unix.CLONE_NEWPID | uint64(unix.SIGCHLD)}, refuse},
		{runs, "clone", []uint64{unix.CLONE_NEWNET}, refuse},
		{runs, "clone", []uint64{unix.CLONE_PARENT | uint64(unix.SIGCHLD)}, refuse},
		{runs, "clone", []uint64{unix.CLONE_PTRACE | uint64(unix.SIGCHLD)}, refuse},
		{runs, "clone3", []uint64{0, 88}, absent},
		{runs, "kill", []uint64{77, 6}, allow},
		{runs, "kill", []uint64{78, 9}, refuse},
		{runs, "kill", []uint64{0, 9}, refuse},
		{runs, "kill", []uint64{1<<64 - 77, 9}, refuse},
		{runs, "tgkill", []uint64{77, 80, 23}, allow},
		{runs, "tgkill", []uint64{1, 1, 0}, refuse},
		{runs, "pidfd_open", []uint64{77}, allow},
		{runs, "pidfd_open", []uint64{1}, refuse},
		{runs, "pidfd_send_signal", []uint64{3, 9, 0, 0}, allow},
		{runs, "pidfd_send_signal", []uint64{3, 9, 0, 4}, refuse}, // PIDFD_SIGNAL_PROCESS_GROUP
		{runs, "fcntl", []uint64{3, unix.F_SETOWN, 1}, refuse},
		{runs, "fcntl", []uint64{3, 1<<32 | unix.F_SETOWN, 1}, refuse},
		{runs, "fcntl", []uint64{3, 15}, refuse}, // F_SETOWN_EX
		{runs, "fcntl", []uint64{3, unix.F_DUPFD_CLOEXEC}, allow},
		{runs, "prctl", []uint64{unix.PR_SET_PDEATHSIG, 9}, allow},
		{runs, "prctl", []uint64{unix.PR_SET_PDEATHSIG, 0}, refuse},
		{runs, "prctl", []uint64{1<<32 | unix.PR_SET_PDEATHSIG, 0}, refuse},
		{runs, "prctl", []uint64{unix.PR_SET_DUMPABLE, 1}, refuse},
		{runs, "prctl", []uint64{unix.PR_SET_PTRACER, 1}, refuse},
		{runs, "prctl", []uint64{unix.PR_SCHED_CORE}, refuse},
		{runs, "ioctl", []uint64{0, unix.TCGETS}, allow},
		{runs, "ioctl", []uint64{0, unix.TIOCSTI}, refuse},
		{runs, "ioctl", []uint64{0, 1<<32 | unix.TIOCSTI}, refuse},
		{runs, "ioctl", []uint64{0, 0x8901}, refuse}, // FIOSETOWN
		{runs, "prlimit64", []uint64{1, unix.RLIMIT_NOFILE}, refuse},
		{runs, "sched_setaffinity", []uint64{1}, refuse},
		{runs, "setpriority", []uint64{unix.PRIO_USER, 0}, refuse},
		{runs, "socket", []uint64{unix.AF_UNIX}, refuse},
		{runs, "connect", nil, refuse},
		{runs, "socketpair", []uint64{unix.AF_UNIX, unix.SOCK_STREAM | unix.SOCK_CLOEXEC, 0}, allow},
		{runs, "socketpair", []uint64{unix.AF_UNIX, unix.SOCK_DGRAM, 0}, refuse},
		{runs, "socketpair", []uint64{unix.AF_UNIX, unix.SOCK_SEQPACKET, 0}, refuse},
		{runs, "socketpair", []uint64{unix.AF_UNIX, 1<<32 | unix.SOCK_DGRAM, 0}, refuse},
		{runs, "sendto", []uint64{3, 0, 9, 0, 0, 0}, allow},
		{runs, "sendto", []uint64{3, 0, 9, 0, 0xc000, 16}, refuse},
		{runs, "sendto", []uint64{3, 0, 9, unix.MSG_FASTOPEN, 0, 0}, refuse},
		{runs, "sendmsg", []uint64{3, 0, unix.MSG_NOSIGNAL}, allow},
		{runs, "sendmsg", []uint64{3, 0, 1<<32 | unix.MSG_FASTOPEN}, refuse},
		{runs, "sendmmsg", []uint64{3, 0, 1, unix.MSG_FASTOPEN}, refuse},
		{runs, "setsockopt", []uint64{3, unix.IPPROTO_TCP, unix.TCP_NODELAY}, allow},
		{runs, "setsockopt", []uint64{3, unix.IPPROTO_TCP, unix.TCP_REPAIR}, refuse},
		{runs, "setsockopt", []uint64{3, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER}, refuse},
		{runs, "shmget", nil, refuse},
		{runs, "keyctl", nil, refuse},
		{runs, "io_uring_setup", nil, refuse},
	} {
		number, ok := info.SyscallNames[test.call]
		if !ok {
			t.Fatalf("%s: want a call of %s", test.call, info.Name)
		}
		if got := verdict(t, test.profile, uint32(info.ID), uint32(number), test.args...); got != test.want {
			t.Errorf("%s%#x under %+v: want %#x, got %#x", test.call, test.args, test.profile, test.want, got)
		}
		if got := verdict(t, test.profile, uint32(arch.I386.ID), uint32(number), test.args...); got == allow {
			t.Errorf("%s%#x by i386: want it refused", test.call, test.args)
		}
		if got := verdict(t, test.profile, uint32(info.ID), uint32(number|arch.X32.SeccompMask), test.args...); got == allow {
			t.Errorf("%s%#x by x32: want it refused", test.call, test.args)
		}
	}
}

// Whatever the table's calls, the filter of programs allows what is not refused and refuses what is: the library's long
// jumps are tried for each.
func TestTheFilterOfProgramsDecidesOnEveryCall(t *testing.T) {
	t.Parallel()
	info, err := arch.GetInfo("")
	if err != nil {
		t.Fatal(err)
	}
	runs := Profile{Programs: []string{"/a"}}
	for name, number := range info.SyscallNames {
		got := verdict(t, runs, uint32(info.ID), uint32(number), 1<<63, 1<<63, 1<<63, 1<<63, 1<<63, 1<<63)
		bound := slices.ContainsFunc(bounded(77), func(c seccomp.NameWithConditions) bool { return c.Name == name })
		allowed := !bound && name != "clone3" && !slices.Contains(refused, name)
		if name == "clone" || name == "sendmsg" || name == "sendmmsg" { // bounded by bits that these arguments lack
			allowed = true
		}
		if (got == uint32(seccomp.ActionAllow)) != allowed {
			t.Errorf("%s: want allowed %v, got %#x", name, allowed, got)
		}
	}
	for number := uint32(512); number < 1024; number++ {
		if got := verdict(t, runs, uint32(info.ID), number); got == uint32(seccomp.ActionAllow) {
			t.Errorf("call %d: want it refused, got it allowed", number)
		}
	}
}
