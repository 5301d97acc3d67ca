//go:build !linux

package broker

import (
	"context"
	"errors"
	"net"
	"os"
)

// ErrUnavailable is the answer of all that needs packets and descriptors over a pair of sockets. Broker.DialContext,
// which checks the same without a child, works everywhere.
var ErrUnavailable = errors.New("broker unavailable: want Linux")

// DialContext is the type of http.Transport's field of that name.
type DialContext func(ctx context.Context, network, address string) (net.Conn, error)

// Pair fails with ErrUnavailable.
func Pair() (parent, child *os.File, err error) { return nil, nil, ErrUnavailable }

// Serve fails with ErrUnavailable.
func (b *Broker) Serve(context.Context, *os.File) error { return ErrUnavailable }

// Dialer fails with ErrUnavailable.
func Dialer(*os.File) (DialContext, error) { return nil, ErrUnavailable }
