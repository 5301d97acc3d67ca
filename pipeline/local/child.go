package local

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"

	"decant.dev/act"
	"decant.dev/act/plan"
	"decant.dev/extract"
	"decant.dev/extract/replay"
	"decant.dev/extract/shape"
	"decant.dev/fetch"
	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"decant.dev/pipeline/local/broker"
	"decant.dev/pipeline/local/sandbox"
	"decant.dev/pipeline/local/store"
)

// The phases that are children.
const (
	phaseFetch   = "fetch"
	phaseExtract = "extract"
	phaseAct     = "act"
	phaseContext = "context"
)

// What a child is told through its environment, before it is restricted.
const (
	unsandboxedVariable = "DECANT_UNSANDBOXED" // run without restrictions
	brokerVariable      = "DECANT_BROKER"      // the declared hosts, with commas; descriptor 3 leads to them
	nearVariable        = "DECANT_NEAR"        // those of their addresses that are not public and may be reached, with commas
)

// childConfig is the first line that a child reads, after it is restricted.
type childConfig struct {
	Live    bool              `json:"live"`
	Kinds   []plan.Kind       `json:"kinds,omitzero"` // the only ones that are performed; empty means all
	Own     []string          `json:"own"`            // identities that our sinks use
	Digests map[string]string `json:"digests"`        // recipe name → recipe digest
	Grants  string            `json:"grants"`         // the grants file
	Ledger  string            `json:"ledger"`         // the directory of act's tables
	Paused  string            `json:"paused"`         // the directory of the recipes that are stopped
	// Approvals is the directory of what persons were asked and answered.
	Approvals string `json:"approvals"`
	// Budgets is the directory of what is used of budgets; empty where no recipe
	// has any.
	Budgets string `json:"budgets,omitzero"`
	// Unbudgeted says that budgets have room for everything.
	Unbudgeted bool `json:"unbudgeted,omitzero"`
	// Sinks holds credentials: the act child's configuration alone has it.
	Sinks sinksConfig `json:"sinks,omitzero"`
}

// maxHeader bounds the header of an answer that a child is sent, in bytes.
const maxHeader = 64 << 10

// builder makes a phase's handler in its child. The client reaches the hosts
// that the phase declares, through the parent's broker, and no other.
type builder func(childConfig, *http.Client) (handler, error)

// handler answers one request of a phase in the phase's own form, or with a
// code.
type handler func(ctx context.Context, q request) (any, pipeline.Code)

// Child runs this process as a phase if it was started as one, and reports
// whether it was. A main or TestMain calls it before anything else, and
// returns when it reports true.
func Child(pipelines ...Pipeline) bool {
	return childWith(map[string]builder{
		phaseFetch:        func(c childConfig, h *http.Client) (handler, error) { return fetchHandler(pipelines, c, h), nil },
		phaseExtract:      func(_ childConfig, h *http.Client) (handler, error) { return extractHandler(pipelines, h), nil },
		phaseAct:          func(c childConfig, h *http.Client) (handler, error) { return actHandler(pipelines, c, h) },
		phaseContext:      func(c childConfig, _ *http.Client) (handler, error) { return contextHandler(c), nil },
		phaseHostile:      func(_ childConfig, h *http.Client) (handler, error) { return hostileHandler(pipelines, os.Stdout), nil },
		phaseHostileFetch: func(c childConfig, h *http.Client) (handler, error) { return hostileFetchHandler(pipelines, c, h), nil },
	})
}

func childWith(phases map[string]builder) bool {
	phase, profile, err := sandbox.Inherited()
	if phase == "" && err == nil {
		return false
	}
	if err == nil {
		err = serveChild(phases[phase], profile)
	}
	if err != nil {
		_ = writeLine(os.Stdout, reply{Code: pipeline.PhaseUnready}) // unread, where the child was ready before
		fmt.Fprintln(os.Stderr, "decant: phase ended:", err)
		os.Exit(1)
	}
	return true
}

