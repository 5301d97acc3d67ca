package escape

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// files are the attempts on the file system.
func files() []Attempt {
	victim := func(e Env) string { return filepath.Join(e.OutsideDir, "victim") }
	free := func(try func(Env) error, name string) Attempt {
		return Attempt{Name: name, Need: NeedNothing, Try: try}
	}
	list := []Attempt{
		free(func(e Env) error { return read(e.SecretFile) }, "read a secret file"),
		free(func(Env) error { return read("/etc/passwd") }, "read /etc/passwd"),
		free(func(Env) error { return read("/proc/self/environ") }, "read its own environment in /proc"),
		free(func(Env) error { return listDir("/") }, "list the root"),
		free(func(e Env) error { return listDir(filepath.Dir(e.SecretFile)) }, "list a secret directory"),
		free(func(e Env) error { return opened(victim(e), unix.O_WRONLY) }, "open a file for writing"),
		free(func(e Env) error { return opened(victim(e), unix.O_RDWR|unix.O_TRUNC) }, "truncate a file by opening it"),
		free(func(e Env) error { return unix.Truncate(victim(e), 1) }, "truncate a file by its path"),
		free(func(e Env) error { return os.WriteFile(filepath.Join(e.OutsideDir, "made"), nil, 0o600) }, "make a file"),
		free(func(e Env) error { return os.Mkdir(filepath.Join(e.OutsideDir, "folder"), 0o700) }, "make a folder"),
		free(func(e Env) error { return os.Symlink("/", filepath.Join(e.OutsideDir, "soft")) }, "make a symbolic link"),
		free(func(e Env) error { return os.Link(victim(e), filepath.Join(e.OutsideDir, "hard")) }, "make a hard link"),
		free(func(e Env) error { return unix.Mkfifo(filepath.Join(e.OutsideDir, "fifo"), 0o600) }, "make a named pipe"),
		free(func(e Env) error { return thereAndBack(victim(e)) }, "rename a file"),
		free(func(e Env) error { return os.Remove(filepath.Join(e.OutsideDir, "remove")) }, "remove a file"),
		free(func(e Env) error { return os.Chmod(victim(e), 0o644) }, "change a file's mode"),
		free(func(e Env) error { return os.Chown(victim(e), os.Getuid(), os.Getgid()) }, "change a file's owner"),
		free(func(e Env) error { return unix.Utimes(victim(e), make([]unix.Timeval, 2)) }, "change a file's times"),
		free(func(e Env) error { return readDescriptor(e.InheritedFD) }, "read an inherited descriptor"),
		free(func(e Env) error { return readDescriptor(scan(e)) }, "find the secret among all descriptors"),
		{Name: "set an extended attribute", Need: NeedPrivilege, Try: func(e Env) error {
			return reachedErr(unix.Setxattr(victim(e), "user.decant", []byte("1"), 0))
		}},
		{Name: "ask for a file's handle", Need: NeedPrivilege, Try: func(e Env) error {
			_, _, err := unix.NameToHandleAt(unix.AT_FDCWD, e.SecretFile, 0)
			return reachedErr(err)
		}},
	}
	for _, name := range []string{"environ", "maps", "fd"} {
		list = append(list, free(func(e Env) error { return parentFile(e, name) }, "read the parent's "+name))
	}
	return append(list, Attempt{Name: "open the parent's memory", Need: NeedPrivilege,
		Try: func(e Env) error { return opened(fmt.Sprintf("/proc/%d/mem", e.ParentPID), unix.O_RDONLY) }})
}

func read(path string) error {
	_, err := os.ReadFile(path)
	return err
}

func listDir(path string) error {
	_, err := os.ReadDir(path)
	return err
}

func opened(path string, flags int) error {
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
	if err == nil {
		_ = unix.Close(fd)
	}
	return err
}

func parentFile(e Env, name string) error {
	path := fmt.Sprintf("/proc/%d/%s", e.ParentPID, name)
	if name == "fd" {
		return listDir(path)
	}
	return read(path)
}

func readDescriptor(fd int) error {
	n, err := unix.Pread(fd, make([]byte, 16), 0)
	if err == nil && n == 0 {
		return ErrMute
	}
	return err
}

// scan looks for a descriptor of the secret file among all, and answers -1 if there is none.
func scan(e Env) int {
	for fd := range 1024 {
		var stat unix.Stat_t
		if unix.Fstat(fd, &stat) == nil && stat.Mode&unix.S_IFMT == unix.S_IFREG && stat.Ino == e.SecretInode {
			return fd
		}
	}
	return -1
}

// thereAndBack renames a file twice, so that the attempts after it find it.
func thereAndBack(path string) error {
	if err := os.Rename(path, path+"2"); err != nil {
		return err
	}
	return os.Rename(path+"2", path)
}

// reachedErr is reached for an error of a wrapper.
func reachedErr(err error) error {
	var errno unix.Errno
	if errors.As(err, &errno) {
		return reached(errno)
	}
	return err
}
