package sandbox

import (
	"slices"
	"testing"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/elastic/go-seccomp-bpf/arch"
)

// A misspelt name would be left out in silence, as one that an architecture lacks is.
func TestEveryListedCallExistsOnSomeArchitecture(t *testing.T) {
	t.Parallel()
	for _, name := range slices.Concat(always, paths, writes) {
		_, amd64 := arch.X86_64.SyscallNames[name]
		_, arm64 := arch.AARCH64.SyscallNames[name]
		if !amd64 && !arm64 {
			t.Errorf("%s: want a system call, got a name of none", name)
		}
	}
}

func TestNoCallIsListedTwice(t *testing.T) {
	t.Parallel()
	all := slices.Sorted(slices.Values(slices.Concat(always, paths, writes)))
	if once := slices.Compact(slices.Clone(all)); len(once) != len(all) {
		t.Errorf("want %d distinct names, got %d", len(all), len(once))
	}
}

// The calls that carry what the sandbox is for are on no list, whoever edits them.
func TestNoCallOfPowerIsListed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"accept", "accept4", "bind", "bpf", "chmod", "chown", "chroot", "clone3", "connect", "execve", "execveat", "fchmod",
		"fchmodat", "fchown", "fork", "io_uring_enter", "io_uring_setup", "ioctl", "keyctl", "listen", "memfd_create", "mknod",
		"mknodat", "mount", "open_by_handle_at", "open_tree", "perf_event_open", "personality", "pidfd_getfd", "pidfd_open",
		"process_vm_readv", "process_vm_writev", "ptrace", "rt_sigqueueinfo", "seccomp", "setns", "setsockopt", "socket",
		"socketpair", "symlink", "symlinkat", "tkill", "truncate", "unshare", "userfaultfd", "utimensat", "vfork",
		// and these are allowed under a condition only
		"clone", "fcntl", "kill", "prctl", "prlimit64", "tgkill",
	} {
		if slices.Contains(slices.Concat(always, paths, writes), name) {
			t.Errorf("%s: want it on no list", name)
		}
	}
}

func TestThePolicyRefusesByDefaultOnEveryArchitecture(t *testing.T) {
	t.Parallel()
	for _, info := range []*arch.Info{arch.X86_64, arch.AARCH64} {
		for _, profile := range []Profile{{}, {ReadOnly: []string{"/a"}}, {ReadWrite: []string{"/a"}}} {
			policy := policy(profile, 1, info.SyscallNames)
			if policy.DefaultAction != seccomp.ActionErrno {
				t.Errorf("want a refusal by default, got %v", policy.DefaultAction)
			}
			for _, group := range policy.Syscalls {
				for _, name := range group.Names {
					if _, ok := info.SyscallNames[name]; !ok {
						t.Errorf("%s: want it left out for %s", name, info.Name)
					}
				}
				for _, condition := range group.NamesWithCondtions {
					if _, ok := info.SyscallNames[condition.Name]; !ok {
						t.Errorf("%s: want a call of %s", condition.Name, info.Name)
					}
				}
			}
			if _, err := policy.Assemble(); err != nil && info.Name == "x86_64" {
				t.Errorf("%s: %v", info.Name, err)
			}
		}
	}
}
