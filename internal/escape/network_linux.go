package escape

import (
	"context"
	"errors"
	"net"
	"sync"

	"golang.org/x/sys/unix"
)

var errNotAsked = errors.New("the resolver asked no server")

// network are the attempts to talk to anyone.
func network() []Attempt {
	dial := func(name, network string, address func(Env) string) Attempt {
		return Attempt{Name: name, Need: NeedNothing, Try: func(e Env) error {
			conn, err := net.Dial(network, address(e))
			if err != nil {
				return err
			}
			defer conn.Close()
			_, err = conn.Write([]byte("out"))
			return err
		}}
	}
	return []Attempt{
		dial("connect by TCP", "tcp", func(e Env) string { return e.TCP }),
		dial("send by UDP", "udp", func(e Env) string { return e.UDP }),
		dial("connect to a Unix socket", "unix", func(e Env) string { return e.Unix }),
		dial("connect to an abstract Unix socket", "unix", func(e Env) string { return "@" + e.Abstract }),
		{Name: "look a name up", Need: NeedNothing, Try: lookUp},
		{Name: "listen on TCP", Need: NeedNothing, Try: func(Env) error {
			listener, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			return listener.Close()
		}},
		{Name: "make a pair of sockets", Need: NeedNothing, Try: func(Env) error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			return closeAll(pair[:]...)
		}},
		{Name: "send a datagram from a pair of its own", Need: NeedNothing, Try: func(e Env) error {
			pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer func() { _ = closeAll(pair[:]...) }()
			// The peer is a stream's, which refuses it: but it was looked for.
			return reachedErr(unix.Sendto(pair[0], []byte("out"), 0, &unix.SockaddrUnix{Name: e.Unix}))
		}},
		{Name: "make a socket of any family", Need: NeedNothing, Try: anySocket},
	}
}

// lookUp has the resolver ask the UDP server of the parent. That it came to the server is all that counts.
func lookUp(e Env) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	cause := errNotAsked
	var first sync.Once
	resolver := net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		first.Do(func() {
			var conn net.Conn
			if conn, cause = net.Dial("udp", e.UDP); cause == nil {
				_, cause = conn.Write([]byte("out"))
				_ = conn.Close()
			}
			cancel()
		})
		return nil, context.Canceled
	}}
	_, _ = resolver.LookupHost(ctx, "name.decant.example.")
	return cause
}

// anySocket tries each address family the kernel may know, with each common type, and answers the last refusal.
func anySocket(Env) error {
	err := error(unix.EAFNOSUPPORT)
	for family := range unix.AF_MAX {
		for _, kind := range []int{unix.SOCK_STREAM, unix.SOCK_DGRAM, unix.SOCK_RAW, unix.SOCK_SEQPACKET} {
			fd, refused := unix.Socket(family, kind|unix.SOCK_CLOEXEC, 0)
			if refused == nil {
				return unix.Close(fd)
			}
			err = refused
		}
	}
	return err
}

func closeAll(fds ...int) error {
	for _, fd := range fds {
		if err := unix.Close(fd); err != nil {
			return err
		}
	}
	return nil
}
