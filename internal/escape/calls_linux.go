package escape

import "golang.org/x/sys/unix"

// bad is a descriptor, an address or a number that no call accepts.
const bad = ^uintptr(0)

// calls are system calls of power over the machine or of a wide attack surface, with arguments that end them harmlessly.
func calls() []Attempt {
	table := []struct {
		name   string
		number uintptr
		args   []uintptr
	}{
		{"bpf", unix.SYS_BPF, []uintptr{bad}},
		{"io_uring_setup", unix.SYS_IO_URING_SETUP, []uintptr{0}},
		{"io_uring_enter", unix.SYS_IO_URING_ENTER, []uintptr{bad}},
		{"io_uring_register", unix.SYS_IO_URING_REGISTER, []uintptr{bad}},
		{"keyctl", unix.SYS_KEYCTL, []uintptr{bad}},
		{"add_key", unix.SYS_ADD_KEY, []uintptr{0}},
		{"request_key", unix.SYS_REQUEST_KEY, []uintptr{0}},
		{"mount", unix.SYS_MOUNT, []uintptr{0, bad}},
		{"umount2", unix.SYS_UMOUNT2, []uintptr{bad}},
		{"move_mount", unix.SYS_MOVE_MOUNT, []uintptr{bad, 0, bad, 0, bad}},
		{"open_tree", unix.SYS_OPEN_TREE, []uintptr{bad, 0, bad}},
		{"fsopen", unix.SYS_FSOPEN, []uintptr{bad}},
		{"mount_setattr", unix.SYS_MOUNT_SETATTR, []uintptr{bad}},
		{"pivot_root", unix.SYS_PIVOT_ROOT, []uintptr{bad, bad}},
		{"setns", unix.SYS_SETNS, []uintptr{bad}},
		{"pidfd_send_signal", unix.SYS_PIDFD_SEND_SIGNAL, []uintptr{bad}},
		{"pidfd_getfd", unix.SYS_PIDFD_GETFD, []uintptr{bad}},
		{"process_madvise", unix.SYS_PROCESS_MADVISE, []uintptr{bad}},
		{"personality", unix.SYS_PERSONALITY, []uintptr{0xffffffff}},
		{"userfaultfd", unix.SYS_USERFAULTFD, []uintptr{bad}},
		{"perf_event_open", unix.SYS_PERF_EVENT_OPEN, []uintptr{0}},
		{"open_by_handle_at", unix.SYS_OPEN_BY_HANDLE_AT, []uintptr{bad}},
		{"init_module", unix.SYS_INIT_MODULE, []uintptr{0, 0, 0}},
		{"finit_module", unix.SYS_FINIT_MODULE, []uintptr{bad, 0, 0}},
		{"delete_module", unix.SYS_DELETE_MODULE, []uintptr{bad, 0}},
		{"kexec_load", unix.SYS_KEXEC_LOAD, []uintptr{0, 0, 0, bad}},
		{"reboot", unix.SYS_REBOOT, []uintptr{0}},
		{"swapon", unix.SYS_SWAPON, []uintptr{bad, bad}},
		{"sethostname", unix.SYS_SETHOSTNAME, []uintptr{0, bad}},
		{"quotactl", unix.SYS_QUOTACTL, []uintptr{bad}},
		{"acct", unix.SYS_ACCT, []uintptr{bad}},
		{"syslog", unix.SYS_SYSLOG, []uintptr{10}},
		{"settimeofday", unix.SYS_SETTIMEOFDAY, []uintptr{bad}},
		{"clock_settime", unix.SYS_CLOCK_SETTIME, []uintptr{0, bad}},
		{"memfd_create", unix.SYS_MEMFD_CREATE, []uintptr{bad}},
		{"fanotify_init", unix.SYS_FANOTIFY_INIT, []uintptr{bad}},
		{"inotify_init1", unix.SYS_INOTIFY_INIT1, []uintptr{bad}},
		{"shmget", unix.SYS_SHMGET, []uintptr{bad}},
		{"msgget", unix.SYS_MSGGET, []uintptr{bad}},
		{"semget", unix.SYS_SEMGET, []uintptr{bad}},
		{"mq_open", unix.SYS_MQ_OPEN, []uintptr{bad}},
		{"rt_tgsigqueueinfo", unix.SYS_RT_TGSIGQUEUEINFO, []uintptr{bad}},
		{"seccomp", unix.SYS_SECCOMP, []uintptr{bad}},
		{"bind", unix.SYS_BIND, []uintptr{bad}},
		{"connect", unix.SYS_CONNECT, []uintptr{bad}},
		{"listen", unix.SYS_LISTEN, []uintptr{bad}},
		{"accept4", unix.SYS_ACCEPT4, []uintptr{bad}},
		{"setsockopt", unix.SYS_SETSOCKOPT, []uintptr{bad}},
		{"ioctl", unix.SYS_IOCTL, []uintptr{bad}},
	}
	list := make([]Attempt, 0, len(table))
	for _, row := range table {
		list = append(list, Attempt{Name: "call " + row.name, Need: NeedPrivilege,
			Try: func(Env) error { return call(row.number, row.args...) }})
	}
	return list
}
