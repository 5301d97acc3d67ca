package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/internal/conformance/extractors"
)

// suite is the program of the suite: it shows the test what it was given, and
// does as it is told.
func suite() {
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	conn := dial()
	if err := json.NewEncoder(conn).Encode(os.Getenv(BrokenVariable) + "\n" + string(input)); err != nil {
		panic(err)
	}
	var turn extractors.Turn
	if err := json.NewDecoder(conn).Decode(&turn); err != nil {
		panic(err)
	}
	switch turn.Manner {
	case extractors.Answers:
		fmt.Print(turn.Text)
	case extractors.Cut, extractors.Refuses, extractors.Denies, extractors.Fails:
		fmt.Print(turn.Text)
		fmt.Fprint(os.Stderr, turn.Text)
		os.Exit(int(turn.Manner))
	case extractors.Hangs:
		fmt.Print(turn.Text)
		forever()
	case extractors.Endless:
		for {
			if _, err := fmt.Print(strings.Repeat(" ", 4096), turn.Text); err != nil {
				os.Exit(1)
			}
		}
	default:
		panic("no such manner")
	}
}

// impatient is an extractor whose time is over once its program is known to
// hang: no test waits.
type impatient struct {
	*Extractor
	hangs chan struct{}
}

func (x impatient) Extract(ctx context.Context, r extract.Request) (extract.Answer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-x.hangs:
			cancel()
		case <-ctx.Done():
		}
	}()
	return x.Extractor.Extract(ctx, r)
}

// answering serves a source's turns to the programs that connect.
func answering(t *testing.T, source *extractors.Source) (address string, hangs chan struct{}) {
	t.Helper()
	l := peer(t)
	hangs = make(chan struct{})
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func(conn net.Conn) {
				defer conn.Close()
				var shown string
				if json.NewDecoder(conn).Decode(&shown) != nil {
					return
				}
				turn := source.Ask(shown)
				_ = json.NewEncoder(conn).Encode(turn)
				if turn.Manner == extractors.Hangs {
					hangs <- struct{}{}
				}
			}(conn)
		}
	}()
	return l.Addr().String(), hangs
}

func TestConformance(t *testing.T) {
	t.Parallel()
	extractors.Test(t, extractors.Kit{
		New: func(t *testing.T, s *shape.Shape, source *extractors.Source) extract.Extractor {
			address, hangs := answering(t, source)
			x, err := New(s, as(t, "suite", peerVariable+"="+address))
			if err != nil {
				t.Fatal(err)
			}
			return impatient{x, hangs}
		},
		Shows: []extractors.Manner{extractors.Answers, extractors.Cut, extractors.Refuses, extractors.Denies, extractors.Fails,
			extractors.Hangs, extractors.Endless},
		Attempts: 1, Outside: true, Bare: true,
	})
}
