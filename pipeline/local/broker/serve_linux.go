package broker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// Pair makes the two ends: the parent's for Serve, the child's to be handed down through sandbox.Command. Both are the
// caller's to close; the parent closes the child's end once the child has started.
func Pair() (parent, child *os.File, err error) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("broker: make a pair of sockets: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "broker (parent)"), os.NewFile(uintptr(fds[1]), "broker (child)"), nil
}

// Serve answers the requests of one child on the parent's end of a Pair, one after the other, until the child closes its
// end (nil), ctx ends (its error), or the socket fails. A request that is refused ends nothing. Serve does not close parent.
func (b *Broker) Serve(ctx context.Context, parent *os.File) error {
	if err := b.Validate(); err != nil {
		return err
	}
	conn, err := packets(parent)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()

	rate := b.rate()
	for {
		if err := rate.take(ctx); err != nil {
			return err
		}
		if err := b.answer(ctx, conn); err != nil {
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case errors.Is(err, io.EOF), errors.Is(err, unix.EPIPE), errors.Is(err, unix.ECONNRESET):
				return nil
			default:
				return fmt.Errorf("broker: %w", err)
			}
		}
	}
}

// packets is file as a socket of packets. It takes no socket call, so it works in a restricted child too.
func packets(file *os.File) (*net.UnixConn, error) {
	conn, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("broker: want an end of a Pair: %w", err)
	}
	unixConn, ok := conn.(*net.UnixConn)
	if !ok || conn.LocalAddr().Network() != "unixpacket" {
		_ = conn.Close()
		return nil, errors.New("broker: want an end of a Pair, got another socket")
	}
	return unixConn, nil
}

// answer takes one request and replies to it. io.EOF says that the child is gone.
func (b *Broker) answer(ctx context.Context, conn *net.UnixConn) error {
	packet := make([]byte, maxRequest+1)
	// No room for control data: descriptors that a child sends are closed by the kernel.
	n, _, flags, _, err := conn.ReadMsgUnix(packet, nil)
	switch {
	case err != nil:
		return err
	case n == 0:
		return io.EOF
	}
	r, err := decodeRequest(packet[:n])
	if err != nil || flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		return refuse(conn, Malformed)
	}
	found, err := b.connect(ctx, r)
	if err != nil {
		var code Code
		if !errors.As(err, &code) {
			code = Unreachable
		}
		return refuse(conn, code)
	}
	defer found.Close()
	return pass(conn, found)
}

func refuse(conn *net.UnixConn, code Code) error {
	return send(conn, reply{Code: code}, nil)
}

// pass sends the descriptor of found. The kernel makes the child's copy; ours is closed afterwards.
func pass(conn *net.UnixConn, found net.Conn) error {
	socket, ok := found.(syscall.Conn)
	if !ok {
		return refuse(conn, Unreachable)
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return refuse(conn, Unreachable)
	}
	var sent error
	if err := raw.Control(func(fd uintptr) { sent = send(conn, reply{OK: true}, unix.UnixRights(int(fd))) }); err != nil {
		return refuse(conn, Unreachable)
	}
	return sent
}

func send(conn *net.UnixConn, r reply, rights []byte) error {
	packet, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, _, err = conn.WriteMsgUnix(packet, rights, nil)
	return err
}
