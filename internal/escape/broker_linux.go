package escape

import (
	"context"
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"

	"decant.dev/pipeline/local/broker"
)

// brokered are the attempts to have the parent's broker do what the child may not.
func brokered() []Attempt {
	ask := func(target func(Env) string) func(Env) error {
		return func(e Env) error {
			dial, err := dialer(e)
			if err != nil {
				return err
			}
			conn, err := dial(context.Background(), "tcp", target(e))
			if err != nil {
				return err
			}
			return conn.Close()
		}
	}
	return []Attempt{
		{Name: "ask for an undeclared host", Need: NeedNoBroker, Try: ask(func(e Env) string { return e.Undeclared })},
		{Name: "ask for a host at a special address", Need: NeedNoBroker, Try: ask(func(e Env) string { return e.Special })},
		{Name: "ask for an undeclared host often", Need: NeedNoBroker, Try: func(e Env) error {
			dial, err := dialer(e)
			if err != nil {
				return err
			}
			for range 100 {
				var conn interface{ Close() error }
				if conn, err = dial(context.Background(), "tcp", e.Undeclared); err == nil {
					return conn.Close()
				}
			}
			return err
		}},
		{Name: "hand the broker a descriptor and garbage", Need: NeedNoBroker, Try: smuggle},
	}
}

var errNoBroker = errors.New("the child has no broker")

func dialer(e Env) (broker.DialContext, error) {
	if e.BrokerFD == 0 {
		return nil, errNoBroker
	}
	// A copy, since the file closes its descriptor when it is collected.
	fd, err := unix.FcntlInt(uintptr(e.BrokerFD), unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), "broker")
	defer file.Close()
	return broker.Dialer(file)
}

// smuggle sends packets that are no request, with the child's own standard input beside them, and reads the answers: it
// got out if one of them is a success or brings a descriptor.
func smuggle(e Env) error {
	if e.BrokerFD == 0 {
		return errNoBroker
	}
	for _, packet := range []string{"{}", "null", `{"host":"localhost","port":22}{}`, "\x00", `{"host":"` + e.Undeclared + `"}`} {
		err := unix.Sendmsg(e.BrokerFD, []byte(packet), unix.UnixRights(0), nil, 0)
		if err != nil {
			return err
		}
		reply, control := make([]byte, 64), make([]byte, unix.CmsgSpace(4))
		if err := wait(e.BrokerFD); err != nil {
			return err
		}
		n, controls, _, _, err := unix.Recvmsg(e.BrokerFD, reply, control, unix.MSG_CMSG_CLOEXEC)
		if err != nil {
			return err
		}
		if want := `{"code":"malformed"}`; controls != 0 || string(reply[:n]) != want {
			return nil
		}
	}
	return fmt.Errorf("smuggled packets: %w", broker.Malformed)
}

// wait waits until fd can be read: the socket does not block once a dialer was made of it.
func wait(fd int) error {
	for {
		_, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, -1)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}
