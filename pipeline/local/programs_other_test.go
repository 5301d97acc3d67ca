//go:build !linux

package local

// probe has nothing to try where nothing is restricted.
func probe() error { return nil }
