package replay

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/internal/conformance/extractors"
	"decant.dev/pipeline"
)

type finding struct {
	Kind  string       `json:"kind" jsonschema:"enum=bug,enum=feature"`
	Quote *shape.Quote `json:"quote,omitempty" jsonschema:"maxLength=40"`
}

const run = "0123456789abcdef0123456789abcdef"

func object(t *testing.T, text string) []byte {
	t.Helper()
	p, err := fence.Render(fence.RunContext{
		Run: run, Recipe: "findings", Profile: fence.ProfileIntake, Instruction: "Find it.",
		Limits: fence.Limits{MessageMaxBytes: 1 << 10, ContextMaxBytes: 1 << 12},
		Elements: []fence.Element{{ID: "e1", Author: fence.Author{ID: "u7", Kind: fence.KindPerson}, Origin: fence.OriginMessage, Role: fence.RoleUser,
			Trust: fence.TrustUnverified, Text: text}},
	}, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	o, err := fence.EncodeObject(p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// never is an extractor that must not be asked.
type never struct{ t *testing.T }

func (never) Name() string { return "never" }
func (x never) Extract(context.Context, extract.Request) (extract.Answer, error) {
	x.t.Error("the extractor was asked")
	return extract.Answer{}, nil
}

// What was recorded comes back bit for bit, as long as it is a value of the
// shape and grounded in the prompt that it was recorded with; no extractor is
// asked.
func TestWhatWasRecordedComesBackOrIsRefused(t *testing.T) {
	t.Parallel()
	s, err := shape.Of[finding]()
	if err != nil {
		t.Fatal(err)
	}
	h := extract.Handler{
		Shapes: map[string]*shape.Shape{"findings": s}, Extractors: map[string]extract.Extractor{"findings": never{t}},
		Replay: func(recorded []byte) extract.Extractor { return New(recorded) },
	}
	for _, tc := range []struct {
		recorded, text string
		code           pipeline.Code
	}{
		{`{"kind":"bug"}`, "ALPHA", pipeline.OK},
		{`{"kind":"bug","quote":"ALPHA"}`, "it says ALPHA", pipeline.OK},
		{`{"kind":"bug","quote":"ALPHA"}`, "it says BETA", pipeline.Ungrounded},
		{`{"kind":"crash"}`, "ALPHA", pipeline.Undecodable},
		{`{"kind":"bug","more":1}`, "ALPHA", pipeline.Undecodable},
	} {
		out := h.Extract(t.Context(), extract.Input{Recipe: "findings", Run: run, Object: object(t, tc.text), Recorded: []byte(tc.recorded)})
		if out.Code != tc.code || tc.code == pipeline.OK && string(out.Structure) != tc.recorded {
			t.Errorf("%s: got %q, %s; want %q", tc.recorded, out.Code, out.Structure, tc.code)
		}
	}
	h.Replay = nil
	if out := h.Extract(t.Context(), extract.Input{Recipe: "findings", Run: run, Object: object(t, "ALPHA"), Recorded: []byte(`{"kind":"bug"}`)}); out.Code != pipeline.PhaseMisbehave {
		t.Errorf("a phase that replays nothing answered %q", out.Code)
	}
}

// behind replays what the suite's source would have recorded.
type behind struct{ source *extractors.Source }

func (behind) Name() string { return "replay" }
func (x behind) Extract(ctx context.Context, r extract.Request) (extract.Answer, error) {
	if turn := x.source.Ask(extract.Correction(r.Broken) + r.Prompt.Data()); turn.Manner == extractors.Answers {
		return New([]byte(turn.Text)).Extract(ctx, r)
	}
	return extract.Answer{}, errors.New("nothing was recorded")
}

func TestConforms(t *testing.T) {
	t.Parallel()
	extractors.Test(t, extractors.Kit{
		New:   func(_ *testing.T, _ *shape.Shape, source *extractors.Source) extract.Extractor { return behind{source} },
		Shows: []extractors.Manner{extractors.Answers, extractors.Cut, extractors.Refuses, extractors.Nothing, extractors.Denies, extractors.Fails, extractors.Endless}, Attempts: 1,
	})
}

func TestWhatIsRecordedIsACopy(t *testing.T) {
	t.Parallel()
	recorded := []byte(`{"kind":"bug"}`)
	x := New(recorded)
	recorded[2] = 'K'
	a, err := x.Extract(t.Context(), extract.Request{})
	if err != nil || string(a.Candidate) != `{"kind":"bug"}` {
		t.Fatalf("got %s, %v", a.Candidate, err)
	}
	a.Candidate[2] = 'K'
	if again, _ := x.Extract(t.Context(), extract.Request{}); string(again.Candidate) != `{"kind":"bug"}` {
		t.Errorf("got %s", again.Candidate)
	}
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Extract(over, extract.Request{}); err == nil {
		t.Error("answered after the end")
	}
}