// serveChild restricts this process, then answers requests until its input
// ends.
func serveChild(build builder, profile sandbox.Profile) error {
	if build == nil {
		return errors.New("no such phase")
	}
	client, err := brokeredClient()
	if err != nil {
		return err
	}
	if os.Getenv(unsandboxedVariable) == "" {
		if _, err := sandbox.Restrict(profile); err != nil {
			return err
		}
	}
	in := bufio.NewReaderSize(os.Stdin, 64<<10)
	line, err := readLine(in, nil, maxAnswer)
	if err != nil {
		return fmt.Errorf("read configuration: %w", err)
	}
	var config childConfig
	if err := unmarshal(line, &config); err != nil {
		return errors.New("configuration is malformed")
	}
	handle, err := build(config, client)
	if err != nil {
		return err
	}
	if err := writeLine(os.Stdout, reply{}); err != nil { // ready
		return err
	}
	return serve(in, os.Stdout, handle)
}

// brokeredClient is a client whose connections are made by the parent's
// broker, or by a broker of the child's own where descriptors cannot be
// passed and nothing is restricted anyway. A phase that declares no host gets
// one that reaches none.
func brokeredClient() (*http.Client, error) {
	own := &broker.Broker{}
	own.Allow = allowing(strings.Split(os.Getenv(nearVariable), ","))
	if hosts := os.Getenv(brokerVariable); hosts != "" {
		own.Hosts = strings.Split(hosts, ",")
	}
	dial := own.DialContext
	if len(own.Hosts) > 0 && runtime.GOOS == "linux" {
		brokered, err := broker.Dialer(os.NewFile(3, "broker"))
		if err != nil {
			return nil, err
		}
		dial = brokered
	}
	return &http.Client{Transport: &http.Transport{DialContext: dial, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: maxHeader}}, nil
}

func serve(in *bufio.Reader, out io.Writer, handle handler) error {
	var buf []byte
	for {
		line, err := readLine(in, buf, maxRequest)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read request: %w", err)
		}
		buf = line
		var q request
		if err := unmarshal(line, &q); err != nil {
			return errors.New("request is malformed")
		}
		r, said := guarded(handle, q)
		if said {
			continue
		}
		if err := writeLine(out, r); err != nil {
			return fmt.Errorf("write reply: %w", err)
		}
	}
}

// guarded turns a panic into a code, so that no message of it crosses. It
// reports whether the handler has said its reply itself.
func guarded(handle handler, q request) (r reply, said bool) {
	defer func() {
		if recover() != nil {
			r = reply{Code: pipeline.PhasePanic}
		}
		r.N, r.Run = q.N, q.Run
	}()
	answer, code := handle(context.Background(), q)
	if _, said := answer.(saidItself); said {
		return reply{}, true
	}
	if code != pipeline.OK {
		return reply{Code: code}, false
	}
	b, err := json.Marshal(answer)
	if err != nil {
		return reply{Code: pipeline.PhaseMisbehave}, false
	}
	return reply{Answer: b}, false
}

func fetchHandler(pipelines []Pipeline, c childConfig, client *http.Client) handler {
	h := &fetch.Handler{Intakes: map[string]fetch.Intake{}, Authorizer: NewGrants(c.Grants), Own: c.Own, Random: rand.Reader}
	for _, p := range pipelines {
		h.Intakes[p.Recipe.Name()] = p.Intake
	}
	return func(ctx context.Context, q request) (any, pipeline.Code) {
		switch {
		case q.Fetch != nil:
			return h.Fetch(ctx, *q.Fetch), pipeline.OK
		case q.List != nil:
			return h.List(ctx, fetch.Asked{Tick: q.List.Tick, Cursor: q.List.Cursor, Client: client}), pipeline.OK
		case q.Items != nil:
			return h.Items(q.Items.Recipe, q.Items.Document), pipeline.OK
		default:
			return nil, pipeline.PhaseMisbehave
		}
	}
}

// asksAtMost is how often extract is asked about one attempt at a run: once
// more where a child that had served others fails.
const asksAtMost = 2

