package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"decant.dev/pipeline"
)

const here = "example.com:443"

// site is a hostile server: each path misbehaves in its own way.
type site struct {
	*httptest.Server
	pool *x509.CertPool

	mu    sync.Mutex
	asked []string
}

func newSite(tb testing.TB, handle http.HandlerFunc) *site {
	s := &site{}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.Host+r.URL.RequestURI())
		s.mu.Unlock()
		handle(w, r)
	}))
	s.Server.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	s.pool = x509.NewCertPool()
	s.pool.AddCert(s.Certificate())
	tb.Cleanup(s.Close)
	return s
}

// requests is what was asked for.
func (s *site) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// client asks the site under every name.
func (s *site) client(tb testing.TB, l Limits, hosts ...string) *Client {
	tb.Helper()
	if l.Gap == 0 {
		l.Gap = time.Nanosecond
	}
	t := &http.Transport{
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, s.Listener.Addr().String())
		},
		TLSClientConfig: &tls.Config{RootCAs: s.pool}, MaxResponseHeaderBytes: 64 << 10,
	}
	tb.Cleanup(t.CloseIdleConnections)
	c, err := New(&http.Client{Transport: t}, append([]string{here}, hosts...), l)
	if err != nil {
		tb.Fatal(err)
	}
	return c
}

func codeOf(err error) pipeline.Code {
	var fault *pipeline.Fault
	switch {
	case err == nil:
		return pipeline.OK
	case errors.As(err, &fault):
		return fault.Code
	default:
		return "no code: " + pipeline.Code(err.Error())
	}
}

func zipped(b []byte) []byte {
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	_, _ = z.Write(b)
	_ = z.Close()
	return out.Bytes()
}

// hang holds a request until whoever made it is gone.
func hang(r *http.Request) { <-r.Context().Done() }

// raw answers bytes that net/http would not write.
func raw(w http.ResponseWriter, answer string) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_, _ = io.WriteString(conn, answer)
		_ = conn.Close()
	}
}
