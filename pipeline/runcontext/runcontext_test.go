package runcontext

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"decant.dev/fence"
	"decant.dev/pipeline"
)

func envelope(actor string, kind pipeline.ActorKind) pipeline.Envelope {
	return pipeline.NewEnvelope("notes", strings.Repeat("0", 64), "github", []byte("{}"), pipeline.Actor{ID: actor, Kind: kind},
		"github:octo-org/sample", pipeline.Target{Event: "issue_comment.created", Repository: "octo-org/sample", Number: 7}, time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC))
}

// gathered is a message of github:1 after one of github:2, one of our own and a file that github:1 gave.
func gathered(env pipeline.Envelope) fence.Bundle {
	element := func(id, author string, origin fence.Origin) fence.Element {
		return fence.Element{ID: id, Author: fence.Author{ID: author, Kind: fence.KindPerson}, Origin: origin, Role: fence.RoleUser, Text: "Say " + id + ".", Trust: fence.TrustSystem}
	}
	file := element("e3", "github:1", fence.OriginFile)
	file.Parent = "e4"
	return fence.Bundle{
		Run: env.Run, Recipe: env.Recipe, Profile: fence.ProfileIntake, Instruction: "Take a note.", Limits: fence.Limits{MessageMaxBytes: 100, ContextMaxBytes: 1000},
		Message: "e4", Created: true, Voice: true,
		Elements: []fence.Element{element("e1", "github:2", fence.OriginMessage), element("e2", "github:99", fence.OriginMessage), file, element("e4", "github:1", fence.OriginMessage)},
	}
}

type asked func(ctx context.Context, person, channel string) (bool, error)

func (a asked) HoldsTrigger(ctx context.Context, person, channel string) (bool, error) {
	return a(ctx, person, channel)
}

func all(ctx context.Context, _, channel string) (bool, error) {
	return channel == "github:octo-org/sample", ctx.Err()
}

func marks(t *testing.T, c fence.RunContext) string {
	t.Helper()
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	var words []string
	for _, e := range c.Elements {
		words = append(words, e.Trust.String())
	}
	return strings.Join(append(words, "voice="+c.Trigger), " ")
}

// Whatever goes wrong with the Authorizer, persons are unverified and the
// instruction speaks; what a mark was before does not matter.
func TestTrustIsSetAsOfNow(t *testing.T) {
	t.Parallel()
	const none = "unverified self unverified unverified voice="
	for name, tc := range map[string]struct {
		authorizer pipeline.Authorizer
		want       string
	}{
		"all hold trigger":  {asked(all), "authorized self unverified trigger voice=e4"},
		"nobody does":       {asked(func(context.Context, string, string) (bool, error) { return false, nil }), none},
		"no authorizer":     {nil, none},
		"it fails":          {asked(func(context.Context, string, string) (bool, error) { return true, errors.New("down") }), none},
		"it panics":         {asked(func(context.Context, string, string) (bool, error) { panic("down") }), none},
		"it heeds its time": {asked(func(ctx context.Context, _, _ string) (bool, error) { <-ctx.Done(); return true, nil }), none},
		"only another":      {asked(func(_ context.Context, p, _ string) (bool, error) { return p == "github:2", nil }), "authorized self unverified unverified voice="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				env := envelope("github:1", pipeline.Person)
				c, err := Builder{tc.authorizer, []string{"github:99"}}.Build(t.Context(), env, gathered(env))
				if err != nil {
					t.Fatal(err)
				}
				if got := marks(t, c); got != tc.want {
					t.Errorf("got %s, want %s", got, tc.want)
				}
			})
		})
	}
}

// An Authorizer that never answers, not even when its time is over, costs the
// context that time and no more.
func TestAHangingAuthorizerCostsItsTimeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		over := make(chan struct{})
		hangs := asked(func(context.Context, string, string) (bool, error) { <-over; return true, nil })
		env := envelope("github:1", pipeline.Person)
		begun := time.Now()
		c, err := Builder{Authorizer: hangs}.Build(t.Context(), env, gathered(env))
		took := time.Since(begun)
		close(over)
		if err != nil || took != AuthorizerTimeout {
			t.Fatalf("took %v, %v; want %v", took, err, AuthorizerTimeout)
		}
		if got := marks(t, c); strings.Contains(got, "authorized") || strings.Contains(got, "trigger ") {
			t.Errorf("got %s", got)
		}
	})
}

// The voice is whose event it was, by the envelope: neither another person
// nor an agent, an app or an import in a person's place.
func TestOnlyTheEnvelopesActorSpeaks(t *testing.T) {
	t.Parallel()
	for _, kind := range []pipeline.ActorKind{pipeline.Person, pipeline.Agent, pipeline.App, pipeline.Import, pipeline.System, "owner"} {
		for _, id := range []string{"github:1", "github:2", "github:99"} {
			env := envelope(id, kind)
			c, err := Builder{asked(all), []string{"github:99"}}.Build(t.Context(), env, gathered(env))
			if err != nil {
				t.Fatal(err)
			}
			if want := kind == pipeline.Person && id == "github:1"; (c.Trigger == "e4") != want {
				t.Errorf("%s %s: got the voice %q, want one: %t", kind, id, c.Trigger, want)
			}
		}
	}
}

func TestAnotherRunsBundleGivesNoContext(t *testing.T) {
	t.Parallel()
	env := envelope("github:1", pipeline.Person)
	builder := Builder{Authorizer: asked(all)}
	for _, spoil := range []func(*fence.Bundle){
		func(b *fence.Bundle) { b.Run = strings.Repeat("0", 32) }, func(b *fence.Bundle) { b.Recipe = "other" },
	} {
		other := gathered(env)
		spoil(&other)
		doc, err := other.Encode()
		if err != nil {
			t.Fatal(err)
		}
		var fault *pipeline.Fault
		if got, err := builder.Encoded(t.Context(), env, doc); got != nil || !errors.As(err, &fault) || fault.Code != pipeline.Unreadable {
			t.Errorf("got %d bytes, %v", len(got), err)
		}
	}
	for _, bad := range []string{"", "zz9", `{"schema":"bundle.v1"}`} {
		if got, err := builder.Encoded(t.Context(), env, []byte(bad)); got != nil || err == nil || strings.Contains(err.Error(), "zz9") {
			t.Errorf("%q: got %d bytes, %v", bad, len(got), err)
		}
	}
	doc, err := gathered(env).Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := builder.Encoded(t.Context(), env, doc)
	if err != nil {
		t.Fatal(err)
	}
	if c, err := fence.DecodeRunContext(got); err != nil || c.Trigger != "e4" {
		t.Errorf("got the voice %q, %v", c.Trigger, err)
	}
}
