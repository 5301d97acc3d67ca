package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"decant.dev/act/plan"
	"decant.dev/events"
	"decant.dev/pipeline"
	"decant.dev/pipeline/local"
	"decant.dev/pipeline/local/server"
)

const serveUsage = `Usage: decant serve [--live] [--json] [--listen ADDRESS:PORT]

Serve takes webhooks and runs them as they come, until it is interrupted. Then
it takes no more, lets the runs that are under way end, for at most half a
minute, and stops. A live run that was stopped is carried on at the next start.

  POST /webhooks/github            a delivery of GitHub's; answered once its
                                   runs are durable
  POST /webhooks/NAME              a delivery of a recipe's webhook
  GET /api/v1/runs/RUN/context     a run's context, for the adapter that was
                                   given the run's token
  GET, POST /approve/RUN?…         what a run that waits would do, and a
                                   person's answer: the links that are told to
                                   $DECANT_APPROVAL_NOTIFY
  GET /healthz                     that it serves

  --live           write, with receipts; without it outcomes are staged
  --kinds KINDS    with --live, write actions of these kinds only, with commas
                   between; others of an outcome stay staged
  --json           print one run.v1 object a line as each run ends
  --listen A:P     where; by default 127.0.0.1:8080; port 0 takes a free one
  --public         allow an address that is not loopback: nothing is encrypted,
                   so put a proxy that speaks TLS in front
  --schedules FILE when the schedules of recipes tick, as schedules.v1; see
                   docs/schedules.md. Without it none does
  --grants FILE    who holds trigger; by default grants/grants.json in the
                   state directory
  --unsandboxed    with --live, go on where the kernel cannot sandbox

The secret of GitHub's webhook is $DECANT_GITHUB_SECRET, and while it is
rotated also $DECANT_GITHUB_SECRET_PREVIOUS; that of a recipe's webhook is
$DECANT_WEBHOOK_SECRET_NAME, its name in capitals and with _ for -, and also
$DECANT_WEBHOOK_SECRET_NAME_PREVIOUS. There is no serving without one, unless
the recipe says that nothing is signed; with --schedules GitHub's may be left
out, and its path is then not served.

Example:
  DECANT_GITHUB_SECRET=… decant serve --live
`

// Times that a stop may take: of the runs under way, and of the answers.
const (
	runsGrace    = 30 * time.Second
	answersGrace = 5 * time.Second
)

type serveOptions struct {
	live, json, unsandboxed, public bool
	listen, grants, schedules       string
	kinds                           kindsFlag
}

