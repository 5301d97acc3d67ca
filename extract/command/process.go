package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// MaxOutputBytes bounds what a program may write on standard output. Of that,
// what the decoder takes is kept; a program that goes beyond is killed.
const MaxOutputBytes = 4 << 20

// endDelay is how long a program's pipes are waited for after its end, and its
// end after it was killed.
const endDelay = time.Second

// process is a program to be run once.
type process struct {
	argv  []string
	env   []string
	input []byte
	files []*os.File // descriptors from 3 on
	keeps int        // bytes of its output
}

// ownGroup says whether a process group can be made. In a sandbox with
// programs it cannot: there the engine's group is the program's, and ends with
// the run.
var ownGroup atomic.Bool

func init() { ownGroup.Store(true) }

// run starts the program, waits for its end and gives what it wrote. When ctx
// is done it is killed, and whether or not it dies of that, run returns.
func (p process) run(ctx context.Context) ([]byte, error) {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	out := &output{keeps: p.keeps, over: func() { end(ErrLarge) }}
	noise := new(counter)
	grouped := ownGroup.Load()
	cmd, err := p.start(ctx, out, noise, grouped)
	if grouped && refused(err) {
		grouped = false
		if cmd, err = p.start(ctx, out, noise, grouped); err == nil {
			ownGroup.Store(false)
		}
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ErrTime
	case err != nil:
		return nil, ErrStart
	}
	ended := make(chan error, 1)
	go func() { ended <- wait(cmd, grouped) }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(2 * endDelay): // it cannot be killed from here: the engine ends it with its group
			err = ctx.Err()
		}
	}
	var status *exec.ExitError
	switch {
	case errors.Is(context.Cause(ctx), ErrLarge):
		return nil, ErrLarge
	case ctx.Err() != nil:
		return nil, noise.beside(ErrTime)
	case errors.As(err, &status):
		return nil, noise.beside(fmt.Errorf("%w, got %d", ErrStatus, status.ExitCode()))
	case errors.Is(err, exec.ErrWaitDelay):
		return nil, ErrEnd
	case err != nil:
		return nil, noise.beside(ErrStatus)
	}
	return out.bytes(), nil
}

func (p process) start(ctx context.Context, out *output, noise *counter, grouped bool) (*exec.Cmd, error) {
	cmd := exec.CommandContext(ctx, p.argv[0], p.argv[1:]...)
	cmd.Env, cmd.Dir, cmd.ExtraFiles = p.env, string(os.PathSeparator), p.files
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(p.input), out, noise
	cmd.WaitDelay = endDelay
	bind(cmd, grouped)
	return cmd, cmd.Start()
}

// output keeps the first bytes of what a program writes. It takes
// MaxOutputBytes, and calls over when there is more.
type output struct {
	keeps int
	over  func()

	mu    sync.Mutex
	kept  []byte
	total int
}

// Write takes all of b, or fails where that would exceed MaxOutputBytes.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(b) > MaxOutputBytes-o.total {
		o.over()
		return 0, ErrLarge
	}
	o.total += len(b)
	o.kept = append(o.kept, b[:min(len(b), o.keeps-len(o.kept))]...)
	return len(b), nil
}

func (o *output) bytes() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.kept
}

// counter counts what a program writes on standard error, and keeps none of
// it. It never fails, so that no program is held up by its own noise.
type counter struct{ n atomic.Int64 }

func (c *counter) Write(b []byte) (int, error) {
	c.n.Add(int64(len(b)))
	return len(b), nil
}

// beside tells how much there was.
func (c *counter) beside(err error) error {
	return fmt.Errorf("%w, with %d bytes on standard error", err, c.n.Load())
}
