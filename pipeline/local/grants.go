package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
)

// GrantsSchema is the schema field of a grants file.
const GrantsSchema = "grants.v1"

const maxGrantsBytes = 4 << 20

// Grants answers who holds trigger on which channel from a file. The file is
// read at each question, so a grant that is taken away is gone at the next. A
// file that does not exist grants nothing; one that cannot be read or is
// malformed is an error at each question.
type Grants struct {
	path string

	mu   sync.Mutex
	read []byte // what held was made from
	held map[grant]bool
}

type grant struct {
	Person  string `json:"person"`
	Channel string `json:"channel"`
}

type grantsFile struct {
	Schema string  `json:"schema"`
	Grants []grant `json:"grants"`
}

// NewGrants answers from the file at path.
func NewGrants(path string) *Grants { return &Grants{path: path} }

// HoldsTrigger reports whether the person holds trigger on the channel now.
func (g *Grants) HoldsTrigger(_ context.Context, person, channel string) (bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if err := g.load(); err != nil {
		return false, err
	}
	return g.held[grant{person, channel}], nil
}

func (g *Grants) load() error {
	b, err := readFileLimit(g.path, maxGrantsBytes)
	if errors.Is(err, fs.ErrNotExist) {
		g.read, g.held = nil, nil
		return nil
	}
	if err != nil {
		g.read, g.held = nil, nil
		return fmt.Errorf("grants: %w", err)
	}
	if g.held != nil && bytes.Equal(b, g.read) {
		return nil
	}
	g.read, g.held = nil, nil
	all, err := parseGrants(b)
	if err != nil {
		return err
	}
	held := make(map[grant]bool, len(all))
	for _, one := range all {
		held[one] = true
	}
	g.read, g.held = b, held
	return nil
}

func parseGrants(b []byte) ([]grant, error) {
	var f grantsFile
	if err := unmarshal(b, &f); err != nil || f.Schema != GrantsSchema {
		return nil, fmt.Errorf("grants: file of %d bytes is malformed: want {\"schema\":%q,\"grants\":[{\"person\":…,\"channel\":…}]}", len(b), GrantsSchema)
	}
	return f.Grants, nil
}

// grantsCopy keeps a file that the operator named in a directory of the
// engine's own: a phase is given the directory, and the one that the operator
// chose may hold anything.
type grantsCopy struct {
	from, to string

	mu   sync.Mutex
	last []byte
	made bool
}

// sync copies the file if it changed since the last time. A file that is gone
// or cannot be read leaves no copy, and so grants nothing.
func (c *grantsCopy) sync() error {
	if c.from == "" {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	b, err := readFileLimit(c.from, maxGrantsBytes)
	if err != nil {
		c.made, c.last = false, nil
		if gone := os.Remove(c.to); gone != nil && !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
		return fmt.Errorf("grants: %w", err)
	}
	if c.made && bytes.Equal(b, c.last) {
		return nil
	}
	next := c.to + ".next"
	if err := os.WriteFile(next, b, 0o600); err != nil {
		return fmt.Errorf("grants: %w", err)
	}
	if err := os.Rename(next, c.to); err != nil {
		return fmt.Errorf("grants: %w", err)
	}
	c.made, c.last = true, b
	return nil
}
