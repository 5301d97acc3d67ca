package command

import (
	"context"
	"net"
	"net/http"
	"net/url"
	"os"
	"runtime"
	"strings"
)

// handsDown says whether a program can be given descriptors (exec.Cmd's
// ExtraFiles).
const handsDown = runtime.GOOS != "windows"

// connected is a socket that leads to a URL's host and port, made as the
// client makes its connections: through the broker, where that is what it has. In the program its reads wait,
// as other runtimes expect: os.File.Fd, by which exec hands it down, sees to
// that.
func connected(ctx context.Context, client *http.Client, address string) (*os.File, error) {
	dial := dialer(client)
	u, err := url.Parse(address)
	if dial == nil || err != nil || u.Hostname() == "" {
		return nil, ErrConnect
	}
	port := u.Port()
	if port == "" {
		if port = "443"; strings.EqualFold(u.Scheme, "http") {
			port = "80"
		}
	}
	conn, err := dial(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return nil, ErrConnect
	}
	defer conn.Close()
	filed, ok := conn.(interface{ File() (*os.File, error) })
	if !ok {
		return nil, ErrConnect
	}
	f, err := filed.File()
	if err != nil {
		return nil, ErrConnect
	}
	return f, nil
}

// dialer is how a client connects; nil where it has no way of its own that
// can be used.
func dialer(client *http.Client) func(context.Context, string, string) (net.Conn, error) {
	round := client.Transport
	if round == nil {
		round = http.DefaultTransport
	}
	if t, ok := round.(*http.Transport); ok {
		return t.DialContext
	}
	return nil
}
