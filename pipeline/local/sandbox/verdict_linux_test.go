package sandbox

import (
	"encoding/binary"
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
