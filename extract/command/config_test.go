package command

import (
	"slices"
	"strings"
	"testing"
	"time"

	"decant.dev/extract"
)

func TestConfigNamesEveryFault(t *testing.T) {
	t.Parallel()
	if _, err := New(nil, as(t, "answer")); err == nil {
		t.Error("no shape: want it refused")
	}
	for name, change := range map[string]func(*Config){
		"argv: want 1 to 64, got 0":                       func(c *Config) { c.Argv = nil },
		"argv: want 1 to 64, got 65":                      func(c *Config) { c.Argv = append(c.Argv, make([]string, 64)...) },
		`path of a program first, got "python3"`:          func(c *Config) { c.Argv[0] = "python3" },
		`path of a program first, got "/usr/bin/../x"`:    func(c *Config) { c.Argv[0] = "/usr/bin/../x" },
		`path of a program first, got ""`:                 func(c *Config) { c.Argv[0] = "" },
		"argument 1: want at most 4096 bytes and no NUL":  func(c *Config) { c.Argv = append(c.Argv, "a\x00b") },
		"argument 2: want at most 4096 bytes and no NUL":  func(c *Config) { c.Argv = append(c.Argv, "a", strings.Repeat("x", 4097)) },
		"mode: want Stdin or Fetch, got 3":                func(c *Config) { c.Mode = 3 },
		"mode: want Stdin or Fetch, got -1":               func(c *Config) { c.Mode = -1 },
		"timeout: want 1ms to 10m0s, got -1ns":            func(c *Config) { c.Timeout = -1 },
		"timeout: want 1ms to 10m0s, got 10m0.000000001s": func(c *Config) { c.Timeout = 10*time.Minute + 1 },
		`want "NAME=value" or "NAME", got ""`:             func(c *Config) { c.Environment = []string{"=x"} },
		`want "NAME=value" or "NAME", got "A B"`:          func(c *Config) { c.Environment = []string{"A B=x"} },
		`begins with DECANT_, got "DECANT_BROKEN"`:        func(c *Config) { c.Environment = []string{"DECANT_BROKEN=x"} },
		`begins with DECANT_, got "decant_broken"`:        func(c *Config) { c.Environment = []string{"decant_broken"} },
		`environment: want "A" once`:                      func(c *Config) { c.Environment = []string{"A=1", "A"} },
		`"A": want a value of at most 32768 bytes`:        func(c *Config) { c.Environment = []string{"A=" + strings.Repeat("x", 32769)} },
		`"B": want a value of at most 32768 bytes`:        func(c *Config) { c.Environment = []string{"B=\x00"} },
		"want at most 64 variables, got 65":               func(c *Config) { c.Environment = slices.Repeat([]string{"A"}, 65) },
		"directories: want at most 14, got 15":            func(c *Config) { c.Directories = slices.Repeat([]string{"/a"}, 15) },
		`below the root, got "/"`:                         func(c *Config) { c.Directories = []string{"/"} },
		`below the root, got "lib"`:                       func(c *Config) { c.Directories = []string{"lib"} },
		"version: want at most 128 visible":               func(c *Config) { c.Version = "a b" },
		"version: want at most 128":                       func(c *Config) { c.Version = strings.Repeat("x", 129) },
	} {
		c := as(t, "answer")
		c.Argv = slices.Clone(c.Argv)
		change(&c)
		if _, err := New(shapeOf(t), c); err == nil || !strings.Contains(err.Error(), name) || !strings.HasPrefix(err.Error(), "command: ") {
			t.Errorf("want %q, got %v", name, err)
		}
	}
	_, err := New(shapeOf(t), Config{Mode: 7, Timeout: -1})
	if err == nil || strings.Count(err.Error(), "want") != 3 {
		t.Errorf("want three faults, got %v", err)
	}
	defer func() {
		if recover() == nil {
			t.Error("Must: want a panic")
		}
	}()
	Must(shapeOf(t), Config{})
}

func TestAnExtractorSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	c := as(t, "answer", "KEY", "B=1")
	x := made(t, c)
	if x.Name() != "command" || extract.WantsContext(x) || extract.HostsOf(x) != nil || !slices.Equal(extract.EnvironmentOf(x), []string{"KEY"}) {
		t.Errorf("got %s, %v, %v, %v", x.Name(), extract.WantsContext(x), extract.HostsOf(x), extract.EnvironmentOf(x))
	}
	programs := extract.ProgramsOf(x)
	if want := append(System(), c.Argv[0]); len(programs) != len(want) || !slices.IsSorted(programs) || !slices.Contains(programs, c.Argv[0]) {
		t.Errorf("programs: got %q, want %q", programs, want)
	}
	c.Directories = []string{}
	if got := made(t, c).Programs(); !slices.Equal(got, c.Argv[:1]) {
		t.Errorf("programs: got %q, want the program alone", got)
	}
	c.Mode = Fetch
	if !extract.WantsContext(made(t, c)) {
		t.Error("mode fetch: want access to the context")
	}
}

// Whatever changes what a program is or is told changes the digest; a time and
// a place where its libraries are do not.
func TestTheDigestIdentifiesTheProgram(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for name, change := range map[string]func(*Config){
		"as it is":           func(*Config) {},
		"an argument":        func(c *Config) { c.Argv = append(c.Argv, "a") },
		"two arguments":      func(c *Config) { c.Argv = append(c.Argv, "a", "") },
		"not UTF-8":          func(c *Config) { c.Argv = append(c.Argv, "\xff") },
		"another not UTF-8":  func(c *Config) { c.Argv = append(c.Argv, "\xfe") },
		"mode":               func(c *Config) { c.Mode = Fetch },
		"a variable":         func(c *Config) { c.Environment = append(c.Environment, "A=1") },
		"its value":          func(c *Config) { c.Environment = append(c.Environment, "A=2") },
		"an inherited one":   func(c *Config) { c.Environment = append(c.Environment, "A") },
		"version":            func(c *Config) { c.Version = "2" },
		"version of another": func(c *Config) { c.Version = "3" },
	} {
		c := as(t, "answer")
		change(&c)
		d := made(t, c).Digest()
		if other, twice := seen[d]; twice {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[d] = name
	}
	c := as(t, "answer")
	c.Timeout, c.Directories, c.Mode = time.Second, []string{}, Stdin
	if seen[made(t, c).Digest()] != "as it is" {
		t.Error("want the same digest whatever the time")
	}
}

// A caller that changes its slices afterwards changes nothing.
func TestConfigIsCopied(t *testing.T) {
	t.Parallel()
	c := as(t, "answer")
	x := made(t, c)
	digest := x.Digest()
	c.Argv[0], c.Environment[0] = "/changed", "CHANGED"
	if x.Digest() != digest {
		t.Error("want a copy of the configuration")
	}
}

func TestModesHaveNames(t *testing.T) {
	t.Parallel()
	for mode, want := range map[Mode]string{0: "invalid", Stdin: "stdin", Fetch: "fetch", 3: "invalid"} {
		if mode.String() != want {
			t.Errorf("%d: got %s, want %s", int(mode), mode, want)
		}
	}
}
