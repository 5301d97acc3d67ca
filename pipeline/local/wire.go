package local

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"decant.dev/act"
	"decant.dev/extract"
	"decant.dev/fetch"
	"decant.dev/pipeline"
)

// Bounds of what crosses between parent and child, in bytes of one line. What
// fetch may answer is less than what extract may be asked, by the envelope and
// the names around it.
const (
	maxRequest = 8 << 20 // a body of 4 MiB in base64, with its envelope
	maxFetched = maxRequest - 64<<10
	maxAnswer  = 256 << 10
)

// request is one line from parent to child. A fetch or extract child is asked
// about one run; act, which sees no text, about as many as wait for it.
type request struct {
	N       uint64         `json:"n,omitzero"` // set as the line is sent: the child's questions are numbered from 1
	Run     string         `json:"run"`
	Fetch   *fetch.Input   `json:"fetch,omitzero"`
	List    *listInput     `json:"list,omitzero"`
	Items   *itemsInput    `json:"items,omitzero"`
	Extract *extract.Input `json:"extract,omitzero"`
	Context *contextInput  `json:"context,omitzero"`
	Acts    []question     `json:"acts,omitzero"`
}

// listInput is a tick whose items fetch is asked for.
type listInput struct {
	Tick   pipeline.Envelope `json:"tick"`
	Cursor []byte            `json:"cursor,omitzero"`
}

// itemsInput is a document whose items fetch is asked for.
type itemsInput struct {
	Recipe   string `json:"recipe"`
	Document []byte `json:"document"`
}

// reply is one line from child to parent: an answer in the phase's own form,
// or a code.
type reply struct {
	N      uint64         `json:"n"`
	Run    string         `json:"run,omitzero"`
	Code   pipeline.Code  `json:"code,omitzero"`
	Answer jsontext.Value `json:"answer,omitzero"`
}

// question is one of the two that act is asked about a run.
type question struct {
	Run   string          `json:"run"`
	Admit *act.AdmitInput `json:"admit,omitzero"`
	Act   *act.Input      `json:"act,omitzero"`
}

// answer is act's to a question of the same run.
type answer struct {
	Run   string         `json:"run"`
	Code  pipeline.Code  `json:"code,omitzero"`
	Admit *act.Admission `json:"admit,omitzero"`
	Act   *act.Output    `json:"act,omitzero"`
}

// decoded turns a reply's answer into the form that q asks for. It is false
// for an answer in any other form, and for one that is not there.
func (r reply) decoded(q request) (answers, bool) {
	var a answers
	var into any
	switch {
	case q.Fetch != nil:
		into = &a.fetch
	case q.List != nil, q.Items != nil:
		into = &a.list
	case q.Extract != nil:
		into = &a.extract
	case q.Context != nil:
		into = &a.context
	default:
		into = &a.acts
	}
	if len(r.Answer) == 0 || unmarshal(r.Answer, into) != nil {
		return answers{}, false
	}
	if len(a.acts) != len(q.Acts) {
		return answers{}, false
	}
	for i, one := range a.acts {
		asked := q.Acts[i]
		if one.Run != asked.Run || !one.Code.Known() {
			return answers{}, false
		}
		if one.Code == pipeline.OK && ((one.Admit != nil) != (asked.Admit != nil) || (one.Act != nil) != (asked.Act != nil)) {
			return answers{}, false
		}
	}
	return a, true
}

// answers is what a phase answered, in the one form that it was asked for.
type answers struct {
	fetch   fetch.Output
	list    fetch.Listing
	extract extract.Output
	context contextOutput
	acts    []answer
}

var errLongLine = errors.New("line exceeds its limit")

// readLine reads up to and without the next line feed, at most limit bytes.
// The result is valid until the next call with the same buf.
func readLine(r *bufio.Reader, buf []byte, limit int) ([]byte, error) {
	buf = buf[:0]
	for {
		part, err := r.ReadSlice('\n')
		if len(buf)+len(part) > limit+1 {
			return buf, errLongLine
		}
		buf = append(buf, part...)
		switch {
		case err == nil:
			return buf[:len(buf)-1], nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(buf) > 0:
			return buf, io.ErrUnexpectedEOF
		default:
			return buf, err
		}
	}
}

// writeLine writes v as one line. No JSON of this package holds a raw line
// feed.
func writeLine(w io.Writer, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// unmarshal decodes strictly: unknown, duplicate and differently-cased keys,
// bad UTF-8 and trailing bytes are errors.
func unmarshal(b []byte, v any) error {
	return json.Unmarshal(b, v, json.RejectUnknownMembers(true))
}
