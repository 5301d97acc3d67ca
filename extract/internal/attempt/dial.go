package attempt

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"
)

const (
	dialTimeout = 5 * time.Second
	maxHeader   = 64 << 10
)

var errHost = errors.New("want a declared host")

// pinned dials hosts and no other.
func pinned(hosts []string) *http.Transport {
	hosts = slices.Clone(hosts)
	return &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if !slices.Contains(hosts, strings.ToLower(address)) {
				return nil, errHost
			}
			return (&net.Dialer{Timeout: dialTimeout}).DialContext(ctx, network, address)
		},
		TLSHandshakeTimeout: dialTimeout, TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2: true, IdleConnTimeout: 90 * time.Second, MaxResponseHeaderBytes: maxHeader,
	}
}
