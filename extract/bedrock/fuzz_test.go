package bedrock

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"testing"

	"decant.dev/extract"
	"decant.dev/extract/internal/attempt"
	"decant.dev/fence"
)

// body is a transport whose every answer is these bytes.
type body []byte

func (b body) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r, ContentLength: int64(len(b)),
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(b)),
	}, nil
}

// Whatever the body is, the SDK's reader and ours make of it one answer that
// was said to be whole, or an error of the list.
func FuzzBodyIsAnAnswerOrAnError(f *testing.F) {
	for _, s := range []string{
		converse("end_turn", text(good)), converse("end_turn", reasoning("a"), text(good)), converse("tool_use", tool(answerName, good)),
		converse("max_tokens", text(good)), "", "{}", "null", `{"output":{"message":{"role":"assistant","content":[{"text":1}]}}}`,
		`{"output":{"message":{}},"usage":{"inputTokens":1e400}}`, `{"output":[]}`, "\xff", `{"output":{"message":{"content":[{"toolUse":{"input":` + `{"a":[1e99]}` + `}}]}}}`,
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	s := shapeOf(f)
	p := prompt(f, fence.PlacementUser)
	f.Fuzz(func(t *testing.T, b []byte, byTool bool) {
		c := config(&http.Client{Transport: body(b)})
		c.Times = Times{Each: 1e9, Total: 1e9}
		stop := []byte("end_turn")
		if byTool {
			c.Held, stop = ByTool, []byte("tool_use")
		}
		x, err := New(s, c)
		if err != nil {
			t.Fatal(err)
		}
		q, err := x.question(p, "")
		if err != nil {
			t.Fatal(err)
		}
		var a extract.Answer
		out, err := x.client.Converse(t.Context(), q)
		if err != nil {
			var again *attempt.Again
			if err = fault(err); errors.As(err, &again) {
				err = again.Err
			}
		} else {
			a, err = x.read(out)
		}
		known := errors.Is(err, ErrNoAnswer) || errors.Is(err, ErrCut) || errors.Is(err, ErrRefused) || errors.Is(err, attempt.ErrLarge) || errors.Is(err, errReach)
		if (err != nil) != known || err != nil && a.Candidate != nil {
			t.Errorf("got %+v, %v", a, err)
		}
		if err == nil && !bytes.Contains(b, stop) && !bytes.Contains(b, []byte(`\u`)) {
			t.Errorf("an answer that was not said to be whole: %q", b)
		}
	})
}
