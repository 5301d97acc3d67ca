package extractors

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Serve serves h for the time of a test, on connections in memory, and gives a
// client whose every connection leads there. In a bubble of testing/synctest
// server and client share its time.
func Serve(t *testing.T, h http.Handler) *http.Client {
	t.Helper()
	l := &listener{conns: make(chan net.Conn), done: make(chan struct{})}
	handling, free := 0, sync.NewCond(new(sync.Mutex)) // a request may begin while the test's end waits
	count := func(n int) {
		free.L.Lock()
		handling += n
		free.L.Unlock()
		free.Broadcast()
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count(1)
		defer count(-1)
		h.ServeHTTP(w, r)
	})}
	ended := make(chan struct{})
	go func() { _ = server.Serve(l); close(ended) }()
	transport := &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return l.dial(ctx) }}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = server.Close()
		<-ended
		free.L.Lock()
		defer free.L.Unlock()
		for handling > 0 {
			free.Wait()
		}
	})
	return &http.Client{Transport: transport}
}

// listener hands out one end of a pipe for each dial.
type listener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func (l *listener) dial(ctx context.Context) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error { l.once.Do(func() { close(l.done) }); return nil }

func (l *listener) Addr() net.Addr { return memory{} }

type memory struct{}

func (memory) Network() string { return "memory" }
func (memory) String() string  { return "memory" }
