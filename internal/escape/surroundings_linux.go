package escape

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Surroundings makes everything an attempt aims at: files, servers, a leaked descriptor and a secret in memory.
func Surroundings(t testing.TB) Env {
	t.Helper()
	secrets, outside := t.TempDir(), t.TempDir()
	env := Env{ParentPID: os.Getpid(), OutsideDir: outside, SecretFile: filepath.Join(secrets, "secret")}
	for _, path := range []string{env.SecretFile, filepath.Join(outside, "victim"), filepath.Join(outside, "remove")} {
		if err := os.WriteFile(path, []byte("sixteen byte key"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	secret := []byte("sixteen byte key")
	env.SecretAddress = uintptr(unsafe.Pointer(&secret[0]))
	t.Cleanup(func() { clear(secret) }) // and so keeps it alive

	file, err := os.Open(env.SecretFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var stat unix.Stat_t
	if err := unix.Fstat(int(file.Fd()), &stat); err != nil {
		t.Fatal(err)
	}
	env.SecretInode = stat.Ino
	// Without close-on-exec, and far from the numbers that Command gives out.
	env.InheritedFD, err = unix.FcntlInt(file.Fd(), unix.F_DUPFD, 100)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(env.InheritedFD) })

	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = packets.Close() })
	env.UDP = packets.LocalAddr().String()
	env.Unix = filepath.Join(outside, "socket")
	env.Abstract = "decant-escape-" + filepath.Base(filepath.Dir(outside)) + filepath.Base(outside)
	env.TCP = listen(t, "tcp", "127.0.0.1:0")
	listen(t, "unix", env.Unix)
	listen(t, "unix", "@"+env.Abstract)
	return env
}

func listen(t testing.TB, network, address string) string {
	t.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String()
}
