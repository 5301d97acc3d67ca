package attack

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"decant.dev/internal/escape"
)

// escapes tries to get out of a hostile extract child: files, sockets, other
// processes. Where nothing is restricted nothing is tried.
func escapes(ctx context.Context, c Config) (all Escapes, err error) {
	all.Out = []string{}
	s, err := open(c, "escape", true, 0)
	if err != nil {
		return all, err
	}
	defer func() { err = errors.Join(err, s.engine.Close()) }()
	if !s.engine.Sandboxed() {
		return all, nil
	}
	dir := filepath.Join(c.Dir, "out")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return all, err
	}
	around, done, err := escape.Surround(dir)
	if err != nil {
		return all, err
	}
	defer func() { err = errors.Join(err, done()) }()
	around.Undeclared, around.Special = "example.com:443", "127.0.0.1:443"
	results, err := s.engine.Escape(ctx, around)
	if err != nil {
		return all, err
	}
	all.Tried = len(results)
	for _, r := range results {
		if r.Out {
			all.Out = append(all.Out, r.Name)
		}
	}
	return all, nil
}
