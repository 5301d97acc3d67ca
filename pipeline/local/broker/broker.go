package broker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"time"
)

// The defaults of a Broker.
const (
	DefaultTimeout = 15 * time.Second
	DefaultBurst   = 32
	DefaultEvery   = 100 * time.Millisecond
)

// maxAddresses is how many addresses of one host are tried.
const maxAddresses = 8

// Broker is the parent's side. Its zero value declares no host and so refuses all.
type Broker struct {
	// Hosts are the declared "host:port", exactly as a client spells them in lower case; an IPv6 address in brackets.
	// There are no patterns.
	Hosts []string

	// Resolve finds the addresses of a host. Nil is the system's resolver. It is not asked where the host is an address.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)

	// Allow judges an address before it is dialled and again as the system connects. Nil is Public.
	Allow func(netip.AddrPort) error

	// Dial connects by TCP to that address and no other. Nil is the system's dialler.
	Dial func(context.Context, netip.AddrPort) (net.Conn, error)

	// Timeout bounds one request from the packet to the connection. 0 is DefaultTimeout.
	Timeout time.Duration

	// Burst requests may come at once; after that one each Every. Requests beyond wait unread in the socket, which holds
	// up nobody but the child. 0 is DefaultBurst and DefaultEvery.
	Burst int
	Every time.Duration

	clock clock // nil is the system's
}

// Validate refuses a Broker with a host that no request could match.
func (b *Broker) Validate() error {
	for _, host := range b.Hosts {
		if _, err := parseTarget(host); err != nil {
			return fmt.Errorf("declared host %.64q: %w", host, err)
		}
	}
	if b.Burst < 0 || b.Every < 0 || b.Timeout < 0 {
		return errors.New("broker: want burst, interval and timeout of at least 0")
	}
	return nil
}

// DialContext is what Serve does for a child, in this process: for where there is no child to pass a descriptor to. It
// fits http.Transport. Its error is a Code.
func (b *Broker) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	r, err := requestFor(network, address)
	if err != nil {
		return nil, err
	}
	return b.connect(ctx, r)
}

// connect answers a connection to a declared host at an address that was checked, or a Code.
func (b *Broker) connect(ctx context.Context, r request) (net.Conn, error) {
	if !slices.Contains(b.Hosts, r.target()) {
		return nil, HostNotDeclared
	}
	ctx, cancel := context.WithTimeout(ctx, cmpOr(b.Timeout, DefaultTimeout))
	defer cancel()
	addrs, err := b.resolve(ctx, r.Host)
	if err != nil || len(addrs) == 0 {
		return nil, Unresolvable
	}
	failure := AddressRefused
	for _, addr := range addrs[:min(len(addrs), maxAddresses)] {
		// A resolver may give IPv4 addresses mapped into IPv6.
		target := netip.AddrPortFrom(addr.Unmap(), r.Port)
		if b.allow(target) != nil {
			continue
		}
		conn, err := b.dial(ctx, target)
		if err == nil {
			return conn, nil
		}
		if !errors.Is(err, AddressRefused) {
			failure = Unreachable
		}
	}
	return nil, failure
}

func (b *Broker) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	if b.Resolve != nil {
		return b.Resolve(ctx, host)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

func (b *Broker) allow(target netip.AddrPort) error {
	if b.Allow != nil {
		return b.Allow(target)
	}
	return Public(target)
}

// dial connects to target, and to nothing else: the address is given as numbers, and what the system is about to connect
// to is compared and judged once more.
func (b *Broker) dial(ctx context.Context, target netip.AddrPort) (net.Conn, error) {
	dial := b.Dial
	if dial == nil {
		dialer := net.Dialer{Control: func(_, address string, _ syscall.RawConn) error {
			at, err := netip.ParseAddrPort(address)
			if err != nil || at != target || b.allow(at) != nil {
				return AddressRefused
			}
			return nil
		}}
		dial = func(ctx context.Context, target netip.AddrPort) (net.Conn, error) {
			return dialer.DialContext(ctx, "tcp", target.String())
		}
	}
	conn, err := dial(ctx, target)
	if err != nil {
		return nil, err
	}
	remote, ok := conn.RemoteAddr().(*net.TCPAddr)
	if !ok || netip.AddrPortFrom(remote.AddrPort().Addr().Unmap(), uint16(remote.Port)) != target {
		_ = conn.Close()
		return nil, AddressRefused
	}
	return conn, nil
}

// requestFor is the request of an http.Transport's dial.
func requestFor(network, address string) (request, error) {
	switch network {
	case "tcp", "tcp4", "tcp6":
	default:
		return request{}, Malformed
	}
	r, err := parseTarget(lower(address))
	if err != nil {
		return request{}, Malformed
	}
	return r, nil
}

// lower folds ASCII letters, as host names compare (RFC 4343).
func lower(s string) string {
	folded := []byte(s)
	for i, c := range folded {
		if 'A' <= c && c <= 'Z' {
			folded[i] = c + 'a' - 'A'
		}
	}
	return string(folded)
}

func cmpOr(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}
