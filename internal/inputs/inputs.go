// Package inputs finds the real inputs that lie beside the module, for tests.
// They are not part of the module: a test that wants one is skipped where it
// is absent.
package inputs

import (
	"os"
	"path/filepath"
	"testing"
)

// Path returns the path of a file or folder of ../shared, seen from the
// folder that holds go.mod, or skips the test with one line that names what
// is absent.
func Path(tb testing.TB, elem ...string) string {
	tb.Helper()
	dir, err := os.Getwd()
	if err != nil {
		tb.Fatal(err)
	}
	path, err := under(dir, elem)
	if err != nil {
		tb.Skipf("skipped: %s is not here", filepath.Join(append([]string{"..", "shared"}, elem...)...))
	}
	return path
}

// under finds the path from a folder of the module, dir or above it.
func under(dir string, elem []string) (string, error) {
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		if dir == filepath.Dir(dir) {
			return "", os.ErrNotExist
		}
		dir = filepath.Dir(dir)
	}
	path := filepath.Join(append([]string{dir, "..", "shared"}, elem...)...)
	_, err := os.Stat(path)
	return path, err
}
