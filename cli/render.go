package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"

	"decant.dev/fence"
)

const renderUsage = `Usage: decant render [--placement user|system] < CONTEXT > PROMPT

Render reads one run_context.v1 from standard input and answers with the
prompt.v1 of the turn: the elements as blocks under a new random boundary, the
preamble that carries the data rule, and the one voice. An adapter in any
language sends the parts of "flat" to its model as they stand. A context that
breaks a rule is refused with the rule's place, and nothing is answered.

  --placement user|system
            where the data stands, whatever the context says: in the user
            message before the voice, or in a second system part

Example:
  decant render < context.json

See docs/adapters.md for a call from Python, Node and a shell.
`

func (a *App) render(_ context.Context, args []string) (int, error) {
	flags := flag.NewFlagSet("render", flag.ContinueOnError)
	placement := flags.String("placement", "", "")
	rest, err := a.parse(flags, renderUsage, args)
	if err != nil {
		return 0, err
	}
	if len(rest) > 0 {
		return 0, usagef("render: want no arguments, got %d: the context is read from standard input", len(rest))
	}
	var override fence.Placement
	if *placement != "" {
		if override, err = fence.ParsePlacement(*placement); err != nil {
			return 0, usagef("render: --placement: %v", err)
		}
	}
	doc, err := io.ReadAll(io.LimitReader(a.Stdin, fence.MaxContextBytes+1))
	switch {
	case err != nil:
		return 0, errors.New("render: standard input could not be read")
	case len(doc) == 0:
		return 0, errors.New("render: want one run_context.v1 on standard input, got nothing")
	}
	c, err := fence.DecodeRunContext(doc)
	if err != nil {
		return 0, fmt.Errorf("render: %w", err)
	}
	if override != 0 {
		c.Placement = override
	}
	p, err := fence.Render(c, rand.Reader)
	if err != nil {
		return 0, fmt.Errorf("render: %w", err)
	}
	answer, err := p.Encode()
	if err != nil {
		return 0, fmt.Errorf("render: %w", err)
	}
	if _, err := a.Stdout.Write(append(answer, '\n')); err != nil {
		return 0, errors.New("render: standard output could not be written")
	}
	return exitOK, nil
}
