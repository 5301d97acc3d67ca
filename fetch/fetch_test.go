package fetch

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"decant.dev/act/plan"
	"decant.dev/fence"
	"decant.dev/pipeline"
)

const noteText = "zebra text"

// noteIntake has one message by github:11, who may be the voice, between a
// field by github:12 and one by github:99.
func noteIntake() Intake {
	element := func(id, author string, kind fence.AuthorKind, origin fence.Origin, field string) fence.Element {
		return fence.Element{
			ID: id, Author: fence.Author{ID: author, Kind: kind}, Origin: origin, Role: fence.RoleUser,
			Field: field, Text: noteText, Trust: fence.TrustSystem, // whatever mark it came with
		}
	}
	return Intake{
		Source: "github", Profile: fence.ProfileIntake, Instruction: "Take a note.", Scaffold: "kind: a or b",
		Limits: fence.Limits{MessageMaxBytes: 1 << 10, ContextMaxBytes: 1 << 12}, Hosts: []string{"api.example.com:443"},
		Elements: func(pipeline.Envelope, []byte) (Bundle, error) {
			return Bundle{
				Elements: []fence.Element{
					element("e1", "github:12", fence.KindPerson, fence.OriginRecordField, "title"),
					element("e2", "github:11", fence.KindPerson, fence.OriginMessage, ""),
					element("e3", "github:99", fence.KindPerson, fence.OriginRecordField, "label"),
					element("e4", "github:13", fence.KindApp, fence.OriginRecordField, "label"),
				},
				Message: "e2", Created: true, Voice: true,
			}, nil
		},
	}
}

// holders answers that these persons hold trigger on the channel of [noted].
type holders struct {
	persons []string
	err     error
}

func (h holders) HoldsTrigger(_ context.Context, person, channel string) (bool, error) {
	for _, p := range h.persons {
		if p == person && channel == "github:octo-org/sample" {
			return true, h.err
		}
	}
	return false, h.err
}

// noted is the input of a body by an actor.
func noted(actor string, kind pipeline.ActorKind) Input {
	body := []byte(`{"zebra":1}`)
	return Input{
		Envelope: pipeline.NewEnvelope("notes", strings.Repeat("0", 64), "github", body, pipeline.Actor{ID: actor, Kind: kind},
			"github:octo-org/sample", pipeline.Target{Event: "issues.opened", Repository: "octo-org/sample", Number: 7}, time.Date(2026, 9, 2, 9, 0, 0, 0, time.UTC)),
		Body: body,
	}
}

func handlerOf(i Intake, a pipeline.Authorizer) *Handler {
	return &Handler{Intakes: map[string]Intake{"notes": i}, Authorizer: a, Own: []string{"github:99"}, Random: rand.Reader}
}

func TestFailuresAreCodesOnly(t *testing.T) {
	t.Parallel()
	failing := func(err error) Intake {
		i := noteIntake()
		i.Elements = func(pipeline.Envelope, []byte) (Bundle, error) { return Bundle{}, err }
		return i
	}
	elements := func(change func(*Bundle)) Intake {
		i := noteIntake()
		whole := i.Elements
		i.Elements = func(e pipeline.Envelope, b []byte) (Bundle, error) {
			bundle, err := whole(e, b)
			change(&bundle)
			return bundle, err
		}
		return i
	}
	good := noted("github:11", pipeline.Person)
	other := good
	other.Body = []byte(`{"zebra":2}`)
	empty := good
	empty.Body = nil
	unknown := good
	unknown.Envelope.Recipe = "others"
	upper := good
	upper.Envelope.BodySHA256 = strings.ToUpper(upper.Envelope.BodySHA256)
	broken := handlerOf(noteIntake(), holders{})
	broken.Random = strings.NewReader("short")
	for name, c := range map[string]struct {
		h    *Handler
		in   Input
		want pipeline.Code
	}{
		"a body of another digest":     {handlerOf(noteIntake(), holders{}), other, pipeline.Unreadable},
		"no body":                      {handlerOf(noteIntake(), holders{}), empty, pipeline.Unreadable},
		"a digest in upper case":       {handlerOf(noteIntake(), holders{}), upper, pipeline.Unreadable},
		"a recipe that is not here":    {handlerOf(noteIntake(), holders{}), unknown, pipeline.UnknownRecipe},
		"an error of the intake":       {handlerOf(failing(errors.New(noteText)), holders{}), good, pipeline.Unreadable},
		"a code of the intake":         {handlerOf(failing(pipeline.NoCommand.Error("%s", noteText)), holders{}), good, pipeline.NoCommand},
		"a wrapped code":               {handlerOf(failing(fmt.Errorf("intake: %w", pipeline.TriggerTooLarge.Error(""))), holders{}), good, pipeline.TriggerTooLarge},
		"a code that is not listed":    {handlerOf(failing(pipeline.Code(noteText).Error("")), holders{}), good, pipeline.Unreadable},
		"an error without a code":      {handlerOf(failing(pipeline.OK.Error("%s", noteText)), holders{}), good, pipeline.Unreadable},
		"an element twice":             {handlerOf(elements(func(b *Bundle) { b.Elements[0].ID = "e2" }), holders{}), good, pipeline.Unreadable},
		"an element without an author": {handlerOf(elements(func(b *Bundle) { b.Elements[0].Author.ID = "" }), holders{}), good, pipeline.Unreadable},
		"too large a triggering message": {handlerOf(elements(func(b *Bundle) { b.Elements[1].Text = strings.Repeat("z", fence.MaxTriggerBytes+1) }),
			holders{persons: []string{"github:11"}}), good, pipeline.TriggerTooLarge},
		"a broken source of randomness": {broken, good, pipeline.Unreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := c.h.Fetch(context.Background(), c.in)
			if out.Code != c.want || out.Object != nil {
				t.Errorf("got %q with %d bytes, want %q", out.Code, len(out.Object), c.want)
			}
		})
	}
}

