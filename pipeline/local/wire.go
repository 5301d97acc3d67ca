package local

import (
	"bufio"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json"

	"decant.dev/act"
	"decant.dev/extract"
	"decant.dev/fetch"
	"decant.dev/pipeline"
)

// Bounds of what crosses between parent and child, in bytes of one line.
const (
	maxRequest = 8 << 20  // a body of 4 MiB in base64, with its envelope
	maxFetched = 40 << 20 // a prompt object: the context's texts whole, and their rendering
	maxAnswer  = 256 << 10
)

// request is one line from parent to child. A fetch or extract child is asked
// about one run; act, which sees no text, about as many as wait for it.
type request struct {
	N       uint64         `json:"n,omitzero"` // set as the line is sent: the child's questions are numbered from 1
	Run     string         `json:"run"`
	Fetch   *fetch.Input   `json:"fetch,omitzero"`
	Extract *extract.Input `json:"extract,omitzero"`
	Acts    []question     `json:"acts,omitzero"`
}

// reply is one line from child to parent: the answer of the same name, or a
// code.
type reply struct {
	N       uint64          `json:"n"`
	Run     string          `json:"run,omitzero"`
	Code    pipeline.Code   `json:"code,omitzero"`
	Fetch   *fetch.Output   `json:"fetch,omitzero"`
	Extract *extract.Output `json:"extract,omitzero"`
	Acts    []answer        `json:"acts,omitzero"`
}

// question is one of the two that act is asked about a run.
type question struct {
	Run   string             `json:"run"`
	Admit *pipeline.Envelope `json:"admit,omitzero"`
	Act   *act.Input         `json:"act,omitzero"`
}

// answer is act's to a question of the same run.
type answer struct {
	Run   string         `json:"run"`
	Code  pipeline.Code  `json:"code,omitzero"`
	Admit *act.Admission `json:"admit,omitzero"`
	Act   *act.Output    `json:"act,omitzero"`
}

// answers reports whether the reply answers what q asked, and nothing else.
func (r reply) answers(q request) bool {
	if (r.Fetch != nil) != (q.Fetch != nil) || (r.Extract != nil) != (q.Extract != nil) || len(r.Acts) != len(q.Acts) {
		return false
	}
	for i, a := range r.Acts {
		asked := q.Acts[i]
		if a.Run != asked.Run || !a.Code.Known() {
			return false
		}
		if a.Code == pipeline.OK && ((a.Admit != nil) != (asked.Admit != nil) || (a.Act != nil) != (asked.Act != nil)) {
			return false
		}
	}
	return true
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
