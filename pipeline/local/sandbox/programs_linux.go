package sandbox

import (
	"errors"
	"maps"
	"os"
	"slices"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// The filter of a profile with programs. Nobody can list what a foreign runtime calls, so it is turned round: every call
// of this architecture's table is allowed but those below, which are refused with EPERM, or allowed under a condition.
// A call that the table does not know, and each call of another architecture, is refused as ever.

// refused are the calls that a program never gets.
var refused = []string{
	// sockets: none can be made, connected or served, whoever listens
	"accept", "accept4", "bind", "connect", "listen", "socket",
	// other processes: their memory, descriptors, scheduling and signals
	"get_robust_list", "ioprio_set", "kcmp", "migrate_pages", "move_pages", "pidfd_getfd", "process_madvise", "process_mrelease",
	"process_vm_readv", "process_vm_writev", "ptrace", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "tkill",
	// memory and queues that other processes of the user share
	"mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink", "msgctl", "msgget", "msgrcv", "msgsnd",
	"semctl", "semget", "semop", "semtimedop", "shmat", "shmctl", "shmdt", "shmget",
	// the process group, by which the parent ends all
	"setpgid", "setsid",
	// what Landlock does not bind: mode, owner, times, attributes, truncation before ABI 3, watches and handles
	"chmod", "chown", "fanotify_init", "fanotify_mark", "fchmod", "fchmodat", "fchmodat2", "fchown", "fchownat", "fgetxattr",
	"flistxattr", "fremovexattr", "fsetxattr", "futimesat", "getxattr", "getxattrat", "inotify_add_watch", "inotify_init",
	"inotify_init1", "inotify_rm_watch", "lchown", "lgetxattr", "listxattr", "listxattrat", "llistxattr", "lookup_dcookie",
	"lremovexattr", "lsetxattr", "name_to_handle_at", "open_by_handle_at", "removexattr", "removexattrat", "setxattr",
	"setxattrat", "truncate", "utime", "utimensat", "utimes",
	// files without a path, which Landlock would let run
	"execveat", "memfd_create", "memfd_secret",
	// users, namespaces and mounts
	"chroot", "fsconfig", "fsmount", "fsopen", "fspick", "listmount", "mount", "mount_setattr", "move_mount", "open_tree",
	"open_tree_attr", "pivot_root", "setfsgid", "setfsuid", "setgid", "setgroups", "setns", "setregid", "setresgid", "setresuid",
	"setreuid", "setuid", "statmount", "umount2", "unshare",
	// the kernel, its keys and its clocks
	"acct", "add_key", "adjtimex", "bpf", "clock_adjtime", "clock_settime", "create_module", "delete_module", "finit_module",
	"get_kernel_syms", "init_module", "io_uring_enter", "io_uring_register", "io_uring_setup", "ioperm", "iopl", "kexec_file_load",
	"kexec_load", "keyctl", "modify_ldt", "nfsservctl", "perf_event_open", "personality", "query_module", "quotactl", "quotactl_fd",
	"reboot", "request_key", "seccomp", "setdomainname", "sethostname", "settimeofday", "swapoff", "swapon", "sysfs", "syslog",
	"uselib", "userfaultfd", "ustat", "vhangup", "_sysctl",
	// asynchronous files, which no runtime needs
	"io_cancel", "io_destroy", "io_getevents", "io_pgetevents", "io_setup", "io_submit",
	// numbers that a kernel answers with nothing, or with a trap
	"afs_syscall", "arch_specific_syscall", "getpmsg", "putpmsg", "security", "tuxcall", "uretprobe", "vserver",
}

// programControls are the options of prctl allowed to programs beside processControls.
var programControls = []uint64{
	unix.PR_GET_PDEATHSIG, unix.PR_GET_KEEPCAPS, unix.PR_GET_TIMERSLACK, unix.PR_SET_TIMERSLACK, unix.PR_SET_NO_NEW_PRIVS,
	unix.PR_GET_TID_ADDRESS, unix.PR_GET_THP_DISABLE, unix.PR_SET_THP_DISABLE, unix.PR_GET_SPECULATION_CTRL,
	unix.PR_GET_TAGGED_ADDR_CTRL, unix.PR_SET_TAGGED_ADDR_CTRL, unix.PR_PAC_RESET_KEYS,
}

// programCommands are the commands of fcntl allowed to programs beside descriptorCommands.
var programCommands = []uint64{unix.F_GETOWN, unix.F_SETPIPE_SZ, unix.F_GET_SEALS}

// deviceCommands are those of ioctl: to ask whether something is a terminal, and what a descriptor has to be read.
var deviceCommands = []uint64{
	unix.TCGETS, unix.TCGETS2, unix.TIOCGWINSZ, unix.TIOCGPGRP, fionread, fionbio, fioclex, fionclex, unix.FICLONE,
}

// From include/uapi/asm-generic/ioctls.h, alike on amd64 and arm64.
const (
	fionread = 0x541b
	fionbio  = 0x5421
	fionclex = 0x5450
	fioclex  = 0x5451
)

// socketOptions are those of level SOL_SOCKET, and transportOptions those of TCP, that a program may set on a socket that
// it was given.
var (
	socketOptions = []uint64{
		unix.SO_REUSEADDR, unix.SO_SNDBUF, unix.SO_RCVBUF, unix.SO_KEEPALIVE, unix.SO_LINGER, unix.SO_RCVTIMEO, unix.SO_SNDTIMEO,
	}
	transportOptions = []uint64{
		unix.TCP_NODELAY, unix.TCP_KEEPIDLE, unix.TCP_KEEPINTVL, unix.TCP_KEEPCNT, unix.TCP_QUICKACK, unix.TCP_USER_TIMEOUT,
	}
)

// groupNames bounds a group of the filter, so that each jump in it reaches its end: BPF's reach 255 instructions.
const groupNames = 100

// is is the condition that an argument is a value, in all of its 64 bits. A list of values that are refused would be no
// bound where the kernel reads 32 of them.
func is(argument uint32, value uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: seccomp.Equal, Value: value}
}

