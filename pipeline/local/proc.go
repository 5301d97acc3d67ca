package local

import (
	"bufio"
	"context"
	"errors"
	"fmt"
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
// across runs unless it runs programs, asked one thing at a time, and started
// anew after it died.
type phase struct {
	name    string
	profile sandbox.Profile
	hosts   []string
	near    []string // addresses of hosts that it may reach though they are not public
	env     []string
	config  childConfig
	timeout time.Duration
	limit   int  // of one reply, in bytes
	once    bool // start a child for each question, and end it with all that it started
	warn    func(error)

	mu     sync.Mutex
	proc   *proc
	closed bool
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
func (p *phase) call(ctx context.Context, q request) (answers, pipeline.Code) {
	body, err := json.Marshal(q)
	if err != nil {
		return answers{}, pipeline.PhaseMisbehave
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	used := p.proc != nil
	a, code, healthy := p.ask(ctx, q, body)
	if !healthy && used {
		a, code, _ = p.ask(ctx, q, body)
	}
	return a, code
}

// ask puts one question to the child, started if there is none, and ends it
// where it must not be asked again.
func (p *phase) ask(ctx context.Context, q request, body []byte) (a answers, code pipeline.Code, healthy bool) {
	if ctx.Err() != nil || p.closed {
		return a, pipeline.Stopped, true
	}
	if p.proc == nil {
		started, err := p.start()
		if err != nil {
			if p.warn != nil {
				p.warn(err)
				p.warn = nil
			}
			return a, pipeline.PhaseUnready, true
		}
		p.proc = started
	}
	a, code, healthy = p.proc.ask(ctx, q, body, p.timeout, p.limit)
	if !healthy || p.once {
		p.proc.end()
		p.proc = nil
	}
	if !healthy && ctx.Err() != nil {
		code = pipeline.Stopped
	}
	return a, code, healthy
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
		b := &broker.Broker{Hosts: p.hosts, Allow: allowing(p.near)}
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
	preferred(c.cmd.Process.Pid)
	go func() {
		_ = sandbox.Wait(c.cmd)
		close(c.waited)
	}()
	c.reader = bufio.NewReaderSize(outRead, 64<<10)
	if err := c.ready(p.config); err != nil {
		c.end()
		return nil, fmt.Errorf("phase %s: %w: its words: %s", p.name, err, sandbox.StderrOf(c.cmd))
	}
	return c, nil
}

// preferred tells the kernel to end a child before anything else where memory
// runs out: what a hostile text costs, its own phase pays. It is a wish, and
// granted on Linux only.
func preferred(pid int) {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/oom_score_adj", pid), []byte("1000"), 0)
}

// readyTimeout is how long a child may take to restrict itself and to open
// what it needs.
const readyTimeout = 30 * time.Second

// ready hands a child its configuration and waits until it has said that it
// is restricted and built.
func (c *proc) ready(config childConfig) error {
	deadline := time.Now().Add(readyTimeout)
	_ = c.in.SetWriteDeadline(deadline)
	_ = c.out.SetReadDeadline(deadline)
	if err := writeLine(c.in, config); err != nil {
		return errors.New("it takes no configuration")
	}
	line, err := readLine(c.reader, nil, maxAnswer)
	if err != nil {
		return errors.New("it ended or hung before it was ready")
	}
	var r reply
	if err := unmarshal(line, &r); err != nil || r.Code != pipeline.OK {
		return errors.New("it could not be restricted or built")
	}
	return nil
}

// ask writes one request and reads one reply. healthy is false where the
// child must not be asked again.
func (c *proc) ask(ctx context.Context, q request, body []byte, timeout time.Duration, limit int) (a answers, code pipeline.Code, healthy bool) {
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
		return a, c.broken(err), false
	}
	line, err := readLine(c.reader, c.buf, limit)
	if c.buf = line; cap(c.buf) > 1<<20 {
		c.buf = nil
	}
	if err != nil {
		return a, c.broken(err), false
	}
	var r reply
	if err := unmarshal(line, &r); err != nil || r.N != c.n || r.Run != q.Run || c.reader.Buffered() > 0 {
		return a, pipeline.PhaseMisbehave, false
	}
	switch r.Code {
	case pipeline.OK:
		if a, ok := r.decoded(q); ok {
			return a, pipeline.OK, true
		}
		return a, pipeline.PhaseMisbehave, false
	case pipeline.PhasePanic: // the only code that is the child's own to give
		return a, pipeline.PhasePanic, false
	default:
		return a, pipeline.PhaseMisbehave, false
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

// close ends the child in peace, and no other is started: its input ends, and it is killed only if it
// does not follow.
func (p *phase) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
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
