//go:build race

package tests

// race says that the race detector is on, which makes everything ten times slower.
const race = true
