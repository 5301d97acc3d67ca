package sandbox

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"hash"
	"os/exec"
	"sync"
)

// headBytes is how much of a child's standard error is looked at; the rest is counted and digested only.
const headBytes = 4096

// Kind is what a child's standard error looks like, as far as may be told without repeating a word of it.
type Kind uint8

// The kinds. A hostile child can imitate any of them: they are for a person who looks for a fault, never for a decision.
const (
	KindInvalid Kind = iota
	KindSilent       // nothing was written
	KindWords        // something that is no crash
	KindPanic        // a Go panic
	KindFatal        // an error of Go's runtime: out of memory, deadlock, concurrent map writes
	KindRace         // a report of the race detector
)

// String is one word of our own.
func (k Kind) String() string {
	switch k {
	case KindSilent:
		return "silent"
	case KindWords:
		return "words"
	case KindPanic:
		return "panic"
	case KindFatal:
		return "fatal error"
	case KindRace:
		return "data race"
	default:
		return "invalid"
	}
}

// Diagnostics takes what a child writes to standard error. It keeps a few kilobytes whatever comes, and gives none of
// them back: printed, it is kind, length and digest. The zero value is ready, and safe for concurrent use.
type Diagnostics struct {
	mu     sync.Mutex
	head   []byte
	total  int64
	digest hash.Hash
}

// Write takes all of p and never fails, so that a child cannot be held up by its own noise.
func (d *Diagnostics) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.digest == nil {
		d.digest = sha256.New()
	}
	d.digest.Write(p)
	d.total += int64(len(p))
	d.head = append(d.head, p[:min(len(p), headBytes-len(d.head))]...)
	return len(p), nil
}

// Bytes is how much was written.
func (d *Diagnostics) Bytes() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.total
}

// Kind looks for the first words that Go's runtime and race detector use, at the start of a line.
func (d *Diagnostics) Kind() Kind {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.total == 0 {
		return KindSilent
	}
	for line := range bytes.Lines(d.head) {
		switch {
		case bytes.HasPrefix(line, []byte("panic: ")):
			return KindPanic
		case bytes.HasPrefix(line, []byte("fatal error: ")), bytes.HasPrefix(line, []byte("runtime: ")):
			return KindFatal
		case bytes.HasPrefix(line, []byte("WARNING: DATA RACE")):
			return KindRace
		}
	}
	return KindWords
}

// String is kind, length and the first 8 bytes of the SHA-256 digest, never a word of what was written.
func (d *Diagnostics) String() string {
	kind := d.Kind()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.total == 0 {
		return kind.String()
	}
	return fmt.Sprintf("%s, %d bytes, sha256 %x", kind, d.total, d.digest.Sum(nil)[:8])
}

// GoString is String, so that %#v shows no more.
func (d *Diagnostics) GoString() string { return d.String() }

// StderrOf answers the Diagnostics of a cmd made by Command, or nil if its Stderr was replaced.
func StderrOf(cmd *exec.Cmd) *Diagnostics {
	d, _ := cmd.Stderr.(*Diagnostics)
	return d
}
