//go:build !unix

package local

import (
	"errors"
	"fmt"
	"os"
)

// ErrBusy is returned by Open where another live engine has the directory.
var ErrBusy = errors.New("another live engine has the state directory")

// lock opens the file; these systems are not asked to keep others away.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("state directory: %w", err)
	}
	return f, nil
}

// lockWaiting opens the file, as lock does.
func lockWaiting(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
}

// syncDirectory does nothing: these systems sync no directory.
func syncDirectory(string) error { return nil }
