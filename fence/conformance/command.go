package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"
)

// Command is an adapter that is a program: a context on its standard input, an answer on its standard output, exit code 0.
// It runs with the environment of this process.
type Command struct {
	Args    []string      // the program and its arguments
	Timeout time.Duration // of one answer
	// Complaint, if set, is given the first 4 KiB that a failing program wrote to standard error: foreign text.
	Complaint func(stderr []byte)
}

// AnswerError says how a program failed to answer, in our own words.
type AnswerError struct{ rule string }

func (e *AnswerError) Error() string { return e.rule }

const maxComplaint = 4 << 10

// Answer runs the program once. Its errors are of type *AnswerError, or that of ctx.
func (c Command) Answer(ctx context.Context, document []byte) ([]byte, error) {
	if len(c.Args) == 0 {
		return nil, &AnswerError{"want a program to run, got none"}
	}
	limited, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	out, complaint := &bounded{limit: MaxAnswerBytes, full: cancel}, &bounded{limit: maxComplaint}
	cmd := exec.CommandContext(limited, c.Args[0], c.Args[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(document), out, complaint
	cmd.WaitDelay = time.Second // for a grandchild that holds the output open
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil && !out.over:
		return out.kept, nil
	case c.Complaint != nil && len(complaint.kept) > 0:
		c.Complaint(complaint.kept)
	}
	switch {
	case out.over:
		return nil, &AnswerError{fmt.Sprintf("want an answer of at most %d bytes", MaxAnswerBytes)}
	case limited.Err() != nil:
		return nil, &AnswerError{fmt.Sprintf("want an answer within %v", c.Timeout)}
	case errors.As(err, &exit):
		return nil, &AnswerError{fmt.Sprintf("want exit code 0, got %d", exit.ExitCode())}
	default:
		return nil, &AnswerError{"the program could not be run, or did not read its input"}
	}
}

// bounded keeps the first bytes that are written to it, and calls full on the first beyond.
type bounded struct {
	kept  []byte
	limit int
	over  bool
	full  func()
}

func (b *bounded) Write(p []byte) (int, error) {
	room := b.limit - len(b.kept)
	if len(p) > room && !b.over {
		if b.over = true; b.full != nil {
			b.full()
		}
	}
	b.kept = append(b.kept, p[:min(room, len(p))]...)
	return len(p), nil
}
