// Package wire makes the HTTP calls of sinks: to one host, never elsewhere;
// with answers of bounded size; and with what is known of each call, so that a
// sink can tell what was certainly not performed.
package wire

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"
)

// Bounds of a connection. A sink's limit bounds the whole call.
const (
	dialTimeout = 5 * time.Second // to connect, and again for TLS
	idleTimeout = 60 * time.Second
)

// MaxAfter bounds how long a peer can make a job wait by its own word.
const MaxAfter = 24 * time.Hour

// Origin reads the address of a peer: https with a host, without user, query
// and fragment. Where loopback is true, http to a loopback address is taken
// too: tests have no certificate.
func Origin(raw string, loopback bool) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return nil, errors.New("address: want https://host/path without user, query and fragment")
	}
	if u.Scheme == "http" && loopback {
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil && ip.IsLoopback() {
			return u, nil
		}
	}
	if u.Scheme != "https" {
		return nil, fmt.Errorf("address of scheme %.16q: want https", u.Scheme)
	}
	return u, nil
}

// NewClient is base with calls that reach origin's host alone, follow no
// redirect and read answers up to the bound of their call. A nil base stands
// for a client of its own, which asks no proxy.
func NewClient(base *http.Client, origin *url.URL) *http.Client {
	c := http.Client{}
	if base != nil {
		c = *base
	}
	if c.Transport == nil {
		c.Transport = &http.Transport{
			DialContext:         (&net.Dialer{Timeout: dialTimeout}).DialContext,
			TLSHandshakeTimeout: dialTimeout,
			IdleConnTimeout:     idleTimeout,
			ForceAttemptHTTP2:   true,
			TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
		}
	}
	_, traced := c.Transport.(*http.Transport)
	c.Transport = &door{next: c.Transport, traced: traced, scheme: origin.Scheme, host: origin.Host}
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c.Jar = nil
	return &c
}

// Call is what is known of the requests made under one context.
type Call struct {
	begun atomic.Bool
	max   int64
}

// Begun reports whether a byte of a request may have reached the peer. Until a
// connection stood nothing was written.
func (c *Call) Begun() bool { return c.begun.Load() }

type callKey struct{}

// Begin makes the context of one call, whose answers hold at most max bytes
// each.
func Begin(ctx context.Context, max int64) (context.Context, *Call) {
	c := &Call{max: max}
	ctx = context.WithValue(ctx, callKey{}, c)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { c.begun.Store(true) }}), c
}

var (
	errElsewhere = errors.New("request to another host: want the configured one")
	errTooLarge  = errors.New("answer exceeds its limit")
)

type door struct {
	next         http.RoundTripper
	traced       bool // next tells when it has a connection
	scheme, host string
}

// RoundTrip makes a request of a Call, to the host alone.
func (d *door) RoundTrip(r *http.Request) (*http.Response, error) {
	call, ok := r.Context().Value(callKey{}).(*Call)
	if !ok || r.URL.Scheme != d.scheme || r.URL.Host != d.host || r.Host != "" && r.Host != d.host {
		return nil, errElsewhere
	}
	if !d.traced {
		call.begun.Store(true)
	}
	a, err := d.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	a.Body = &bounded{body: a.Body, left: call.max}
	return a, nil
}

type bounded struct {
	body io.ReadCloser
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.body.Read(p)
	if int64(n) > b.left {
		n, err = int(b.left), errTooLarge
	}
	b.left -= int64(n)
	return n, err
}

func (b *bounded) Close() error { return b.body.Close() }

// RetryAfter reads how long a peer asks to wait: whole seconds or a date
// (RFC 9110, section 10.2.3), at most MaxAfter. It reports false where the
// header is absent or says neither.
func RetryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	v := h.Get("Retry-After")
	if n, err := strconv.ParseUint(v, 10, 31); err == nil {
		return min(time.Duration(n)*time.Second, MaxAfter), true
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0, false
	}
	return Until(at, now), true
}

// Until is the time until an instant that a peer named, from nothing to
// MaxAfter.
func Until(at, now time.Time) time.Duration { return min(max(at.Sub(now), 0), MaxAfter) }