func (a *App) serve(ctx context.Context, args []string) (int, error) {
	var o serveOptions
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	flags.BoolVar(&o.live, "live", false, "")
	flags.Func("kinds", "", o.kinds.set)
	flags.BoolVar(&o.json, "json", false, "")
	flags.BoolVar(&o.unsandboxed, "unsandboxed", false, "")
	flags.BoolVar(&o.public, "public", false, "")
	flags.StringVar(&o.listen, "listen", "127.0.0.1:8080", "")
	flags.StringVar(&o.schedules, "schedules", "", "")
	flags.StringVar(&o.grants, "grants", "", "")
	rest, err := a.parse(flags, serveUsage, args)
	switch {
	case err != nil:
		return 0, err
	case len(rest) > 0:
		return 0, usagef("serve: want no arguments, got %d", len(rest))
	case len(o.kinds) > 0 && !o.live:
		return 0, usagef("serve: --kinds goes with --live: staged runs write nothing")
	}
	secrets := a.webhookSecrets("DECANT_GITHUB_SECRET")
	if !secrets.Any() && a.takesGitHub() && o.schedules == "" { // with schedules there is something to serve all the same
		return 0, usagef("serve: DECANT_GITHUB_SECRET is not set: want the webhook's secret")
	}
	hooks, err := a.servedHooks()
	if err != nil {
		return 0, err
	}
	clocks, err := a.schedules(o.schedules)
	if err != nil {
		return 0, err
	}
	listener, err := server.Listen(o.listen, o.public)
	if err != nil {
		return 0, usagef("serve: %v", err)
	}
	defer listener.Close()
	config, err := a.engineConfig(o.live, o.unsandboxed, o.grants)
	if err != nil {
		return 0, err
	}
	config.Kinds = []plan.Kind(o.kinds)
	if local.WantContext(a.Pipelines...) {
		config.ContextAPI = server.Reach(listener)
	}
	engine, err := local.Open(config, a.Pipelines...)
	if err != nil {
		return 0, err
	}
	if !engine.Sandboxed() {
		fmt.Fprintln(a.Stderr, "decant: this system cannot sandbox the phases; see decant doctor")
	}
	life, end := context.WithCancel(context.Background())
	defer end()
	asking, err := a.openLinks(engine)
	if err != nil {
		return 0, errors.Join(err, engine.Close())
	}
	runs := &acceptor{app: a, engine: engine, links: asking, json: o.json}
	s, err := server.New(server.Config{
		Runs: runs, Secrets: secrets, Hooks: hooks, Context: engine.Context(), Answers: asking.handler(), Life: life, Clock: a.Clock, Ticks: len(clocks) > 0,
	})
	if err != nil {
		return 0, errors.Join(err, engine.Close())
	}
	web := server.HTTP(s)
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	fmt.Fprintf(a.Stderr, "decant: serving http://%s, %s\n", listener.Addr(), map[bool]string{true: "live", false: "staged"}[o.live])
	a.warnUnsigned(hooks, "http://"+listener.Addr().String())
	var resuming sync.WaitGroup
	resuming.Go(func() { runs.ticks(life, clocks) })
	resuming.Go(func() {
		runs.resume(life)
		runs.watch(life)
	})
	select {
	case <-ctx.Done():
		err = nil
	case err = <-failed:
	}
	a.stopServing(s, web, end)
	resuming.Wait()
	a.tally("signatures", s.Matched())
	a.tally("ignored", s.Ignored())
	fmt.Fprintf(a.Stderr, "decant: stopped%s\n", counted(s.Counts()))
	return exitOK, errors.Join(err, engine.Close())
}

// stopServing lets what is under way end in its time, and then ends it.
func (a *App) stopServing(s *server.Server, web *http.Server, end context.CancelFunc) {
	grace, cancel := context.WithTimeout(context.Background(), runsGrace)
	defer cancel()
	s.Drain(grace)
	end()
	rest, cancelRest := context.WithTimeout(context.Background(), answersGrace)
	defer cancelRest()
	s.Drain(rest) // of a life that is over
	if web.Shutdown(rest) != nil {
		_ = web.Close()
	}
}

// counted says how often each code was the answer, in the order of the words.
func counted(counts map[string]int) string {
	var words []string
	for word, n := range counts {
		words = append(words, fmt.Sprintf("%d %s", n, word))
	}
	if len(words) == 0 {
		return ""
	}
	slices.Sort(words)
	return ": " + strings.Join(words, ", ")
}

// acceptor begins runs and prints each one's end.
type acceptor struct {
	app    *App
	engine *local.Engine
	links  *links
	json   bool

	mu sync.Mutex
}

// Accept begins the runs of a delivery.
func (x *acceptor) Accept(ctx context.Context, d events.Delivery) ([]string, func(), pipeline.Code) {
	begun, code := x.engine.Accept(ctx, d)
	runs := make([]string, len(begun))
	for i, b := range begun {
		runs[i] = b.Run
	}
	return runs, func() {
		for _, b := range begun {
			if r := b.Wait(); !b.Again {
				x.print(r)
				x.tell(ctx, r.Run, r.Status)
			}
		}
	}, code
}

// resume carries to their end the live runs that were stopped.
func (x *acceptor) resume(ctx context.Context) {
	results, err := x.engine.Resume(ctx)
	for _, r := range results {
		x.print(r)
	}
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(x.app.Stderr, "decant: unfinished runs: %v\n", err)
	}
}

// answersEvery is how often a live engine looks for answers that another
// process recorded.
const answersEvery = time.Second

