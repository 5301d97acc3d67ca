package command

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"decant.dev/extract/internal/attempt"
)

// Mode is how a program gets its run's context. The zero Mode is none.
type Mode int

// The modes.
const (
	Stdin Mode = iota + 1 // run_context.v1 on standard input
	Fetch                 // by the context API, on a connection that it is given
)

// String is the mode's name.
func (m Mode) String() string {
	switch m {
	case Stdin:
		return "stdin"
	case Fetch:
		return "fetch"
	default:
		return "invalid"
	}
}

// Bounds of a Config.
const (
	maxArguments    = 64
	maxArgument     = 4096
	maxEnvironment  = 64
	maxVariable     = 32 << 10
	maxDirectories  = 14
	maxVersion      = 128
	reservedPrefix  = "DECANT_"
	defaultMode     = Stdin
	minTimeout      = time.Millisecond
	variablePattern = `^[A-Za-z_][A-Za-z0-9_]{0,63}$`
)

// Config is a program and what it is given.
type Config struct {
	// Argv is the program and its arguments: an absolute, clean path first.
	// There is no shell, and nothing in it is replaced.
	Argv []string
	// Mode is Stdin where it is zero.
	Mode Mode
	// Timeout is how long one turn may take, to the end of the program; 0 is 50
	// seconds, and 10 minutes are the most.
	Timeout time.Duration
	// Environment is all of the program's environment beside the variables of
	// its mode: "NAME=value", or "NAME" for a variable that the engine's own
	// environment holds, as a key. One that it lacks, the program lacks too.
	// Names that begin with DECANT_ are reserved.
	Environment []string
	// Directories are what the program may read and run beside its own file:
	// absolute paths of directories and files. Nil stands for System(). Where
	// nothing restricts the program, as on AWS, it can read more.
	Directories []string
	// Version is the program's, and enters the recipe's digest: the program's
	// own files do not. Up to 128 visible characters of ASCII.
	Version string
	// Client is how the socket of mode Fetch is connected: what
	// local.Pipeline's Extractor is given. Where it is nil, as on AWS, the
	// program is given no socket and makes its own.
	Client *http.Client
}

// System lists where a system keeps its programs and libraries, as far as this
// one has them: /usr, /bin, /lib and /lib64.
func System() []string {
	return slices.DeleteFunc([]string{"/usr", "/bin", "/lib", "/lib64"}, func(dir string) bool {
		_, err := os.Stat(dir)
		return err != nil
	})
}

var variableForm = regexp.MustCompile(variablePattern)

// complete puts the defaults in and names every fault.
func (c Config) complete() (Config, error) {
	var faults []error
	want := func(ok bool, format string, args ...any) {
		if !ok {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	if c.Mode == 0 {
		c.Mode = defaultMode
	}
	if c.Timeout == 0 {
		c.Timeout = attempt.DefaultTotal
	}
	if c.Directories == nil {
		c.Directories = System()
	}
	want(c.Mode == Stdin || c.Mode == Fetch, "mode: want Stdin or Fetch, got %d", int(c.Mode))
	want(c.Timeout >= minTimeout && c.Timeout <= attempt.MaxTotal, "timeout: want %s to %s, got %s", minTimeout, attempt.MaxTotal, c.Timeout)
	want(len(c.Argv) > 0 && len(c.Argv) <= maxArguments, "argv: want 1 to %d, got %d", maxArguments, len(c.Argv))
	if len(c.Argv) > 0 {
		want(isPath(c.Argv[0]), "argv: want the absolute, clean path of a program first, got %.64q", c.Argv[0])
	}
	for i, a := range c.Argv {
		want(len(a) <= maxArgument && !strings.ContainsRune(a, 0), "argv: argument %d: want at most %d bytes and no NUL", i, maxArgument)
	}
	want(len(c.Environment) <= maxEnvironment, "environment: want at most %d variables, got %d", maxEnvironment, len(c.Environment))
	seen := map[string]bool{}
	for _, v := range c.Environment {
		name, value, _ := strings.Cut(v, "=")
		want(variableForm.MatchString(name), `environment: want "NAME=value" or "NAME", got %.64q`, name)
		want(!strings.HasPrefix(strings.ToUpper(name), reservedPrefix), "environment: want no name that begins with %s, got %.64q", reservedPrefix, name)
		want(!seen[name], "environment: want %.64q once", name)
		want(len(value) <= maxVariable && !strings.ContainsRune(value, 0), "environment: %.64q: want a value of at most %d bytes and no NUL", name, maxVariable)
		seen[name] = true
	}
	want(len(c.Directories) <= maxDirectories, "directories: want at most %d, got %d", maxDirectories, len(c.Directories))
	for _, d := range c.Directories {
		want(isPath(d) && filepath.Dir(d) != d, "directories: want absolute, clean paths below the root, got %.64q", d)
	}
	want(len(c.Version) <= maxVersion && !strings.ContainsFunc(c.Version, func(r rune) bool { return r < '!' || r > '~' }),
		"version: want at most %d visible characters of ASCII", maxVersion)
	if err := errors.Join(faults...); err != nil {
		return Config{}, fmt.Errorf("command: %w", err)
	}
	c.Argv, c.Environment, c.Directories = slices.Clone(c.Argv), slices.Clone(c.Environment), slices.Clone(c.Directories)
	return c, nil
}

func isPath(p string) bool {
	return filepath.IsAbs(p) && filepath.Clean(p) == p && !strings.ContainsRune(p, 0)
}

// inherited lists the variables whose values are the engine's.
func (c Config) inherited() []string {
	var names []string
	for _, v := range c.Environment {
		if !strings.Contains(v, "=") {
			names = append(names, v)
		}
	}
	return names
}

// environment is the program's, without the variables of its mode.
func (c Config) environment() []string {
	env := []string{} // not nil, which would stand for all of the engine's
	for _, v := range c.Environment {
		if strings.Contains(v, "=") {
			env = append(env, v)
		} else if value, ok := os.LookupEnv(v); ok {
			env = append(env, v+"="+value)
		}
	}
	return env
}