// lacks is the condition that an argument has none of bits.
func lacks(argument uint32, bits uint64) seccomp.Condition {
	return seccomp.Condition{Argument: argument, Operation: seccomp.BitsNotSet, Value: bits}
}

// bounded are the calls that a program in a process of number pid, or below it, is allowed under conditions.
func bounded(pid int) []seccomp.NameWithConditions {
	var list []seccomp.NameWithConditions
	allow := func(name string, conditions ...seccomp.Condition) {
		list = append(list, seccomp.NameWithConditions{Name: name, Conditions: conditions})
	}
	each := func(name string, argument uint32, values ...uint64) {
		list = append(list, equal(name, argument, values...)...)
	}
	self := uint64(pid)

	// A process or a thread of its own, to be heard of by its own parent alone. A descriptor of a process can be had at
	// its birth only, or of this process: what it can signal is what it made.
	allow("clone", lacks(0, (newKinds&^unix.CLONE_PIDFD)|unix.CLONE_PARENT))
	each("kill", 0, self)
	each("tgkill", 0, self)
	each("pidfd_open", 0, self)
	each("pidfd_send_signal", 3, 0)
	each("fcntl", 1, append(slices.Clone(descriptorCommands), programCommands...)...)
	each("prctl", 0, append(slices.Clone(processControls), programControls...)...)
	allow("prctl", is(0, unix.PR_SET_PDEATHSIG), is(1, uint64(unix.SIGKILL))) // to be bound to its parent, and never loosed
	each("ioctl", 1, deviceCommands...)
	for _, name := range []string{"prlimit64", "sched_getattr", "sched_getparam", "sched_getscheduler", "sched_setaffinity", "sched_setattr",
		"sched_setparam", "sched_setscheduler"} {
		each(name, 0, 0) // of the caller only
	}
	allow("setpriority", is(0, unix.PRIO_PROCESS), is(1, 0))

	// Runtimes wake their loops by a pair of sockets. A stream's end cannot be turned to another peer; a datagram's could
	// name one with each packet.
	for _, kind := range []uint64{0, unix.SOCK_CLOEXEC, unix.SOCK_NONBLOCK, unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK} {
		allow("socketpair", is(0, unix.AF_UNIX), is(1, unix.SOCK_STREAM|kind), is(2, 0))
	}
	allow("sendto", lacks(3, unix.MSG_FASTOPEN), is(4, 0))
	allow("sendmsg", lacks(2, unix.MSG_FASTOPEN))
	allow("sendmmsg", lacks(3, unix.MSG_FASTOPEN))
	for _, option := range socketOptions {
		allow("setsockopt", is(1, unix.SOL_SOCKET), is(2, option))
	}
	for _, option := range transportOptions {
		allow("setsockopt", is(1, unix.IPPROTO_TCP), is(2, option))
	}
	return list
}

// programPolicy is the filter for a profile with programs.
func programPolicy(pid int, known map[string]int) seccomp.Policy {
	conditional := slices.DeleteFunc(bounded(pid), func(c seccomp.NameWithConditions) bool { _, ok := known[c.Name]; return !ok })
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(known)), func(name string) bool {
		return name == "clone3" || slices.Contains(refused, name) ||
			slices.ContainsFunc(conditional, func(c seccomp.NameWithConditions) bool { return c.Name == name })
	})
	policy := seccomp.Policy{DefaultAction: seccomp.ActionErrno} // EPERM
	for group := range slices.Chunk(names, groupNames) {
		policy.Syscalls = append(policy.Syscalls, seccomp.SyscallGroup{Action: seccomp.ActionAllow, Names: group})
	}
	for len(conditional) > 0 { // the conditions of one call stay together
		last := conditional[0].Name
		end := slices.IndexFunc(conditional, func(c seccomp.NameWithConditions) bool { return c.Name != last })
		if end < 0 {
			end = len(conditional)
		}
		policy.Syscalls = append(policy.Syscalls, seccomp.SyscallGroup{Action: seccomp.ActionAllow, NamesWithCondtions: conditional[:end]})
		conditional = conditional[end:]
	}
	policy.Syscalls = append(policy.Syscalls, withoutClone3)
	return policy
}

// The rights to what programs are made of: to read and to run it, never to write it.
const (
	executable = runnable | ll.AccessFSReadDir
	runnable   = ll.AccessFSReadFile | ll.AccessFSExecute
	discards   = ll.AccessFSReadFile | ll.AccessFSWriteFile
)

// nullDevice may be written too; harmless are files that runtimes look for at their start, and take for a fault where they
// are refused: devices, and what says where libraries are and how OpenSSL is set up. None tells of anyone.
const nullDevice = "/dev/null"

var harmless = []string{"/dev/zero", "/dev/urandom", "/etc/ld.so.cache", "/etc/ssl/openssl.cnf"}

// programRules open what programs are made of. A file may not have a directory's rights.
func programRules(programs []string) ([]landlock.Rule, error) {
	rules := []landlock.Rule{
		landlock.PathAccess(discards, nullDevice).IgnoreIfMissing(),
		landlock.PathAccess(ll.AccessFSReadFile, harmless...).IgnoreIfMissing(),
	}
	for _, path := range programs {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, errors.New("landlock: want each of the programs to exist")
		case info.IsDir():
			rules = append(rules, landlock.PathAccess(executable, path))
		default:
			rules = append(rules, landlock.PathAccess(runnable, path))
		}
	}
	return rules, nil
}
