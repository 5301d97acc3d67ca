package sandbox

import "fmt"

// Report is what this kernel gives a sandbox. Check makes it.
type Report struct {
	Landlock int      // highest Landlock ABI version, 0 if there is none
	Seccomp  bool     // whether a filter can be put on all threads at once
	Reasons  []string // what is missing and why, in words for a person; empty if Full
}

// Full says whether Restrict can keep what the package promises. Landlock ABI 1 (Linux 5.13) is enough: what later ABIs
// add (truncation, TCP, device calls, signals) the filter refuses as well.
func (r Report) Full() bool { return r.Landlock >= 1 && r.Seccomp }

// Available is Check().Full().
func Available() bool { return Check().Full() }

// String is one line for `decant doctor`.
func (r Report) String() string {
	seccomp := "no seccomp"
	if r.Seccomp {
		seccomp = "seccomp"
	}
	landlock := "no Landlock"
	if r.Landlock > 0 {
		landlock = fmt.Sprintf("Landlock ABI %d", r.Landlock)
	}
	return landlock + ", " + seccomp
}
