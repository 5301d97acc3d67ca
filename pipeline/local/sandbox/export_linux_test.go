package sandbox

import (
	"os"

	"github.com/elastic/go-seccomp-bpf/arch"
)

// Listed are the numbers of the calls that the filter for p allows, at least under a condition, or answers by itself.
func Listed(p Profile) map[int]bool {
	info, err := arch.GetInfo("")
	if err != nil {
		panic(err)
	}
	listed := map[int]bool{}
	for _, group := range policy(p, os.Getpid(), info.SyscallNames).Syscalls {
		for _, name := range group.Names {
			listed[info.SyscallNames[name]] = true
		}
		for _, condition := range group.NamesWithCondtions {
			listed[info.SyscallNames[condition.Name]] = true
		}
	}
	return listed
}
