package extract

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"decant.dev/extract/shape"
	"decant.dev/fence"
	"decant.dev/pipeline"
)

// finding is a small shape with a choice, a text and two quotes.
type finding struct {
	Kind  string       `json:"kind" jsonschema:"enum=a,enum=b"`
	Note  *shape.Text  `json:"note,omitempty" jsonschema:"maxLength=200"`
	Quote *shape.Quote `json:"quote,omitempty" jsonschema:"maxLength=80"`
	Also  *shape.Quote `json:"also,omitempty" jsonschema:"maxLength=80"`
}

func findings(tb testing.TB) *shape.Shape {
	tb.Helper()
	s, err := shape.Of[finding]()
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// scripted answers from a function of the request, and keeps the requests.
type scripted struct {
	answer   func(Request) (Answer, error)
	requests []Request
}

func (*scripted) Name() string      { return "scripted" }
func (*scripted) RuleIDs() []string { return []string{"word"} }
func (x *scripted) Extract(_ context.Context, r Request) (Answer, error) {
	x.requests = append(x.requests, r)
	return x.answer(r)
}

// turns answers with one candidate after the other.
func turns(candidates ...string) *scripted {
	n := 0
	return &scripted{answer: func(Request) (Answer, error) {
		n++
		return Answer{Candidate: []byte(candidates[n-1])}, nil
	}}
}

const run = "0123456789abcdef0123456789abcdef"

// object is the prompt object of a run with two elements.
func object(tb testing.TB) []byte {
	tb.Helper()
	stranger := fence.Author{ID: "u7", Kind: fence.KindPerson}
	element := func(id, text string) fence.Element {
		return fence.Element{ID: id, Author: stranger, Origin: fence.OriginMessage, Role: fence.RoleUser, Trust: fence.TrustUnverified, Text: text}
	}
	p, err := fence.Render(fence.RunContext{
		Run: run, Recipe: "findings", Profile: fence.ProfileIntake, Instruction: "Find it.",
		Limits:   fence.Limits{MessageMaxBytes: 40, ContextMaxBytes: 100},
		Elements: []fence.Element{element("e1", "The first element says ALPHA, and goes on for longer than a prompt shows: OMEGA"), element("e2", "The second says\nBETA ⟦x⟧")},
	}, rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	o, err := fence.EncodeObject(p)
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

func ask(tb testing.TB, x Extractor, in Input) Output {
	tb.Helper()
	h := Handler{Shapes: map[string]*shape.Shape{"findings": findings(tb)}, Extractors: map[string]Extractor{"findings": x}}
	out := h.Extract(context.Background(), in)
	if (out.Code == pipeline.OK) != (len(out.Structure) > 0) || !out.Code.Known() {
		tb.Fatalf("want a structure or a code of the list, got %d bytes and %q", len(out.Structure), out.Code)
	}
	if (len(out.Trace.Refused) == MaxTurns) != (out.Code == pipeline.Undecodable) {
		tb.Fatalf("a run that ended with %q has %d refused answers", out.Code, len(out.Trace.Refused))
	}
	if out.Code != pipeline.OK && out.Code != pipeline.Undecodable && fmt.Sprintf("%+v", out.Trace) != fmt.Sprintf("%+v", Trace{}) {
		tb.Fatalf("a run that ended with %q has a trace: %+v", out.Code, out.Trace)
	}
	return out
}

func input(tb testing.TB) Input {
	tb.Helper()
	return Input{Recipe: "findings", Run: run, Object: object(tb)}
}

func TestStructureIsCanonicalWhateverTheSpelling(t *testing.T) {
	t.Parallel()
	in := input(t)
	out := ask(t, turns(" {\n\"quote\" : \"ALPH\\u0041\", \"kind\":\"b\"}\t"), in)
	if got := string(out.Structure); got != `{"kind":"b","quote":"ALPHA"}` {
		t.Errorf("got %s, %q", got, out.Code)
	}
	if out.Trace.Extractor != "scripted" || out.Trace.Prompt != (Counted{SHA256: DigestOfBytes(in.Object), Included: 2, Truncated: 1}) {
		t.Errorf("trace: %+v", out.Trace)
	}
}

// Of answers that do not decode their sizes and digests are kept, and nothing
// else.
func TestAnUndecodableAnswerLeavesSizeAndDigest(t *testing.T) {
	t.Parallel()
	first, second := `{"kind":"SECRETWORD"}`, "SECRETWORD"
	for _, tc := range []struct {
		x    *scripted
		want []string
		code pipeline.Code
	}{
		{turns(first, second), []string{first, second}, pipeline.Undecodable},
		{turns(first, `{"kind":"a"}`), []string{first}, pipeline.OK},
		{turns(`{"kind":"a"}`), nil, pipeline.OK},
	} {
		out := ask(t, tc.x, input(t))
		var want []Refused
		for _, answer := range tc.want {
			want = append(want, Refused{len(answer), DigestOfBytes([]byte(answer))})
		}
		if out.Code != tc.code || !slices.Equal(out.Trace.Refused, want) || strings.Contains(fmt.Sprintf("%+v", out), "SECRETWORD") {
			t.Errorf("got %q with %+v, want %q with %+v", out.Code, out.Trace.Refused, tc.code, want)
		}
	}
}

// An answer that does not decode is asked for once more. The second question
// differs in the schema path and the rule alone, and says nothing of the
// answer.
func TestOneCorrectionNamesPathAndRuleOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ candidate, broken string }{
		{`{"kind":"SECRETWORD"}`, "kind: "},
		{`{"SECRETWORD":"a"}`, "(root): "},
		{`{"kind":"a","quote":"` + strings.Repeat("SECRETWORD", 9) + `"}`, "quote: "},
		{`SECRETWORD`, "(root): "},
		{``, "(root): "},
		{`{"kind":"a"} SECRETWORD`, "(root): "},
	} {
		x := turns(c.candidate, `{"kind":"a"}`)
		if out := ask(t, x, input(t)); out.Code != pipeline.OK || len(x.requests) != 2 {
			t.Fatalf("%.20s: %q after %d questions, want an answer after 2", c.candidate, out.Code, len(x.requests))
		}
		first, second := x.requests[0], x.requests[1]
		path, rule, _ := strings.Cut(second.Broken, ": ")
		if first.Broken != "" || path+": " != c.broken || !isRule(rule) {
			t.Errorf("%.20s: first %q, second %q, want %q and a rule", c.candidate, first.Broken, second.Broken, c.broken)
		}
		second.Broken = ""
		if fmt.Sprintf("%+v", first) != fmt.Sprintf("%+v", second) {
			t.Errorf("%.20s: the second question differs in more", c.candidate)
		}
	}
}

func isRule(word string) bool {
	for _, r := range shape.Rules() {
		if r.String() == word {
			return true
		}
	}
	return false
}

func TestSecondFailureIsUndecodable(t *testing.T) {
	t.Parallel()
	x := turns(`{"kind":"c"}`, `{"kind":"d"}`, `{"kind":"a"}`)
	if out := ask(t, x, input(t)); out.Code != pipeline.Undecodable || len(x.requests) != 2 {
		t.Errorf("%q after %d questions, want undecodable after 2", out.Code, len(x.requests))
	}
}

// An extractor that fails says nothing: the run ends with the code, without a
// second question.
func TestFailingExtractorIsNoAnswer(t *testing.T) {
	t.Parallel()
	x := &scripted{answer: func(Request) (Answer, error) {
		return Answer{Candidate: []byte(`{"kind":"a"}`)}, errors.New("SECRETWORD")
	}}
	if out := ask(t, x, input(t)); out.Code != pipeline.NoAnswer || len(x.requests) != 1 {
		t.Errorf("%q after %d questions", out.Code, len(x.requests))
	}
}

func TestBoundaryInAnAnswerEndsTheRun(t *testing.T) {
	t.Parallel()
	escaped := func(s string) string {
		var sb strings.Builder
		for _, r := range s {
			fmt.Fprintf(&sb, `\u%04x`, r)
		}
		return sb.String()
	}
	note := func(s string) string { return `{"kind":"a","note":"` + s + `"}` }
	for name, c := range map[string]struct {
		answer func(token string) string
		echoed bool
	}{
		"whole":                  {note, true},
		"16 digits":              {func(b string) string { return note("x" + b[7:23]) }, true},
		"last 16 digits":         {func(b string) string { return note(b[16:]) }, true},
		"upper case":             {func(b string) string { return note(strings.ToUpper(b[3:19])) }, true},
		"with escapes":           {func(b string) string { return note(escaped(b)) }, true},
		"16 digits with escapes": {func(b string) string { return note(escaped(strings.ToUpper(b[5:21]))) }, true},
		"one escape":             {func(b string) string { return note(b[:8] + escaped(b[8:9]) + b[9:17]) }, true},
		"in prose":               {func(b string) string { return "the token is " + b }, true},
		"in a key":               {func(b string) string { return `{"` + b + `":1}` }, true},
		"15 digits":              {func(b string) string { return note(b[:15]) }, false},
		"two halves of 15":       {func(b string) string { return note(b[:15] + " " + b[15:30]) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := &scripted{answer: func(r Request) (Answer, error) {
				return Answer{Candidate: []byte(c.answer(r.Prompt.Boundary().Hex()))}, nil
			}}
			out := ask(t, x, input(t))
			if (out.Code == pipeline.BoundaryEchoed) != c.echoed || len(x.requests) != 1 {
				t.Errorf("got %q after %d questions", out.Code, len(x.requests))
			}
		})
	}
}

func TestQuoteStandsInOneElementAsFetched(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		quote, also string
		want        pipeline.Code
	}{
		{"ALPHA", "BETA", pipeline.OK},
		{"OMEGA", "The second says", pipeline.OK}, // the prompt shows less than was fetched
		{"BETA ⟦x⟧", "", pipeline.OK},
		{"alpha", "", pipeline.Ungrounded},
		{"ALPHA", "GAMMA", pipeline.Ungrounded},
		{"GAMMA", "ALPHA", pipeline.Ungrounded},
		{"OMEGAThe second", "", pipeline.Ungrounded}, // across two elements
		{"Find it.", "", pipeline.Ungrounded},        // the instruction's words
		{"unverified", "", pipeline.Ungrounded},      // the fence's words
	} {
		doc := map[string]string{"kind": "a", "quote": c.quote}
		if c.also != "" {
			doc["also"] = c.also
		}
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if out := ask(t, turns(string(b)), input(t)); out.Code != c.want {
			t.Errorf("%s: got %q, want %q", b, out.Code, c.want)
		}
	}
}

