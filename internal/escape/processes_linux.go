package escape

import (
	"os/exec"
	"unsafe"

	"golang.org/x/sys/unix"
)

// processes are the attempts on other processes, and to become or make one.
func processes() []Attempt {
	parent := func(name string, need Need, try func(pid uintptr, e Env) error) Attempt {
		return Attempt{Name: name, Need: need, Try: func(e Env) error { return try(uintptr(e.ParentPID), e) }}
	}
	free := func(name string, try func() error) Attempt {
		return Attempt{Name: name, Need: NeedNothing, Try: func(Env) error { return try() }}
	}
	queued := unix.Siginfo{Code: -1} // SI_QUEUE, what a process may claim
	return []Attempt{
		parent("find the parent by signal 0", NeedNothing, func(pid uintptr, _ Env) error { return unix.Kill(int(pid), 0) }),
		parent("signal the parent", NeedNothing, func(pid uintptr, _ Env) error { return unix.Kill(int(pid), unix.SIGURG) }),
		parent("signal the parent's first thread", NeedNothing, func(pid uintptr, _ Env) error {
			return unix.Tgkill(int(pid), int(pid), unix.SIGURG)
		}),
		parent("signal a thread by number alone", NeedNothing, func(pid uintptr, _ Env) error { return call(unix.SYS_TKILL, pid, 0) }),
		parent("queue a signal", NeedNothing, func(pid uintptr, _ Env) error {
			return call(unix.SYS_RT_SIGQUEUEINFO, pid, 0, uintptr(unsafe.Pointer(&queued)))
		}),
		parent("have a descriptor signal the parent", NeedNothing, func(pid uintptr, _ Env) error {
			return call(unix.SYS_FCNTL, 0, unix.F_SETOWN, pid)
		}),
		free("find everyone by signal 0", func() error { return unix.Kill(-1, 0) }),
		parent("trace the parent", NeedPrivilege, func(pid uintptr, _ Env) error { return call(unix.SYS_PTRACE, unix.PTRACE_SEIZE, pid) }),
		parent("read the parent's memory", NeedPrivilege, readMemory),
		parent("write the parent's memory", NeedPrivilege, func(pid uintptr, _ Env) error {
			return call(unix.SYS_PROCESS_VM_WRITEV, pid)
		}),
		parent("open the parent as a descriptor", NeedPrivilege, func(pid uintptr, _ Env) error {
			fd, err := unix.PidfdOpen(int(pid), 0)
			if err != nil {
				return err
			}
			return unix.Close(fd)
		}),
		parent("change the parent's limits", NeedNothing, func(pid uintptr, _ Env) error {
			return call(unix.SYS_PRLIMIT64, pid, unix.RLIMIT_CORE)
		}),
		parent("compare descriptors with the parent", NeedPrivilege, func(pid uintptr, _ Env) error {
			return call(unix.SYS_KCMP, pid, pid, 2)
		}),
		parent("read the parent's scheduling", NeedNothing, func(pid uintptr, _ Env) error { return call(unix.SYS_SCHED_GETPARAM, pid) }),
		free("start a program", func() error { return exec.Command("/bin/true").Run() }),
		free("become a program", func() error { return path(unix.SYS_EXECVE, 0) }),
		free("become a program by descriptor", func() error { return path(unix.SYS_EXECVEAT, 1) }),
		free("make a process", forkAndWait),
		free("make a process by clone3", func() error { return call(unix.SYS_CLONE3, 0, 0) }),
		free("outlive the parent", func() error { return unix.Prctl(unix.PR_SET_PDEATHSIG, 0, 0, 0, 0) }),
		free("leave the process group", func() error { return unix.Setpgid(0, 0) }),
		free("allow memory dumps", func() error { return unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0) }),
		{Name: "enter a new namespace", Need: NeedPrivilege, Try: func(Env) error { return unix.Unshare(unix.CLONE_NEWUTS) }},
		{Name: "change its root", Need: NeedPrivilege, Try: func(Env) error { return path(unix.SYS_CHROOT, 0) }},
	}
}

// path makes a call whose argument number at is a path that does not exist: reached where the kernel looks for it.
func path(number uintptr, at int) error {
	name := []byte("/nonexistent/decant\x00")
	var args [6]uintptr
	args[at] = uintptr(unsafe.Pointer(&name[0]))
	_, _, errno := unix.Syscall6(number, args[0], args[1], args[2], args[3], args[4], args[5])
	return reached(errno)
}

func readMemory(pid uintptr, e Env) error {
	into := make([]byte, 16)
	n, err := unix.ProcessVMReadv(int(pid),
		[]unix.Iovec{{Base: &into[0], Len: uint64(len(into))}},
		[]unix.RemoteIovec{{Base: e.SecretAddress, Len: len(into)}}, 0)
	if err == nil && n != len(into) {
		return ErrMute
	}
	return err
}

// forkAndWait makes a process that ends at once. Between the two returns of clone the new process may not allocate,
// lock or grow its stack: it is a copy of one thread of many.
//
//go:norace
func forkAndWait() error {
	pid, _, errno := unix.RawSyscall6(unix.SYS_CLONE, uintptr(unix.SIGCHLD), 0, 0, 0, 0, 0)
	if errno != 0 {
		return errno
	}
	if pid == 0 {
		for {
			unix.RawSyscall(unix.SYS_EXIT_GROUP, 0, 0, 0)
		}
	}
	_, _ = unix.Wait4(int(pid), nil, 0, nil) // it was made, whether or not its end may be heard of
	return nil
}
