package sandbox

import (
	"os"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

func TestCheckRestrictsNothing(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := state(t)
	Check()
	if after := state(t); after != before {
		t.Errorf("want seccomp mode and no_new_privs as before %v, got %v", before, after)
	}
	if _, err := os.ReadDir("/"); err != nil {
		t.Errorf("want files open as before, got %v", err)
	}
}

// state is the calling thread's seccomp mode and no_new_privs.
func state(t *testing.T) [2]int {
	t.Helper()
	var got [2]int
	for i, option := range []int{unix.PR_GET_SECCOMP, unix.PR_GET_NO_NEW_PRIVS} {
		value, err := unix.PrctlRetInt(option, 0, 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		got[i] = value
	}
	return got
}
