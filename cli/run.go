package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"

	"decant.dev/act/plan"
	"decant.dev/events"
	"decant.dev/internal/terminal"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local"
)

const runUsage = `Usage: decant run [--live] [--json] [--github EVENT] EVENT...
       decant run [--live] [--json] --recipe NAME --item FILE...

Run runs events through the recipes that handle them. An EVENT is a file that
holds one HTTP event as API Gateway and function URLs send it, or - for
standard input. Outcomes are staged: shown and not written. An event whose path
is /webhooks/NAME is one of a recipe's webhook, any other one of GitHub's.

  --live           write, with receipts, once for each event
  --kinds KINDS    with --live, write actions of these kinds only, with commas
                   between; others of the outcome stay staged
  --json           print one run.v1 object a line
  --github EVENT   the files are bare payloads of GitHub's event EVENT, as
                   issues or issue_comment; they are trusted local files
  --hook NAME      the events are of the webhook NAME, whatever their path
  --recipe NAME    with --item, the recipe that takes the items
  --item           the files are bare items of the recipe: an advisory, a mail,
                   or a document of many, as a feed. Each item is a run, of
                   which nobody vouches for what it says: it is unverified
  --grants FILE    who holds trigger; by default grants/grants.json in the
                   state directory
  --jobs N         events under way at once, 1 to 1024; by default 128
  --unsandboxed    with --live, go on where the kernel cannot sandbox

The webhook's secret is $DECANT_GITHUB_SECRET, and while it is rotated also
$DECANT_GITHUB_SECRET_PREVIOUS. Without them events are verified with the
documented secret of the sample events. A recipe's webhook NAME has
$DECANT_WEBHOOK_SECRET_NAME, as with decant serve, and its window: a delivery
that was kept for longer is refused, and its body can be run with --item.
$DECANT_OWN_IDENTITIES lists, with commas, the identities that sinks write with, as github:583231: they never
start a run.

Example:
  decant run --json events/github-issue-opened.json
`

const (
	defaultJobs = 128
	maxJobs     = 1024
)

type runOptions struct {
	live, json, unsandboxed bool
	kinds                   kindsFlag
	github, grants, recipe  string
	hook                    string
	item                    bool
	jobs                    int
}

// kindsFlag is the kinds of action that a live engine performs, and no other.
type kindsFlag []plan.Kind

func (k *kindsFlag) set(s string) (err error) {
	*k, err = plan.ParseKinds(s)
	return err
}

func (a *App) runEvents(ctx context.Context, args []string) (int, error) {
	var o runOptions
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.BoolVar(&o.live, "live", false, "")
	flags.Func("kinds", "", o.kinds.set)
	flags.BoolVar(&o.json, "json", false, "")
	flags.BoolVar(&o.unsandboxed, "unsandboxed", false, "")
	flags.StringVar(&o.github, "github", "", "")
	flags.StringVar(&o.hook, "hook", "", "")
	flags.StringVar(&o.recipe, "recipe", "", "")
	flags.BoolVar(&o.item, "item", false, "")
	flags.StringVar(&o.grants, "grants", "", "")
	flags.IntVar(&o.jobs, "jobs", defaultJobs, "")
	files, err := a.parse(flags, runUsage, args)
	if err != nil {
		return 0, err
	}
	hooks, err := a.hooks()
	switch {
	case err != nil:
		return 0, err
	case len(files) == 0:
		return 0, usagef("run: want at least one event, a file or -")
	case len(slices.DeleteFunc(slices.Clone(files), func(f string) bool { return f != "-" })) > 1:
		return 0, usagef("run: want standard input once, got - more than once")
	case o.item != (o.recipe != ""):
		return 0, usagef("run: --recipe and --item go together: the items of a recipe")
	case o.item && o.github != "":
		return 0, usagef("run: want --github or --item, got both")
	case o.hook != "" && (o.item || o.github != ""):
		return 0, usagef("run: --hook stands without --github and --item: the files are HTTP events")
	case o.hook != "" && !slices.ContainsFunc(hooks, func(k events.Hook) bool { return k.Name == o.hook }):
		return 0, usagef("run: --hook %.32s: no recipe has that webhook", o.hook)
	case o.item && !slices.Contains(a.itemRecipes(), o.recipe):
		return 0, usagef("run: --recipe %.32s: want one of %s", o.recipe, strings.Join(a.itemRecipes(), ", "))
	case o.jobs < 1 || o.jobs > maxJobs:
		return 0, usagef("run: --jobs %d: want 1 to %d", o.jobs, maxJobs)
	case len(o.kinds) > 0 && !o.live:
		return 0, usagef("run: --kinds goes with --live: staged runs write nothing")
	}
	proofs := proofs{github: a.secrets(o, files), hooks: hooks}
	config, err := a.engineConfig(o.live, o.unsandboxed, o.grants)
	if err != nil {
		return 0, err
	}
	config.Kinds = []plan.Kind(o.kinds)
	engine, shut, err := a.openEngine(config)
	if err != nil {
		return 0, err
	}
	code, err := a.runAll(ctx, engine, o, proofs, files)
	return code, errors.Join(err, shut())
}

