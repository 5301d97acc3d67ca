package act

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"decant.dev/act/plan"
	"decant.dev/act/table"
	"decant.dev/extract/shape"
	"decant.dev/pipeline"
	"decant.dev/pipeline/approval"
	"github.com/invopop/jsonschema"
)

// memory is the Ledger port in memory, to the letter of its contract.
type memory struct {
	mu       sync.Mutex
	receipts map[string][]Receipt
	rows     map[string]table.Write // by table and key
	commits  int
	fail     error
}

func newMemory() *memory {
	return &memory{receipts: map[string][]Receipt{}, rows: map[string]table.Write{}}
}

func (m *memory) Receipts(_ context.Context, run string) ([]Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.receipts[run]), m.fail
}

func (m *memory) Commit(_ context.Context, receipts []Receipt, writes []table.Write) ([]Receipt, bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commits++
	if m.fail != nil {
		return nil, false, m.fail
	}
	for _, r := range receipts {
		for _, old := range m.receipts[r.Run] {
			if old.Index == r.Index {
				return slices.Clone(m.receipts[r.Run]), false, nil
			}
		}
	}
	for _, r := range receipts {
		m.receipts[r.Run] = append(m.receipts[r.Run], r)
	}
	for _, w := range writes {
		m.rows[w.Table+"/"+w.Key] = w
	}
	return nil, true, nil
}

func (m *memory) Advance(_ context.Context, from, to Receipt) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fail != nil {
		return false, m.fail
	}
	for i, r := range m.receipts[from.Run] {
		if r.Index == from.Index && r.State == from.State && r.Attempt == from.Attempt {
			m.receipts[from.Run][i] = to
			return true, nil
		}
	}
	return false, nil
}

func (m *memory) all() (receipts []Receipt) {
	for _, r := range m.receipts {
		receipts = append(receipts, r...)
	}
	return receipts
}

// grants is an Authorizer: who holds trigger where, or that it is out of
// order.
type grants struct {
	holds map[string]bool // "person channel"
	fail  error
}

func (g grants) HoldsTrigger(_ context.Context, person, channel string) (bool, error) {
	return g.holds[person+" "+channel], g.fail
}

// broken answers yes and an error at once: the error counts.
var broken = grants{holds: map[string]bool{maintainer + " " + channel: true}, fail: errors.New("SECRET of the authorizer")}

const (
	maintainer = "github:12"
	channel    = "github:octo-org/sample"
	own        = "github:99"
)

var (
	digest = strings.Repeat("ab", 32)
	noon   = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
)

type part string

func (part) JSONSchema() *jsonschema.Schema {
	return &jsonschema.Schema{Type: "string", Enum: []any{"engine", "paper", "release"}}
}

// report is a shape with a branch for each way that a run can end.
type report struct {
	Kind    string       `json:"kind"              jsonschema:"enum=row,enum=label,enum=speak,enum=close,enum=none"`
	Parts   []part       `json:"parts"             jsonschema:"maxItems=2,uniqueItems=true"`
	Version *shape.Token `json:"version,omitempty" jsonschema:"pattern=^v[0-9]{1\\,3}$"`
	Quote   *shape.Quote `json:"quote,omitempty"   jsonschema:"maxLength=40"`
}

func decide(r report, at plan.Target) []plan.Action {
	row := plan.TableRow{Table: "reports", Key: at.Ref(), Columns: []plan.Column{
		plan.Text("kind", r.Kind), plan.Int("parts", len(r.Parts)), plan.Bool("named", r.Version != nil),
		plan.Token("version", r.Version), plan.Quote("quote", r.Quote),
	}}
	switch r.Kind {
	case "row":
		return []plan.Action{row}
	case "label":
		return []plan.Action{row, plan.GitHubLabel{Issue: at.Ref(), Label: "report"}}
	case "speak":
		if r.Quote == nil {
			return []plan.Action{row, plan.GitHubComment{Issue: at.Ref(), Body: plan.Say("thank you")}}
		}
		return []plan.Action{plan.GitHubComment{Issue: at.Ref(), Body: plan.Say("on ", at.Ref(), " you wrote: ", r.Quote)}, row}
	case "close":
		return []plan.Action{row, plan.GitHubClose{Issue: at.Ref(), Reason: "completed"}}
	}
	return nil
}

