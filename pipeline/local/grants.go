package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// GrantsSchema is the schema field of a grants file.
const GrantsSchema = "grants.v1"

const maxGrantsBytes = 4 << 20

// Grants answers who holds trigger on which channel from a file. The file is
// read again whenever it changed, so a grant that is taken away is gone at
// the next question. A file that does not exist grants nothing; one that
// cannot be read or is malformed is an error at each question.
type Grants struct {
	path string

	mu   sync.Mutex
	size int64
	mod  time.Time
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
	info, err := os.Stat(g.path)
	if errors.Is(err, fs.ErrNotExist) {
		g.held = nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("grants: %w", err)
	}
	if g.held != nil && info.Size() == g.size && info.ModTime().Equal(g.mod) {
		return nil
	}
	g.held = nil
	b, err := readFileLimit(g.path, maxGrantsBytes)
	if err != nil {
		return fmt.Errorf("grants: %w", err)
	}
	var f grantsFile
	if err := unmarshal(b, &f); err != nil || f.Schema != GrantsSchema {
		return fmt.Errorf("grants: file of %d bytes is malformed: want {\"schema\":%q,\"grants\":[{\"person\":…,\"channel\":…}]}", len(b), GrantsSchema)
	}
	held := make(map[grant]bool, len(f.Grants))
	for _, one := range f.Grants {
		held[one] = true
	}
	g.held, g.size, g.mod = held, info.Size(), info.ModTime()
	return nil
}
