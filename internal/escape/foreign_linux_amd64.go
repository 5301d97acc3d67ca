package escape

import (
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// interrupt80 makes a system call of the i386 architecture and answers its result, an error as its negative.
//
//go:noescape
func interrupt80(number, a, b, c uint32) uint32

// foreign are calls of the other architectures that an amd64 kernel may serve. Numbers differ there, so a filter that
// does not look at the architecture takes socket for another call.
func foreign() []Attempt {
	const i386Socket, i386Getpid, x32Bit = 359, 20, 0x40000000
	return []Attempt{
		{Name: "make a socket by an i386 call", Need: NeedPrivilege, Try: func(Env) error {
			return i386(i386Socket, unix.AF_UNIX, unix.SOCK_STREAM, 0)
		}},
		{Name: "any i386 call", Need: NeedPrivilege, Try: func(Env) error { return i386(i386Getpid, 0, 0, 0) }},
		{Name: "make a socket by an x32 call", Need: NeedPrivilege, Try: func(Env) error {
			return call(x32Bit|unix.SYS_SOCKET, unix.AF_UNIX, unix.SOCK_STREAM)
		}},
	}
}

// i386 makes one call. A kernel without that architecture answers the interrupt with a fault.
func i386(number, a, b, c uint32) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if recover() != nil {
			err = unix.ENOSYS
		}
	}()
	if result := int32(interrupt80(number, a, b, c)); result < 0 {
		return reached(unix.Errno(-result))
	}
	return nil
}
