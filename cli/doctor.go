package cli

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"

	"decant.dev/extract"
	"decant.dev/pipeline/local/sandbox"
)

const doctorUsage = `Usage: decant doctor

Doctor says what this machine gives: the sandbox, the tools, which credentials
are set, and versions; and what each recipe's extractor reaches and reads. It
prints no secret.
`

const versionUsage = `Usage: decant version

Version prints the module's version and the Go version that built it.
`

func (a *App) doctor(_ context.Context, args []string) (int, error) {
	rest, err := a.parse(flag.NewFlagSet("doctor", flag.ContinueOnError), doctorUsage, args)
	if err != nil {
		return 0, err
	}
	if len(rest) > 0 {
		return 0, usagef("doctor: want no arguments, got %d", len(rest))
	}
	line := func(what, format string, args ...any) {
		fmt.Fprintf(a.Stdout, "%-22s %s\n", what, fmt.Sprintf(format, args...))
	}
	line("version", "%s", buildVersion())
	line("system", "%s/%s, %d CPUs, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	report := sandbox.Check()
	switch {
	case report.Full():
		line("sandbox", "full: %s", report)
	default:
		line("sandbox", "not available: %s; --live wants --unsandboxed", report)
		for _, reason := range report.Reasons {
			line("", "%s", reason)
		}
	}
	line("state directory", "%s (%s)", a.dir(), existence(a.dir()))
	for _, name := range []string{"DECANT_GITHUB_SECRET", "DECANT_GITHUB_SECRET_PREVIOUS", "DECANT_OWN_IDENTITIES"} {
		line(name, "%s", setOrNot(a.Getenv(name)))
	}
	for _, name := range []string{tokenVariable, usersVariable, markerVariable, queuesVariable, destinationsVariable} {
		line(name, "%s", setOrNot(a.Getenv(name)))
	}
	hooks, err := a.hooks()
	if err != nil {
		return 0, err
	}
	for _, k := range hooks {
		line("webhook "+k.Name, "%s", k.Scheme)
		for _, name := range []string{hookVariable(k.Name), hookVariable(k.Name) + previous} {
			line("  "+name, "%s", setOrNot(a.Getenv(name)))
		}
	}
	for _, tool := range []string{"go", "node"} {
		if path, err := exec.LookPath(tool); err == nil {
			line(tool, "%s", path)
		} else {
			line(tool, "not found")
		}
	}
	for _, p := range a.Pipelines {
		_, code := p.Recipe.List()
		state := "outcome list in force"
		if code != "" {
			state = string(code) + "; see decant audit"
		}
		line("recipe "+p.Recipe.Name(), "%s", state)
		x := p.Extractor(nil)
		line("  extractor", "%s", x.Name())
		for _, host := range extract.HostsOf(x) {
			line("    reaches", "%s", host)
		}
		for _, name := range extract.EnvironmentOf(x) {
			line("    "+name, "%s", setOrNot(a.Getenv(name)))
		}
		for _, path := range extract.ProgramsOf(x) {
			line("    reads and runs", "%s (%s)", path, map[bool]string{true: "found", false: "not found"}[existence(path) == "exists"])
		}
	}
	return exitOK, nil
}

func setOrNot(value string) string {
	if value == "" {
		return "not set"
	}
	return "set"
}

func existence(dir string) string {
	if _, err := os.Stat(dir); err != nil {
		return "not made yet"
	}
	return "exists"
}

func (a *App) version(_ context.Context, args []string) (int, error) {
	rest, err := a.parse(flag.NewFlagSet("version", flag.ContinueOnError), versionUsage, args)
	if err != nil {
		return 0, err
	}
	if len(rest) > 0 {
		return 0, usagef("version: want no arguments, got %d", len(rest))
	}
	fmt.Fprintf(a.Stdout, "decant %s %s\n", buildVersion(), runtime.Version())
	return exitOK, nil
}

func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}