func extractHandler(pipelines []Pipeline, client *http.Client) handler {
	h := &extract.Handler{
		Shapes: map[string]*shape.Shape{}, Extractors: map[string]extract.Extractor{},
		Costs: map[string]int64{}, Asked: asksAtMost,
		Replay: func(recorded []byte) extract.Extractor { return replay.New(recorded) },
	}
	for _, p := range pipelines {
		h.Shapes[p.Recipe.Name()] = p.Recipe.Shape()
		h.Extractors[p.Recipe.Name()] = p.Extractor(client)
		h.Costs[p.Recipe.Name()] = p.Recipe.RunCost()
	}
	return func(ctx context.Context, q request) (any, pipeline.Code) {
		if q.Extract == nil {
			return nil, pipeline.PhaseMisbehave
		}
		return h.Extract(ctx, *q.Extract), pipeline.OK
	}
}

func actHandler(pipelines []Pipeline, c childConfig, client *http.Client) (handler, error) {
	kept, err := openActStores(c)
	if err == nil {
		kept.sinks, err = c.Sinks.open(client)
	}
	if err != nil {
		return nil, err
	}
	return actHandlerOn(pipelines, c, kept)
}

// actStores are act's own tables; those that this child does not need are nil.
type actStores struct {
	ledger    act.Ledger
	approvals approval.Store
	budgets   act.Budgets
	sinks     map[plan.Kind]act.Sink
}

func openActStores(c childConfig) (kept actStores, err error) {
	if c.Unbudgeted {
		kept.budgets = act.Unbounded{}
	} else if c.Budgets != "" {
		if kept.budgets, err = store.OpenBudgets(c.Budgets, time.Now); err != nil {
			return kept, err
		}
	}
	if !c.Live {
		return kept, nil
	}
	if kept.ledger, err = store.OpenLedger(c.Ledger); err != nil {
		return kept, err
	}
	kept.approvals, err = store.OpenApprovals(c.Approvals)
	return kept, err
}

func actHandlerOn(pipelines []Pipeline, c childConfig, kept actStores) (handler, error) {
	h := &act.Handler{
		Recipes: map[string]*pipeline.Recipe{}, Digests: c.Digests, Authorizer: NewGrants(c.Grants), Admissions: act.NewAdmissions(),
		Paused: NewPauses(c.Paused), Budgets: kept.budgets, Approvals: kept.approvals, Own: c.Own, Live: c.Live, Kinds: c.Kinds, Ledger: kept.ledger, Clock: time.Now,
		Sinks: kept.sinks, Sleep: wait,
	}
	for _, p := range pipelines {
		if _, served := c.Digests[p.Recipe.Name()]; served {
			h.Recipes[p.Recipe.Name()] = p.Recipe
		}
	}
	if err := h.Check(); err != nil {
		return nil, err
	}
	return func(ctx context.Context, q request) (any, pipeline.Code) {
		ctx, cancel := context.WithTimeout(ctx, actTimeout-actMargin) // act sends nothing that it has no time for
		defer cancel()
		all := make([]answer, len(q.Acts))
		var asked sync.WaitGroup
		for i, one := range q.Acts { // together, so that their writes share a commit
			asked.Go(func() { all[i] = answerAct(ctx, h, one) })
		}
		asked.Wait()
		return all, pipeline.OK
	}, nil
}

// answerAct answers one question; a panic becomes a code.
func answerAct(ctx context.Context, h *act.Handler, q question) (a answer) {
	defer func() {
		if recover() != nil {
			a = answer{Code: pipeline.PhasePanic}
		}
		a.Run = q.Run
	}()
	switch {
	case q.Admit != nil:
		out := h.Admit(ctx, *q.Admit)
		return answer{Admit: &out}
	case q.Act != nil:
		out := h.Act(ctx, *q.Act)
		return answer{Act: &out}
	default:
		return answer{Code: pipeline.PhaseMisbehave}
	}
}
