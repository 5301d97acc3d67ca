package conformance

import (
	"context"
	"errors"
	"slices"
	"strings"

	"decant.dev/fence"
)

// Adapter is what is judged.
type Adapter interface {
	// Answer gives what would be sent to the model for a context (run_context.v1 in canonical JSON), as turn.v1 or
	// prompt.v1 of at most MaxAnswerBytes.
	Answer(ctx context.Context, document []byte) ([]byte, error)
}

// Func is an adapter that is a function.
type Func func(ctx context.Context, document []byte) ([]byte, error)

// Answer calls f.
func (f Func) Answer(ctx context.Context, document []byte) ([]byte, error) { return f(ctx, document) }

// Options say how to judge. The zero value is of use: seed 0, both placements.
type Options struct {
	Seed      uint64          // the contexts follow from it, so that a report can be had again
	Placement fence.Placement // the only one that the adapter has; 0: it has both, and obeys the context
}

// Finding is one place where a rule is broken. It holds our own words and the ids of our own elements only, nothing of
// what the adapter answered.
type Finding struct {
	Rule    Rule
	Context string // which of the generated contexts
	Detail  string
}

// Report is what Check found.
type Report struct {
	Seed     uint64
	Contexts int  // how many were answered, each twice
	Complete bool // none was left unanswered; otherwise nothing follows from a rule without findings
	Findings []Finding
}

// Broken gives the rules that were broken, in the order of Rules.
func (r Report) Broken() []Rule {
	var all []Rule
	for _, rule := range Rules() {
		if len(r.Of(rule)) > 0 {
			all = append(all, rule)
		}
	}
	return all
}

// Of gives the findings about a rule.
func (r Report) Of(rule Rule) []Finding {
	var all []Finding
	for _, f := range r.Findings {
		if f.Rule == rule {
			all = append(all, f)
		}
	}
	return all
}

// maxUnanswered contexts end a check: an adapter that hangs or prints nothing does so each time.
const maxUnanswered = 3

// Check judges an adapter. It gives an error only if ctx ends, or if a context of its own is not valid.
func Check(ctx context.Context, a Adapter, o Options) (Report, error) {
	c := &check{ctx: ctx, adapter: a, options: o, report: Report{Seed: o.Seed}, preambles: map[fence.Profile]string{}}
	err := c.run()
	if errors.Is(err, errGivenUp) {
		err = nil
	}
	c.report.Complete = err == nil && c.unanswered == 0
	return c.report, err
}

var errGivenUp = errors.New("too many contexts were not answered")

type check struct {
	ctx        context.Context
	adapter    Adapter
	options    Options
	report     Report
	unanswered int
	preambles  map[fence.Profile]string
}

// broken gives where findings about one context go; the same one is kept once.
func (c *check) broken(name string) broken {
	return func(rule Rule, detail string) {
		if f := (Finding{rule, name, detail}); !slices.Contains(c.report.Findings, f) {
			c.report.Findings = append(c.report.Findings, f)
		}
	}
}

// ask has one context answered.
func (c *check) ask(s scenario) (answer, bool, error) {
	doc, err := s.context.Encode()
	if err != nil {
		return answer{}, false, err
	}
	raw, err := c.adapter.Answer(c.ctx, doc)
	if c.ctx.Err() != nil {
		return answer{}, false, c.ctx.Err()
	}
	var out answer
	if err == nil {
		out, err = decodeAnswer(raw)
	}
	if err == nil {
		return out, true, nil
	}
	c.broken(s.name)(Answers, why(err))
	if c.unanswered++; c.unanswered == maxUnanswered {
		return answer{}, false, errGivenUp
	}
	return answer{}, false, nil
}

// why gives the words of our own errors, and none of others'.
func why(err error) string {
	var known *AnswerError
	if errors.As(err, &known) || errors.Is(err, errAnswer) || errors.Is(err, fence.ErrForeignPrompt) {
		return err.Error()
	}
	return "the adapter gave an error"
}

// look has a context answered twice and judges both answers; it gives the first, or nil where there is none.
func (c *check) look(s scenario) (*seen, error) {
	if c.options.Placement != 0 {
		s.context.Placement = c.options.Placement
	}
	var answers [2]answer
	for i := range answers {
		a, ok, err := c.ask(s)
		if err != nil || !ok {
			return nil, err
		}
		answers[i] = a
	}
	c.report.Contexts++
	var first *seen
	for i, a := range answers {
		v, err := look(s, a, answers[1-i])
		if err != nil {
			return nil, err
		}
		report := c.broken(s.name)
		v.judge(report)
		if len(a.system) > 0 {
			if known, ok := c.preambles[s.context.Profile]; ok && known != a.system[0] {
				report(PreambleConstant, "system part 0 differs from that of another turn of the same profile")
			} else {
				c.preambles[s.context.Profile] = a.system[0]
			}
		}
		if i == 0 {
			first = &v
		}
	}
	return first, nil
}

// same reports whether two answers are the same but for their tokens; outside: only outside of their blocks.
func same(a, b *seen, outside bool) bool {
	if len(a.parts) != len(b.parts) {
		return false
	}
	for i := range a.parts {
		x, y := a.parts[i].plain(), b.parts[i].plain()
		if outside {
			x, y = a.parts[i].outside(), b.parts[i].outside()
		}
		if x != y {
			return false
		}
	}
	return true
}

// noteWords is the least that a note can say.
const noteWords = 4

// hasNote reports whether words stand between the preamble and the line of the first marker.
func (v seen) hasNote() bool {
	var before strings.Builder
	for i, p := range v.parts {
		if v.isPreamble(i) {
			continue
		}
		if len(p.markers) == 0 {
			before.WriteString(p.text + "\n")
			continue
		}
		before.WriteString(p.text[:strings.LastIndexByte(p.text[:p.markers[0].from], '\n')+1])
		break
	}
	return len(strings.FieldsFunc(before.String(), func(r rune) bool { return !isSpoken(r) })) >= noteWords
}
