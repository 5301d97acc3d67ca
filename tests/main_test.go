package tests

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"decant.dev/cli"
	"decant.dev/pipeline/local"
	"decant.dev/recipes/advisories"
	advisoriesintake "decant.dev/recipes/advisories/intake"
	"decant.dev/recipes/inbox"
	inboxintake "decant.dev/recipes/inbox/intake"
	"decant.dev/recipes/issues"
	"decant.dev/recipes/issues/intake"
)

var pipelines = []cli.Pipeline{
	{Recipe: advisories.Recipe, Intake: advisoriesintake.Intake, Extractor: advisoriesintake.Extractor},
	{Recipe: inbox.Recipe, Intake: inboxintake.Intake, Extractor: inboxintake.Extractor},
	{Recipe: issues.Recipe, Intake: intake.Intake, Extractor: intake.Extractor},
}

// TestMain runs a phase where the command under test has started one.
func TestMain(m *testing.M) {
	if local.Child(append(pipelines, ordering, loaded)...) || served() {
		return
	}
	os.Exit(m.Run())
}

// decant runs the command in this process, with its state in dir.
func decant(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, warn bytes.Buffer
	app := cli.App{
		Pipelines: pipelines, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &warn, Clock: time.Now,
		Getenv: func(name string) string { return map[string]string{"DECANT_DIR": dir}[name] },
	}
	code = app.Run(context.Background(), args)
	return code, out.String(), warn.String()
}
