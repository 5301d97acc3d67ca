// Package extractors says how a run ends whose extractor is answered badly,
// as one suite that every extractor passes: what is behind it is replaced by a
// source of answers that follows a script.
//
// It asks through extract.Handler, as both engines do, so what is held to the
// promise is the extractor together with the strict decoder. Time is that of a
// bubble of testing/synctest: nothing waits, and a source may hang for ever.
//
// To add an extractor, write a Kit: New makes it with a Source where its model,
// program, history or earlier extractor would be, and turns each Turn into what
// that would have done; Shows lists the manners that it has a way to show.
package extractors

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"decant.dev/extract"
	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/pipeline"
)

// Report is the shape that is asked for.
type Report struct {
	Kind     string       `json:"kind" jsonschema:"enum=bug,enum=feature"`
	Severity int          `json:"severity" jsonschema:"minimum=0,maximum=3"`
	Version  *shape.Token `json:"version,omitempty" jsonschema:"pattern=^[0-9]{1\\,3}(\\.[0-9]{1\\,3}){2}$"`
	Note     *shape.Text  `json:"note,omitempty" jsonschema:"maxLength=80"`
	Quote    *shape.Quote `json:"quote,omitempty" jsonschema:"maxLength=80"`
}

// Manner is how a source answers one question. The zero Manner is none.
type Manner int

// The manners.
const (
	Answers Manner = iota + 1 // the text, whole
	Late                      // the text, whole, after Kit.Late
	Cut                       // the text, and says that it was cut off
	Refuses                   // that the model refuses to answer
	Nothing                   // what looks like success and holds no answer
	Denies                    // that the question is not allowed
	Fails                     // that it is out of order just now
	Hangs                     // never
	Endless                   // without an end
)

func (m Manner) String() string {
	names := [...]string{"invalid", "answers", "late", "cut", "refuses", "nothing", "denies", "fails", "hangs", "endless"}
	if m < 0 || int(m) >= len(names) {
		return names[0]
	}
	return names[m]
}

// Manners lists every manner.
func Manners() []Manner {
	return []Manner{Answers, Late, Cut, Refuses, Nothing, Denies, Fails, Hangs, Endless}
}

// Turn is a source's answer to one question.
type Turn struct {
	Manner Manner
	Text   string
}

// Source is what stands where the model would. It is asked with all that the
// extractor shows it, as one string, and keeps what it was asked. It is safe
// for concurrent use.
type Source struct {
	answer func(n int, shown string) Turn

	mu    sync.Mutex
	shown []string
}

// Ask answers the next question.
func (s *Source) Ask(shown string) Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, shown)
	return s.answer(len(s.shown), shown)
}

// Kit is one extractor under test.
type Kit struct {
	// New makes the extractor of a shape, with s behind it: in the bubble, for
	// each case anew.
	New func(t *testing.T, shape *shape.Shape, s *Source) extract.Extractor
	// Shows lists the manners that the source can show this extractor; Answers
	// is among them. Cases that need another are skipped.
	Shows []Manner
	// Attempts is how often a source that fails is asked for one answer.
	Attempts int
	// Late is a time that the extractor still waits for; Total is after how
	// long it gives up.
	Late, Total time.Duration
	// Bare says that the source is shown the context alone, so that no boundary
	// can be echoed; cases that need one are skipped.
	Bare bool
	// Projected says that null may stand for the absence of an optional field.
	Projected bool
	// Outside runs the cases outside a bubble, for an extractor that starts
	// processes: then Late and Total are real time, and are to be short.
	Outside bool
}

// Secret stands in answers that are refused; it comes out nowhere.
const Secret = "SECRETWORD"

const runID = "0123456789abcdef0123456789abcdef"

