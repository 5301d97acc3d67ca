// Package command is an extractor that runs a program of any other runtime: an
// adapter in Python or Node, a binary, what an organisation already has.
//
// Each turn is one process. It is given the run's context, as run_context.v1
// on standard input or by the context API, and writes its candidate, one JSON
// value of the shape, on standard output; then it ends with status 0. The
// threat is the program itself, once what it read has taken it over: one that
// writes without end, hangs, leaves processes behind or lies about its end.
// Whatever it does, the turn ends in time with at most one candidate, which
// goes to the strict decoder.
//
// On one machine the engine runs the program under the sandbox of the extract
// phase (see package sandbox: with programs it is a list of refusals), and
// starts that phase anew for each run, so that no process of a run sees
// another. Elsewhere, as in the extract function on AWS, nothing restricts the
// program but the rights of the process that starts it.
//
// Not promised: that a program uses little of CPU and memory before its time
// is over.
package command

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"decant.dev/extract"
	"decant.dev/extract/shape"
)

// What a program is told in its environment.
const (
	// BrokenVariable names the rule that the previous answer broke, as
	// "severity: maximum". It is absent on the first turn.
	BrokenVariable = "DECANT_BROKEN"
	// URLVariable and TokenVariable are where and with what a program of mode
	// Fetch gets its run's context: GET the URL with the header
	// "Authorization: Bearer <token>".
	URLVariable   = "DECANT_CONTEXT_URL"
	TokenVariable = "DECANT_CONTEXT_TOKEN"
	// DescriptorVariable is the number of a descriptor, 3: a socket that is
	// connected to the URL's host and port. A sandboxed program can make no
	// other. It is absent where there is no Config.Client, and on Windows.
	DescriptorVariable = "DECANT_CONTEXT_FD"
)

// What a turn without an answer is refused for. None tells what was in it.
var (
	ErrShape   = errors.New("command: request of another shape: want the shape that New was given")
	ErrContext = errors.New("command: the context cannot be encoded")
	ErrAccess  = errors.New("command: want access to the run's context, got none: is the context API served?")
	ErrConnect = errors.New("command: the context API cannot be reached")
	ErrStart   = errors.New("command: the program cannot be started: is it there, and may it be run?")
	ErrTime    = errors.New("command: want an answer and the program's end in time")
	ErrLarge   = errors.New("command: answer exceeds its limit")
	ErrEnd     = errors.New("command: want the answer's end, got a process that keeps standard output open")
	ErrStatus  = errors.New("command: want exit status 0")
)

// Extractor runs one program. It is safe for concurrent use.
type Extractor struct {
	config Config
	shape  string // digest of the shape
	keeps  int    // bytes of an answer that are kept: one more than the decoder takes
}

var (
	_ extract.Adapter    = (*Extractor)(nil)
	_ extract.Digested   = (*Extractor)(nil)
	_ extract.Keyed      = (*Extractor)(nil)
	_ extract.Programmed = (*Extractor)(nil)
)

// New makes the extractor of a shape. The error names every fault of the
// configuration. The program need not exist yet.
func New(s *shape.Shape, c Config) (*Extractor, error) {
	if s == nil {
		return nil, errors.New("command: want a shape")
	}
	c, err := c.complete()
	if err != nil {
		return nil, err
	}
	return &Extractor{c, s.Digest(), s.MaxCandidate() + 1}, nil
}

// Must is New for a configuration that is part of the program; it panics on an
// error.
func Must(s *shape.Shape, c Config) *Extractor {
	x, err := New(s, c)
	if err != nil {
		panic(err)
	}
	return x
}

// Name is "command".
func (*Extractor) Name() string { return "command" }

// WantsContext is true in mode Fetch.
func (x *Extractor) WantsContext() bool { return x.config.Mode == Fetch }

// Environment names the variables whose values are the engine's.
func (x *Extractor) Environment() []string { return x.config.inherited() }

// Programs lists the program and what it may read and run.
func (x *Extractor) Programs() []string {
	list := append([]string{x.config.Argv[0]}, x.config.Directories...)
	slices.Sort(list)
	return slices.Compact(list)
}

// Digest identifies the program by its arguments, mode, environment and
// version: not by its files, and not by values that are the engine's.
func (x *Extractor) Digest() string {
	c := x.config
	b, err := json.Marshal([]any{"command.v1", c.Argv, c.Mode.String(), c.Environment, c.Version, x.shape}, json.Deterministic(true))
	if err != nil { // an argument that is not UTF-8
		b = fmt.Appendf(nil, "command.v1 %q %s %q %q %s", c.Argv, c.Mode, c.Environment, c.Version, x.shape)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Extract runs the program once. An error says that there was no answer: see
// the errors of this package. ErrStatus and ErrTime come with how much was
// written on standard error.
func (x *Extractor) Extract(ctx context.Context, r extract.Request) (extract.Answer, error) {
	if r.Shape == nil || r.Shape.Digest() != x.shape {
		return extract.Answer{}, ErrShape
	}
	ctx, cancel := context.WithTimeout(ctx, x.config.Timeout)
	defer cancel()
	p := process{argv: x.config.Argv, env: x.config.environment(), keeps: x.keeps}
	if r.Broken != "" {
		p.env = append(p.env, BrokenVariable+"="+strings.ToValidUTF8(r.Broken, "?"))
	}
	switch x.config.Mode {
	case Stdin:
		doc, err := r.Context.Encode()
		if err != nil {
			return extract.Answer{}, ErrContext
		}
		p.input = doc
	case Fetch:
		if r.Access == (extract.Access{}) {
			return extract.Answer{}, ErrAccess
		}
		p.env = append(p.env, URLVariable+"="+r.Access.URL, TokenVariable+"="+r.Access.Token)
		if handsDown && x.config.Client != nil {
			socket, err := connected(ctx, x.config.Client, r.Access.URL)
			if err != nil {
				return extract.Answer{}, err
			}
			defer socket.Close()
			p.files = []*os.File{socket}
			p.env = append(p.env, DescriptorVariable+"=3")
		}
	default:
		return extract.Answer{}, ErrContext
	}
	candidate, err := p.run(ctx)
	if err != nil {
		return extract.Answer{}, err
	}
	return extract.Answer{Candidate: candidate}, nil
}
