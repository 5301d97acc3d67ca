package escape

import (
	"errors"
	"slices"

	"golang.org/x/sys/unix"
)

// All answers every attempt, in the order in which they are made.
func All() []Attempt {
	return slices.Concat(files(), network(), processes(), calls(), foreign(), brokered())
}

// errnoOf is the system's number in err, 0 if there is none.
func errnoOf(err error) int {
	var errno unix.Errno
	if errors.As(err, &errno) {
		return int(errno)
	}
	return 0
}

// reached says whether a call got past the question of rights: nil if it succeeded or was refused for another reason.
func reached(errno unix.Errno) error {
	switch errno {
	case unix.EPERM, unix.EACCES, unix.ENOSYS:
		return errno
	default:
		return nil
	}
}

// call makes the system call of that number with arguments as they are.
func call(number uintptr, args ...uintptr) error {
	var a [6]uintptr
	copy(a[:], args)
	_, _, errno := unix.Syscall6(number, a[0], a[1], a[2], a[3], a[4], a[5])
	return reached(errno)
}