func TestObjectOfAnotherRunOrRecipeIsUnreadable(t *testing.T) {
	t.Parallel()
	x := turns(`{"kind":"a"}`)
	h := Handler{
		Shapes:     map[string]*shape.Shape{"findings": findings(t), "others": findings(t), "shapeonly": findings(t)},
		Extractors: map[string]Extractor{"findings": x, "others": x, "extractoronly": x},
	}
	for _, c := range []struct {
		recipe, run string
		want        pipeline.Code
	}{
		{"findings", run[1:] + "0", pipeline.Unreadable},
		{"findings", "", pipeline.Unreadable},
		{"others", run, pipeline.Unreadable},
		{"nothing", run, pipeline.UnknownRecipe},
		{"", run, pipeline.UnknownRecipe},
		{"shapeonly", run, pipeline.UnknownRecipe},
		{"extractoronly", run, pipeline.UnknownRecipe},
	} {
		out := h.Extract(context.Background(), Input{Recipe: c.recipe, Run: c.run, Object: object(t)})
		if out.Code != c.want || out.Structure != nil {
			t.Errorf("recipe %q, run %q: got %q, want %q", c.recipe, c.run, out.Code, c.want)
		}
	}
	if len(x.requests) > 0 {
		t.Errorf("the extractor was asked %d times", len(x.requests))
	}
}

