package server

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// HTTP is a server over a handler with limits on what a client may take:
// GitHub waits 10 seconds for an answer, and an adapter reads a context at
// once.
func HTTP(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       20 * time.Second,
		WriteTimeout:      40 * time.Second,
		IdleTimeout:       60 * time.Second,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          log.New(io.Discard, "", 0), // its lines may repeat what a client sent
	}
}

// Listen listens on "address:port", of which the address is a literal one or
// localhost. One that is not loopback is refused unless public is set: what
// is served is not encrypted.
func Listen(address string, public bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("listen: %.64q: want address:port, as 127.0.0.1:8080", address)
	}
	if host == "localhost" {
		host = "127.0.0.1"
	}
	addr, err := netip.ParseAddr(host)
	switch {
	case err != nil || addr.Zone() != "":
		return nil, fmt.Errorf("listen: %.64q: want a literal address or localhost before the port", address)
	case !addr.Unmap().IsLoopback() && !public:
		return nil, fmt.Errorf("listen: %s is not loopback: want --public, and a proxy that speaks TLS in front", addr)
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, fmt.Errorf("listen: %w", err)
	}
	return l, nil
}

// Reach is the address at which this machine itself reaches a listener.
func Reach(l net.Listener) string {
	at := l.Addr().(*net.TCPAddr).AddrPort()
	addr := at.Addr().Unmap()
	if addr.IsUnspecified() {
		addr = netip.AddrFrom4([4]byte{127, 0, 0, 1}) // a listener on all addresses has this one too
	}
	return netip.AddrPortFrom(addr, at.Port()).String()
}
