package command

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"decant.dev/extract"
)

// fetches is a program that gets its context on the connection that it was
// given, or on one of its own where it was given none, and answers a report
// whose note says which.
func fetches() {
	how := "own"
	client := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		number, err := strconv.Atoi(os.Getenv(DescriptorVariable))
		if err != nil {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		}
		how = "given"
		return net.FileConn(os.NewFile(uintptr(number), "context"))
	}}}
	q, err := http.NewRequest(http.MethodGet, os.Getenv(URLVariable), nil)
	if err != nil {
		panic(err)
	}
	q.Header.Set("Authorization", "Bearer "+os.Getenv(TokenVariable))
	a, err := client.Do(q)
	if err != nil {
		panic(err)
	}
	body, err := io.ReadAll(a.Body)
	if err != nil || a.StatusCode != http.StatusOK {
		os.Exit(4)
	}
	fmt.Printf(`{"kind":"bug","note":"%s %s"}`, how, body)
}

// tells is a program that says what it was given: whether its connection is
// one whose reads wait, which other runtimes expect, and that its standard
// input is empty.
func tells() {
	waiting := waits(3) // before Go makes a file of it
	line, err := bufio.NewReader(os.NewFile(3, "context")).ReadString('\n')
	if err != nil {
		panic(err)
	}
	input, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	fmt.Printf(`{"kind":"bug","note":"%s, waits: %v, %d bytes of input"}`, strings.TrimSpace(line), waiting, len(input))
}

const token = "00000000000000000000000000000000.token"

func fetching(t *testing.T, role string, client *http.Client, url string) (extract.Answer, error) {
	t.Helper()
	c := as(t, role)
	c.Mode, c.Client = Fetch, client
	q := request(t, "text", "")
	q.Access = extract.Access{URL: url, Token: token}
	return made(t, c).Extract(t.Context(), q)
}

func TestAProgramFetchesItsContext(t *testing.T) {
	t.Parallel()
	needUnix(t)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token || r.URL.Path != "/context" {
			http.Error(w, "no", http.StatusForbidden)
			return
		}
		_, _ = io.WriteString(w, "context")
	}))
	t.Cleanup(server.Close)
	dialled := ""
	ours := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		dialled = network + " " + address
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}}}
	for name, tc := range map[string]struct {
		client *http.Client
		want   string
	}{
		"on a connection of the client's": {ours, "given context"},
		"on one of the default client's":  {http.DefaultClient, "given context"},
		"on one of its own":               {nil, "own context"},
	} {
		a, err := fetching(t, "fetches", tc.client, server.URL+"/context")
		if err != nil || string(a.Candidate) != `{"kind":"bug","note":"`+tc.want+`"}` {
			t.Errorf("%s: got %s, %v", name, a.Candidate, err)
		}
	}
	if want := "tcp " + server.Listener.Addr().String(); dialled != want {
		t.Errorf("dialled %q, want %q", dialled, want)
	}
}

// The socket is one whose reads wait, and standard input ends at once.
func TestTheConnectionWaits(t *testing.T) {
	t.Parallel()
	needUnix(t)
	l := peer(t)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, "a line\n")
	}()
	a, err := fetching(t, "tells", &http.Client{}, "http://"+l.Addr().String()+"/context")
	if err != nil || string(a.Candidate) != `{"kind":"bug","note":"a line, waits: true, 0 bytes of input"}` {
		t.Errorf("got %s, %v", a.Candidate, err)
	}
}

// round is a transport of which nobody can say how it connects.
type round struct{}

func (round) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.EOF }

func TestWithoutAConnectionThereIsNoTurn(t *testing.T) {
	t.Parallel()
	needUnix(t)
	closed := peer(t)
	gone := "http://" + closed.Addr().String()
	_ = closed.Close()
	piped := &http.Client{Transport: &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		_ = there.Close()
		return here, nil
	}}}
	for name, tc := range map[string]struct {
		client *http.Client
		url    string
		want   error
	}{
		"nobody listens":      {&http.Client{}, gone, ErrConnect},
		"no host":             {&http.Client{}, "/context", ErrConnect},
		"no address":          {&http.Client{}, "http://[", ErrConnect},
		"an unknown round":    {&http.Client{Transport: round{}}, gone, ErrConnect},
		"a pipe is no socket": {piped, gone, ErrConnect},
		"a bare transport":    {&http.Client{Transport: &http.Transport{}}, gone, ErrConnect},
	} {
		if _, err := fetching(t, "answer", tc.client, tc.url); !errors.Is(err, tc.want) || strings.Contains(err.Error(), token) {
			t.Errorf("%s: got %v, want %v", name, err, tc.want)
		}
	}
	c := as(t, "answer")
	c.Mode = Fetch
	if _, err := made(t, c).Extract(t.Context(), request(t, "text", "")); !errors.Is(err, ErrAccess) {
		t.Errorf("no access: got %v, want %v", err, ErrAccess)
	}
}