// sweepEvery is how often a live engine looks for what is to be settled, and
// for what is to be forgotten.
const sweepEvery = 30 * time.Second

// watch carries on the runs that persons have answered and those whose sinks
// were out of order, and forgets what was kept long enough.
func (x *acceptor) watch(ctx context.Context) {
	var swept time.Time
	tick := time.NewTicker(answersEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		results, err := x.engine.Answered(ctx)
		if since := x.app.Clock(); since.Sub(swept) >= sweepEvery {
			swept = since
			settled, fault := x.engine.Settle(ctx)
			_, forgetting := x.engine.Expire(ctx)
			results, err = append(results, settled...), errors.Join(err, fault, forgetting, x.tellAll(ctx))
		}
		for _, r := range results {
			x.print(r)
		}
		if err != nil && ctx.Err() == nil {
			fmt.Fprintf(x.app.Stderr, "decant: runs that wait: %v\n", err)
		}
	}
}

// tell says that a run waits, where it does, to the address that wants to know.
func (x *acceptor) tell(ctx context.Context, run string, status pipeline.Status) {
	if status != pipeline.Waiting {
		return
	}
	if err := x.links.tell(ctx, run); err != nil && ctx.Err() == nil {
		fmt.Fprintf(x.app.Stderr, "decant: run %s waits, and that could not be told: %v\n", run, err)
	}
}

// tellAll tells of every run that waits.
func (x *acceptor) tellAll(ctx context.Context) error {
	waiting, err := x.engine.Journal().Waiting(ctx)
	for _, entry := range waiting {
		x.tell(ctx, entry.Run, entry.Status)
	}
	return err
}

// print says how a run ended: in one line, since many may come.
func (x *acceptor) print(r local.Result) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.json {
		if err := x.app.printJSON(r); err != nil {
			fmt.Fprintf(x.app.Stderr, "decant: run %s: %v\n", r.Run, err)
		}
		return
	}
	fmt.Fprintf(x.app.Stdout, "%s  %s  %s%s\n", r.Run, r.Recipe, r.Status, closing(r))
}

// keep is for how long what strangers wrote is kept: $DECANT_KEEP_DAYS. What is
// no number of days keeps everything, and is said.
func (a *App) keep() time.Duration {
	value := a.Getenv("DECANT_KEEP_DAYS")
	if value == "" {
		return 0
	}
	days, err := strconv.Atoi(value)
	if err != nil || days < 1 || days > 3650 {
		fmt.Fprintf(a.Stderr, "decant: DECANT_KEEP_DAYS %.16q: want 1 to 3650; nothing is forgotten\n", value)
		return 0
	}
	return time.Duration(days) * 24 * time.Hour
}

// engineConfig is the engine of this App's environment.
func (a *App) engineConfig(live, unsandboxed bool, grants string) (local.Config, error) {
	sinks, err := a.sinks()
	return local.Config{
		Dir: a.dir(), Live: live, Unsandboxed: unsandboxed, Own: a.ownIdentities(), Sinks: sinks,
		Grants: grants, Keep: a.keep(), Clock: a.Clock, Warn: func(err error) { fmt.Fprintf(a.Stderr, "decant: %v\n", err) },
	}, err
}

// openEngine opens an engine whose adapters, if it has any, can reach its
// context API on this machine. The function closes both.
func (a *App) openEngine(c local.Config) (*local.Engine, func() error, error) {
	if !local.WantContext(a.Pipelines...) {
		engine, err := local.Open(c, a.Pipelines...)
		if err != nil {
			return nil, nil, err
		}
		return engine, engine.Close, nil
	}
	listener, err := server.Listen("127.0.0.1:0", false)
	if err != nil {
		return nil, nil, err
	}
	c.ContextAPI = server.Reach(listener)
	engine, err := local.Open(c, a.Pipelines...)
	if err != nil {
		return nil, nil, errors.Join(err, listener.Close())
	}
	web := server.HTTP(engine.Context())
	go func() { _ = web.Serve(listener) }()
	return engine, func() error { return errors.Join(engine.Close(), web.Close()) }, nil
}
