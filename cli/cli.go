// Package cli is the decant command, usable from a user's own main:
//
//	func main() { cli.Main(cli.Pipeline{Recipe: …, Intake: …, Extractor: …}) }
//
// Data goes to standard output and everything else to standard error.
// Whatever of foreign origin is printed is escaped for a terminal. Exit codes:
// 0 done, staged, dropped or ignored; 1 failed or malformed; 2 usage; 3
// refused, waiting or quarantined.
package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"decant.dev/pipeline/local"
)

// Pipeline is a recipe with its intake and its extractor.
type Pipeline = local.Pipeline

// The exit codes beside those of a run's status.
const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

// App is the command with the world that it runs in.
type App struct {
	Pipelines []Pipeline
	Stdin     io.Reader
	Stdout    io.Writer
	Stderr    io.Writer
	Getenv    func(string) string
	Clock     func() time.Time
}

// Main runs the command with the process's arguments, and ends the process
// unless it was a phase that has served. It is all that a main needs.
func Main(pipelines ...Pipeline) {
	models, fault := absolute(os.Getenv(learnedVariable))
	if fault == nil && models != "" {
		fault = os.Setenv(learnedVariable, models) // for its extract children
	}
	if fault == nil {
		pipelines, fault = withLearned(pipelines, models)
	}
	if fault != nil { // in the command as in a phase: neither goes on without its model
		fmt.Fprintf(os.Stderr, "decant: %v\n", strings.TrimPrefix(fault.Error(), errUsage.Error()+": "))
		os.Exit(exitUsage)
	}
	if local.Child(pipelines...) {
		return
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	app := App{Pipelines: pipelines, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Clock: time.Now}
	code := app.Run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// gcPercent trades a few megabytes for less collecting: the parent's live heap
// is small and what it carries for each item is short-lived.
const gcPercent = 200

type command struct {
	name    string
	summary string
	usage   string
	run     func(*App, context.Context, []string) (int, error)
}

// commands in the order of the help.
func commands() []command {
	return []command{
		{"run", "run events; staged unless --live", runUsage, (*App).runEvents},
		{"serve", "take webhooks, and serve the context API", serveUsage, (*App).serve},
		{"audit", "all that a recipe could ever do", auditUsage, (*App).audit},
		{"attack", "try a recipe with a hostile extractor and hostile texts", attackUsage, (*App).attack},
		{"runs", "list runs", runsUsage, (*App).runs},
		{"show", "what happened in a run, and why", showUsage, (*App).show},
		{"render", "run_context.v1 on standard input, prompt.v1 on standard output", renderUsage, (*App).render},
		{"conformance", "does an adapter keep the rules of the fence?", conformanceUsage, (*App).conformance},
		{"approve", "say yes to what a run asks", approveUsage, (*App).approve},
		{"deny", "say no to what a run asks", approveUsage, (*App).deny},
		{"retry", "try a run that has ended once more", retryUsage, (*App).retry},
		{"resolve", "say what became of an action that nobody could tell of", resolveUsage, (*App).resolve},
		{"forget", "remove what strangers wrote of a run", forgetUsage, (*App).forget},
		{"replay", "run recorded runs again, and compare", replayUsage, (*App).replay},
		{"pause", "stop a recipe at once", pauseUsage, (*App).pause},
		{"resume", "let a recipe that was paused go on", pauseUsage, (*App).resume},
		{"grants", "who holds trigger where: add, remove, list", grantsUsage, (*App).grants},
		{"learn", "train the learned extractor from a CSV file", learnUsage, (*App).learn},
		{"eval", "measure a learned model on a CSV file", evalUsage, (*App).eval},
		{"doctor", "what this machine gives", doctorUsage, (*App).doctor},
		{"version", "print the version", versionUsage, (*App).version},
	}
}

const mainUsage = `Usage: decant COMMAND [ARGUMENT...]

Decant acts automatically on text that strangers wrote, without letting the
text steer the program.

Commands:
%s
  help COMMAND   how to use a command

State lives in $DECANT_DIR, by default .decant in the working folder.

Example:
  decant run events/github-issue-opened.json
`

// errUsage marks an error of how the command was called.
var errUsage = errors.New("usage")

func usagef(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errUsage, fmt.Sprintf(format, args...))
}

// Run runs one command and returns its exit code.
func (a *App) Run(ctx context.Context, args []string) int {
	code, err := a.dispatch(ctx, args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errUsage):
		fmt.Fprintf(a.Stderr, "decant: %s\n", strings.TrimPrefix(err.Error(), errUsage.Error()+": "))
		return exitUsage
	case err != nil:
		fmt.Fprintf(a.Stderr, "decant: %v\n", err)
		return exitFailed
	}
	return code
}

func (a *App) dispatch(ctx context.Context, args []string) (int, error) {
	if len(args) == 0 {
		return 0, usagef("want a command; see decant help")
	}
	name, rest := args[0], args[1:]
	switch name {
	case "help", "-h", "--help", "-help":
		return exitOK, a.help(rest)
	case "--version":
		name = "version"
	}
	for _, c := range commands() {
		if c.name == name {
			return c.run(a, ctx, rest)
		}
	}
	return 0, usagef("no command %.64q; see decant help", name)
}

func (a *App) help(args []string) error {
	if len(args) == 0 {
		var sb strings.Builder
		for _, c := range commands() {
			fmt.Fprintf(&sb, "  %-14s %s\n", c.name, c.summary)
		}
		fmt.Fprintf(a.Stdout, mainUsage, strings.TrimSuffix(sb.String(), "\n"))
		return nil
	}
	if len(args) > 1 {
		return usagef("help: want one command, got %d", len(args))
	}
	for _, c := range commands() {
		if c.name == args[0] {
			fmt.Fprint(a.Stdout, c.usage)
			return nil
		}
	}
	return usagef("no command %.64q; see decant help", args[0])
}

// parse reads flags that may stand before, between or after the arguments,
// and returns the arguments. Help goes to standard output.
func (a *App) parse(flags *flag.FlagSet, usage string, args []string) ([]string, error) {
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	var rest []string
	for {
		if err := flags.Parse(args); err != nil {
			if errors.Is(err, flag.ErrHelp) {
				fmt.Fprint(a.Stdout, usage)
				return nil, err
			}
			return nil, usagef("%s: %v; see decant help %s", flags.Name(), err, flags.Name())
		}
		args = flags.Args()
		if len(args) == 0 {
			return rest, nil
		}
		rest = append(rest, args[0])
		args = args[1:]
	}
}

// dir is the state directory.
func (a *App) dir() string {
	if d := a.Getenv("DECANT_DIR"); d != "" {
		return d
	}
	return ".decant"
}
