// Package sandbox starts each phase of a run in a child process of the same binary and takes from that child everything
// but what the phase holds.
//
// The threat is a phase that is wholly taken over: whoever steers the extractor runs any code they like inside its
// process. After Restrict such code can use the directories its Profile names, the descriptors it was given, memory,
// time and randomness. It cannot open another file, create a socket of any kind, connect, signal or trace another
// process, start a program or a process, or raise its own rights. A host is reached only by asking the parent's broker.
//
// Two layers do this, and either one alone would refuse most of it:
//
//   - Landlock, by hierarchy of files; where the kernel's ABI is new enough also by TCP port, signal and abstract socket.
//   - a seccomp filter that lists the system calls a phase needs and refuses every other with EPERM, so that a call the
//     kernel learns next year is refused too. Calls of another architecture (i386, x32) are refused whole.
//
// A Profile with Programs lets a child run a foreign runtime, and is weaker by as much: its filter refuses what is listed
// and allows the rest of the table of known calls, since nobody can list what a runtime needs. The child and its programs
// can then make processes, and read and run what Programs name. They still open no other file, make no socket that leads
// out, reach no process but their own and change nothing outside. They stay in the child's process group, which ends with it (Wait).
//
// Capabilities are dropped before, so that a child started by root holds no more than any other.
//
// Not promised: that a child with directories cannot learn that another path exists (stat is bound by neither layer; a
// child without directories is refused the call); that a child cannot use up CPU or memory or, with programs, processes
// (the parent's deadline and the system's limits end it); that, where the parent itself is killed, what a program started
// and left behind ends with it, as the child does and what the child bound to itself; anything at all on a system that is
// not Linux, where Check says so and Restrict fails.
package sandbox
