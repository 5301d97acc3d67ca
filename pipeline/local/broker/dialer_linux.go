package broker

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"

	"github.com/go-json-experiment/json"
	"golang.org/x/sys/unix"
)

// DialContext is the type of http.Transport's field of that name.
type DialContext func(ctx context.Context, network, address string) (net.Conn, error)

// Dialer is the child's side: it makes a dial function of the child's end of a Pair, which is descriptor 3 if it was the
// first file given to sandbox.Command. Call it before sandbox.Restrict, since it also reads the system's root
// certificates, which TLS would otherwise look for in vain later on. The dial function itself works after Restrict, and
// holds on to child, which must not be closed before: Restrict lets pass only copies of descriptors it was told of.
//
// Names are sent in lower case. An error that the broker answered is a Code; a cancelled dial gives the context's error,
// and a connection that comes too late for it is closed. Safe for concurrent use; dials wait for each other.
func Dialer(child *os.File) (DialContext, error) {
	conn, err := packets(child)
	if err != nil {
		return nil, err
	}
	if _, err := x509.SystemCertPool(); err != nil {
		_ = conn.Close()
		return nil, fmt.Errorf("broker: read root certificates: %w", err)
	}
	free := make(chan struct{}, 1) // holds a token while nobody asks
	free <- struct{}{}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		r, err := requestFor(network, address)
		if err != nil {
			return nil, err
		}
		select {
		case <-free:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		type answer struct {
			conn net.Conn
			err  error
		}
		answered := make(chan answer)
		go func() {
			found, err := ask(conn, r)
			runtime.KeepAlive(child) // or the collector closes it while the copy is in use
			free <- struct{}{}
			select {
			case answered <- answer{found, err}:
			case <-ctx.Done():
				if found != nil {
					_ = found.Close()
				}
			}
		}()
		select {
		case a := <-answered:
			return a.conn, a.err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}, nil
}

// ask sends one request and waits for its reply, so that request and reply never come apart.
func ask(conn *net.UnixConn, r request) (net.Conn, error) {
	packet, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if _, err := conn.Write(packet); err != nil {
		return nil, fmt.Errorf("broker: ask: %w", err)
	}
	buffer, control := make([]byte, maxReply), make([]byte, unix.CmsgSpace(4))
	n, controls, flags, _, err := conn.ReadMsgUnix(buffer, control)
	switch {
	case err != nil:
		return nil, fmt.Errorf("broker: wait for a reply: %w", err)
	case n == 0:
		return nil, fmt.Errorf("broker: %w", io.ErrUnexpectedEOF)
	}
	file, err := received(control[:controls])
	if err != nil {
		return nil, err
	}
	if file != nil {
		defer file.Close()
	}
	answer, err := decodeReply(buffer[:n])
	switch {
	case err != nil:
		return nil, err
	case flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 || answer.OK != (file != nil):
		return nil, errors.New("broker: want one descriptor with a success and none otherwise")
	case !answer.OK:
		return nil, answer.Code
	}
	found, err := net.FileConn(file)
	if err != nil {
		return nil, fmt.Errorf("broker: want a connected socket: %w", err)
	}
	return found, nil
}

// received is the one descriptor in control data, nil if there is none.
func received(control []byte) (*os.File, error) {
	if len(control) == 0 {
		return nil, nil
	}
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) != 1 {
		return nil, errors.New("broker: want one control message with a reply")
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 1 {
		return nil, errors.New("broker: want one descriptor with a reply")
	}
	return os.NewFile(uintptr(fds[0]), "connection"), nil
}