// secrets reads the webhook's secrets, and says where the samples' secret
// stands in for them. It never does for what a live run reads from standard
// input: that may come from anywhere.
func (a *App) secrets(o runOptions, files []string) events.Secrets {
	secrets := a.webhookSecrets("DECANT_GITHUB_SECRET")
	if !secrets.Any() && o.github == "" && o.hook == "" && !o.item && a.takesGitHub() && !(o.live && slices.Contains(files, "-")) {
		fmt.Fprintln(a.Stderr, "decant: DECANT_GITHUB_SECRET is not set: verifying with the documented secret of the sample events")
		secrets.Current = events.NewSecret(events.SampleSecret)
	}
	return secrets
}

func (a *App) ownIdentities() []string { return listed(a.Getenv("DECANT_OWN_IDENTITIES")) }

// answered is what came of one file.
type answered struct {
	file    string
	err     error // why the file never became a delivery
	results []local.Result
}

// runAll runs the files with at most o.jobs under way, and prints the answers
// in the order of the files.
func (a *App) runAll(ctx context.Context, engine *local.Engine, o runOptions, by proofs, files []string) (int, error) {
	if !engine.Sandboxed() {
		fmt.Fprintln(a.Stderr, "decant: this system cannot sandbox the phases; see decant doctor")
	}
	resumed, err := engine.Resume(ctx)
	if err != nil {
		return 0, err
	}
	code := exitOK
	if len(resumed) > 0 {
		fmt.Fprintf(a.Stderr, "decant: carried %d unfinished runs to their end\n", len(resumed))
		if code, err = a.printAnswer(ctx, engine, o, answered{results: resumed}); err != nil {
			return 0, err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	slots := make([]chan answered, len(files))
	for i := range slots {
		slots[i] = make(chan answered, 1)
	}
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(o.jobs, len(files)) {
		workers.Go(func() {
			for i := range next {
				slots[i] <- a.runFile(ctx, engine, o, by, files[i])
			}
		})
	}
	workers.Go(func() {
		defer close(next)
		for i := range files {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	})
	defer workers.Wait()
	defer cancel()
	shown := newProgress(a.Stderr, len(files))
	defer shown.clear()
	for i := range files {
		select {
		case done := <-slots[i]:
			shown.clear()
			exit, err := a.printAnswer(ctx, engine, o, done)
			if err != nil {
				return 0, err
			}
			code = worse(code, exit)
			shown.step()
		case <-ctx.Done():
			return 0, fmt.Errorf("stopped: %d of %d events answered", i, len(files))
		}
	}
	return code, nil
}

// worse orders exit codes: failed before refused before done.
func worse(a, b int) int {
	if a == exitFailed || b == exitFailed {
		return exitFailed
	}
	return max(a, b)
}

func (a *App) runFile(ctx context.Context, engine *local.Engine, o runOptions, by proofs, file string) answered {
	if o.item {
		results, err := a.runItems(ctx, engine, o.recipe, file)
		if err != nil {
			results = []local.Result{local.Rejected(codeOf(err))}
		}
		return answered{file: file, err: err, results: results}
	}
	d, err := a.receive(o, by, file)
	if err != nil {
		return answered{file: file, err: err, results: []local.Result{local.Rejected(codeOf(err))}}
	}
	return answered{file: file, results: engine.Deliver(ctx, d)}
}

// itemRecipes lists the recipes that take bare items: those that no delivery
// of GitHub's starts, which have --github.
func (a *App) itemRecipes() []string {
	var names []string
	for _, p := range a.Pipelines {
		if p.Intake.Source != events.GitHub {
			names = append(names, p.Recipe.Name())
		}
	}
	return names
}

// runItems runs the items of one file.
func (a *App) runItems(ctx context.Context, engine *local.Engine, recipe, file string) ([]local.Result, error) {
	in, err := a.open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	document, err := events.ReadBody(in)
	if err != nil {
		return nil, err
	}
	b := engine.Given(ctx, recipe, document)
	if b.Reason != pipeline.OK {
		return nil, b.Reason.Error("no item could be read of it")
	}
	if b.Left > 0 {
		fmt.Fprintf(a.Stderr, "decant: %s: %d items are beyond the bounds of a batch\n", terminal.Line(file), b.Left)
	}
	return b.Items, nil
}

// open opens a file, or standard input for -.
func (a *App) open(file string) (io.ReadCloser, error) {
	if file == "-" {
		return io.NopCloser(a.Stdin), nil
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, pipeline.MalformedEvent.Error("%v", err)
	}
	return f, nil
}

// receive reads one file and verifies it, as the ingress does a request.
func (a *App) receive(o runOptions, by proofs, file string) (events.Delivery, error) {
	in, err := a.open(file)
	if err != nil {
		return events.Delivery{}, err
	}
	defer in.Close()
	if o.github != "" {
		body, err := events.ReadBody(in)
		if err != nil {
			return events.Delivery{}, err
		}
		return events.GitHubDelivery(o.github, body)
	}
	h, err := events.ReadEvent(in)
	if err != nil {
		return events.Delivery{}, err
	}
	for _, k := range by.hooks {
		if o.hook == k.Name || o.hook == "" && h.Path() == k.Path() {
			d, _, err := events.ReceiveHook(h, k, a.hookSecrets(k), a.Clock())
			return d, err
		}
	}
	d, _, err := events.ReceiveGitHub(h, by.github)
	return d, err
}

// proofs are what events are verified with.
type proofs struct {
	github events.Secrets
	hooks  []events.Hook
}

// codeOf is the code of an error of the ingress.
func codeOf(err error) pipeline.Code {
	var f *pipeline.Fault
	if errors.As(err, &f) {
		return f.Code
	}
	return pipeline.MalformedEvent
}

// printAnswer prints what came of one file and returns its exit code.
func (a *App) printAnswer(ctx context.Context, engine *local.Engine, o runOptions, done answered) (int, error) {
	code := exitOK
	for _, r := range done.results {
		code = worse(code, r.Status.Exit())
		if o.json {
			if err := a.printJSON(r); err != nil {
				return 0, err
			}
		}
	}
	switch {
	case done.err != nil:
		fmt.Fprintf(a.Stderr, "decant: %s: %s: %s\n", terminal.Line(done.file), done.results[0].Status, terminal.Line(done.err.Error()))
	case !o.json:
		for _, r := range done.results {
			if err := a.explain(ctx, engine, r); err != nil {
				return 0, err
			}
		}
	}
	return code, nil
}
