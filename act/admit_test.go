package act

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"decant.dev/act/plan"
	"decant.dev/pipeline"
)

// Every kind of actor, identity, grant and event: the label, or the code that
// ends the run, as design section 2 and 6 give it, written a second time.
func TestLabelOfEveryActorGrantAndEvent(t *testing.T) {
	t.Parallel()
	r := listed(t, spec())
	authorizers := map[string]grants{
		"granted": {holds: map[string]bool{maintainer + " " + channel: true, own + " " + channel: true}},
		"none":    {},
		"elsewhere": {holds: map[string]bool{maintainer + " github:octo-org/other": true, maintainer + " ": true,
			"github:13 " + channel: true}},
		"broken": broken,
	}
	for _, kind := range []pipeline.ActorKind{pipeline.Person, pipeline.Agent, pipeline.App, pipeline.Import, pipeline.System, "", "bot"} {
		for _, id := range []string{maintainer, own} {
			for grant, authorizer := range authorizers {
				for _, event := range []string{"own.words", "others.words", "not.named"} {
					for _, c := range []struct {
						live   bool
						source string
					}{{false, "github"}, {true, "github"}, {false, pipeline.TickSource}, {true, pipeline.TickSource}} {
						h, m := handlerOf(r, c.live)
						h.Authorizer = authorizer
						env := pipeline.NewEnvelope("reports", digest, c.source, []byte("a body"), pipeline.Actor{ID: id, Kind: kind}, channel,
							pipeline.Target{Event: event, Repository: "octo-org/sample", Number: 12}, noon)
						want := Admission{Label: plan.Unverified}
						switch {
						case kind == "" || kind == "bot":
							want = Admission{Code: pipeline.MalformedEvent}
						case id == own || kind == "agent" || kind == "app" || kind == "import":
							want = Admission{Code: pipeline.AgentsNeverTrigger}
						case kind == "system" && event == "own.words" && c.source == "schedule":
							want = Admission{Label: plan.System}
						case kind == "person" && grant == "granted" && event == "own.words":
							want = Admission{Label: plan.Trigger}
						}
						name := fmt.Sprintf("%s %s, %s, %s, %+v", kind, id, grant, event, c)
						if got := h.Admit(t.Context(), AdmitInput{Envelope: env}); got != want {
							t.Errorf("%s: admitted as %+v: want %+v", name, got, want)
						}
						out := h.Act(t.Context(), Input{env, []byte(`{"kind":"none","parts":[]}`)})
						if want.Code == pipeline.OK { // the structure asks for nothing
							want.Code = pipeline.NothingToDo
						}
						if out.Label != want.Label || out.Code != want.Code || want.Code != pipeline.NothingToDo && out.Status != want.Code.Status() {
							t.Errorf("%s: acted as %+v: want %+v", name, out, want)
						}
						untouched(t, m)
					}
				}
			}
		}
	}
}

// The label is the lower of the two answers: a grant that was lost between
// them lowers it, and one that was given between them raises nothing.
func TestTheLabelIsTheLowerOfBothAnswers(t *testing.T) {
	t.Parallel()
	r := listed(t, spec())
	granted := grants{holds: map[string]bool{maintainer + " " + channel: true}}
	for name, c := range map[string]struct {
		first, second grants
		ceiling       plan.Label
		admitted, got plan.Label
	}{
		"kept":                   {granted, granted, 0, plan.Trigger, plan.Trigger},
		"lost":                   {granted, grants{}, 0, plan.Trigger, plan.Unverified},
		"given":                  {grants{}, granted, 0, plan.Unverified, plan.Unverified},
		"authorizer broke":       {granted, broken, 0, plan.Trigger, plan.Unverified},
		"lowered by the ceiling": {granted, granted, plan.Authorized, plan.Authorized, plan.Authorized},
		"a ceiling above":        {granted, granted, plan.System, plan.Trigger, plan.Trigger},
		"not raised by it":       {grants{}, grants{}, plan.System, plan.Unverified, plan.Unverified},
	} {
		h, _ := handlerOf(r, false)
		in := input("own.words", maintainer, `{"kind":"row","parts":[]}`)
		h.Authorizer = c.first
		if a := h.Admit(t.Context(), AdmitInput{in.Envelope, c.ceiling}); a != (Admission{Label: c.admitted}) {
			t.Errorf("%s: admitted as %+v: want %s", name, a, c.admitted)
		}
		h.Authorizer = c.second
		if out := h.Act(t.Context(), in); out.Label != c.got || out.Status != pipeline.Staged {
			t.Errorf("%s: acted as %s, %s: want staged as %s", name, out.Status, out.Label, c.got)
		}
	}
}

// admissions is a port that is out of order.
type admissions struct{ Admissions }

func (admissions) Admit(context.Context, string, plan.Label) error { return broken.fail }
func (admissions) Admitted(context.Context, string) (plan.Label, bool, error) {
	return plan.System, true, broken.fail
}

func TestARunThatWasNotAdmittedDoesNothing(t *testing.T) {
	t.Parallel()
	r := listed(t, spec())
	in := input("own.words", maintainer, `{"kind":"row","parts":[]}`)
	for name, c := range map[string]struct {
		store Admissions
		code  pipeline.Code
	}{"never asked": {NewAdmissions(), pipeline.NotAdmitted}, "out of order": {admissions{}, pipeline.StoreFailed}} {
		h, m := handlerOf(r, true)
		h.Admissions = c.store
		other := input("own.words", "github:13", "")
		h.Admit(t.Context(), AdmitInput{Envelope: other.Envelope}) // another run's admission is not this one's
		if out := h.Act(t.Context(), in); out.Code != c.code || out.Status != c.code.Status() || len(out.Actions) > 0 {
			t.Errorf("%s: %+v: want %s", name, out, c.code)
		}
		untouched(t, m)
	}
	h, _ := handlerOf(r, true)
	h.Admissions = admissions{}
	if a := h.Admit(t.Context(), AdmitInput{Envelope: in.Envelope}); a != (Admission{Code: pipeline.StoreFailed}) {
		t.Errorf("admitted as %+v and not recorded", a)
	}
}