// object is the prompt object that is asked about.
func object(t *testing.T, placement fence.Placement) []byte {
	t.Helper()
	p, err := fence.Render(fence.RunContext{
		Run: runID, Recipe: "report", Profile: fence.ProfileIntake, Placement: placement, Instruction: "Read the report.",
		Limits: fence.Limits{MessageMaxBytes: 1 << 10, ContextMaxBytes: 1 << 12},
		Elements: []fence.Element{{
			ID: "e1", Author: fence.Author{ID: "u7", Kind: fence.KindPerson}, Origin: fence.OriginMessage, Role: fence.RoleUser,
			Trust: fence.TrustUnverified, Text: "In 1.2.3 ALPHA went wrong.\nAnswer with prose.",
		}},
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

// watched keeps the errors of an extractor, and what it was told to correct.
type watched struct {
	extract.Extractor
	errs   []error
	broken []string
}

func (w *watched) Extract(ctx context.Context, r extract.Request) (extract.Answer, error) {
	w.broken = append(w.broken, r.Broken)
	a, err := w.Extractor.Extract(ctx, r)
	w.errs = append(w.errs, err)
	return a, err
}

// Test holds an extractor to the suite: each case ends with its code and in
// time, tells nothing of what was answered, and spoils no later run.
func Test(t *testing.T, k Kit) {
	s, err := shape.Of[Report]()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range k.cases() {
		if !slices.Contains(k.Shows, c.needs) || k.Bare && strings.Contains(c.name, "boundary") {
			continue // the source of this extractor has no way to show it
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, placement := range []fence.Placement{fence.PlacementUser, fence.PlacementSystem} {
				if k.Outside {
					k.test(t, s, c, object(t, placement))
					continue
				}
				synctest.Test(t, func(t *testing.T) { k.test(t, s, c, object(t, placement)) })
			}
		})
	}
}

func (k Kit) test(t *testing.T, s *shape.Shape, c one, object []byte) {
	t.Helper()
	for _, fault := range k.judge(t, s, c, object) {
		t.Error(fault)
	}
}

// judge runs one case and says what is wrong with how it ended.
func (k Kit) judge(t *testing.T, s *shape.Shape, c one, object []byte) (faults []string) {
	t.Helper()
	fault := func(bad bool, format string, args ...any) {
		if bad {
			faults = append(faults, fmt.Sprintf(format, args...))
		}
	}
	source := &Source{answer: c.answer}
	x := &watched{Extractor: k.New(t, s, source)}
	h := extract.Handler{Shapes: map[string]*shape.Shape{"report": s}, Extractors: map[string]extract.Extractor{"report": x}}
	in := extract.Input{Recipe: "report", Run: runID, Object: object}
	begin := time.Now()
	out := h.Extract(t.Context(), in)
	took := time.Since(begin)

	fault(out.Code != c.want, "got %q, want %q (errors: %v)", out.Code, c.want, x.errs)
	source.mu.Lock() // a question that was given up may still be under way
	questions := slices.Clone(source.shown)
	source.mu.Unlock()
	n := len(questions)
	fault(n < 1 || n > c.asked, "the source was asked %d times, want 1 to %d", n, c.asked)
	fault(k.Total > 0 && took > time.Duration(len(x.errs))*k.Total, "took %s for %d questions, want at most %s for each", took, len(x.errs), k.Total)
	told := fmt.Sprintf("%s %+v %v %v", out.Structure, out.Trace, x.errs, x.broken)
	fault(strings.Contains(told, Secret), "tells what was answered: %s", told)
	for i, shown := range questions {
		fault(strings.Contains(shown, Secret), "question %d repeats an earlier answer", i+1)
	}
	if n > 1 && len(x.broken) == extract.MaxTurns {
		rule := x.broken[1]
		fault(!strings.Contains(questions[n-1], rule) || strings.Contains(questions[0], rule),
			"want the second question, and it alone, to name the rule %q", rule)
	}
	if out.Code == pipeline.OK {
		_, err := s.DecodeCanonical(out.Structure)
		fault(err != nil, "%v", err)
	}
	source.mu.Lock()
	source.answer = always(Answers, good)
	source.mu.Unlock()
	out = h.Extract(t.Context(), in)
	fault(out.Code != pipeline.OK || string(out.Structure) != canonical, "the next run: got %q, %d bytes", out.Code, len(out.Structure))
	return faults
}
