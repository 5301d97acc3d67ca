package escape

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

const secretText = "sixteen byte key"

func surround(dir string) (env Env, closeAll func() error, err error) {
	var closers []func() error
	closeAll = func() error {
		var errs []error
		for _, c := range closers {
			errs = append(errs, c())
		}
		return errors.Join(errs...)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll())
		}
	}()
	secrets, outside := filepath.Join(dir, "secrets"), filepath.Join(dir, "outside")
	env = Env{ParentPID: os.Getpid(), OutsideDir: outside, SecretFile: filepath.Join(secrets, "secret")}
	for _, folder := range []string{secrets, outside} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			return env, closeAll, err
		}
	}
	for _, path := range []string{env.SecretFile, filepath.Join(outside, "victim"), filepath.Join(outside, "remove")} {
		if err := os.WriteFile(path, []byte(secretText), 0o644); err != nil {
			return env, closeAll, err
		}
	}
	secret := []byte(secretText)
	env.SecretAddress = uintptr(unsafe.Pointer(&secret[0]))
	closers = append(closers, func() error { clear(secret); return nil }) // and so keeps it alive
	leaked, err := leak(&env)
	if err != nil {
		return env, closeAll, err
	}
	closers = append(closers, leaked)

	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return env, closeAll, err
	}
	closers = append(closers, packets.Close)
	env.UDP = packets.LocalAddr().String()
	env.Unix = filepath.Join(outside, "socket")
	env.Abstract = fmt.Sprintf("decant-escape-%d-%d", os.Getpid(), env.SecretInode)
	for _, l := range []struct{ network, address string }{{"tcp", "127.0.0.1:0"}, {"unix", env.Unix}, {"unix", "@" + env.Abstract}} {
		listener, err := net.Listen(l.network, l.address)
		if err != nil {
			return env, closeAll, err
		}
		closers = append(closers, listener.Close)
		if l.network == "tcp" {
			env.TCP = listener.Addr().String()
		}
	}
	return env, closeAll, nil
}

// leak opens the secret file without close-on-exec, and far from the numbers
// that a command gives out.
func leak(env *Env) (close func() error, err error) {
	file, err := os.Open(env.SecretFile)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil {
		return nil, err
	}
	env.SecretInode = stat.Ino
	if env.InheritedFD, err = unix.FcntlInt(file.Fd(), unix.F_DUPFD, 100); err != nil {
		return nil, err
	}
	return func() error { return unix.Close(env.InheritedFD) }, nil
}
