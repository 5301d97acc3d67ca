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

	// Programs are directories and files that may be read and run, to any depth: a runtime, its libraries, an adapter.
	// Absolute, clean, existing, neither "/" nor in /dev, /proc or /sys, and apart from the directories above. A profile
	// with programs has another filter, which refuses what is listed and allows the rest (see the package's comment), and
	// opens /dev/null, and to read /dev/zero, /dev/urandom, /etc/ld.so.cache and /etc/ssl/openssl.cnf.
	Programs []string `json:"programs,omitempty"`

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
	return p.validatePrograms()
}

// views are the folders in which a kernel shows devices and other processes.
var views = []string{"/dev", "/proc", "/sys"}

// validatePrograms refuses programs that would open other processes to a child, or that it could write.
func (p Profile) validatePrograms() error {
	if len(p.Programs) > maxDirectories {
		return fmt.Errorf("profile: want at most %d programs, got %d", maxDirectories, len(p.Programs))
	}
	for _, program := range p.Programs {
		switch {
		case !filepath.IsAbs(program) || filepath.Clean(program) != program || strings.ContainsRune(program, 0):
			return fmt.Errorf("profile: want absolute, clean programs, got %.64q", program)
		case filepath.Dir(program) == program:
			return errors.New("profile: want programs below the root, got the root")
		case slices.ContainsFunc(views, func(view string) bool { return within(program, view) }):
			return fmt.Errorf("profile: want no programs in /dev, /proc or /sys, got %.64q", program)
		}
		for _, dir := range slices.Concat(p.ReadOnly, p.ReadWrite) {
			if within(program, dir) || within(dir, program) {
				return fmt.Errorf("profile: want programs apart from other directories, got %.64q and %.64q", program, dir)
			}
		}
	}
	return nil
}

// within says whether path is dir or below it. Both are clean.
func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, dir+string(filepath.Separator))
}

// directories says whether the profile opens any part of the file system.
func (p Profile) directories() bool { return len(p.ReadOnly)+len(p.ReadWrite) > 0 }

// Applied is what Restrict did.
type Applied struct {
	Landlock     int  // ABI version in force
	Closed       int  // inherited descriptors closed
	Capabilities bool // whether there were capabilities, which are now dropped
}
