package sandbox

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// ErrUnavailable is returned by Restrict where the system cannot restrict a process. Nothing was restricted.
var ErrUnavailable = errors.New("sandbox unavailable: want Linux with Landlock and seccomp")

// maxDirectories bounds each list of a Profile. A phase holds three at most.
const maxDirectories = 16

// maxFiles bounds the descriptors handed to a child beside its standard ones.
const maxFiles = 8

// Profile is what a child may still use once it is restricted. The zero Profile is the narrowest one: no file at all.
type Profile struct {
	// ReadOnly are directories whose files may be read, to any depth. Absolute, clean, existing, and not "/".
	ReadOnly []string `json:"read_only,omitempty"`

	// ReadWrite are directories whose regular files and folders may be read, written, made and removed, to any depth.
	// Links, devices and sockets cannot be made in them, and a file cannot be moved from one folder to another: what
	// the parent finds there is a plain file. Same rules as ReadOnly.
	ReadWrite []string `json:"read_write,omitempty"`

	// Files is how many descriptors from 3 on are the child's own, 0 to 8. Command sets it. Every other inherited
	// descriptor is closed.
	Files int `json:"files,omitempty"`
}

// validate refuses a Profile whose directories are not absolute and clean, or that would open everything.
func (p Profile) validate() error {
	if p.Files < 0 || p.Files > maxFiles {
		return fmt.Errorf("profile: want 0 to %d files, got %d", maxFiles, p.Files)
	}
	for _, dirs := range [][]string{p.ReadOnly, p.ReadWrite} {
		if len(dirs) > maxDirectories {
			return fmt.Errorf("profile: want at most %d directories, got %d", maxDirectories, len(dirs))
		}
		for _, dir := range dirs {
			switch {
			case !filepath.IsAbs(dir) || filepath.Clean(dir) != dir || strings.ContainsRune(dir, 0):
				return fmt.Errorf("profile: want an absolute, clean directory, got %.64q", dir)
			case filepath.Dir(dir) == dir:
				return errors.New("profile: want a directory below the root, got the root")
			}
		}
	}
	for _, dir := range p.ReadOnly {
		if slices.Contains(p.ReadWrite, dir) {
			return fmt.Errorf("profile: want a directory in one list, got %.64q in both", dir)
		}
	}
	return nil
}

// directories says whether the profile opens any part of the file system.
func (p Profile) directories() bool { return len(p.ReadOnly)+len(p.ReadWrite) > 0 }

// Applied is what Restrict did.
type Applied struct {
	Landlock     int  // ABI version in force
	Closed       int  // inherited descriptors closed
	Capabilities bool // whether there were capabilities, which are now dropped
}