// Marks follow the authorizer of now, the actor and our own identities, and
// never what an element came with.
func TestMarksAreOfNow(t *testing.T) {
	t.Parallel()
	both := []string{"github:11", "github:12", "github:99", "github:13"}
	for name, c := range map[string]struct {
		auth    pipeline.Authorizer
		in      Input
		want    string
		trigger string
	}{
		"nobody holds":              {holders{}, noted("github:11", pipeline.Person), "unverified unverified self unverified", ""},
		"the actor holds":           {holders{persons: both[:1]}, noted("github:11", pipeline.Person), "unverified trigger self unverified", "e2"},
		"another holds":             {holders{persons: both[1:2]}, noted("github:11", pipeline.Person), "authorized unverified self unverified", ""},
		"all hold":                  {holders{persons: both}, noted("github:11", pipeline.Person), "authorized trigger self unverified", "e2"},
		"all hold, another acts":    {holders{persons: both}, noted("github:12", pipeline.Person), "authorized authorized self unverified", ""},
		"all hold, we act":          {holders{persons: both}, noted("github:99", pipeline.Person), "authorized authorized self unverified", ""},
		"all hold, an agent acts":   {holders{persons: both}, noted("github:11", pipeline.Agent), "authorized authorized self unverified", ""},
		"all hold, an unknown kind": {holders{persons: both}, noted("github:11", "zebra"), "authorized authorized self unverified", ""},
		"the authorizer fails":      {holders{both, errors.New("down")}, noted("github:11", pipeline.Person), "unverified unverified self unverified", ""},
		"there is no authorizer":    {nil, noted("github:11", pipeline.Person), "unverified unverified self unverified", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := handlerOf(noteIntake(), c.auth).Fetch(context.Background(), c.in)
			if out.Code != pipeline.OK {
				t.Fatal(out.Code)
			}
			p, err := fence.DecodeObject(out.Object)
			if err != nil {
				t.Fatal(err)
			}
			var marks []string
			for _, e := range p.Context().Elements {
				marks = append(marks, e.Trust.String())
			}
			if out.Lowest != plan.Unverified { // e4 is an app's
				t.Errorf("the lowest label is %s, want unverified", out.Lowest)
			}
			if got := strings.Join(marks, " "); got != c.want || p.Context().Trigger != c.trigger {
				t.Errorf("got %s with trigger %q, want %s with %q", got, p.Context().Trigger, c.want, c.trigger)
			}
		})
	}
}

