package local

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/pipeline"
	"decant.dev/pipeline/local/broker"
	"decant.dev/pipeline/local/sandbox"
)

// phase is one kind of child: it is started when it is first needed, kept up
// across runs, asked one thing at a time, and started anew after it died.
type phase struct {
	name    string
	profile sandbox.Profile
	hosts   []string
	env     []string
	config  childConfig
	timeout time.Duration
	limit   int // of one reply, in bytes

	mu   sync.Mutex
	proc *proc
}

// proc is one running child.
type proc struct {
	cmd    *exec.Cmd
	in     *os.File
	out    *os.File
	reader *bufio.Reader
	buf    []byte
	n      uint64
	stop   context.CancelFunc
	waited chan struct{}
}

// call asks the child one thing about a run. The answer must be for this run
// and this question; any other, and a child that dies, hangs or answers too
// much, is a code, and ends the child. If that child had served earlier runs,
// the question is put once more to a new one, so that what an earlier run did
// to its child harms no other run.
func (p *phase) call(ctx context.Context, q request) (reply, pipeline.Code) {
	body, err := json.Marshal(q)
	if err != nil {
		return reply{}, pipeline.PhaseMisbehave
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	used := p.proc != nil
	r, code, healthy := p.ask(ctx, q, body)
	if !healthy && used && ctx.Err() == nil {
		r, code, _ = p.ask(ctx, q, body)
	}
	return r, code
}

// ask puts one question to the child, started if there is none, and ends it
// where it must not be asked again.
func (p *phase) ask(ctx context.Context, q request, body []byte) (r reply, code pipeline.Code, healthy bool) {
	if p.proc == nil {
		started, err := p.start()
		if err != nil {
			return r, pipeline.PhaseDied, false
		}
		p.proc = started
	}
	r, code, healthy = p.proc.ask(ctx, q, body, p.timeout, p.limit)
	if !healthy {
		p.proc.end()
		p.proc = nil
	}
	return r, code, healthy
}

func (p *phase) start() (*proc, error) {
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, inRead.Close(), inWrite.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	c := &proc{in: inWrite, out: outRead, stop: cancel, waited: make(chan struct{})}
	var files []*os.File
	parent, child, err := broker.Pair()
	if err == nil {
		b := &broker.Broker{Hosts: p.hosts}
		go func() {
			_ = b.Serve(ctx, parent)
			_ = parent.Close()
		}()
		files = append(files, child)
	}
	c.cmd = sandbox.Command(ctx, p.name, p.profile, files, p.env)
	c.cmd.Stdin, c.cmd.Stdout = inRead, outWrite
	err = c.cmd.Start()
	for _, f := range append(files, inRead, outWrite) {
		_ = f.Close()
	}
	if err != nil {
		cancel()
		return nil, errors.Join(err, inWrite.Close(), outRead.Close())
	}
	go func() {
		_ = c.cmd.Wait()
		close(c.waited)
	}()
	c.reader = bufio.NewReaderSize(outRead, 64<<10)
	if err := writeLine(inWrite, p.config); err != nil {
		c.end()
		return nil, err
	}
	return c, nil
}

// ask writes one request and reads one reply. healthy is false where the
// child must not be asked again.
func (c *proc) ask(ctx context.Context, q request, body []byte, timeout time.Duration, limit int) (r reply, code pipeline.Code, healthy bool) {
	c.n++
	deadline := time.Now().Add(timeout)
	if d, ok := ctx.Deadline(); ok && d.Before(deadline) {
		deadline = d
	}
	_ = c.in.SetWriteDeadline(deadline)
	_ = c.out.SetReadDeadline(deadline)
	cancelled := context.AfterFunc(ctx, c.stop)
	defer cancelled()
	if err := c.write(body); err != nil {
		return r, c.broken(err), false
	}
	line, err := readLine(c.reader, c.buf, limit)
	if c.buf = line; cap(c.buf) > 1<<20 {
		c.buf = nil
	}
	if err != nil {
		return r, c.broken(err), false
	}
	switch err := unmarshal(line, &r); {
	case err != nil, r.N != c.n, r.Run != q.Run, !r.Code.Known(), r.Code == pipeline.OK && !r.answers(q):
		return reply{}, pipeline.PhaseMisbehave, false
	default:
		return r, r.Code, r.Code == pipeline.OK
	}
}

// write sends a request's line with the number of this question put first.
func (c *proc) write(body []byte) error {
	line := make([]byte, 0, len(body)+32)
	line = append(line, `{"n":`...)
	line = strconv.AppendUint(line, c.n, 10)
	line = append(line, ',')
	line = append(line, body[1:]...) // without its opening brace
	_, err := c.in.Write(append(line, '\n'))
	return err
}

func (c *proc) broken(err error) pipeline.Code {
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return pipeline.PhaseTimeout
	case errors.Is(err, errLongLine):
		return pipeline.PhaseMisbehave
	default:
		return pipeline.PhaseDied
	}
}

// end closes the child's input, kills it, and waits for it.
func (c *proc) end() {
	_ = c.in.Close()
	c.stop()
	<-c.waited
	_ = c.out.Close()
}

// close ends the child in peace: its input ends, and it is killed only if it
// does not follow.
func (p *phase) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.proc == nil {
		return
	}
	_ = p.proc.in.Close()
	select {
	case <-p.proc.waited:
	case <-time.After(2 * time.Second):
	}
	p.proc.end()
	p.proc = nil
}
