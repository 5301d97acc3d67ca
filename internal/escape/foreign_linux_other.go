//go:build linux && !amd64

package escape

// foreign is empty: the 32-bit calls of this architecture cannot be made from a 64-bit thread.
func foreign() []Attempt { return nil }