// The label that fetch reports is that of the least trusted element. Words of
// the actor are as trusted as the actor.
func TestLowestLabelIsOfTheLeastTrusted(t *testing.T) {
	t.Parallel()
	both := []string{"github:11", "github:12"}
	for name, c := range map[string]struct {
		keep    []int // which elements of the bundle there are
		holders []string
		actor   string
		want    plan.Label
	}{
		"nothing read":                  {nil, nil, "github:11", plan.System},
		"the actor's, who holds":        {[]int{1}, both, "github:11", plan.Trigger},
		"the actor's, who does not":     {[]int{1}, both[1:], "github:11", plan.Unverified},
		"another's too, who holds":      {[]int{0, 1}, both, "github:11", plan.Authorized},
		"another's too, who does not":   {[]int{0, 1}, both[:1], "github:11", plan.Unverified},
		"the actor's, not the message":  {[]int{0}, both, "github:12", plan.Trigger},
		"our own earlier output":        {[]int{1, 2}, both, "github:11", plan.Unverified},
		"an app's":                      {[]int{1, 3}, both, "github:11", plan.Unverified},
		"the first is the least by far": {[]int{3, 0, 1}, both, "github:11", plan.Unverified},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := noteIntake()
			whole := i.Elements
			i.Elements = func(e pipeline.Envelope, b []byte) (Bundle, error) {
				all, err := whole(e, b)
				some := Bundle{Message: "e2", Created: true, Voice: true}
				for _, n := range c.keep {
					some.Elements = append(some.Elements, all.Elements[n])
				}
				return some, err
			}
			out := handlerOf(i, holders{persons: c.holders}).Fetch(context.Background(), noted(c.actor, pipeline.Person))
			if out.Code != pipeline.OK || out.Lowest != c.want {
				t.Errorf("got %s, %q, want %s", out.Lowest, out.Code, c.want)
			}
		})
	}
}

// The object carries the run and the recipe of its envelope, the intake's
// words and limits, and a boundary of its own each time.
func TestObjectIsOfItsEnvelope(t *testing.T) {
	t.Parallel()
	h, in := handlerOf(noteIntake(), holders{}), noted("github:11", pipeline.Person)
	first, second := h.Fetch(context.Background(), in), h.Fetch(context.Background(), in)
	p, err := fence.DecodeObject(first.Object)
	if err != nil {
		t.Fatal(err)
	}
	q, err := fence.DecodeObject(second.Object)
	if err != nil {
		t.Fatal(err)
	}
	c, i := p.Context(), noteIntake()
	if c.Run != in.Envelope.Run || c.Recipe != "notes" || c.Profile != i.Profile || c.Instruction != i.Instruction || c.Scaffold != i.Scaffold || c.Limits != i.Limits {
		t.Errorf("got %+v", c)
	}
	if p.Boundary().Equal(q.Boundary()) {
		t.Error("two fetches drew the same boundary")
	}
}

// Every field of an intake but its function enters the digest. A field that
// is added must be added here and there.
func TestDigestChangesWithEachField(t *testing.T) {
	t.Parallel()
	changes := map[string][]func(*Intake){
		"Source":      {func(i *Intake) { i.Source = "mail" }, func(i *Intake) { i.Source = "" }},
		"Profile":     {func(i *Intake) { i.Profile = fence.ProfileDesk }, func(i *Intake) { i.Profile = fence.ProfileAdapter }},
		"Instruction": {func(i *Intake) { i.Instruction += " " }, func(i *Intake) { i.Instruction += `" "` + i.Scaffold }},
		"Scaffold":    {func(i *Intake) { i.Scaffold = "" }, func(i *Intake) { i.Instruction, i.Scaffold = i.Scaffold, i.Instruction }},
		"Limits":      {func(i *Intake) { i.Limits.MessageMaxBytes++ }, func(i *Intake) { i.Limits.ContextMaxBytes++ }, func(i *Intake) { i.Limits = fence.Limits{} }},
		"Hosts": {
			func(i *Intake) { i.Hosts = nil }, func(i *Intake) { i.Hosts = []string{"api.example.com:80"} },
			func(i *Intake) { i.Hosts = append(i.Hosts, "b:1") }, func(i *Intake) { i.Hosts = []string{"api.example.com:443 b:1"} },
			func(i *Intake) { i.Hosts = []string{`api.example.com:443" "b:1`} },
		},
		"Elements": nil, // code, which has no digest
		"List":     nil, // code
		"Items":    nil, // code
	}
	seen := map[string]string{noteIntake().Digest(): "nothing"}
	if again := noteIntake().Digest(); seen[again] == "" {
		t.Error("the same intake has two digests")
	}
	for f := range reflect.TypeFor[Intake]().NumField() {
		name := reflect.TypeFor[Intake]().Field(f).Name
		if _, listed := changes[name]; !listed {
			t.Errorf("field %s: want a change of it here", name)
		}
	}
	for name, list := range changes {
		for n, change := range list {
			i := noteIntake()
			change(&i)
			d := i.Digest()
			if before, same := seen[d]; same {
				t.Errorf("change %d of %s has the digest of %s", n, name, before)
			}
			seen[d] = fmt.Sprintf("change %d of %s", n, name)
		}
	}
}
