package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-json-experiment/json"

	"decant.dev/pipeline"
)

var _ pipeline.Grants = (*Grants)(nil)

// GrantsPath is the grants file of a state directory.
func GrantsPath(dir string) string { return filepath.Join(dir, grantsDir, grantsName) }

// Add writes a grant into the file, which is made if it is missing. A reader
// sees the file as it was or as it is, whenever it looks and whatever
// interrupts this; of several writers each change is kept.
func (g *Grants) Add(_ context.Context, one pipeline.Grant) (bool, error) {
	return g.edit(one, func(held []grant) []grant {
		if slices.Contains(held, grant(one)) {
			return held
		}
		return append(held, grant(one))
	})
}

// Remove takes a grant out of the file, as Add writes one.
func (g *Grants) Remove(_ context.Context, one pipeline.Grant) (bool, error) {
	return g.edit(one, func(held []grant) []grant {
		return slices.DeleteFunc(held, func(h grant) bool { return h == grant(one) })
	})
}

// List returns all grants of the file.
func (g *Grants) List(context.Context) ([]pipeline.Grant, error) {
	held, err := g.parsed()
	if err != nil {
		return nil, err
	}
	all := make([]pipeline.Grant, len(held))
	for i, h := range held {
		all[i] = pipeline.Grant(h)
	}
	return pipeline.SortGrants(all), nil
}

// parsed reads the file as it is now. One that does not exist is empty; one
// that is malformed is an error, and is never written over.
func (g *Grants) parsed() ([]grant, error) {
	b, err := readFileLimit(g.path, maxGrantsBytes)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("grants: %w", err)
	}
	return parseGrants(b)
}

func (g *Grants) edit(one pipeline.Grant, change func([]grant) []grant) (changed bool, err error) {
	if err := one.Check(); err != nil {
		return false, err
	}
	if err := os.MkdirAll(filepath.Dir(g.path), 0o700); err != nil {
		return false, fmt.Errorf("grants: %w", err)
	}
	held, err := lockWaiting(g.path + ".lock")
	if err != nil {
		return false, fmt.Errorf("grants: %w", err)
	}
	defer func() { err = errors.Join(err, held.Close()) }()
	before, err := g.parsed()
	if err != nil {
		return false, err
	}
	n := len(before)
	after := change(before)
	if len(after) == n {
		return false, nil
	}
	return true, putGrants(g.path, after)
}

// putGrants puts a whole file in the place of the one at path, once it is
// durable. It is made for people to read, a grant a line.
func putGrants(path string, held []grant) error {
	b := []byte(`{"schema":"` + GrantsSchema + `","grants":[`)
	for i, one := range held {
		line, err := json.Marshal(one)
		if err != nil {
			return errors.New("grants: could not be encoded")
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, '\n'), line...)
	}
	if b = append(b, "\n]}\n"...); len(b) > maxGrantsBytes {
		return fmt.Errorf("grants: file of %d bytes: want at most %d", len(b), maxGrantsBytes)
	}
	next, err := os.CreateTemp(filepath.Dir(path), "grants-*.next") // of mode 0600
	if err != nil {
		return fmt.Errorf("grants: %w", err)
	}
	_, err = next.Write(b)
	err = errors.Join(err, next.Sync(), next.Close())
	if err == nil {
		err = os.Rename(next.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("grants: %w", err), os.Remove(next.Name()))
	}
	return syncDirectory(filepath.Dir(path))
}
