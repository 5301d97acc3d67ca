package fence

import (
	"bufio"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"decant.dev/internal/inputs"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// counter is a source of bytes that are never the same twice and the same in every test run.
type counter struct{ n byte }

func (c *counter) Read(p []byte) (int, error) {
	for i := range p {
		c.n = c.n*5 + 113
		p[i] = c.n
	}
	return len(p), nil
}

func testBoundary(tb testing.TB) Boundary {
	tb.Helper()
	b, err := NewBoundary(&counter{})
	if err != nil {
		tb.Fatal(err)
	}
	return b
}

var mallory = Author{ID: "u77", Kind: KindPerson, Name: "Mallory"}

func element(id, text string) Element {
	return Element{ID: id, Author: mallory, Origin: OriginMessage, Role: RoleUser, Trust: TrustUnverified,
		MediaType: "text/plain", Text: text}
}

// validContext has one unverified message and no trigger.
func validContext() RunContext {
	return RunContext{Run: "r-1", Recipe: "issues", Profile: ProfileIntake, Instruction: "Triage this issue.",
		Scaffold: "Fill: kind, severity.", Limits: Limits{16384, 65536}, Elements: []Element{element("e1", "It fails.")}}
}

// speaking has a triggering message as its last element.
func speaking(voice string, others ...Element) RunContext {
	c := validContext()
	e := element("voice", voice)
	e.Author, e.Trust = Author{ID: "u1", Kind: KindPerson, Name: "Ann"}, TrustTrigger
	c.Elements = append(append([]Element{}, others...), e)
	c.Trigger = e.ID
	return c
}

func mustRender(tb testing.TB, c RunContext) Prompt {
	tb.Helper()
	p, err := Render(c, &counter{})
	if err != nil {
		tb.Fatal(err)
	}
	return p
}

func mustSplit(tb testing.TB, p Prompt) ([]Block, string) {
	tb.Helper()
	blocks, outside, err := Split(p.Data(), p.Boundary())
	if err != nil {
		tb.Fatal(err)
	}
	return blocks, outside
}

// sample is one line of a corpus.
type sample struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	B64  []byte `json:"b64"`
}

func corpus(tb testing.TB, name string) []sample {
	tb.Helper()
	f, err := os.Open(inputs.Path(tb, "attacks", name))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	var all []sample
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var s sample
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			tb.Fatal(err)
		}
		if s.B64 != nil {
			s.Text = string(s.B64)
		}
		all = append(all, s)
	}
	if lines.Err() != nil || len(all) == 0 {
		tb.Fatal("want a corpus with lines")
	}
	return all
}