// Whatever the object is, the handler answers with a code, or reads it as the
// prompt object of this run.
func FuzzGarbageObjectIsACode(f *testing.F) {
	good := object(f)
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add([]byte(strings.Replace(string(good), `"e1"`, `"e2"`, 1)))
	f.Add([]byte(strings.Replace(string(good), `"schema"`, `"SCHEMA"`, 1)))
	for _, s := range []string{"", "null", "{}", "[]", `{"schema":"prompt_object.v1"}`, strings.Repeat("[", 10000), "\xff", `{"schema":"prompt_object.v1","boundary":"00","context":null}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, object []byte) {
		x := turns(`{"kind":"a"}`)
		out := ask(t, x, Input{Recipe: "findings", Run: run, Object: object})
		if out.Code != pipeline.OK && out.Code != pipeline.Unreadable {
			t.Errorf("got %q, want an answer or unreadable", out.Code)
		}
		if out.Code == pipeline.OK && x.requests[0].Context.Run != run {
			t.Error("the object of another run was answered for")
		}
	})
}

// Whatever the candidate is, what comes out is a value of the shape whose
// quotes are grounded, or a code.
func FuzzCandidateIsAStructureOrACode(f *testing.F) {
	s, o := findings(f), object(f)
	for _, c := range []string{`{"kind":"a"}`, `{"kind":"a","quote":"ALPHA"}`, `{"kind":"a","also":""}`, "", "null", `{"kind":"a","kind":"b"}`, `{"kind":"\ud800"}`} {
		f.Add([]byte(c))
	}
	f.Fuzz(func(t *testing.T, candidate []byte) {
		out := ask(t, turns(string(candidate), string(candidate)), Input{Recipe: "findings", Run: run, Object: o})
		if out.Code != pipeline.OK {
			return
		}
		if _, err := s.DecodeCanonical(out.Structure); err != nil {
			t.Fatal(err)
		}
		var v struct{ Quote, Also string }
		if err := json.Unmarshal(out.Structure, &v); err != nil {
			t.Fatal(err)
		}
		p, err := fence.DecodeObject(o)
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range []string{v.Quote, v.Also} {
			e := p.Context().Elements
			if !strings.Contains(e[0].Text, q) && !strings.Contains(e[1].Text, q) {
				t.Errorf("the quote %q stands in no element", q)
			}
		}
	})
}

// dear is an extractor that costs, at its worst, a microdollar a byte.
type dear struct{ *scripted }

func (dear) Worst(promptBytes int) int64 { return int64(promptBytes) }

// An extractor is asked only where its worst, as often as it may be asked, is
// within what was reserved for the run. The attack is a text that makes the
// prompt long.
func TestAnExtractorIsHeldToItsCost(t *testing.T) {
	t.Parallel()
	in := input(t)
	p, err := fence.DecodeObject(in.Object)
	if err != nil {
		t.Fatal(err)
	}
	size := int64(len(p.User()))
	for _, s := range p.System() {
		size += int64(len(s))
	}
	for _, tc := range []struct {
		cost  int64
		asked int
		want  pipeline.Code
	}{{size, 0, pipeline.OK}, {size, 1, pipeline.OK}, {size - 1, 1, pipeline.TooDear}, {3*size - 1, 3, pipeline.TooDear}, {3 * size, 3, pipeline.OK}, {0, 1, pipeline.TooDear}} {
		x := turns(`{"kind":"a"}`)
		h := Handler{Shapes: map[string]*shape.Shape{"findings": findings(t)}, Extractors: map[string]Extractor{"findings": dear{x}}, Costs: map[string]int64{"findings": tc.cost}, Asked: tc.asked}
		if out := h.Extract(t.Context(), in); out.Code != tc.want || (len(x.requests) > 0) != (tc.want == pipeline.OK) {
			t.Errorf("reserved %d, asked %d times: got %q after %d questions, want %q", tc.cost, tc.asked, out.Code, len(x.requests), tc.want)
		}
	}
}
