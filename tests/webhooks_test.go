package tests

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"decant.dev/cli"
	"decant.dev/examples/orders"
	"decant.dev/examples/orders/intake"
	"decant.dev/examples/orders/source"
)

var ordering = cli.Pipeline{Recipe: orders.Recipe, Intake: intake.Intake, Extractor: intake.Extractor, Hook: source.Hook}

// The page on webhooks shows the example as it is.
func TestWebhooksPageShowsTheExample(t *testing.T) {
	t.Parallel()
	var example string
	for _, file := range []string{"orders.go", "source/source.go", "intake/intake.go"} {
		b, err := os.ReadFile("../examples/orders/" + file)
		if err != nil {
			t.Fatal(err)
		}
		example += string(b)
	}
	page, err := os.ReadFile("../docs/webhooks.md")
	if err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, declared := range []string{"var Hook", "type Message", "var Recipe", "var Intake"} {
		_, block, ok := strings.Cut(string(page), "\n    "+declared)
		if !ok {
			t.Errorf("want %s on the page", declared)
			continue
		}
		var lines []string
		for _, line := range strings.Split("    "+declared+block, "\n") {
			if line != "" && !strings.HasPrefix(line, "    ") {
				break
			}
			lines = append(lines, strings.TrimPrefix(line, "    "))
		}
		for _, part := range strings.Split(strings.TrimSpace(strings.Join(lines, "\n")), "\n\n") {
			shown++
			if !strings.Contains(example, part) {
				t.Errorf("%s is not as it is in the example:\n%s", declared, part)
			}
		}
	}
	if shown < 4 {
		t.Errorf("got %d blocks", shown)
	}
}

// The example's list is as its plan gives it, and a hostile extractor and
// hostile texts write nothing that is not on it.
func TestTheExampleIsAuditedAndAttacked(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{{"audit", "orders"}, {"attack", "--n", "200", "orders"}} {
		var out, warn bytes.Buffer
		app := cli.App{
			Pipelines: []cli.Pipeline{ordering}, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &warn, Clock: time.Now,
			Getenv: func(name string) string { return map[string]string{"DECANT_DIR": t.TempDir()}[name] },
		}
		if code := app.Run(context.Background(), args); code != 0 {
			t.Errorf("%s: exit %d\n%s%s", args[0], code, out.String(), warn.String())
		}
	}
}
