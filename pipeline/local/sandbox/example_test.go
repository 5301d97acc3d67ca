package sandbox_test

import (
	"context"
	"fmt"
	"io"
	"os"

	"decant.dev/pipeline/local/broker"
	"decant.dev/pipeline/local/sandbox"
)

// The parent's side: one child, one question, one answer.
func ExampleCommand() {
	parent, child, err := broker.Pair()
	if err != nil {
		return
	}
	defer parent.Close()
	ctx := context.Background()
	cmd := sandbox.Command(ctx, "fetch", sandbox.Profile{}, []*os.File{child}, []string{"GOMEMLIMIT=256MiB"})
	answer, err := cmd.StdoutPipe()
	if err != nil {
		return
	}
	if err := cmd.Start(); err != nil {
		return
	}
	_ = child.Close() // or the broker would never hear that the child is gone
	hosts := broker.Broker{Hosts: []string{"api.github.com:443"}}
	go func() { _ = hosts.Serve(ctx, parent) }()

	_, _ = io.Copy(io.Discard, io.LimitReader(answer, 1<<20))
	if err := cmd.Wait(); err != nil {
		fmt.Fprintln(os.Stderr, "fetch failed:", sandbox.StderrOf(cmd))
	}
}

// The child's side, first thing in main.
func ExampleRestrict() {
	phase, profile, err := sandbox.Inherited()
	if err != nil {
		os.Exit(2)
	}
	if phase == "" {
		return // the parent, or the command itself
	}
	dial, err := broker.Dialer(os.NewFile(3, "broker"))
	if err != nil {
		os.Exit(1)
	}
	if _, err := sandbox.Restrict(profile); err != nil {
		os.Exit(1)
	}
	// From here on input may be read: http.Transport{DialContext: dial} reaches the declared hosts.
	_ = dial
}