var policy = plan.Policy{
	plan.KindTableRow:      plan.Always(plan.Auto),
	plan.KindGitHubLabel:   plan.Always(plan.Auto),
	plan.KindGitHubComment: plan.Always(plan.Ask),
	plan.KindGitHubClose:   {System: plan.Auto, Trigger: plan.Ask, Authorized: plan.Never, Unverified: plan.Never},
}

func spec() pipeline.Spec[report] {
	return pipeline.Spec[report]{
		Name: "reports", Plan: decide, Policy: policy, MaxDecide: 10, MaxCarry: 1000,
		Events: []pipeline.Event{{Name: "own.words", Reads: pipeline.ActorsWords}, {Name: "others.words", Reads: pipeline.OthersWords}},
	}
}

func listed(tb testing.TB, s pipeline.Spec[report]) *pipeline.Recipe {
	tb.Helper()
	list, breaches := pipeline.Build(s).Enumerate()
	if len(breaches) > 0 {
		tb.Fatal(breaches)
	}
	s.Outcomes = list.Encode()
	return pipeline.New(s)
}

// records is the Store port of approvals in memory, and Paused beside it.
type records struct {
	mu     sync.Mutex
	of     map[string]approval.Record
	paused map[string]bool
	fail   error
}

func (s *records) Get(_ context.Context, run string) (approval.Record, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.of[run]
	return r, ok, s.fail
}

func (s *records) Put(_ context.Context, r approval.Record) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fail != nil || s.of[r.Run].Version != r.Version {
		return false, s.fail
	}
	r.Version++
	s.of[r.Run] = r
	return true, nil
}

func (s *records) Paused(_ context.Context, recipe string) (bool, error) {
	return s.paused[recipe], s.fail
}

// handlerOf answers for one recipe, with the maintainer's grant.
func handlerOf(r *pipeline.Recipe, live bool) (*Handler, *memory) {
	m := newMemory()
	s := &records{of: map[string]approval.Record{}, paused: map[string]bool{}}
	return &Handler{
		Paused: s, Approvals: s,
		Recipes: map[string]*pipeline.Recipe{r.Name(): r}, Digests: map[string]string{r.Name(): digest},
		Authorizer: grants{holds: map[string]bool{maintainer + " " + channel: true}}, Own: []string{own},
		Admissions: NewAdmissions(), Live: live, Ledger: m, Clock: func() time.Time { return noon.In(time.FixedZone("", 7200)) },
	}, m
}

func envelope(event string, actor pipeline.Actor) pipeline.Envelope {
	return pipeline.NewEnvelope("reports", digest, "github", []byte("body of "+event+actor.ID), actor, channel,
		pipeline.Target{Event: event, Repository: "octo-org/sample", Number: 12}, noon)
}

func person(id string) pipeline.Actor { return pipeline.Actor{ID: id, Kind: pipeline.Person} }

func input(event, actor, structure string) Input {
	return Input{envelope(event, person(actor)), []byte(structure)}
}

// run asks act as an orchestrator does: to admit, then to act.
func run(tb testing.TB, h *Handler, in Input) Output {
	tb.Helper()
	h.Admit(tb.Context(), AdmitInput{Envelope: in.Envelope})
	return h.Act(tb.Context(), in)
}

// untouched fails where anything was stored, or was tried to be.
func untouched(tb testing.TB, m *memory) {
	tb.Helper()
	if m.commits > 0 || len(m.receipts) > 0 || len(m.rows) > 0 {
		tb.Errorf("%d commits, %d runs with receipts, %d rows: want none", m.commits, len(m.receipts), len(m.rows))
	}
}