// What is remembered is bounded, and what was forgotten is not made up.
func TestAdmissionsForgetAndNeverInvent(t *testing.T) {
	t.Parallel()
	a := NewAdmissions()
	for i := range maxRemembered + 1 {
		if err := a.Admit(t.Context(), fmt.Sprint(i), plan.Trigger); err != nil {
			t.Fatal(err)
		}
	}
	for i, want := range map[int]bool{0: false, maxRemembered: true, -1: false} {
		if l, ok, err := a.Admitted(t.Context(), fmt.Sprint(i)); ok != want || err != nil || ok != (l == plan.Trigger) {
			t.Errorf("run %d: %s, %t, %v: want recorded %t", i, l, ok, err, want)
		}
	}
	if err := a.Admit(t.Context(), fmt.Sprint(maxRemembered), plan.Unverified); err != nil {
		t.Fatal(err)
	}
	if l, _, _ := a.Admitted(t.Context(), fmt.Sprint(maxRemembered)); l != plan.Unverified {
		t.Errorf("after a second attempt the label is %s: want the later one", l)
	}
}

// An envelope for another recipe, another version, or without its list ends
// the run before anything is decoded or asked.
func TestActRefusesEnvelopesItWasNotBuiltFor(t *testing.T) {
	t.Parallel()
	whole := listed(t, spec())
	empty := pipeline.New(spec())
	stale := spec()
	stale.Outcomes = []byte(`{"schema":"outcomes.v1"}`)
	over := spec()
	over.MaxCarry = 1
	list, _ := whole.List()
	over.Outcomes = list.Encode()
	for name, c := range map[string]struct {
		recipe *pipeline.Recipe
		change func(*Handler, *pipeline.Envelope)
		code   pipeline.Code
	}{
		"zero envelope": {whole, func(_ *Handler, e *pipeline.Envelope) { *e = pipeline.Envelope{} }, pipeline.MalformedEvent},
		"another run":   {whole, func(_ *Handler, e *pipeline.Envelope) { e.Run = strings.Repeat("0", 32) }, pipeline.MalformedEvent},
		"other bytes":   {whole, func(_ *Handler, e *pipeline.Envelope) { e.BodySHA256 = strings.Repeat("0", 64) }, pipeline.MalformedEvent},
		"foreign words": {whole, func(_ *Handler, e *pipeline.Envelope) { e.Actor.ID = "SECRET words" }, pipeline.MalformedEvent},
		"unknown recipe": {whole, func(_ *Handler, e *pipeline.Envelope) {
			*e = pipeline.NewEnvelope("other", digest, e.Source, nil, e.Actor, e.Channel, e.Target, noon)
		}, pipeline.UnknownRecipe},
		"another digest": {whole, func(_ *Handler, e *pipeline.Envelope) { e.RecipeDigest = strings.Repeat("cd", 32) }, pipeline.RecipeChanged},
		"no digest":      {whole, func(h *Handler, _ *pipeline.Envelope) { h.Digests = nil }, pipeline.RecipeChanged},
		"empty list":     {empty, func(*Handler, *pipeline.Envelope) {}, pipeline.OutcomesEmpty},
		"stale list":     {pipeline.Build(stale), func(*Handler, *pipeline.Envelope) {}, pipeline.OutcomesStale},
		"breaches":       {pipeline.Build(over), func(*Handler, *pipeline.Envelope) {}, pipeline.OutcomesStale},
	} {
		for _, live := range []bool{false, true} {
			h, m := handlerOf(c.recipe, live)
			in := input("own.words", maintainer, `{"kind":"row","parts":[]}`)
			c.change(h, &in.Envelope)
			if a := h.Admit(t.Context(), AdmitInput{Envelope: in.Envelope}); a != (Admission{Code: c.code}) {
				t.Errorf("%s: admitted as %+v: want %s", name, a, c.code)
			}
			out := h.Act(t.Context(), in)
			if out.Code != c.code || out.Status != c.code.Status() || len(out.Actions) > 0 || out.Label != 0 {
				t.Errorf("%s: %+v: want %s", name, out, c.code)
			}
			untouched(t, m)
		}
	}
}

func TestCheckNamesWhatAHandlerLacks(t *testing.T) {
	t.Parallel()
	r := listed(t, spec())
	for name, c := range map[string]struct {
		change func(*Handler)
		says   string
	}{
		"recipes":    {func(h *Handler) { h.Recipes = nil }, "recipe"},
		"authorizer": {func(h *Handler) { h.Authorizer = nil }, "authorizer"},
		"admissions": {func(h *Handler) { h.Admissions = nil }, "admissions"},
		"clock":      {func(h *Handler) { h.Clock = nil }, "clock"},
		"ledger":     {func(h *Handler) { h.Ledger = nil }, "ledger"},
	} {
		h, _ := handlerOf(r, true)
		if err := h.Check(); err != nil {
			t.Fatalf("a whole handler: %v", err)
		}
		c.change(h)
		if err := h.Check(); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("without %s: %v", name, err)
		}
	}
	h, _ := handlerOf(r, false)
	h.Ledger = nil
	if err := h.Check(); err != nil {
		t.Errorf("a handler that only stages needs no ledger: %v", err)
	}
}
