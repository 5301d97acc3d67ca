package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"decant.dev/cli"
	"decant.dev/events"
	"decant.dev/examples/orders"
	ordersintake "decant.dev/examples/orders/intake"
	"decant.dev/examples/orders/source"
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

// ordering is the example of a webhook; open is the same, of which nothing is
// signed.
var (
	ordering = cli.Pipeline{Recipe: orders.Recipe, Intake: ordersintake.Intake, Extractor: ordersintake.Extractor, Hook: source.Hook}
	open     = func() cli.Pipeline {
		p := ordering
		p.Hook.Scheme = events.None{Unsigned: events.AnyoneMaySend}
		return p
	}()
)

func TestMain(m *testing.M) {
	all, err := cli.WithLearned(pipelines)
	if err != nil {
		panic(err)
	}
	if local.Child(append(all, adapting, modelled, ordering, open)...) {
		return
	}
	testscript.Main(m, map[string]func(){
		"decant": func() { cli.Main(pipelines...) }, "adapting": func() { cli.Main(adapting) }, "modelled": func() { cli.Main(modelled) }, "http": client,
		"ordering": func() { cli.Main(ordering) }, "open": func() { cli.Main(open) },
	})
}

// TestScripts runs the numbered stories of testdata.
func TestScripts(t *testing.T) {
	events, err := filepath.Abs("../events")
	if err != nil {
		t.Fatal(err)
	}
	templates, err := filepath.Abs("../infra/authority/testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // or each process of a story ends a second later under the race detector
			env.Setenv("EVENTS", events)
			env.Setenv("TEMPLATES", templates)
			env.Setenv("DECANT_DIR", filepath.Join(env.WorkDir, "state"))
			env.Values[servers{}] = map[string]*serving{}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"truncated": makeLarge,
			"brackets":  makeDeep,
			"badutf8":   makeInvalid,
			"request":   makeRequest,
			"exits":     exits,
			"serve":     startServing,
			"interrupt": stopServing,
			"capture":   capture,
			"until":     until,
			"model":     startModel,
		},
	})
}

// makeLarge writes a file of the given number of mebibytes of one letter.
func makeLarge(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.Create(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(f.Truncate(30 << 20))
	ts.Check(f.Close())
}
