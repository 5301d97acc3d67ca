// Package hostile is an extractor that was taken over whole: what runs in the
// place of a recipe's extractor, in the real extract child and under its
// restrictions, while decant attack tries a recipe.
//
// What it does is told by the text that it reads, as with a model that obeys a
// stranger: an Order stands in one of the run's elements. It writes its replies
// itself, so that nothing of an honest phase's handler stands between it and
// the parent. It does no harm beyond the run's own process, and proves nothing
// of a kernel.
package hostile

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"decant.dev/fence"
)

// Deed is one thing that a hostile extractor does. The zero value is invalid.
type Deed string

// The deeds. Reply, Candidate and Line take the order's bytes.
const (
	Reply     Deed = "reply"     // the bytes stand where a structure would, in a reply that is otherwise right
	Candidate Deed = "candidate" // the bytes go through the honest handler, as a model's answer
	Line      Deed = "line"      // the bytes are the whole line

	Hang          Deed = "hang"           // it never answers
	Exit          Deed = "exit"           // it ends
	Panic         Deed = "panic"          // its handler panics
	Endless       Deed = "endless"        // it writes without end
	OtherRun      Deed = "other-run"      // it answers for another run
	OtherQuestion Deed = "other-question" // it answers another question
	UnknownCode   Deed = "unknown-code"   // it answers with a word of its own as the code
	ActsCode      Deed = "acts-code"      // it answers with a code that is act's alone
	ActsAnswer    Deed = "acts-answer"    // it answers as act would
	NoAnswer      Deed = "no-answer"      // its reply holds none
	TwoLines      Deed = "two-lines"      // it replies twice
	Echo          Deed = "echo"           // it says the prompt's boundary
	OwnTrace      Deed = "own-trace"      // its trace holds words of its own
)

// Deeds lists those that need no bytes.
func Deeds() []Deed {
	return []Deed{Hang, Exit, Panic, Endless, OtherRun, OtherQuestion, UnknownCode, ActsCode, ActsAnswer, NoAnswer, TwoLines, Echo, OwnTrace}
}

// Word stands wherever a deed says something of its own. Nothing that a run
// leaves behind may hold it.
const Word = "HOSTILEWORD"

// Order is what a text makes the extractor do. Bytes may be anything, and
// for the deeds that take none are a structure to say beside the deed.
type Order struct {
	Deed  Deed   `json:"deed"`
	Bytes []byte `json:"bytes"`
}

const orderPrefix = "an order to a hostile extractor: "

// Encode spells the order as a text of printable ASCII.
func (o Order) Encode() string {
	b, err := json.Marshal(o)
	if err != nil {
		return "" // an Order of strings and bytes is always encoded
	}
	return orderPrefix + base64.StdEncoding.EncodeToString(b)
}

// Body is what a fetch that was taken over reads in place of a source's event.
type Body struct {
	Item  int    `json:"item"` // makes each body another
	Order string `json:"order"`
	Text  []byte `json:"text"`
}

// Encode writes the body as JSON.
func (b Body) Encode() []byte {
	doc, err := json.Marshal(b)
	if err != nil {
		return nil // an order of ASCII and bytes are always encoded
	}
	return doc
}

// DecodeBody reads a body. The error does not repeat it.
func DecodeBody(doc []byte) (b Body, err error) {
	if json.Unmarshal(doc, &b, json.RejectUnknownMembers(true)) != nil {
		return Body{}, errors.New("want the body of an attack")
	}
	return b, nil
}

// find reads the order in a run's elements, and is false where none is.
func find(elements []fence.Element) (o Order, found bool) {
	for _, e := range elements {
		coded, ok := strings.CutPrefix(e.Text, orderPrefix)
		if !ok {
			continue
		}
		b, err := base64.StdEncoding.DecodeString(coded)
		if err == nil && json.Unmarshal(b, &o, json.RejectUnknownMembers(true)) == nil {
			return o, true
		}
	}
	return Order{}, false
}

// Question is one request of the parent's, by the number and the run that a
// reply must bear.
type Question struct {
	N      uint64
	Run    string
	Object []byte // the prompt object
}

// Obey does what the question's text orders, writing to out what the child
// says on its standard output. It answers candidate bytes, and true, where
// these are to go through the honest handler; otherwise it has said all.
// Text without an order is not answered at all.
func Obey(q Question, out io.Writer) (candidate []byte, honest bool) {
	prompt, err := fence.DecodeObject(q.Object)
	if err != nil {
		return nil, true
	}
	o, found := find(prompt.Context().Elements)
	if !found {
		return nil, true
	}
	switch o.Deed {
	case Candidate:
		return o.Bytes, true
	case Echo:
		return []byte(prompt.Boundary().Hex()), true
	case Panic:
		panic(Word)
	case Exit:
		os.Exit(0)
	case Hang:
		select {}
	case Endless:
		for chunk := []byte(strings.Repeat(Word, 1000)); ; {
			if _, err := out.Write(chunk); err != nil {
				os.Exit(1)
			}
		}
	}
	_, _ = out.Write(o.line(q))
	return nil, false
}

// line is the one line, or for TwoLines the two, that an order makes the child
// say.
func (o Order) line(q Question) []byte {
	of := func(n uint64, run, rest string) []byte {
		return fmt.Appendf(nil, `{"n":%d,"run":%q%s}`+"\n", n, run, rest)
	}
	right := `,"answer":{"structure":` + string(o.Bytes) + `,"trace":{"extractor":"rules"}}`
	switch o.Deed {
	case Reply:
		return of(q.N, q.Run, right)
	case OtherRun:
		return of(q.N, strings.Repeat("0", 32), right)
	case OtherQuestion:
		return of(q.N+1, q.Run, right)
	case UnknownCode:
		return of(q.N, q.Run, `,"answer":{"code":"`+Word+`"}`)
	case ActsCode:
		return of(q.N, q.Run, `,"answer":{"code":"approval_needed"}`)
	case ActsAnswer:
		return of(q.N, q.Run, `,"answer":[{"run":"`+q.Run+`","act":{"status":"done","label":"system","actions":[]}}]`)
	case NoAnswer:
		return of(q.N, q.Run, "")
	case TwoLines:
		return slices.Repeat(of(q.N, q.Run, right), 2)
	case OwnTrace:
		return of(q.N, q.Run, `,"answer":{"structure":`+string(o.Bytes)+`,"trace":{"extractor":"`+Word+`","steps":[{"field":"`+Word+`","rule":"`+Word+`","confidence":1}]}}`)
	default: // Line, and whatever is no deed
		return append(slices.Clone(o.Bytes), '\n')
	}
}
