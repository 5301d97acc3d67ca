// Package reach makes the HTTP client of a function that may reach declared
// hosts: it dials those and no other, by addresses of the public internet.
//
// IAM does not limit where a function connects to. This does, for an honest
// function that was given a hostile link or redirect; it does not hold a
// function that is taken over, whose process could dial by itself.
package reach

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"time"

	"decant.dev/internal/public"
)

// Bounds of one request.
const (
	dialTimeout  = 5 * time.Second
	headTimeout  = 15 * time.Second
	wholeTimeout = 30 * time.Second
)

const (
	errHost    refusal = "reach: want a declared host"
	errAddress refusal = "reach: want an address of the public internet"
)

// refusal is a connection that was not tried.
type refusal string

func (r refusal) Error() string { return string(r) }

// Refused tells it from a network that does not answer.
func (refusal) Refused() bool { return true }

// Client makes a client that reaches hosts, each "host:port" in lower case,
// and none where there is none. It follows no proxy of the environment.
func Client(hosts []string) *http.Client { return client(hosts, public.Is) }

func client(hosts []string, allow func(netip.AddrPort) bool) *http.Client {
	d := dialer{slices.Clone(hosts), allow}
	return &http.Client{Timeout: wholeTimeout, Transport: &http.Transport{
		DialContext: d.dial, TLSHandshakeTimeout: dialTimeout, ResponseHeaderTimeout: headTimeout,
		ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
	}}
}

type dialer struct {
	hosts []string
	allow func(netip.AddrPort) bool
}

// dial refuses a host that is not declared before its name is looked up, and
// judges the address as the system connects to it.
func (d dialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !slices.Contains(d.hosts, strings.ToLower(address)) {
		return nil, errHost
	}
	one := net.Dialer{Timeout: dialTimeout, Control: func(_, address string, _ syscall.RawConn) error {
		if at, err := netip.ParseAddrPort(address); err != nil || !d.allow(at) {
			return errAddress
		}
		return nil
	}}
	return one.DialContext(ctx, network, address)
}
